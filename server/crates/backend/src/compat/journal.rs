//! What an older Pod has shown, as records with seqs of our own: the one sequencer of its socket.
//!
//! It is in memory and bounded. Each connection, and each time that the Pod begins its view again, has an epoch; a cursor
//! of an earlier epoch has expired, and says so. Seqs go on over epochs, so none is ever used for two things.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard},
};

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{CUT_BYTES_MAX, Event, PAGE_BYTES_MAX, Record, SHOWN_BYTES_MAX, Seq, TurnEvent};
use runtime::RecordForm;
use tokio::sync::watch;

/// Records that are kept of one Pod; the oldest go first.
const RECORDS_MAX: usize = 50_000;
/// Bytes that are kept of one Pod, about.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// A live reader that has this many records before it is told `lagged` …
const UNSENT_RECORDS_MAX: usize = 10_000;
/// … or this many bytes.
const UNSENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A record before it has its seq.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) at: Timestamp,
    pub(super) run_id: Option<String>,
    pub(super) event: Event,
}

/// Where the journal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) epoch: u64,
    pub(super) head: Seq,
}

/// Records and where they end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) epoch: u64,
    pub(super) records: Vec<Bytes>,
    /// Seq of the first of them.
    pub(super) first: Seq,
    /// Seq of the last of them, or of the head.
    pub(super) last: Seq,
    /// Older ones are kept.
    pub(super) has_more: bool,
}

/// What there is for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    Records(Vec<Bytes>, Seq),
    Nothing,
    /// The view was begun anew since.
    Anew,
    /// What comes next is too much, or no longer kept.
    Behind,
}

#[derive(Debug)]
pub(super) struct Journal {
    kept: Mutex<Kept>,
    position: watch::Sender<Position>,
}

#[derive(Debug)]
struct Kept {
    epoch: u64,
    head: Seq,
    /// What is after this is kept, but for chunks that were folded away.
    after: Seq,
    records: VecDeque<Row>,
    bytes: usize,
    /// Bytes of all records ever, to tell how far a reader is behind.
    written: u64,
    /// The first chunk of each block that has no end yet.
    open: HashMap<String, Seq>,
    updated_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Row {
    seq: Seq,
    body: Bytes,
    /// [`Kept::written`] before it.
    offset: u64,
    /// The block that it is a piece of.
    chunk: Option<String>,
}

impl Journal {
    pub(super) fn new() -> Self {
        let kept = Kept {
            epoch: 0,
            head: Seq(0),
            after: Seq(0),
            records: VecDeque::new(),
            bytes: 0,
            written: 0,
            open: HashMap::new(),
            updated_at: None,
        };
        Self { kept: Mutex::new(kept), position: watch::Sender::new(Position { epoch: 0, head: Seq(0) }) }
    }

    /// Drops all records and begins a new epoch with these; a reader sees all of them or none.
    pub(super) fn begin(&self, drafts: Vec<Draft>) -> Seq {
        let mut kept = self.lock();
        kept.epoch += 1;
        kept.after = kept.head;
        kept.records.clear();
        kept.bytes = 0;
        kept.open.clear();
        self.append(kept, drafts)
    }

    /// Adds records; the new head.
    pub(super) fn push(&self, drafts: Vec<Draft>) -> Seq {
        match drafts.is_empty() {
            true => self.lock().head,
            false => self.append(self.lock(), drafts),
        }
    }

    fn append(&self, mut kept: MutexGuard<'_, Kept>, drafts: Vec<Draft>) -> Seq {
        drafts.into_iter().for_each(|draft| kept.add(draft));
        let position = Position { epoch: kept.epoch, head: kept.head };
        drop(kept);
        self.position.send_replace(position);
        position.head
    }

    pub(super) fn watch(&self) -> watch::Receiver<Position> {
        self.position.subscribe()
    }

    pub(super) fn position(&self) -> Position {
        *self.position.borrow()
    }

    /// When the newest record was made.
    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        self.lock().updated_at
    }

    /// All that is kept.
    pub(super) fn all(&self) -> Vec<Bytes> {
        self.lock().records.iter().map(|row| row.body.clone()).collect()
    }

    /// The newest records, at most `limit`, and before them what an open block at their head has said already; of all that as
    /// much as a page has room for.
    pub(super) fn newest(&self, limit: usize, form: RecordForm) -> Page {
        let kept = self.lock();
        let mut start = kept.records.len().saturating_sub(limit);
        if kept.records.get(start).is_some_and(|row| row.chunk.is_some())
            && let Some(first) = kept.open.values().min()
        {
            start = start.min(kept.at(*first));
        }
        let page = kept.page(start, kept.records.len(), form);
        drop(kept);
        page.shown(form)
    }

