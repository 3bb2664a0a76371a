//! One Pod's live tail. Wake-ups carry no data: a reader learns that the head moved and reads after its own cursor
//! (I6), from this tail or, if it is further behind, from the store.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use jiff::Timestamp;
use pod_store::PodKey;
use protocol::{ReasoningPolicy, Seq};
use serde::Deserialize;
use tokio::sync::watch;

/// A live reader with more unsent records than this is told `lagged`.
pub(crate) const TAIL_RECORDS_MAX: usize = 10_000;
/// The same limit in bytes.
pub(crate) const TAIL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Where a Pod's journal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) head: Seq,
    /// The Pod was deleted.
    pub(crate) gone: bool,
}

/// Shared by a Pod's task and its viewers; dropped when there are neither.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) key: PodKey,
    tail: Mutex<Tail>,
    position: watch::Sender<Position>,
    pub(crate) policy: ReasoningPolicy,
    /// The number of current viewers.
    pub(crate) viewers: AtomicU32,
    /// Answers finished since the Pod was last viewed.
    pub(crate) unread: AtomicU32,
    /// How far each of the current viewers was sent the journal.
    sent: Mutex<Vec<Arc<AtomicI64>>>,
}

/// The part of a record that says when it was committed.
#[derive(Deserialize)]
struct Dated {
    at: Timestamp,
}

#[derive(Debug)]
struct Tail {
    /// `records` holds everything after this.
    after: Seq,
    records: VecDeque<(Seq, Bytes)>,
    bytes: usize,
}

/// What the tail has for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TailRead {
    Records(Vec<Bytes>, Seq),
    /// The reader's next record is no longer in the tail.
    Behind,
    Nothing,
}

impl Feed {
    pub(crate) fn new(key: PodKey, head: Seq, policy: ReasoningPolicy, unread: u32) -> Self {
        Self {
            key,
            tail: Mutex::new(Tail { after: head, records: VecDeque::new(), bytes: 0 }),
            position: watch::Sender::new(Position { head, gone: false }),
            policy,
            viewers: AtomicU32::new(0),
            unread: AtomicU32::new(unread),
            sent: Mutex::default(),
        }
    }

    /// The newest record published here.
    pub(crate) fn head(&self) -> Seq {
        self.position.borrow().head
    }

    /// True if the Pod has viewers on this host.
    pub(crate) fn is_watched(&self) -> bool {
        self.viewers.load(Ordering::Acquire) > 0
    }

    /// Publishes committed records. Skips those already published: a Pod's task and a reader of its journal may both
    /// bring the same ones.
    pub(crate) fn publish(&self, records: impl IntoIterator<Item = (Seq, Bytes)>) {
        let mut tail = self.tail.lock().expect("no holder of the tail panics");
        let mut head = None;
        let mut shown = tail.records.back().map_or(tail.after, |(seq, _)| *seq);
        for (seq, body) in records {
            if seq <= shown {
                continue;
            }
            shown = seq;
            tail.bytes += body.len();
            tail.records.push_back((seq, body));
            head = Some(seq);
        }
        while tail.records.len() > TAIL_RECORDS_MAX || tail.bytes > TAIL_BYTES_MAX {
            let Some((seq, body)) = tail.records.pop_front() else { break };
            tail.bytes -= body.len();
            tail.after = seq;
        }
        drop(tail);
        if let Some(head) = head {
            self.position.send_modify(|position| position.head = position.head.max(head));
        }
    }

    /// A viewer begins: where it keeps the position of the last record that it was sent.
    pub(crate) fn begin_sending(&self, from: Seq) -> Arc<AtomicI64> {
        let sent = Arc::new(AtomicI64::new(from.0));
        self.sent.lock().expect("no holder of the positions panics").push(sent.clone());
        sent
    }

    /// The viewer of this position has gone.
    pub(crate) fn end_sending(&self, sent: &Arc<AtomicI64>) {
        let mut all = self.sent.lock().expect("no holder of the positions panics");
        all.retain(|one| !Arc::ptr_eq(one, sent));
    }

