//! The event stream from its reader's point of view.

use std::sync::Arc;

use bytes::Bytes;
use follow::Subscriptions;
use protocol::{PodRef, ServerFrame};
use tokio::{sync::mpsc, task::AbortHandle};

use crate::{
    Client, StreamItem,
    items::{Shared, Told},
    socket,
};

/// How many frames may wait for the reader. Beyond that the socket is not read, and the server reports `lagged`.
const ITEMS_MAX: usize = 256;

/// The frames of all subscriptions in order, across reconnects. Dropping it closes the socket.
#[derive(Debug)]
pub struct EventStream {
    items: mpsc::Receiver<Told>,
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl Client {
    /// Opens the event socket, and reopens it whenever it is lost, until the stream is dropped.
    ///
    /// Must be called inside a tokio runtime.
    pub fn events(&self) -> EventStream {
        EventStream::open(self.clone(), false)
    }

    /// Like [`Client::events`], but only for the server's own runtime; records are returned encoded, beside their
    /// frame.
    pub fn raw_events(&self) -> EventStream {
        EventStream::open(self.clone(), true)
    }
}

impl EventStream {
    fn open(client: Client, is_raw: bool) -> Self {
        let (sender, items) = mpsc::channel(ITEMS_MAX);
        let shared = Arc::new(Shared::new(is_raw));
        let task = tokio::spawn(socket::run(client, Arc::clone(&shared), sender)).abort_handle();
        Self { items, shared, task }
    }

    /// Subscribes to the list of Pods. Returns the id of its frames; ids are never reused.
    pub fn subscribe_pods(&self) -> String {
        self.changed(Subscriptions::add_pods)
    }

    /// Subscribes to a Pod: to what follows `after`, or to a snapshot of the newest `tail` records and what follows
    /// it.
    pub fn subscribe_pod(&self, pod: PodRef, after: Option<String>, tail: u32) -> String {
        self.changed(|subscriptions| subscriptions.add_pod(pod, after, tail))
    }

    /// Ends a subscription: no frame with this id is returned any more, not even one already received.
    pub fn unsubscribe(&self, id: &str) {
        self.changed(|subscriptions| subscriptions.remove(id));
    }

    fn changed<T>(&self, change: impl FnOnce(&mut Subscriptions) -> T) -> T {
        let done = change(&mut self.shared.subscriptions());
        self.shared.changed.notify_one();
        done
    }

    /// The next item. Cancel-safe.
    pub async fn next(&mut self) -> StreamItem {
        self.next_raw().await.0
    }

    /// Like [`EventStream::next`]. In a raw stream ([`Client::raw_events`]) records are returned beside their frame,
    /// which then contains none.
    pub async fn next_raw(&mut self) -> (StreamItem, Vec<Bytes>) {
        loop {
            let told = self.items.recv().await.expect("the socket's task lives as long as its stream");
            match &told.0 {
                // Received before it was unsubscribed.
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