    /// The newest `limit` of the records before a seq.
    pub(super) fn before(&self, before: Seq, limit: usize, form: RecordForm) -> Page {
        let kept = self.lock();
        let end = kept.at(before);
        let page = kept.page(end.saturating_sub(limit), end, form);
        drop(kept);
        page.shown(form)
    }

    /// What is after a position; `is_live`: this reader has been at the head once.
    pub(super) fn read(&self, epoch: u64, after: Seq, is_live: bool, records_max: usize, bytes_max: usize) -> Tail {
        let kept = self.lock();
        if epoch != kept.epoch {
            return Tail::Anew;
        }
        if after < kept.after {
            return Tail::Behind;
        }
        let start = kept.at(after.next());
        let Some(first) = kept.records.get(start) else { return Tail::Nothing };
        let (unsent, bytes) = (kept.records.len() - start, kept.written - first.offset);
        if is_live && (unsent > UNSENT_RECORDS_MAX || bytes > UNSENT_BYTES_MAX && unsent > 1) {
            return Tail::Behind;
        }
        let mut bytes = 0;
        let fits = |row: &&Row| {
            let is_first = bytes == 0;
            bytes += row.body.len();
            is_first || bytes <= bytes_max
        };
        let rows: Vec<&Row> = kept.records.range(start..).take(records_max).take_while(fits).collect();
        let last = rows.last().map_or(after, |row| row.seq);
        Tail::Records(rows.into_iter().map(|row| row.body.clone()).collect(), last)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no holder of the journal panics")
    }
}

impl Page {
    /// Its records as they are asked for.
    fn shown(mut self, form: RecordForm) -> Self {
        if form == RecordForm::Shown {
            for record in &mut self.records {
                if let Some(cut) = protocol::cut_record(record, SHOWN_BYTES_MAX) {
                    *record = cut.into();
                }
            }
        }
        self
    }
}

impl Kept {
    /// Index of the first record that is not before a seq.
    fn at(&self, seq: Seq) -> usize {
        self.records.partition_point(|row| row.seq < seq)
    }

    /// From `start` on, or from where the rest fits.
    fn page(&self, start: usize, end: usize, form: RecordForm) -> Page {
        let each = if form == RecordForm::Whole { usize::MAX } else { SHOWN_BYTES_MAX };
        let mut bytes = 0;
        let fits = |row: &&Row| {
            let is_first = bytes == 0;
            let own = row.body.len();
            bytes += if own <= each { own } else { CUT_BYTES_MAX };
            is_first || bytes <= PAGE_BYTES_MAX
        };
        let start = end - self.records.range(start..end).rev().take_while(fits).count();
        let rows = self.records.range(start..end);
        let first = self.records.get(start).map_or(self.head, |row| row.seq);
        let last = match end == self.records.len() {
            true => self.head,
            false => self.records.get(end.wrapping_sub(1)).map_or(self.after, |row| row.seq),
        };
        let records = rows.map(|row| row.body.clone()).collect();
        Page { epoch: self.epoch, records, first, last, has_more: start > 0 }
    }

    fn add(&mut self, Draft { at, run_id, event }: Draft) {
        self.head = self.head.next();
        self.updated_at = Some(at);
        let (chunk, ended) = block_of(&event);
        if let Some(block) = &ended {
            self.fold(block);
        }
        if let Some(block) = &chunk {
            self.open.entry(block.clone()).or_insert(self.head);
        }
        let record = Record { seq: self.head, at, run_id, event, cut: None };
        let body: Bytes = serde_json::to_vec(&record).expect("protocol types always encode").into();
        let (size, offset) = (body.len(), self.written);
        self.bytes += size;
        self.written += size as u64;
        self.records.push_back(Row { seq: self.head, body, offset, chunk });
        while self.records.len() > RECORDS_MAX || (self.bytes > BYTES_MAX && self.records.len() > 1) {
            let Some(row) = self.records.pop_front() else { break };
            self.bytes -= row.body.len();
            self.after = row.seq;
        }
    }

    /// Drops the pieces of a block that is now there as a whole.
    fn fold(&mut self, block: &str) {
        let Some(first) = self.open.remove(block) else { return };
        let start = self.at(first);
        let newer = self.records.split_off(start);
        for row in newer {
            match row.chunk.as_deref() == Some(block) {
                true => self.bytes -= row.body.len(),
                false => self.records.push_back(row),
            }
        }
    }
}

