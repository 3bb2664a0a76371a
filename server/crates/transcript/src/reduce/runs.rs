//! Runs: where each begins and ends, and the retries in it.

use std::collections::HashMap;

use protocol::{CommandId, ControlEvent, Outcome, Record, Timestamp, Trigger, TurnEvent};

use super::commands::Commands;
use crate::{
    Block, BlockKind, PersonState,
    rows::{Key, Rows},
};

#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    /// By run id; records without one share the empty id.
    by_id: HashMap<String, Run>,
    /// How many runs began in here.
    began: u64,
}

#[derive(Debug, Clone, Default)]
struct Run {
    started: Option<Started>,
    ends: Vec<End>,
    /// The retry that a further attempt replaces. Chunks settle it but do not end it, because they may be folded
    /// away.
    retry: Option<Key>,
    /// A retry before any solid record of this run: an older page may have the attempt before it.
    leading_retry: Option<Key>,
    has_chunk: bool,
    has_solid: bool,
}

#[derive(Debug, Clone)]
struct Started {
    at: Timestamp,
    trigger: Trigger,
    command_id: Option<CommandId>,
}

/// One end of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) key: Key,
    pub(super) at: Timestamp,
    /// How many blocks directly before it were closed by it.
    pub(super) closed: usize,
}

/// A record that shows that a run continues, by whether it may be folded away later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thread {
    Chunk,
    Solid,
}

impl Thread {
    /// `None` for events that do not belong to a run's progress.
    pub(super) fn of(event: &TurnEvent) -> Option<Self> {
        use TurnEvent as E;
        match event {
            E::MessageFinished { .. } | E::ReasoningFinished { .. } | E::ToolCalled { .. } | E::ToolFinished { .. } => {
                Some(Self::Solid)
            }
            chunk if chunk.is_chunk() => Some(Self::Chunk),
            _ => None,
        }
    }
}

impl Runs {
    /// `is_whole`: whether the transcript reaches back to the first record, so that turns can be counted.
    pub(super) fn started(
        &mut self,
        rows: &mut Rows,
        record: &Record,
        trigger: Trigger,
        command_id: Option<&CommandId>,
        is_whole: bool,
    ) {
        self.began += 1;
        let number = match is_whole {
            true => Some(self.began),
            false => record.run_id.as_deref().and_then(ordinal),
        };
        rows.add_of(record, BlockKind::Turn { number, trigger });
        self.run(record).started = Some(Started { at: record.at, trigger, command_id: command_id.cloned() });
    }

    /// A model or a tool of this run has produced something, so a retry has succeeded.
    pub(super) fn goes_on(&mut self, rows: &mut Rows, record: &Record, thread: Thread) {
        let run = self.run(record);
        match thread {
            Thread::Chunk => run.has_chunk = true,
            Thread::Solid => run.has_solid = true,
        }
        let Some(key) = run.retry else { return };
        if thread == Thread::Solid {
            run.retry = None;
        }
        settle_retry(rows, key);
    }

    pub(super) fn retry(&mut self, rows: &mut Rows, record: &Record, event: &ControlEvent) {
        let ControlEvent::ProviderRetry { attempt, wait_ms, code, detail } = event else { return };
        let (code, detail) = (code.clone(), detail.clone());
        let kind = BlockKind::Retry { attempt: *attempt, wait_ms: *wait_ms, code, detail, settled: false };
        let run = self.run(record);
        if let Some(block) = run.retry.and_then(|key| rows.edit(key)) {
            block.kind = kind;
            block.last_seq = record.seq;
            return;
        }
        let key = rows.add_of(record, kind);
        run.retry = Some(key);
        if !run.has_solid {
            run.leading_retry = Some(key);
        }
    }

    /// The end of a run, which closed `closed` streaming blocks. Returns the command whose message is returned to its
    /// sender.
    pub(super) fn finished(
        &mut self,
        rows: &mut Rows,
        record: &Record,
        event: &ControlEvent,
        closed: usize,
    ) -> Option<CommandId> {
        let ControlEvent::RunFinished { outcome, code, detail, usage } = event else { return None };
        let run = self.run(record);
        let started = run.started.as_ref();
        let kind = BlockKind::RunEnd {
            outcome: *outcome,
            code: code.clone(),
            detail: detail.clone(),
            usage: *usage,
            started_at: started.map(|started| started.at),
            ended_at: record.at,
            trigger: started.map(|started| started.trigger),
        };
        run.ends.push(End { key: rows.add_of(record, kind), at: record.at, closed });
        let command_id = run.started.as_ref().and_then(|started| started.command_id.clone());
        command_id.filter(|_| *outcome == Outcome::RolledBack)
    }

