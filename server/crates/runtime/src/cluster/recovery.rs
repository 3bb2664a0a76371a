//! Recovery after a start: Pods that a crash left open are recovered in the background, each by its own task.

use std::sync::Arc;

use protocol::{ApiError, WorkerId};
use tokio::sync::oneshot;

use super::{Cluster, Route};
use crate::actor::Request;

/// How many Pods are recovered in parallel.
const AT_ONCE_MAX: usize = 16;

/// Finds the open Pods and begins their recovery. A failure is noted and does not stop the others.
pub(crate) async fn start(cluster: &Arc<Cluster>) -> Result<(), ApiError> {
    let open = async { cluster.adoptable(cluster.store.hosts().orphaned().await?).await };
    let open = open.await?;
    cluster.recovering.send_modify(|recovering| recovering.extend(open.iter().cloned()));
    if !open.is_empty() {
        tracing::info!(pods = open.len(), "recovering Pods that were working when yoi ended");
        cluster.tracker.spawn(recover_all(cluster.clone(), open));
    }
    Ok(())
}

/// Recovers Pods whose host is gone. Viewers of such a Pod wait until it has recovered.
pub(super) async fn recover(cluster: &Arc<Cluster>, open: Vec<WorkerId>) {
    cluster.recovering.send_modify(|recovering| recovering.extend(open.iter().cloned()));
    recover_all(cluster.clone(), open).await;
}

async fn recover_all(cluster: Arc<Cluster>, open: Vec<WorkerId>) {
    use futures_util::{StreamExt, stream};
    stream::iter(open)
        .for_each_concurrent(AT_ONCE_MAX, |worker_id| {
            let cluster = cluster.clone();
            async move {
                settle(&cluster, &worker_id).await;
                cluster.recovering.send_modify(|recovering| {
                    recovering.remove(&worker_id);
                });
                cluster.list.tell_changed(&worker_id);
            }
        })
        .await;
}

/// Wakes the Pod's task, which recovers before it does anything else, and waits until it has.
async fn settle(cluster: &Arc<Cluster>, worker_id: &WorkerId) {
    // Another host may have claimed the Pod first; then that host recovers it.
    if !matches!(cluster.route(worker_id).await, Ok(Route::Here)) {
        return;
    }
    let (reply, settled) = oneshot::channel();
    if cluster.actors.send(worker_id, Request::Settle { reply }).await.is_ok() {
        // An error means that the task could not start; it has logged why.
        let _ = settled.await;
    }
}
