//! How many approvals of a call are currently waiting for a person.

use std::sync::Arc;

use tokio::sync::watch;

/// The call's view of them.
#[derive(Debug, Clone)]
pub struct Questions(watch::Receiver<usize>);

/// The counter.
#[derive(Debug, Clone)]
pub(crate) struct Asking(Arc<watch::Sender<usize>>);

/// A waiting approval. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a watch::Sender<usize>);

impl Questions {
    /// For a call that asks for no approvals.
    pub fn none() -> Self {
        Self(watch::channel(0).1)
    }

    /// Whether any approval is waiting. Always false once the counter is gone.
    pub(crate) fn is_any(&mut self) -> bool {
        self.0.has_changed().is_ok() && *self.0.borrow_and_update() > 0
    }

    /// Returns when that may have changed; false if it cannot change any more.
    pub(crate) async fn change(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

impl Asking {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    pub(crate) fn questions(&self) -> Questions {
        Questions(self.0.subscribe())
    }

    pub(crate) fn open(&self) -> Open<'_> {
        self.0.send_modify(|count| *count += 1);
        Open(&self.0)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
