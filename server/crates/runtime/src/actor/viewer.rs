//! One viewer of one Pod: a cursor, and nothing else that grows.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use pod_store::PodKey;
use protocol::{DiagnosticCode, Seq, WorkerId};
use tokio::sync::watch;

use super::{
    Actors,
    feed::{Feed, Position, TailRead},
};
use crate::{FeedItem, Observation, cursor, encode, records::Rows, view};

/// The most records of one item.
const ITEM_RECORDS_MAX: usize = 2_000;
/// The approximate most bytes of one item.
const ITEM_BYTES_MAX: usize = 512 * 1024;
/// The most records of a snapshot; the chunks of an open block may add to it.
const SNAPSHOT_RECORDS_MAX: u32 = 2_000;

struct Viewer {
    inner: Arc<Actors>,
    worker_id: WorkerId,
    key: PodKey,
    feed: Arc<Feed>,
    position: watch::Receiver<Position>,
    /// The position of the last record that it was sent, for the metrics.
    sent: Arc<AtomicI64>,
    tail: u32,
    next: Next,
}

enum Next {
    /// Report why the cursor is unusable, then send a snapshot.
    Diagnostic(DiagnosticCode, String),
    Snapshot,
    /// Records after `after`. If `is_live`, the tail has been reached once, so falling out of it counts as lag.
    Records {
        after: Seq,
        is_live: bool,
    },
    Closed,
    Done,
}

/// Begins to observe. Never fails: errors are reported in the stream.
pub(crate) async fn observe(inner: Arc<Actors>, worker_id: WorkerId, after: Option<String>, tail: u32) -> Observation {
    match Viewer::new(inner, worker_id, after, tail).await {
        Ok(viewer) => stream::unfold(viewer, |mut viewer| async move {
            let item = viewer.next().await?;
            Some((item, viewer))
        })
        .boxed(),
        Err((code, detail)) => {
            stream::iter([FeedItem::Diagnostic { code, detail }, FeedItem::Closed { reason: code.as_str().to_owned() }])
                .boxed()
        }
    }
}

impl Viewer {
    async fn new(
        inner: Arc<Actors>,
        worker_id: WorkerId,
        after: Option<String>,
        tail: u32,
    ) -> Result<Self, (DiagnosticCode, String)> {
        let unavailable = |error: protocol::ApiError| (DiagnosticCode::RuntimeUnavailable, error.detail);
        let row = inner.settled_row(&worker_id).await.map_err(unavailable)?;
        let Some(row) = row else {
            return Err((DiagnosticCode::PodNotFound, format!("no Pod has the id {worker_id}")));
        };
        let feed = inner.feed(&row).await.map_err(|error| unavailable(error.into()))?;
        let decoded = |head| after.as_deref().map(|text| cursor::decode(text, inner.store.epoch(), &worker_id, head));
        let mut known = decoded(feed.head());
        if matches!(known, Some(Err(_))) && inner.store.hosts().is_shared() {
            // This host's own task may not know yet that what it wrote is committed; other hosts show it already.
            inner.follow_now(&feed).await.map_err(|error| unavailable(error.into()))?;
            known = decoded(feed.head());
        }
        feed.viewers.fetch_add(1, Ordering::AcqRel);
        inner.viewers.fetch_add(1, Ordering::Relaxed);
        let mut position = feed.watch();
        let head = position.borrow_and_update().head;
        let next = match known {
            None => Next::Snapshot,
            Some(Ok(after)) => Next::Records { after, is_live: false },
            Some(Err(bad)) => Next::Diagnostic(bad.code, format!("{}; a snapshot follows", bad.detail)),
        };
        let tail = tail.min(SNAPSHOT_RECORDS_MAX);
        let sent = feed.begin_sending(if let Next::Records { after, .. } = &next { *after } else { head });
        let viewer = Self { inner, worker_id, key: row.key, feed, position, sent, tail, next };
        if let Ok(above) = viewer.inner.above() {
            above.mark_read(&viewer.worker_id, viewer.key, &viewer.feed).await;
        }
        Ok(viewer)
    }

    fn cursor(&self, seq: Seq) -> String {
        cursor::encode(self.inner.store.epoch(), &self.worker_id, seq)
    }

    fn shown(&self, records: Vec<Bytes>) -> Vec<Bytes> {
        match self.feed.policy {
            protocol::ReasoningPolicy::Full => records,
            policy => records.into_iter().map(|body| encode::visible(policy, body)).collect(),
        }
    }

