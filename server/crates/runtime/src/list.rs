//! Changes in the list of Pods, as wake-ups: they say which Pod changed, never what.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
};

use protocol::WorkerId;
use tokio::sync::broadcast;

/// How many changes a slow reader may be behind before it has to read the whole list again.
const BEHIND_MAX: usize = 4_096;

#[derive(Debug)]
pub(crate) struct ListFeed {
    /// `None` means all Pods.
    changed: broadcast::Sender<Option<WorkerId>>,
    revision: AtomicU64,
}

/// What a reader has to read again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stale {
    Some(BTreeSet<WorkerId>),
    All,
}

impl ListFeed {
    pub(crate) fn new() -> Self {
        Self { changed: broadcast::Sender::new(BEHIND_MAX), revision: AtomicU64::new(1) }
    }

    pub(crate) fn tell_changed(&self, worker_id: &WorkerId) {
        self.revision.fetch_add(1, Ordering::AcqRel);
        // Having no listeners is not an error.
        let _ = self.changed.send(Some(worker_id.clone()));
    }

    /// Announces that anything known of any Pod may be out of date.
    pub(crate) fn tell_all(&self) {
        self.revision.fetch_add(1, Ordering::AcqRel);
        let _ = self.changed.send(None);
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Option<WorkerId>> {
        self.changed.subscribe()
    }
}

/// Waits for a change and takes all that have accumulated. `None` when the host is gone.
pub(crate) async fn stale(changes: &mut broadcast::Receiver<Option<WorkerId>>) -> Option<Stale> {
    use broadcast::error::{RecvError, TryRecvError};
    let mut changed = match changes.recv().await {
        Ok(Some(worker_id)) => BTreeSet::from([worker_id]),
        Ok(None) | Err(RecvError::Lagged(_)) => return Some(Stale::All),
        Err(RecvError::Closed) => return None,
    };
    loop {
        match changes.try_recv() {
            Ok(Some(worker_id)) => changed.insert(worker_id),
            Ok(None) | Err(TryRecvError::Lagged(_)) => return Some(Stale::All),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(Stale::Some(changed)),
        };
    }
}
