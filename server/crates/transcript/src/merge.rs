//! Puts an older page before a transcript, so that both read as if all records had come in order.
//!
//! The page was reduced alone. What it left unfinished (a streaming block, a call without a result, a question, a
//! retry, a message without a receipt) is looked up in the newer part, which began in the middle of it.
//! Each entry costs a look-up; a block is moved only when both parts have a piece of it.

mod cards;
mod pieces;

use std::collections::HashMap;

use crate::{
    BlockKind, PersonState, Transcript,
    reduce::{End, Index, Run},
    rows::Key,
};
use protocol::Outcome;

impl Transcript {
    /// `page` is older throughout; neither is blank.
    pub(crate) fn join(&mut self, page: Self) {
        let Self { rows, mut index, first, turns, state, usage, mut rewinds, .. } = page;
        self.first = first;
        self.turns += turns;
        self.state = self.state.take().or(state);
        self.usage = self.usage.take().or(usage);
        rewinds.append(&mut self.rewinds);
        self.rewinds = rewinds;

        let (base, open) = self.rows.adopt(rows);
        index.shift(base);
        self.interrupt_ended(&index);
        self.join_tools(&mut index);
        self.join_open(open, &mut index);
        self.join_fixed(&mut index);
        self.join_runs(index.runs);
        self.join_cards(index.messages);
        self.join_questions(index.approvals, index.open_approvals, index.voids);
        self.join_commands(index.commands);
        if self.first.0 <= 1 {
            self.number_turns();
        }
    }

    fn join_runs(&mut self, older: HashMap<String, Run>) {
        for (run_id, run) in older {
            match self.index.runs.remove(&run_id) {
                None => drop(self.index.runs.insert(run_id, run)),
                Some(newer) => {
                    let run = self.join_run(run, newer);
                    self.index.runs.insert(run_id, run);
                }
            }
        }
    }

    fn join_run(&mut self, mut older: Run, newer: Run) -> Run {
        if let Some(started) = &older.started {
            for end in &newer.ends {
                self.complete_end(end, started);
            }
        }
        let retry = self.join_retry(&older, &newer);
        let leading_retry = match older.has_solid || older.leading_retry.is_some() {
            true => older.leading_retry,
            false => newer.leading_retry,
        };
        older.unended.extend(newer.unended);
        older.ends.extend(newer.ends);
        Run {
            started: newer.started.or(older.started),
            ends: older.ends,
            unended: older.unended,
            retry,
            leading_retry,
            has_chunk: older.has_chunk || newer.has_chunk,
            has_solid: older.has_solid || newer.has_solid,
        }
    }

    /// Gives the retry whose place the next attempt takes.
    fn join_retry(&mut self, older: &Run, newer: &Run) -> Option<Key> {
        let Some(before) = older.retry else { return newer.retry };
        let Some(after) = newer.leading_retry else {
            if newer.has_chunk || newer.has_solid {
                self.settle_retry(before);
            }
            return if newer.has_solid { newer.retry } else { Some(before) };
        };
        if let Some(gone) = self.rows.remove(after, before)
            && let Some(kept) = self.rows.edit(before)
        {
            kept.kind = gone.kind;
            kept.last_seq = gone.last_seq;
        }
        if newer.retry == Some(after) { Some(before) } else { newer.retry }
    }

    /// The beginning of a run was in the older page: its end now knows when and why it began.
    fn complete_end(&mut self, end: &End, started: &crate::reduce::Started) {
        let Some(block) = self.rows.edit(end.key) else { return };
        let BlockKind::RunEnd { started_at, trigger, outcome, .. } = &mut block.kind else { return };
        if started_at.is_some() {
            return;
        }
        *started_at = Some(started.at);
        *trigger = Some(started.trigger);
        let is_rolled_back = *outcome == Outcome::RolledBack;
        if let Some(command_id) = started.command_id.as_ref().filter(|_| is_rolled_back) {
            self.command_reaches(command_id.as_str(), PersonState::Returned);
        }
    }

    /// Numbers every turn, now that the first is here. Happens once in a transcript's life.
    fn number_turns(&mut self) {
        let mut turns = 0;
        for block in self.rows.blocks_mut() {
            if let BlockKind::Turn { number, .. } = &mut block.kind {
                turns += 1;
                *number = Some(turns);
            }
        }
    }
}

impl Index {
    fn shift(&mut self, base: usize) {
        let shift = |key: &mut Key| *key = key.shifted(base);
        self.pieces.iter_mut().flat_map(HashMap::values_mut).for_each(|piece| shift(&mut piece.key));
        self.approvals.values_mut().chain(&mut self.open_approvals).for_each(shift);
        for cards in self.messages.values_mut() {
            cards.card.iter_mut().chain(&mut cards.peer).for_each(shift);
        }
        for command in self.commands.values_mut() {
            command.person.iter_mut().for_each(shift);
        }
        for run in self.runs.values_mut() {
            run.unended.iter_mut().chain(&mut run.retry).chain(&mut run.leading_retry).for_each(shift);
            run.ends.iter_mut().for_each(|end| shift(&mut end.key));
        }
    }
}
