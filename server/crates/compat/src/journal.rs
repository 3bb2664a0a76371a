//! An older Pod's events as records with seqs of our own: the single sequencer of its socket.
//!
//! Held in memory with a size limit. Each connection, and each time that the Pod restarts its view, has an epoch; a
//! cursor of an earlier epoch is reported as expired. Seqs continue across epochs, so none is ever used twice.

mod rows;

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use jiff::Timestamp;
use protocol::Seq;
use runtime::RecordForm;
use tokio::sync::watch;

pub(crate) use self::rows::{Draft, Page};
use self::rows::{Row, Rows};

/// A live reader that is this many records behind is told `lagged` …
const UNSENT_RECORDS_MAX: usize = 10_000;
/// … or this many bytes.
const UNSENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The journal's position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) epoch: u64,
    pub(crate) head: Seq,
}

/// What there is to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    Records(Vec<Bytes>, Seq),
    Nothing,
    /// The view has been restarted since.
    Anew,
    /// There is too much to read, or it is no longer kept.
    Behind,
}

#[derive(Debug, Default)]
pub(crate) struct Journal {
    rows: Mutex<Rows>,
    position: watch::Sender<Position>,
}

impl Journal {
    /// Drops all records and starts a new epoch with these; readers see all of them or none. Returns the new head.
    pub(crate) fn begin(&self, drafts: Vec<Draft>) -> Seq {
        let mut rows = self.lock();
        rows.begin();
        self.append(rows, drafts)
    }

    /// Appends records; returns the new head.
    pub(crate) fn push(&self, drafts: Vec<Draft>) -> Seq {
        match drafts.is_empty() {
            true => self.lock().head,
            false => self.append(self.lock(), drafts),
        }
    }

    fn append(&self, mut rows: MutexGuard<'_, Rows>, drafts: Vec<Draft>) -> Seq {
        drafts.into_iter().for_each(|draft| rows.add(draft));
        let position = Position { epoch: rows.epoch, head: rows.head };
        drop(rows);
        self.position.send_replace(position);
        position.head
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Position> {
        self.position.subscribe()
    }

    pub(crate) fn position(&self) -> Position {
        *self.position.borrow()
    }

    /// When the newest record was made.
    pub(crate) fn updated_at(&self) -> Option<Timestamp> {
        self.lock().updated_at
    }

    /// All records kept.
    pub(crate) fn all(&self) -> Vec<Bytes> {
        self.lock().kept.iter().map(|row| row.body.clone()).collect()
    }

    /// The newest records, at most `limit`, preceded by the earlier chunks of a block that is open at their start;
    /// limited to the size of a page.
    pub(crate) fn newest(&self, limit: usize, form: RecordForm) -> Page {
        let rows = self.lock();
        let page = rows.page(rows.newest(limit), rows.kept.len(), form);
        drop(rows);
        page.shown(form)
    }

    /// The newest `limit` records before a seq.
    pub(crate) fn before(&self, before: Seq, limit: usize, form: RecordForm) -> Page {
        let rows = self.lock();
        let end = rows.at(before);
        let page = rows.page(end.saturating_sub(limit), end, form);
        drop(rows);
        page.shown(form)
    }

    /// Reads what follows a position. `is_live`: whether this reader has been at the head before.
    pub(crate) fn read(&self, epoch: u64, after: Seq, is_live: bool, records_max: usize, bytes_max: usize) -> Tail {
        let rows = self.lock();
        if epoch != rows.epoch {
            return Tail::Anew;
        }
        if after < rows.after {
            return Tail::Behind;
        }
        let start = rows.at(after.next());
        let Some(first) = rows.kept.get(start) else { return Tail::Nothing };
        let (unsent, bytes) = (rows.kept.len() - start, rows.written - first.offset);
        if is_live && (unsent > UNSENT_RECORDS_MAX || bytes > UNSENT_BYTES_MAX && unsent > 1) {
            return Tail::Behind;
        }
        let mut bytes = 0;
        let fits = |row: &&Row| {
            let is_first = bytes == 0;
            bytes += row.body.len();
            is_first || bytes <= bytes_max
        };
        let read: Vec<&Row> = rows.kept.range(start..).take(records_max).take_while(fits).collect();
        let last = read.last().map_or(after, |row| row.seq);
        Tail::Records(read.into_iter().map(|row| row.body.clone()).collect(), last)
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().expect("no holder of the journal panics")
    }
}

#[cfg(test)]
mod tests {
    use protocol::{PAGE_BYTES_MAX, Record, TurnEvent};

    use super::{
        rows::{BYTES_MAX, RECORDS_MAX},
        *,
    };

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
        let journal = Journal::default();
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
        let journal = Journal::default();
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
        let journal = Journal::default();
        journal.begin(Vec::new());
        let text = "x".repeat(1024 * 1024);
        for _ in 0..100 {
            journal.push(vec![chunk(&text)]);
        }
        let rows = journal.lock();
        assert!(rows.bytes <= BYTES_MAX, "{}", rows.bytes);
        drop(rows);
        assert_eq!(journal.read(1, Seq(0), false, 10, 1 << 20), Tail::Behind);
        journal.push((0..RECORDS_MAX * 2).map(|_| chunk("")).collect());
        assert!(journal.lock().kept.len() <= RECORDS_MAX);
    }

    #[test]
    fn a_viewer_that_comes_mid_stream_gets_the_open_block_from_its_beginning() {
        let journal = Journal::default();
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
        let journal = Journal::default();
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
