//! The queue of one viewer. It is bounded: a viewer that reads too slowly loses what is queued, is told `lagged`, and
//! begins again with a snapshot when it reads on. It never holds up the socket.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
};

use protocol::DiagnosticCode;
use runtime::FeedItem;
use tokio::sync::Notify;

/// The most bytes of queued records; a single item may exceed it.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const RECORDS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    items: VecDeque<FeedItem>,
    bytes: usize,
    records: usize,
    end: Option<End>,
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Lagged,
    Closed,
    /// The runtime was removed, or the server is stopping.
    Abandoned,
}

/// What a viewer takes.
#[derive(Debug)]
pub(super) enum Taken {
    Item(FeedItem),
    /// The viewer was too slow and has to ask for a snapshot.
    Lagged,
    /// Nothing follows the last item.
    Over,
    /// The line is gone.
    Abandoned,
}

/// The line's end of a queue. Dropping it ends the queue.
#[derive(Debug)]
pub(super) struct Feeder(Arc<Queue>);

impl Queue {
    /// Creates a queue and returns both ends.
    pub(super) fn new() -> (Feeder, Arc<Self>) {
        let queue = Arc::new(Self::default());
        (Feeder(queue.clone()), queue)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder of a queue panics")
    }

    /// The next item. Cancel safe.
    pub(super) async fn take(&self) -> Taken {
        loop {
            let filled = self.filled.notified();
            if let Some(taken) = self.inner().take() {
                return taken;
            }
            filled.await;
        }
    }
}

impl Inner {
    fn take(&mut self) -> Option<Taken> {
        if let Some(item) = self.items.pop_front() {
            let (bytes, records) = size(&item);
            self.bytes -= bytes;
            self.records -= records;
            return Some(Taken::Item(item));
        }
        Some(match self.end? {
            End::Lagged => Taken::Lagged,
            End::Closed => Taken::Over,
            End::Abandoned => Taken::Abandoned,
        })
    }
}

impl Feeder {
    /// Returns false if the viewer takes no more: it was too slow, or this was the last item.
    pub(super) fn put(&self, item: FeedItem) -> bool {
        let mut inner = self.0.inner();
        let (bytes, records) = size(&item);
        let is_too_much = inner.bytes + bytes > BYTES_MAX || inner.records + records > RECORDS_MAX;
        if is_too_much && !inner.items.is_empty() {
            *inner = Inner { end: Some(End::Lagged), ..Inner::default() };
        } else {
            if matches!(item, FeedItem::Closed { .. }) {
                inner.end = Some(End::Closed);
            }
            inner.bytes += bytes;
            inner.records += records;
            inner.items.push_back(item);
        }
        let goes_on = inner.end.is_none();
        drop(inner);
        self.0.filled.notify_one();
        goes_on
    }

    /// True if nobody reads it any more.
    pub(super) fn is_left(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.0.inner().end.get_or_insert(End::Abandoned);
        self.0.filled.notify_one();
    }
}

/// The item for a viewer that was too slow.
pub(super) fn lagged() -> FeedItem {
    let detail = "this reader was too slow; a snapshot follows".to_owned();
    FeedItem::Diagnostic { code: DiagnosticCode::Lagged, detail }
}

fn size(item: &FeedItem) -> (usize, usize) {
    match item {
        FeedItem::Snapshot { records, .. } | FeedItem::Records { records, .. } => {
            (records.iter().map(bytes::Bytes::len).sum(), records.len())
        }
        FeedItem::Diagnostic { .. } | FeedItem::Closed { .. } => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn records(bytes: usize) -> FeedItem {
        let records = vec![Bytes::from(vec![b' '; bytes])];
        FeedItem::Records { after: "a".to_owned(), cursor: "b".to_owned(), records }
    }

    #[tokio::test]
    async fn a_viewer_that_reads_too_slowly_loses_what_waits_and_learns_it() {
        let (feeder, queue) = Queue::new();
        assert!(feeder.put(records(BYTES_MAX + 1)), "one alone may be as long as it is");
        assert!(!feeder.put(records(1)));
        assert!(matches!(queue.take().await, Taken::Lagged));
    }

    #[tokio::test]
    async fn what_was_put_before_the_end_is_taken_before_it() {
        let (feeder, queue) = Queue::new();
        assert!(feeder.put(records(1)));
        assert!(!feeder.put(FeedItem::Closed { reason: "pod_gone".to_owned() }));
        drop(feeder);
        assert!(matches!(queue.take().await, Taken::Item(FeedItem::Records { .. })));
        assert!(matches!(queue.take().await, Taken::Item(FeedItem::Closed { .. })));
        assert!(matches!(queue.take().await, Taken::Over));
        let (feeder, queue) = Queue::new();
        assert!(!feeder.is_left());
        drop(feeder);
        assert!(matches!(queue.take().await, Taken::Abandoned));
    }
}