    async fn next(&mut self) -> Option<FeedItem> {
        loop {
            match &self.next {
                Next::Diagnostic(code, detail) => {
                    let item = FeedItem::Diagnostic { code: *code, detail: detail.clone() };
                    self.next = Next::Snapshot;
                    return Some(item);
                }
                Next::Snapshot => return Some(self.snapshot().await),
                Next::Records { after, is_live } => {
                    let (after, is_live) = (*after, *is_live);
                    if let Some(item) = self.records(after, is_live).await {
                        return Some(item);
                    }
                }
                Next::Closed => {
                    self.next = Next::Done;
                    return Some(FeedItem::Closed { reason: DiagnosticCode::PodGone.as_str().to_owned() });
                }
                Next::Done => return None,
            }
        }
    }

    fn gone(&mut self) -> FeedItem {
        self.next = Next::Closed;
        FeedItem::Diagnostic { code: DiagnosticCode::PodGone, detail: "the Pod was deleted".to_owned() }
    }

    fn unavailable(&mut self, error: &dyn std::fmt::Display) -> FeedItem {
        tracing::warn!(%error, worker_id = %self.worker_id, "a viewer could not read the journal");
        self.next = Next::Done;
        FeedItem::Closed { reason: DiagnosticCode::RuntimeUnavailable.as_str().to_owned() }
    }

    async fn snapshot(&mut self) -> FeedItem {
        let rows = Rows { store: &self.inner.store, key: self.key, policy: self.feed.policy };
        let read = rows.newest(self.tail).await;
        // The summary is read after the records, so it may be newer than they are but never older.
        let row = self.inner.store.pods().find(&self.worker_id).await;
        match (read, row) {
            (Ok(newest), Ok(Some(row))) => {
                let summary = self.inner.with_outage(vec![view::summary(&row)]).pop();
                let mut summary = summary.unwrap_or_else(|| view::summary(&row));
                summary.head_seq = newest.head;
                self.sent.store(newest.head.0, Ordering::Relaxed);
                self.next = Next::Records { after: newest.head, is_live: true };
                FeedItem::Snapshot {
                    cursor: self.cursor(newest.head),
                    summary: Box::new(summary),
                    records: newest.records,
                    has_more: newest.has_more,
                }
            }
            (_, Ok(None)) => self.gone(),
            (Err(error), _) => self.unavailable(&error),
            (_, Err(error)) => self.unavailable(&error),
        }
    }

    /// What comes after `after`, or `None` if there is nothing to send yet and only the state advanced.
    async fn records(&mut self, after: Seq, is_live: bool) -> Option<FeedItem> {
        let position = *self.position.borrow_and_update();
        if position.gone {
            return Some(self.gone());
        }
        match self.feed.read(after, ITEM_RECORDS_MAX, ITEM_BYTES_MAX) {
            TailRead::Records(records, last) => Some(self.item(after, last, records, true)),
            TailRead::Nothing => {
                self.next = Next::Records { after, is_live: true };
                // This fails when the host is gone, and then the process is about to exit.
                match self.position.changed().await {
                    Ok(()) => None,
                    Err(_) => {
                        self.next = Next::Done;
                        None
                    }
                }
            }
            TailRead::Behind if is_live => {
                let detail = "this reader was too slow; a snapshot follows".to_owned();
                self.next = Next::Snapshot;
                Some(FeedItem::Diagnostic { code: DiagnosticCode::Lagged, detail })
            }
            TailRead::Behind => self.stored_records(after).await,
        }
    }

    async fn stored_records(&mut self, after: Seq) -> Option<FeedItem> {
        let read = self.inner.store.journals().after(self.key, after, ITEM_RECORDS_MAX as u32, ITEM_BYTES_MAX).await;
        match read {
            Ok(rows) => match rows.last().map(|row| row.seq) {
                Some(last) => {
                    let records = rows.into_iter().map(|row| row.body).collect();
                    Some(self.item(after, last, records, false))
                }
                None => {
                    // Everything up to the head was folded away under this reader.
                    self.next = Next::Records { after: self.position.borrow().head.max(after.next()), is_live: false };
                    None
                }
            },
            Err(error) => Some(self.unavailable(&error)),
        }
    }

    fn item(&mut self, after: Seq, last: Seq, records: Vec<Bytes>, is_live: bool) -> FeedItem {
        self.sent.store(last.0, Ordering::Relaxed);
        self.next = Next::Records { after: last, is_live };
        FeedItem::Records { after: self.cursor(after), cursor: self.cursor(last), records: self.shown(records) }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.feed.end_sending(&self.sent);
        self.feed.viewers.fetch_sub(1, Ordering::AcqRel);
        self.inner.viewers.fetch_sub(1, Ordering::Relaxed);
        self.inner.feeds.release(&self.worker_id, &self.feed);
    }
}
