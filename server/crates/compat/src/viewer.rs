//! One viewer of an older Pod: a cursor, and nothing else that grows.
//!
//! A lost connection does not end it: the viewer sees `unreachable`, and once the Pod is back, that its cursor has
//! expired, followed by a snapshot.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use protocol::{DiagnosticCode, Seq, open_cursor, seal_cursor};
use runtime::{FeedItem, Observation, RecordForm};
use tokio::sync::watch;

use crate::{
    journal::{Position, Tail},
    pod::Pod,
};

/// The maximum number of records in one item.
const ITEM_RECORDS_MAX: usize = 2_000;
/// The approximate limit of one item, in bytes.
const ITEM_BYTES_MAX: usize = 512 * 1024;
/// The maximum number of records in a snapshot; an open block may exceed it.
const SNAPSHOT_RECORDS_MAX: u32 = 2_000;

struct Viewer {
    pod: Arc<Pod>,
    position: watch::Receiver<Position>,
    tail: usize,
    next: Next,
}

enum Next {
    /// Report why the cursor is of no use, then send a snapshot.
    Diagnostic(DiagnosticCode, &'static str),
    Snapshot,
    /// `is_live`: the head has been reached once, so falling behind counts as lag.
    Records {
        epoch: u64,
        after: Seq,
        is_live: bool,
    },
    Done,
}

/// Starts observing. Never fails: errors are reported in the stream.
pub(crate) fn observe(pod: Arc<Pod>, after: Option<String>, tail: u32) -> Observation {
    pod.viewers.fetch_add(1, Ordering::AcqRel);
    let position = pod.journal.watch();
    let next = match after {
        None => Next::Snapshot,
        Some(cursor) => read_cursor(&pod, &cursor),
    };
    let tail = tail.clamp(1, SNAPSHOT_RECORDS_MAX) as usize;
    pod.mark_read();
    let viewer = Viewer { pod, position, tail, next };
    stream::unfold(viewer, |mut viewer| async move {
        let item = viewer.next().await?;
        Some((item, viewer))
    })
    .boxed()
}

/// `compat1.INSTANCE.EPOCH.WORKER.SEQ`, sealed: a cursor of another connection is recognized reliably.
fn cursor(pod: &Pod, epoch: u64, seq: Seq) -> String {
    seal_cursor(&format!("compat1.{}.{epoch}.{}.{seq}", pod.instance, pod.worker_id))
}

fn read_cursor(pod: &Pod, cursor: &str) -> Next {
    let invalid = |detail| Next::Diagnostic(DiagnosticCode::CursorInvalid, detail);
    let parts: Vec<&str> = open_cursor(cursor).unwrap_or_default().split('.').collect();
    let ["compat1", instance, epoch, worker, seq] = parts.as_slice() else {
        return invalid("this is not a cursor of an older Pod, or it is damaged; a snapshot follows");
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (Ok(epoch), Ok(seq), true) = (epoch.parse::<u64>(), seq.parse().map(Seq), is_number(epoch) && is_number(seq))
    else {
        return invalid("the cursor is damaged; a snapshot follows");
    };
    if *worker != pod.worker_id.as_str() {
        return invalid("the cursor is another Pod's; a snapshot follows");
    }
    let now = pod.journal.position();
    if *instance != pod.instance || epoch < now.epoch {
        return Next::Diagnostic(DiagnosticCode::CursorExpired, EXPIRED);
    }
    if epoch > now.epoch || seq > now.head {
        return invalid("the cursor is from the future; a snapshot follows");
    }
    Next::Records { epoch, after: seq, is_live: false }
}

const EXPIRED: &str = "the cursor was good for one connection to this older Pod, which is over; a snapshot follows";

impl Viewer {
    async fn next(&mut self) -> Option<FeedItem> {
        loop {
            match self.next {
                Next::Diagnostic(code, detail) => {
                    self.next = Next::Snapshot;
                    return Some(FeedItem::Diagnostic { code, detail: detail.to_owned() });
                }
                Next::Snapshot => return Some(self.snapshot()),
                Next::Records { epoch, after, is_live } => {
                    if let Some(item) = self.records(epoch, after, is_live).await {
                        return Some(item);
                    }
                }
                Next::Done => return None,
            }
        }
    }

    fn snapshot(&mut self) -> FeedItem {
        self.position.mark_unchanged();
        let page = self.pod.journal.newest(self.tail, RecordForm::Shown);
        // The summary is read after the records, so it may be newer than they are but never older.
        let mut summary = self.pod.summary();
        summary.head_seq = page.last;
        self.next = Next::Records { epoch: page.epoch, after: page.last, is_live: true };
        FeedItem::Snapshot {
            cursor: cursor(&self.pod, page.epoch, page.last),
            summary: Box::new(summary),
            records: page.records,
            has_more: page.has_more,
        }
    }

    /// The next item, or `None` if there is nothing to send yet or only the state advanced.
    async fn records(&mut self, epoch: u64, after: Seq, is_live: bool) -> Option<FeedItem> {
        self.position.mark_unchanged();
        match self.pod.journal.read(epoch, after, is_live, ITEM_RECORDS_MAX, ITEM_BYTES_MAX) {
            Tail::Records(records, last) => Some(self.item(epoch, after, last, records, is_live)),
            Tail::Nothing => {
                self.next = Next::Records { epoch, after, is_live: true };
                if self.position.changed().await.is_err() {
                    self.next = Next::Done;
                }
                None
            }
            Tail::Anew => {
                self.next = Next::Diagnostic(DiagnosticCode::CursorExpired, EXPIRED);
                None
            }
            Tail::Behind => {
                let (code, detail) = match is_live {
                    true => (DiagnosticCode::Lagged, "this reader was too slow; a snapshot follows"),
                    false => (DiagnosticCode::CursorExpired, "what follows the cursor is not kept; a snapshot follows"),
                };
                self.next = Next::Diagnostic(code, detail);
                None
            }
        }
    }

    fn item(&mut self, epoch: u64, after: Seq, last: Seq, records: Vec<Bytes>, is_live: bool) -> FeedItem {
        self.next = Next::Records { epoch, after: last, is_live };
        let (after, cursor) = (cursor(&self.pod, epoch, after), cursor(&self.pod, epoch, last));
        FeedItem::Records { after, cursor, records }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.pod.viewers.fetch_sub(1, Ordering::AcqRel);
    }
}
