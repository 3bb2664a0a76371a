//! Which host runs a Pod. A Pod that no host runs is claimed by the first host that needs it, if its files are there.

use pod_store::{HostRow, PodRow, StoreError, Whereabouts};
use protocol::{ApiError, ErrorCode, WorkerId};

use super::{Cluster, files};
use crate::view;

/// How often to look again for a Pod that moves between hosts.
pub(crate) const ROUNDS_MAX: usize = 4;

/// Which host runs a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Here,
    There(HostRow),
}

impl Cluster {
    /// Finds the Pod's host; a Pod that no host runs is claimed by this one. A Pod that does not exist is routed here,
    /// where the caller is told so.
    pub(crate) async fn route(&self, worker_id: &WorkerId) -> Result<Route, ApiError> {
        if !self.store.hosts().is_shared() || self.actors.tasks.has(worker_id) {
            return Ok(Route::Here);
        }
        let Some(row) = self.store.pods().find(worker_id).await? else {
            return Ok(Route::Here);
        };
        let Whereabouts { owner, home } = match self.store.hosts().whereabouts(row.key).await {
            Err(StoreError::PodGone) => return Ok(Route::Here),
            place => place?,
        };
        let own = self.store.hosts().this();
        match owner {
            Some(owner) if own.is_some_and(|own| own.id == owner.id) => Ok(Route::Here),
            Some(owner) => Ok(Route::There(owner)),
            None => match self.stranger(&row, home).await {
                Some(home) => self.at_home(&row, home).await,
                None => self.claim(&row).await,
            },
        }
    }

    async fn claim(&self, row: &PodRow) -> Result<Route, ApiError> {
        match self.store.hosts().claim(row.key).await {
            Ok(()) | Err(StoreError::PodGone) => Ok(Route::Here),
            Err(StoreError::Elsewhere(host)) => Ok(Route::There(host)),
            Err(error) => Err(error.into()),
        }
    }

    /// The host that has the Pod's files, if they are not here.
    pub(super) async fn stranger(&self, row: &PodRow, home: Option<String>) -> Option<String> {
        let own = self.store.hosts().this()?;
        let home = home.filter(|home| *home != own.name)?;
        let cwd = view::open(row).ok()?.spec.cwd;
        (!files::are_here(&cwd).await).then_some(home)
    }

    async fn at_home(&self, row: &PodRow, home: String) -> Result<Route, ApiError> {
        let hosts = self.store.hosts().now().await?;
        match hosts.into_iter().find(|host| host.name == home) {
            Some(host) => Ok(Route::There(host)),
            None => {
                let sentence = format!("pod \"{}\" cannot be used here: {}", row.name, files::reason(&home));
                Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence))
            }
        }
    }
}
