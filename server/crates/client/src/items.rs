//! The items of an event stream, and the state that its reader and its task share.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use follow::Subscriptions;
use protocol::ServerFrame;
use tokio::{sync::Notify, time::Instant};

/// What an [`EventStream`](crate::EventStream) yields.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// A snapshot, records, Pods, a diagnostic or a closed subscription; never a heartbeat.
    Frame(ServerFrame),
    Connection(Connection),
}

/// A change of the connection itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// The server has greeted; subscriptions are being sent.
    Connected,
    /// The connection is lost. `attempt` counts from 1, and `cause` says why the last one failed.
    Reconnecting { attempt: u32, cause: String },
    /// After a loss: this many records were missed, and all of them have arrived.
    CaughtUp { records: usize },
    /// After a loss, or when this reader was too slow: a snapshot replaced what was missed.
    Reloaded,
    /// The server refuses the token; the client tries again, reading the token again.
    Unauthorized,
}

/// An item, and the encoded records of its frame (in a raw stream only).
pub(crate) type Told = (StreamItem, Vec<Bytes>);

/// State shared by the reader and the socket's task.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The zero point of the subscriptions' clock.
    began: Instant,
    subscriptions: Mutex<Subscriptions>,
    /// Notified when the wanted subscriptions have changed.
    pub(crate) changed: Notify,
    /// Whether records are passed on undecoded, and lists cover only the server's own runtime.
    pub(crate) is_raw: bool,
}

impl Shared {
    pub(crate) fn new(is_raw: bool) -> Self {
        Self { began: Instant::now(), subscriptions: Mutex::default(), changed: Notify::new(), is_raw }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Converts a time of the subscriptions' clock.
    pub(crate) fn moment(&self, ms: u64) -> Instant {
        self.began + Duration::from_millis(ms)
    }

    /// Held only for a few instructions, never across an await.
    pub(crate) fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