    /// When the oldest record was committed that a viewer has not been sent; as far as the tail goes back.
    pub(crate) fn oldest_unsent(&self) -> Option<Timestamp> {
        let furthest = {
            let all = self.sent.lock().expect("no holder of the positions panics");
            all.iter().map(|sent| sent.load(Ordering::Relaxed)).min()?
        };
        let tail = self.tail.lock().expect("no holder of the tail panics");
        let next = tail.records.partition_point(|(seq, _)| seq.0 <= furthest);
        let body = tail.records.get(next).map(|(_, body)| body.clone())?;
        drop(tail);
        serde_json::from_slice::<Dated>(&body).ok().map(|dated| dated.at)
    }

    pub(crate) fn tell_gone(&self) {
        self.position.send_modify(|position| position.gone = true);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Position> {
        self.position.subscribe()
    }

    /// Records after `cursor`: at most `records_max` of them and about `bytes_max` bytes.
    pub(crate) fn read(&self, cursor: Seq, records_max: usize, bytes_max: usize) -> TailRead {
        let tail = self.tail.lock().expect("no holder of the tail panics");
        if cursor < tail.after {
            return TailRead::Behind;
        }
        let start = tail.records.partition_point(|(seq, _)| *seq <= cursor);
        let mut bytes = 0;
        let mut last = cursor;
        let mut records = Vec::new();
        for (seq, body) in tail.records.range(start..).take(records_max) {
            if bytes > 0 && bytes + body.len() > bytes_max {
                break;
            }
            bytes += body.len();
            last = *seq;
            records.push(body.clone());
        }
        match records.is_empty() {
            true => TailRead::Nothing,
            false => TailRead::Records(records, last),
        }
    }

    /// Counts a finished answer that nobody watched. Returns the new count if it changed.
    pub(crate) fn count_unread(&self) -> Option<u32> {
        match self.viewers.load(Ordering::Acquire) {
            0 => Some(self.unread.fetch_add(1, Ordering::AcqRel) + 1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed_of(records: i64) -> Feed {
        let feed = Feed::new(PodKey(1), Seq(0), ReasoningPolicy::Full, 0);
        feed.publish((1..=records).map(|seq| (Seq(seq), Bytes::from_static(b"{}"))));
        feed
    }

    #[test]
    fn a_reader_gets_what_is_after_its_cursor_in_bounded_portions() {
        let feed = feed_of(5);
        let two = vec![Bytes::from_static(b"{}"); 2];
        assert_eq!(feed.read(Seq(0), 2, 1024), TailRead::Records(two.clone(), Seq(2)));
        assert_eq!(feed.read(Seq(3), 10, 1024), TailRead::Records(two, Seq(5)));
        assert_eq!(feed.read(Seq(5), 10, 1024), TailRead::Nothing);
        assert_eq!(feed.read(Seq(0), 10, 1), TailRead::Records(vec![Bytes::from_static(b"{}")], Seq(1)));
    }

    #[test]
    fn the_age_of_what_is_unsent_is_that_of_the_viewer_that_is_furthest_behind() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let feed = Feed::new(PodKey(1), Seq(0), ReasoningPolicy::Full, 0);
        feed.publish((1..=3).map(|seq| (Seq(seq), format!(r#"{{"seq":{seq},"at":"{}"}}"#, at(seq)).into())));
        assert_eq!(feed.oldest_unsent(), None, "nobody is there");
        let (quick, slow) = (feed.begin_sending(Seq(3)), feed.begin_sending(Seq(0)));
        assert_eq!(feed.oldest_unsent(), Some(at(1)));
        slow.store(2, Ordering::Relaxed);
        assert_eq!(feed.oldest_unsent(), Some(at(3)));
        feed.end_sending(&slow);
        assert_eq!(feed.oldest_unsent(), None);
        feed.end_sending(&quick);
    }

    #[test]
    fn the_tail_is_bounded_and_tells_a_reader_that_it_is_behind() {
        let feed = feed_of(TAIL_RECORDS_MAX as i64 + 3);
        assert_eq!(feed.read(Seq(2), 1, 1024), TailRead::Behind);
        assert!(matches!(feed.read(Seq(3), 1, 1024), TailRead::Records(_, Seq(4))));
    }
}
