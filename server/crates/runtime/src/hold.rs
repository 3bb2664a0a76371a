//! Changes that are true for several Pods at once, or not at all.

use std::{collections::BTreeMap, fmt, time::Duration};

use async_trait::async_trait;
use pod_store::{Committed, FarChange, MessageChange, PeerChange, PodChange};
use protocol::{ApiError, AuditEntry, ErrorCode, WorkerId};

use crate::actor::Held;
pub(crate) use crate::actor::Wanted;

/// The longest wait of anything that one Pod wants of others.
pub(crate) const PODS_WAIT_MAX: Duration = Duration::from_secs(5);

/// Pods that stand still, by id.
pub(crate) type Holding = BTreeMap<WorkerId, Held>;

/// What belongs to the transaction and to no single Pod.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(crate) command: Option<pod_store::CommandRow>,
    pub(crate) audit: Option<AuditEntry>,
    pub(crate) peers: Vec<PeerChange>,
    pub(crate) messages: Vec<MessageChange>,
    /// What happens on the way to other stores.
    pub(crate) far: Vec<FarChange>,
    /// Changes of Pods that need not stand still: those that come into being, those that cannot be loaded.
    pub(crate) others: Vec<PodChange>,
    /// Pods that have something to look at once it is written.
    pub(crate) wakes: Vec<WorkerId>,
}

/// The Pods, as the floors above have several of them change at once: wherever each is run.
#[async_trait]
pub(crate) trait Pods: fmt::Debug + Send + Sync {
    /// Has these Pods stand still. In the order of their ids, whoever asks, so that nobody waits in a circle.
    async fn hold(&self, pods: &[&WorkerId]) -> Result<Holding, ApiError>;

    /// Gives each held Pod its order, writes all of it in one transaction, and wakes those that have something to look at.
    async fn commit_together(&self, orders: Vec<(Held, Wanted)>, together: Together) -> Result<Committed, ApiError>;
}

/// Bounds what one Pod wants of others. What was written by then stays written; the rest does not happen.
pub(crate) async fn bounded<T>(what: &str, work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    tokio::time::timeout(PODS_WAIT_MAX, work).await.unwrap_or_else(|_| {
        let seconds = PODS_WAIT_MAX.as_secs();
        Err(ApiError::new(
            ErrorCode::Timeout,
            format!("{what} took longer than {seconds} s; check what happened before you try again"),
        ))
    })
}
