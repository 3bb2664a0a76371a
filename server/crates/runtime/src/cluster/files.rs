//! Pods whose files are on another host: no host without those files claims them, and lists say why they cannot be
//! used.

use std::{collections::HashMap, path::PathBuf};

use protocol::{PodSummary, WorkerId};

use super::Cluster;
use crate::heavy;

/// True if a working directory exists on this machine.
pub(super) async fn are_here(cwd: &str) -> bool {
    let cwd = PathBuf::from(cwd);
    heavy::blocking(move || cwd.is_dir()).await.unwrap_or(false)
}

/// Why a Pod cannot be used here, as text for `state_reason`.
pub(super) fn reason(home: &str) -> String {
    format!("its files are on the host \"{home}\", which is not running; start yoi there, under this name")
}

impl Cluster {
    /// Adds to each Pod that no host can run now where its files are.
    pub(crate) async fn with_places(&self, summaries: Vec<PodSummary>) -> Vec<PodSummary> {
        let mut summaries = self.actors.with_outage(summaries);
        if !self.store.hosts().is_shared() || summaries.is_empty() {
            return summaries;
        }
        let homes = match self.homes_of_strangers().await {
            Ok(homes) if homes.is_empty() => return summaries,
            Ok(homes) => homes,
            Err(error) => {
                tracing::warn!(%error, "it could not be looked where the files of Pods are");
                return summaries;
            }
        };
        for summary in &mut summaries {
            if let Some(home) = homes.get(&summary.pod.worker_id)
                && !are_here(&summary.cwd).await
            {
                summary.state_reason = Some(reason(home));
            }
        }
        summaries
    }

    /// Pods that no host runs now, with the host they last ran on, if that host is gone.
    async fn homes_of_strangers(&self) -> Result<HashMap<WorkerId, String>, pod_store::StoreError> {
        let mut homes: HashMap<_, _> = self.store.hosts().left_behind().await?.into_iter().collect();
        if !homes.is_empty() {
            let hosts = self.store.hosts().now().await?;
            homes.retain(|_, home| hosts.iter().all(|host| host.name != *home));
        }
        Ok(homes)
    }
}
