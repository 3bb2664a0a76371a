//! The event stream as its reader sees it.

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

/// Frames that wait for their reader. Beyond it the socket is not read, and the server says `lagged`.
const ITEMS_MAX: usize = 256;

/// Frames of all subscriptions in order, over as many connections as it takes. Dropping it closes the socket.
#[derive(Debug)]
pub struct EventStream {
    items: mpsc::Receiver<Told>,
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl Client {
    /// Opens the event socket, and opens it again whenever it is lost, until the stream is dropped.
    ///
    /// Must be called inside a tokio runtime.
    pub fn events(&self) -> EventStream {
        EventStream::open(self.clone(), false)
    }

    /// As [`Client::events`], of the server's own runtime alone; records come as they were encoded, beside their frame.
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
