//! After a start: Pods that a crash left open are put in order, each by its own task, in the background.

use std::sync::Arc;

use protocol::{ApiError, WorkerId};
use tokio::sync::oneshot;

use super::{Cluster, Route};
use crate::{actor::Request, error};

/// Pods that are put in order at once.
const AT_ONCE_MAX: usize = 16;

/// Finds the open Pods and begins. One that fails is noted and stops nobody else.
pub(crate) async fn start(inner: &Arc<Cluster>) -> Result<(), ApiError> {
    let open = async { inner.adoptable(inner.store.pods_orphaned().await?).await };
    let open = open.await.map_err(error::store_failed)?;
    inner.recovering.send_modify(|recovering| recovering.extend(open.iter().cloned()));
    if !open.is_empty() {
        tracing::info!(pods = open.len(), "putting Pods in order that were working when yoi ended");
        inner.tracker.spawn(recover_all(inner.clone(), open));
    }
    Ok(())
}

/// Pods that nobody runs any more, because another host is gone: a look at one of them waits until it is in order.
pub(super) async fn recover(inner: &Arc<Cluster>, open: Vec<WorkerId>) {
    inner.recovering.send_modify(|recovering| recovering.extend(open.iter().cloned()));
    recover_all(inner.clone(), open).await;
}

async fn recover_all(inner: Arc<Cluster>, open: Vec<WorkerId>) {
    use futures_util::{StreamExt, stream};
    stream::iter(open)
        .for_each_concurrent(AT_ONCE_MAX, |worker_id| {
            let inner = inner.clone();
            async move {
                settle(&inner, &worker_id).await;
                inner.recovering.send_modify(|recovering| {
                    recovering.remove(&worker_id);
                });
                inner.list.tell_changed(&worker_id);
            }
        })
        .await;
}

/// Wakes the Pod's task, which recovers before it does anything else, and waits until it has.
async fn settle(inner: &Arc<Cluster>, worker_id: &WorkerId) {
    // Another host may have been first; then it puts the Pod in order.
    if !matches!(inner.route(worker_id).await, Ok(Route::Here)) {
        return;
    }
    let (reply, settled) = oneshot::channel();
    if inner.actors.send(worker_id, Request::Settle { reply }).await.is_ok() {
        // An error means that the task could not start; it has noted why.
        let _ = settled.await;
    }
}
