//! What comes over the socket, and what its reader and its task share.

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

/// What happens to the connection itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// The server has greeted; subscriptions are on their way.
    Connected,
    /// The server is away. `attempt` counts from 1 and `cause` says what the last one met.
    Reconnecting { attempt: u32, cause: String },
    /// After a loss: this many records were missed, and have all come.
    CaughtUp { records: usize },
    /// After a loss, or when the server found this reader too slow: a snapshot came instead of what was missed.
    Reloaded,
    /// The server refuses the token; it is tried again, with a token read anew.
    Unauthorized,
}

/// An item, and the records of its frame as they were encoded; of a raw stream alone.
pub(crate) type Told = (StreamItem, Vec<Bytes>);

/// What the reader and the socket's task share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The clock of the subscriptions begins here.
    began: Instant,
    subscriptions: Mutex<Subscriptions>,
    /// Rung when the wanted set has changed.
    pub(crate) changed: Notify,
    /// Records are not read but handed on, and lists are of the server's own runtime.
    pub(crate) is_raw: bool,
}

impl Shared {
    pub(crate) fn new(is_raw: bool) -> Self {
        Self { began: Instant::now(), subscriptions: Mutex::default(), changed: Notify::new(), is_raw }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// The moment on the clock of the subscriptions.
    pub(crate) fn moment(&self, ms: u64) -> Instant {
        self.began + Duration::from_millis(ms)
    }

    /// Held for a few instructions only, never across an await.
    pub(crate) fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
