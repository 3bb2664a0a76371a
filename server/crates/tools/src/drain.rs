//! Before running calls are ended, they are asked for what has been written and not sent yet: later it would be lost.

use std::future::pending;

use tokio::sync::watch;

/// What asks the calls of a Pod.
#[derive(Debug, Default)]
pub struct Drains(watch::Sender<u64>);

/// A call's end of it.
#[derive(Debug, Clone)]
pub struct Drain(Option<watch::Receiver<u64>>);

impl Drains {
    /// The end for a new call.
    pub fn drain(&self) -> Drain {
        Drain(Some(self.0.subscribe()))
    }

    /// Asks all calls. One that has output of a command sends what there is, and then an empty chunk.
    pub fn ask(&self) {
        self.0.send_modify(|asked| *asked += 1);
    }
}

impl Drain {
    /// Nobody asks.
    pub fn none() -> Self {
        Self(None)
    }

    /// Returns when it is asked, once for each time. Cancel safe.
    pub async fn asked(&mut self) {
        if let Some(asked) = &mut self.0
            && asked.changed().await.is_ok()
        {
            return;
        }
        pending().await
    }
}
