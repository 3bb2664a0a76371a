//! The event stream as its reader sees it.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use protocol::{PodRef, ServerFrame};
use tokio::{
    sync::{Notify, mpsc},
    task::AbortHandle,
};

use crate::{Client, socket, subscriptions::Subscriptions};

/// Frames that wait for their reader. Beyond it the socket is not read, and the server says `lagged`.
const ITEMS_MAX: usize = 256;

/// What an [`EventStream`] yields.
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
#[derive(Debug, Default)]
pub(crate) struct Shared {
    subscriptions: Mutex<Subscriptions>,
    /// Rung when the wanted set has changed.
    pub(crate) changed: Notify,
    /// Records are not read but handed on, and lists are of the server's own runtime.
    pub(crate) is_raw: bool,
}

impl Shared {
    /// Held for a few instructions only, never across an await.
    pub(crate) fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Frames of all subscriptions in order, over as many connections as it takes. Dropping it closes the socket.
#[derive(Debug)]
pub struct EventStream {
    items: mpsc::Receiver<Told>,
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl EventStream {
    pub(crate) fn open(client: Client) -> Self {
        Self::open_with(client, false)
    }

    pub(crate) fn open_raw(client: Client) -> Self {
        Self::open_with(client, true)
    }

    fn open_with(client: Client, is_raw: bool) -> Self {
        let (sender, items) = mpsc::channel(ITEMS_MAX);
        let shared = Arc::new(Shared { is_raw, ..Shared::default() });
        let task = tokio::spawn(socket::run(client, Arc::clone(&shared), sender)).abort_handle();
        Self { items, shared, task }
    }

    /// Subscribes to the list of Pods. Returns the id that its frames carry; each is new.
    pub fn subscribe_pods(&self) -> String {
        self.changed(Subscriptions::add_pods)
    }

    /// Subscribes to a Pod: what follows `after`, or a snapshot of the newest `tail` records and what follows it.
    pub fn subscribe_pod(&self, pod: PodRef, after: Option<String>, tail: u32) -> String {
        self.changed(|subscriptions| subscriptions.add_pod(pod, after, tail))
    }

    /// No frame with this id comes out any more, not even one that is under way.
    pub fn unsubscribe(&self, id: &str) {
        self.changed(|subscriptions| subscriptions.remove(id));
    }

    fn changed<T>(&self, change: impl FnOnce(&mut Subscriptions) -> T) -> T {
        let done = change(&mut self.shared.subscriptions());
        self.shared.changed.notify_one();
        done
    }

    /// The next item. Can be dropped and called again without losing any.
    pub async fn next(&mut self) -> StreamItem {
        self.next_raw().await.0
    }

    /// As [`EventStream::next`]. Of a raw stream ([`Client::raw_events`]) the records come beside their frame, which
    /// has none itself.
    pub async fn next_raw(&mut self) -> (StreamItem, Vec<Bytes>) {
        loop {
            let told = self.items.recv().await.expect("the socket's task lives as long as its stream");
            match &told.0 {
                // It was on its way when it was unsubscribed.
                StreamItem::Frame(frame) if self.is_unwanted(frame) => {}
                _ => return told,
            }
        }
    }

    fn is_unwanted(&self, frame: &ServerFrame) -> bool {
        let id = match frame {
            ServerFrame::Snapshot { id, .. } | ServerFrame::Records { id, .. } | ServerFrame::Pods { id, .. } => id,
            _ => return false,
        };
        !self.shared.subscriptions().is_wanted(id)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
