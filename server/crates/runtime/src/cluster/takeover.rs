//! When a host dies: another host takes its Pods and recovers them as after a crash. A host that was only held up finds
//! that its lease is gone; it drops everything that relied on it and rejoins.

use std::{collections::HashMap, sync::Arc, time::Duration};

use pod_store::{PodRow, StoreError};
use protocol::WorkerId;
use tokio_util::task::TaskTracker;

use super::{Cluster, recovery};

/// How often to look for Pods that no host runs and that have something to do.
const ORPHANS_CHECK: Duration = Duration::from_secs(1);
/// How long a host waits before it tries again to rejoin.
const REJOIN_AGAIN: Duration = Duration::from_millis(500);
/// How long to wait for everything that relied on a lost lease to end; whatever is left cannot write anyway.
const DROP_WAIT_MAX: Duration = Duration::from_secs(10);

pub(super) fn start(cluster: &Arc<Cluster>) {
    cluster.tracker.spawn(watch_lease(cluster.clone()));
    cluster.tracker.spawn(adopt_orphans(cluster.clone()));
}

async fn watch_lease(cluster: Arc<Cluster>) {
    let Some(mut lost) = cluster.store.hosts().lost() else { return };
    loop {
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            is_lost = lost.wait_for(|lost| *lost) => if is_lost.is_err() { return },
        }
        if !rejoin(&cluster).await {
            return;
        }
    }
}

/// Drops everything that relied on the lease and takes a new one. Returns false if this host is shutting down.
async fn rejoin(cluster: &Arc<Cluster>) -> bool {
    let relied = cluster.lease.end();
    cluster.stand_still.clear();
    // The second time for a command that was just being started.
    let background = &cluster.actors.equipment.background;
    tokio::join!(drop_all(&relied), background.end_everything());
    if !background.end_everything().await {
        tracing::error!("a background command that relied on a lost lease does not end");
    }
    cluster.actors.tasks.clear();
    loop {
        match cluster.store.hosts().rejoin().await {
            Ok(()) => break,
            Err(StoreError::Fenced) => {
                tracing::error!("another yoi serves this database from a copy of this data folder; stop one of them");
                return false;
            }
            Err(error) => tracing::warn!(%error, "this host cannot take part yet"),
        }
        tokio::select! {
            () = cluster.stopping.cancelled() => return false,
            () = tokio::time::sleep(REJOIN_AGAIN) => (),
        }
    }
    cluster.lease.begin();
    cluster.list.tell_all();
    tracing::warn!("this host has rejoined; the Pods that it ran are where they were needed first");
    true
}

async fn drop_all(tracker: &TaskTracker) {
    tracker.close();
    if tokio::time::timeout(DROP_WAIT_MAX, tracker.wait()).await.is_err() {
        tracing::error!("something that relied on a lost lease does not end");
    }
}

async fn adopt_orphans(cluster: Arc<Cluster>) {
    loop {
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            () = tokio::time::sleep(ORPHANS_CHECK) => (),
        }
        if cluster.store.hosts().lost().is_some_and(|lost| *lost.borrow()) {
            continue;
        }
        let open = async { cluster.adoptable(cluster.store.hosts().orphaned().await?).await };
        match open.await {
            Ok(open) if open.is_empty() => (),
            Ok(open) => {
                tracing::info!(pods = open.len(), "recovering Pods that nobody runs");
                recovery::recover(&cluster, open).await;
            }
            Err(error) => tracing::debug!(%error, "Pods that nobody runs could not be looked for"),
        }
    }
}

impl Cluster {
    /// The Pods whose files are here. Those whose recovery failed before are left to people.
    pub(crate) async fn adoptable(&self, rows: Vec<PodRow>) -> Result<Vec<WorkerId>, StoreError> {
        let homes: HashMap<WorkerId, String> = match rows.is_empty() {
            true => HashMap::new(),
            false => self.store.hosts().left_behind().await?.into_iter().collect(),
        };
        let mut open = Vec::new();
        for row in rows {
            let has_failed = self.failed.lock().expect("no holder of this list panics").contains_key(row.name.as_str());
            let home = homes.get(&row.worker_id).cloned();
            if !has_failed && self.stranger(&row, home).await.is_none() {
                open.push(row.worker_id);
            }
        }
        Ok(open)
    }
}
