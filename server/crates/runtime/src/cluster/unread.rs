//! Viewing a Pod marks it as read, on whichever host runs the Pod and counts its unread answers.

use std::sync::{Arc, atomic::Ordering};

use pod_store::{PodKey, PodUpdate};
use protocol::{ApiError, WorkerId};

use super::{Call, Cluster, Route};
use crate::actor::feed::Feed;

impl Cluster {
    /// Marks a Pod as read because somebody views it.
    pub(crate) async fn mark_read(&self, worker_id: &WorkerId, key: PodKey, feed: &Feed) {
        // During an outage a viewer is shown what there is, without waiting until the view can be recorded.
        if self.store.health().is_out() || feed.unread.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
        let marked = match self.route(worker_id).await {
            Ok(Route::Here) => self.update_row(key, PodUpdate { unread: Some(0), ..PodUpdate::default() }).await,
            Ok(Route::There(host)) => {
                self.calls.tell(&host, &Call::Read { worker_id: worker_id.clone() }).await;
                Ok(())
            }
            // If no host can run the Pod, nobody can record that it was read.
            Err(error) => Err(error),
        };
        if let Err(error) = marked {
            tracing::warn!(%error, %worker_id, "could not mark as read");
        }
        self.list.tell_changed(worker_id);
    }

    /// Marks a Pod of this host as read because somebody views it on another host.
    pub(super) async fn read_elsewhere(self: &Arc<Self>, worker_id: &WorkerId) -> Result<(), ApiError> {
        if let Some(row) = self.settled_row(worker_id).await? {
            let feed = self.actors.feed(&row).await?;
            // The row may count more than the feed, from before this host ran the Pod.
            feed.unread.fetch_max(row.unread, Ordering::AcqRel);
            self.mark_read(worker_id, row.key, &feed).await;
            self.actors.feeds.release(worker_id, &feed);
        }
        Ok(())
    }
}
