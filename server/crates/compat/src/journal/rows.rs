//! The records kept of one Pod, newest last, within limits.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{CUT_BYTES_MAX, Event, PAGE_BYTES_MAX, Record, SHOWN_BYTES_MAX, Seq, TurnEvent};
use runtime::RecordForm;

/// The maximum number of records per Pod; the oldest go first.
pub(super) const RECORDS_MAX: usize = 50_000;
/// The approximate limit of their size, in bytes.
pub(super) const BYTES_MAX: usize = 32 * 1024 * 1024;

/// A record without its seq.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) at: Timestamp,
    pub(crate) run_id: Option<String>,
    pub(crate) event: Event,
}

/// Records and their position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) epoch: u64,
    pub(crate) records: Vec<Bytes>,
    /// Seq of the first one.
    pub(crate) first: Seq,
    /// Seq of the last one, or the head.
    pub(crate) last: Seq,
    /// Whether older ones are kept.
    pub(crate) has_more: bool,
}

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) epoch: u64,
    pub(super) head: Seq,
    /// Everything after this is kept, apart from chunks that were folded away.
    pub(super) after: Seq,
    pub(super) kept: VecDeque<Row>,
    pub(super) bytes: usize,
    /// Total bytes of all records ever written, to tell how far behind a reader is.
    pub(super) written: u64,
    /// The first chunk of each unfinished block.
    open: HashMap<String, Seq>,
    pub(super) updated_at: Option<Timestamp>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) seq: Seq,
    pub(super) body: Bytes,
    /// [`Rows::written`] before this record.
    pub(super) offset: u64,
    /// The block that it is a chunk of.
    chunk: Option<String>,
}

impl Rows {
    /// Drops all records; seqs continue.
    pub(super) fn begin(&mut self) {
        let (epoch, head) = (self.epoch + 1, self.head);
        *self =
            Self { epoch, head, after: head, written: self.written, updated_at: self.updated_at, ..Self::default() };
    }

    /// Index of the first record at or after a seq.
    pub(super) fn at(&self, seq: Seq) -> usize {
        self.kept.partition_point(|row| row.seq < seq)
    }

    /// Where the newest `limit` records begin, including the earlier chunks of a block that is open there.
    pub(super) fn newest(&self, limit: usize) -> usize {
        let start = self.kept.len().saturating_sub(limit);
        let is_in_block = self.kept.get(start).is_some_and(|row| row.chunk.is_some());
        match self.open.values().min().filter(|_| is_in_block) {
            Some(first) => start.min(self.at(*first)),
            None => start,
        }
    }

    /// The records from `start` on, or as many of the last ones as fit.
    pub(super) fn page(&self, start: usize, end: usize, form: RecordForm) -> Page {
        let each = if form == RecordForm::Whole { usize::MAX } else { SHOWN_BYTES_MAX };
        let mut bytes = 0;
        let fits = |row: &&Row| {
            let is_first = bytes == 0;
            let own = row.body.len();
            bytes += if own <= each { own } else { CUT_BYTES_MAX };
            is_first || bytes <= PAGE_BYTES_MAX
        };
        let start = end - self.kept.range(start..end).rev().take_while(fits).count();
        let rows = self.kept.range(start..end);
        let first = self.kept.get(start).map_or(self.head, |row| row.seq);
        let last = match end == self.kept.len() {
            true => self.head,
            false => self.kept.get(end.wrapping_sub(1)).map_or(self.after, |row| row.seq),
        };
        let records = rows.map(|row| row.body.clone()).collect();
        Page { epoch: self.epoch, records, first, last, has_more: start > 0 }
    }

    pub(super) fn add(&mut self, Draft { at, run_id, event }: Draft) {
        self.head = self.head.next();
        self.updated_at = Some(at);
        let chunk = match block_of(&event) {
            Some((block, true)) => {
                self.open.entry(block.clone()).or_insert(self.head);
                Some(block.clone())
            }
            Some((block, false)) => {
                self.fold(block);
                None
            }
            None => None,
        };
        let record = Record { seq: self.head, at, run_id, event, cut: None };
        let body: Bytes = serde_json::to_vec(&record).expect("protocol types always encode").into();
        let (size, offset) = (body.len(), self.written);
        self.bytes += size;
        self.written += size as u64;
        self.kept.push_back(Row { seq: self.head, body, offset, chunk });
        while self.kept.len() > RECORDS_MAX || (self.bytes > BYTES_MAX && self.kept.len() > 1) {
            let Some(row) = self.kept.pop_front() else { break };
            self.bytes -= row.body.len();
            self.after = row.seq;
        }
    }

    /// Drops the chunks of a block that is now complete.
    fn fold(&mut self, block: &str) {
        let Some(first) = self.open.remove(block) else { return };
        let start = self.at(first);
        let newer = self.kept.split_off(start);
        for row in newer {
            match row.chunk.as_deref() == Some(block) {
                true => self.bytes -= row.body.len(),
                false => self.kept.push_back(row),
            }
        }
    }
}

impl Page {
    /// Its records in the requested form.
    pub(super) fn shown(mut self, form: RecordForm) -> Self {
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

/// The block that a record belongs to, and whether it is one of its chunks or replaces them.
fn block_of(event: &Event) -> Option<(&String, bool)> {
    use TurnEvent as E;
    let Event::Turn(event) = event else { return None };
    match event {
        E::TextChunk { block, .. } | E::ReasoningChunk { block, .. } | E::ToolArgsChunk { block, .. } => {
            Some((block, true))
        }
        E::MessageFinished { block, .. } | E::ReasoningFinished { block, .. } | E::ToolCalled { block, .. } => {
            Some((block, false))
        }
        _ => None,
    }
}
