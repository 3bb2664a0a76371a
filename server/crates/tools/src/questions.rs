//! Questions of a call that wait for a person: how many there are now.

use std::sync::Arc;

use tokio::sync::watch;

/// What the call hears of them.
#[derive(Debug, Clone)]
pub struct Questions(watch::Receiver<usize>);

/// Where they are counted.
#[derive(Debug, Clone)]
pub(crate) struct Asking(Arc<watch::Sender<usize>>);

/// One that waits. Dropping it is its end.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a watch::Sender<usize>);

impl Questions {
    /// Of a call that asks nobody.
    pub fn none() -> Self {
        Self(watch::channel(0).1)
    }

    /// Whether one waits. Nobody answers any more once those that counted are gone.
    pub(crate) fn is_any(&mut self) -> bool {
        self.0.has_changed().is_ok() && *self.0.borrow_and_update() > 0
    }

    /// Returns when that may have changed; false: it does not change any more.
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