    /// The first end of this run in here.
    pub(super) fn first_end(&mut self, run_id: &str) -> Option<&mut End> {
        self.by_id.get_mut(run_id)?.ends.first_mut()
    }

    pub(super) fn join(&mut self, rows: &mut Rows, commands: &mut Commands, older: Self, is_whole: bool) {
        self.began += older.began;
        for (run_id, before) in older.by_id {
            let run = match self.by_id.remove(&run_id) {
                Some(after) => before.joined(rows, commands, after),
                None => before,
            };
            self.by_id.insert(run_id, run);
        }
        if is_whole {
            number_turns(rows);
        }
    }

    pub(super) fn shift(&mut self, base: usize) {
        for run in self.by_id.values_mut() {
            run.retry.iter_mut().chain(&mut run.leading_retry).for_each(|key| key.shift(base));
            run.ends.iter_mut().for_each(|end| end.key.shift(base));
        }
    }

    /// The record's run, created if there is none.
    fn run(&mut self, record: &Record) -> &mut Run {
        let name = record.run_id.as_deref().unwrap_or_default();
        // Not `entry`, which would copy the id for every chunk.
        if !self.by_id.contains_key(name) {
            self.by_id.insert(name.to_owned(), Run::default());
        }
        self.by_id.get_mut(name).expect("inserted above")
    }
}

impl Run {
    /// Merges what the newer part knows of the same run.
    fn joined(mut self, rows: &mut Rows, commands: &mut Commands, newer: Self) -> Self {
        if let Some(started) = &self.started {
            newer.ends.iter().for_each(|end| complete_end(rows, commands, end, started));
        }
        let retry = self.join_retry(rows, &newer);
        let leading_retry = match self.has_solid || self.leading_retry.is_some() {
            true => self.leading_retry,
            false => newer.leading_retry,
        };
        self.ends.extend(newer.ends);
        Self {
            started: newer.started.or(self.started),
            ends: self.ends,
            retry,
            leading_retry,
            has_chunk: self.has_chunk || newer.has_chunk,
            has_solid: self.has_solid || newer.has_solid,
        }
    }

    /// Returns the retry that the next attempt replaces.
    fn join_retry(&self, rows: &mut Rows, newer: &Self) -> Option<Key> {
        let Some(before) = self.retry else { return newer.retry };
        let Some(after) = newer.leading_retry else {
            if newer.has_chunk || newer.has_solid {
                settle_retry(rows, before);
            }
            return if newer.has_solid { newer.retry } else { Some(before) };
        };
        if let Some((gone, kept)) = rows.take_into(after, before) {
            kept.kind = gone.kind;
        }
        if newer.retry == Some(after) { Some(before) } else { newer.retry }
    }
}

/// The ordinal in the run's name: the runtime names the third run of a Pod `run-3`. With any other name it is unknown
/// until the first run is here.
fn ordinal(run_id: &str) -> Option<u64> {
    run_id.strip_prefix("run-")?.parse().ok()
}

fn settle_retry(rows: &mut Rows, key: Key) {
    if let Some(BlockKind::Retry { settled, .. }) = rows.edit_if(key, Block::is_live) {
        *settled = true;
    }
}

/// The beginning of a run was in the older page: adds to its end when and why it began.
fn complete_end(rows: &mut Rows, commands: &mut Commands, end: &End, started: &Started) {
    let Some(block) = rows.edit(end.key) else { return };
    let BlockKind::RunEnd { started_at, trigger, outcome, .. } = &mut block.kind else { return };
    if started_at.is_some() {
        return;
    }
    *started_at = Some(started.at);
    *trigger = Some(started.trigger);
    let is_rolled_back = *outcome == Outcome::RolledBack;
    if let Some(command_id) = started.command_id.as_ref().filter(|_| is_rolled_back) {
        commands.reaches(rows, command_id.as_str(), PersonState::Returned);
    }
}

/// Numbers every turn, now that the first is here. Happens once in the life of a transcript.
fn number_turns(rows: &mut Rows) {
    let mut turns = 0;
    for block in rows.blocks_mut() {
        if let BlockKind::Turn { number, .. } = &mut block.kind {
            turns += 1;
            *number = Some(turns);
        }
    }
}
