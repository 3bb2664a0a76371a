//! What a Pod's task and its viewers want of the floors above them, and no more.

use std::fmt;

use async_trait::async_trait;
use pod_store::PodKey;
use protocol::{ApiError, PeerLabel, VisiblePod, WorkerId};

use super::{feed::Feed, receipts::FarSender};

/// The floors above, as one Pod knows them.
#[async_trait]
pub(crate) trait Above: fmt::Debug + Send + Sync {
    /// Has a Pod look into its mailbox, wherever it is run. Nobody waits for it: what is in there is on the disk.
    fn wake(&self, worker_id: &WorkerId);

    /// Somebody looks at a Pod: what was unread is read, on whichever host it is counted.
    async fn mark_read(&self, worker_id: &WorkerId, key: PodKey, feed: &Feed);

    /// Whom a Pod sees: itself, its children and its peers.
    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError>;

    /// A Pod is linked to another one, or a request lies between them.
    async fn knows_anybody(&self, pod: PodKey) -> Result<bool, ApiError>;

    /// The sender of a message that this Pod has got from another store. None for what it sent itself.
    async fn far_sender(&self, pod: PodKey, message_id: &str, peer: &PeerLabel) -> Result<Option<FarSender>, ApiError>;
}