/// The block that a record is a piece of, and the one whose pieces it takes the place of.
fn block_of(event: &Event) -> (Option<String>, Option<String>) {
    use TurnEvent as E;
    match event {
        Event::Turn(E::TextChunk { block, .. } | E::ReasoningChunk { block, .. } | E::ToolArgsChunk { block, .. }) => {
            (Some(block.clone()), None)
        }
        Event::Turn(
            E::MessageFinished { block, .. } | E::ReasoningFinished { block, .. } | E::ToolCalled { block, .. },
        ) => (None, Some(block.clone())),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(event: TurnEvent) -> Draft {
        Draft { at: Timestamp::UNIX_EPOCH, run_id: None, event: event.into() }
    }

    fn chunk(text: &str) -> Draft {
        draft(TurnEvent::TextChunk { block: "b".into(), text: text.into() })
    }

    fn whole(text: &str) -> Draft {
        draft(TurnEvent::MessageFinished { block: "b".into(), text: text.into(), interrupted: false })
    }

    fn seqs(records: &[Bytes]) -> Vec<i64> {
        records.iter().map(|body| serde_json::from_slice::<Record>(body).unwrap().seq.0).collect()
    }

    fn after(journal: &Journal, epoch: u64, seq: i64) -> Vec<i64> {
        match journal.read(epoch, Seq(seq), false, 1_000, 1 << 20) {
            Tail::Records(records, _) => seqs(&records),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_whole_of_a_block_takes_the_place_of_its_pieces_and_seqs_are_never_used_again() {
        let journal = Journal::new();
        journal.begin(vec![whole("earlier")]);
        journal.push(vec![chunk("a"), chunk("b")]);
        assert_eq!(after(&journal, 1, 1), [2, 3]);
        journal.push(vec![whole("ab")]);
        assert_eq!(after(&journal, 1, 2), [4]);
        assert_eq!(seqs(&journal.newest(10, RecordForm::Shown).records), [1, 4]);
        assert_eq!(journal.begin(vec![whole("again")]), Seq(5));
        assert_eq!(seqs(&journal.newest(10, RecordForm::Shown).records), [5]);
    }

    #[test]
    fn a_reader_of_an_earlier_epoch_is_told_and_one_that_is_too_slow_too() {
        let journal = Journal::new();
        journal.begin(vec![whole("a")]);
        journal.begin(Vec::new());
        assert_eq!(journal.read(1, Seq(1), true, 10, 1 << 20), Tail::Anew);
        assert_eq!(journal.read(2, Seq(1), true, 10, 1 << 20), Tail::Nothing);
        journal.push((0..=UNSENT_RECORDS_MAX).map(|_| whole("x")).collect());
        assert_eq!(journal.read(2, Seq(1), true, 10, 1 << 20), Tail::Behind);
        assert_eq!(after(&journal, 2, 1).len(), 1_000, "one that comes back may be further behind");
    }

    #[test]
    fn memory_is_bounded_whatever_a_pod_sends() {
        let journal = Journal::new();
        journal.begin(Vec::new());
        let text = "x".repeat(1024 * 1024);
        for _ in 0..100 {
            journal.push(vec![chunk(&text)]);
        }
        let kept = journal.lock();
        assert!(kept.bytes <= BYTES_MAX, "{}", kept.bytes);
        drop(kept);
        assert_eq!(journal.read(1, Seq(0), false, 10, 1 << 20), Tail::Behind);
        journal.push((0..RECORDS_MAX * 2).map(|_| chunk("")).collect());
        assert!(journal.lock().records.len() <= RECORDS_MAX);
    }

    #[test]
    fn who_comes_in_mid_stream_gets_the_open_block_from_its_beginning() {
        let journal = Journal::new();
        journal.begin((0..5).map(|_| whole("x")).collect());
        journal.push((0..20).map(|_| chunk("y")).collect());
        let page = journal.newest(3, RecordForm::Shown);
        assert_eq!((page.first, page.last, page.has_more), (Seq(6), Seq(25), true));
        let older = journal.before(page.first, 2, RecordForm::Shown);
        assert_eq!((seqs(&older.records), older.has_more), (vec![4, 5], true));
        assert!(!journal.before(Seq(2), 10, RecordForm::Shown).has_more);
        assert!(journal.before(Seq(0), 10, RecordForm::Shown).records.is_empty());
    }

    #[test]
    fn a_page_is_as_large_as_it_may_be_and_the_rest_is_behind_it() {
        let journal = Journal::new();
        let long = "x".repeat(PAGE_BYTES_MAX / 2);
        journal.begin((0..30).map(|_| whole(&long)).collect());
        let bytes = |page: &Page| page.records.iter().map(Bytes::len).sum::<usize>();
        let page = journal.newest(100, RecordForm::Shown);
        assert!(bytes(&page) <= PAGE_BYTES_MAX && page.records.len() > 5 && page.has_more, "{}", bytes(&page));
        let mut seen = page.records.len();
        let mut before = page.first;
        while seen < 30 {
            let page = journal.before(before, 100, RecordForm::Shown);
            assert!(bytes(&page) <= PAGE_BYTES_MAX && !page.records.is_empty());
            (seen, before) = (seen + page.records.len(), page.first);
        }
        let one = journal.before(Seq(30), 100, RecordForm::Whole);
        assert_eq!((one.records.len(), one.first, one.last), (1, Seq(29), Seq(29)));
        assert!(bytes(&one) > long.len());
    }
}
