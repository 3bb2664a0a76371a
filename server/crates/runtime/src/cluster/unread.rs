//! Who looks at a Pod has read it, on whichever host the Pod is run: there it is counted.

use std::sync::{Arc, atomic::Ordering};

use pod_store::{PodKey, PodUpdate};
use protocol::{ApiError, WorkerId};

use super::{Call, Cluster, Route};
use crate::actor::feed::Feed;

impl Cluster {
    /// Somebody looks: what was unread is read.
    pub(crate) async fn mark_read(&self, worker_id: &WorkerId, key: PodKey, feed: &Feed) {
        // Whoever looks in an outage is shown what there is, and does not wait until it can be written that they looked.
        if self.store.health().is_out() || feed.unread.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
        let marked = match self.route(worker_id).await {
            Ok(Route::Here) => self.update_row(key, PodUpdate { unread: Some(0), ..PodUpdate::default() }).await,
            Ok(Route::There(host)) => {
                self.calls.tell(&host, &Call::Read { worker_id: worker_id.clone() }).await;
                Ok(())
            }
            // Where nobody can run it, nobody can write that it was read.
            Err(error) => Err(error),
        };
        if let Err(error) = marked {
            tracing::warn!(%error, %worker_id, "could not mark as read");
        }
        self.list.tell_changed(worker_id);
    }

    /// Somebody on another host looks at a Pod of this one.
    pub(super) async fn read_elsewhere(self: &Arc<Self>, worker_id: &WorkerId) -> Result<(), ApiError> {
        if let Some(row) = self.settled_row(worker_id).await? {
            let feed = self.actors.feed(&row).await?;
            // The row may know of some that the feed does not: it was counted before this host ran the Pod.
            feed.unread.fetch_max(row.unread, Ordering::AcqRel);
            self.mark_read(worker_id, row.key, &feed).await;
            self.actors.feeds.release(worker_id, &feed);
        }
        Ok(())
    }
}
