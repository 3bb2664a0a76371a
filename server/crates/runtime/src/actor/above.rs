//! What a Pod's task and its viewers need from the layers above them.

use std::fmt;

use async_trait::async_trait;
use pod_store::PodKey;
use protocol::{ApiError, PeerLabel, VisiblePod, WorkerId};

use super::{feed::Feed, receipts::FarSender};

/// The layers above, as one Pod sees them.
#[async_trait]
pub(crate) trait Above: fmt::Debug + Send + Sync {
    /// Tells a Pod to read its mailbox, wherever it runs. Does not wait: the mail is already in the store.
    fn wake(&self, worker_id: &WorkerId);

    /// Marks a Pod as read because somebody is viewing it, on whichever host counts its unread answers.
    async fn mark_read(&self, worker_id: &WorkerId, key: PodKey, feed: &Feed);

    /// The Pods that a Pod can see: itself, its children and its peers.
    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError>;

    /// Whether a Pod has a peer or an open peer request.
    async fn knows_anybody(&self, pod: PodKey) -> Result<bool, ApiError>;

    /// The sender of a message that came to this Pod from another store; `None` for a message that this Pod itself
    /// sent.
    async fn far_sender(&self, pod: PodKey, message_id: &str, peer: &PeerLabel) -> Result<Option<FarSender>, ApiError>;
}
