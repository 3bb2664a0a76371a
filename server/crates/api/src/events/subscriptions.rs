//! The subscriptions of one socket: one task each, which pulls frames and hands them over.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use backend::Backend;
use futures_util::{FutureExt, StreamExt};
use protocol::{DiagnosticCode, RuntimeId};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle},
};

use super::{
    asked::{Refusal, Watch},
    frame::{Frame, frames},
};

const SUBSCRIPTIONS_MAX: usize = 256;

/// A frame for the writer, and its subscription.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) frame: Frame,
    /// `None` for a frame that belongs to no subscription.
    life: Option<Arc<Life>>,
}

impl Outgoing {
    /// False if its subscription was cancelled while the frame waited.
    pub(super) fn is_wanted(&self) -> bool {
        self.life.as_ref().is_none_or(|life| !life.cancelled.load(Ordering::Acquire))
    }
}

impl From<Frame> for Outgoing {
    fn from(frame: Frame) -> Self {
        Self { frame, life: None }
    }
}

#[derive(Debug, Default)]
struct Life {
    /// The client has unsubscribed: what is still queued is not sent.
    cancelled: AtomicBool,
    /// The last frame has been handed over, so the id is free.
    over: AtomicBool,
}

#[derive(Debug)]
struct Subscription {
    life: Arc<Life>,
    task: AbortHandle,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // A finished one only has its last frame left to hand over, which it does by itself.
        if !self.life.over.load(Ordering::Acquire) {
            self.task.abort();
        }
    }
}

/// All subscriptions of one socket, by id. Dropping this ends them.
#[derive(Debug)]
pub(super) struct Subscriptions {
    backend: Backend,
    /// The runtime whose Pods its lists contain; all runtimes if `None`.
    listed: Option<RuntimeId>,
    outbox: mpsc::Sender<Outgoing>,
    open: HashMap<String, Subscription>,
}

impl Subscriptions {
    pub(super) fn new(backend: Backend, listed: Option<RuntimeId>, outbox: mpsc::Sender<Outgoing>) -> Self {
        Self { backend, listed, outbox, open: HashMap::new() }
    }

    pub(super) fn subscribe(&mut self, id: String, watch: Watch) -> Result<(), Refusal> {
        self.open.retain(|_, subscription| !subscription.life.over.load(Ordering::Acquire));
        if self.open.contains_key(&id) {
            return Err(Refusal::bad(format!("subscription \"{id}\" is open already; unsubscribe it first")));
        }
        if self.open.len() >= SUBSCRIPTIONS_MAX {
            let detail = format!(
                "subscription \"{id}\" is one too many: a socket has at most {SUBSCRIPTIONS_MAX}; unsubscribe one, or \
                 open another socket"
            );
            return Err(Refusal { code: DiagnosticCode::TooManySubscriptions, detail });
        }
        let life = Arc::new(Life::default());
        let task = self.spawn(id.clone(), watch, life.clone()).abort_handle();
        self.open.insert(id, Subscription { life, task });
        Ok(())
    }

    /// Stops sending anything of a subscription. Unknown ids are fine: it may just have ended by itself.
    pub(super) fn unsubscribe(&mut self, id: &str) {
        if let Some(subscription) = self.open.remove(id) {
            subscription.life.cancelled.store(true, Ordering::Release);
        }
    }

    fn spawn(&self, id: String, watch: Watch, life: Arc<Life>) -> JoinHandle<()> {
        let outbox = self.outbox.clone();
        let mut frames = frames(&self.backend, self.listed.as_ref(), id.clone(), watch);
        tokio::spawn(async move {
            loop {
                // A stream that panics is closed like one that ends, so that its viewer does not wait forever.
                let next = AssertUnwindSafe(frames.next()).catch_unwind().await.unwrap_or_default();
                let frame = next.unwrap_or_else(|| Frame::closed(&id, "the stream has ended".to_owned()));
                let last = frame.is_last();
                // Set before the frame is sent: its reader may reuse the id at once.
                life.over.store(last, Ordering::Release);
                let sent = outbox.send(Outgoing { frame, life: Some(life.clone()) }).await;
                if last || sent.is_err() {
                    return;
                }
            }
        })
    }
}
