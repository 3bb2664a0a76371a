//! Changes to several Pods at once: all of them, or none.

use std::{collections::BTreeMap, fmt, time::Duration};

use async_trait::async_trait;
use pod_store::{Committed, FarChange, MessageChange, PeerChange, PodChange};
use protocol::{ApiError, AuditEntry, ErrorCode, WorkerId};

use crate::actor::Held;
pub(crate) use crate::actor::Wanted;

/// The longest wait for anything that one Pod wants from others.
pub(crate) const PODS_WAIT_MAX: Duration = Duration::from_secs(5);

/// Held Pods, by id.
pub(crate) type Holding = BTreeMap<WorkerId, Held>;

/// The parts of the transaction that belong to no single Pod.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(crate) command: Option<pod_store::CommandRow>,
    pub(crate) audit: Vec<AuditEntry>,
    pub(crate) peers: Vec<PeerChange>,
    pub(crate) messages: Vec<MessageChange>,
    /// Changes to the lines with other stores.
    pub(crate) far: Vec<FarChange>,
    /// Changes of Pods that need not be held: new ones, and those that cannot be loaded.
    pub(crate) others: Vec<PodChange>,
    /// Pods to wake once it is written.
    pub(crate) wakes: Vec<WorkerId>,
}

/// How the layers above change several Pods at once, wherever each of them runs.
#[async_trait]
pub(crate) trait Pods: fmt::Debug + Send + Sync {
    /// Holds these Pods. They are always locked in the order of their ids, so that callers cannot deadlock.
    async fn hold(&self, pods: &[&WorkerId]) -> Result<Holding, ApiError>;

    /// Gives each held Pod its order, writes everything in one transaction, and wakes the Pods that have something new
    /// to read.
    async fn commit_together(&self, orders: Vec<(Held, Wanted)>, together: Together) -> Result<Committed, ApiError>;
}

/// Limits the time for what one Pod wants from others. What was written by then stays written; the rest does not
/// happen.
pub(crate) async fn bounded<T>(what: &str, work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    tokio::time::timeout(PODS_WAIT_MAX, work).await.unwrap_or_else(|_| {
        let seconds = PODS_WAIT_MAX.as_secs();
        Err(ApiError::new(
            ErrorCode::Timeout,
            format!("{what} took longer than {seconds} s; check what happened before you try again"),
        ))
    })
}
