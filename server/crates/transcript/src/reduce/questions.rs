//! Approvals: open, answered, or void.

use std::collections::HashMap;

use protocol::{ControlEvent, Record};

use crate::{
    ApprovalState, Block, BlockKind,
    rows::{Key, Rows},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    /// By approval id.
    blocks: HashMap<String, Key>,
    /// Those that may still be open, to be voided when the run ends.
    open: Vec<Key>,
    /// Whether a record in here voided every approval that was open then.
    voids: bool,
}

impl Questions {
    /// The open approvals, oldest first. The cost is proportional to the number of approvals in the newest run.
    pub(crate) fn open<'a>(&'a self, rows: &'a Rows) -> impl Iterator<Item = &'a Block> {
        self.open.iter().filter_map(|&key| rows.get(key)).filter(|block| block.is_live())
    }

    pub(super) fn take(&mut self, rows: &mut Rows, record: &Record, event: &ControlEvent) {
        let Some((id, kind)) = question(record, event) else { return };
        let known = self.blocks.get(id).copied();
        let key = match known.and_then(|key| rows.edit(key).map(|block| (key, block))) {
            Some((key, block)) => {
                block.last_seq = record.seq;
                follow(&mut block.kind, kind);
                key
            }
            None => {
                let key = rows.add_of(record, kind);
                self.blocks.insert(id.to_owned(), key);
                key
            }
        };
        if matches!(event, ControlEvent::ApprovalAsked { .. }) {
            self.open.push(key);
        }
    }

    /// Voids the approvals of runs. Those of a command that you run yourself belong to no run, and do not end with
    /// one.
    pub(super) fn void(&mut self, rows: &mut Rows) {
        self.voids = true;
        self.open.iter().for_each(|&key| void(rows, key));
        self.forget_closed(rows);
    }

    pub(super) fn join(&mut self, rows: &mut Rows, older: Self) {
        for (id, before) in older.blocks {
            if let Some(after) = self.blocks.insert(id, before) {
                join_question(rows, before, after);
            } else if self.voids {
                void(rows, before);
            }
        }
        self.open.splice(0..0, older.open);
        self.forget_closed(rows);
        self.voids |= older.voids;
    }

    pub(super) fn shift(&mut self, base: usize) {
        self.blocks.values_mut().chain(&mut self.open).for_each(|key| key.shift(base));
    }

    fn forget_closed(&mut self, rows: &Rows) {
        self.open.retain(|&key| rows.get(key).is_some_and(Block::is_live));
    }
}

fn void(rows: &mut Rows, key: Key) {
    let is_of_run = |block: &Block| block.is_live() && block.run_id.is_some();
    if let Some(BlockKind::Approval { state, .. }) = rows.edit_if(key, is_of_run) {
        *state = ApprovalState::Void;
    }
}

fn join_question(rows: &mut Rows, before: Key, after: Key) {
    if let Some((gone, kept)) = rows.take_into(after, before) {
        follow(&mut kept.kind, gone.kind);
        kept.cut.extend(gone.cut);
    }
}

fn question<'a>(record: &Record, event: &'a ControlEvent) -> Option<(&'a str, BlockKind)> {
    let (ControlEvent::ApprovalAsked { id, tool, arguments, .. }
    | ControlEvent::ApprovalAnswered { id, tool, arguments, .. }) = event
    else {
        return None;
    };
    let (state, decision, by, reason, answered_at) = match event {
        ControlEvent::ApprovalAnswered { decision, by, reason, .. } => {
            (ApprovalState::Answered, *decision, by.clone(), reason.clone(), Some(record.at))
        }
        _ => (ApprovalState::Open, None, None, None, None),
    };
    let options = match event {
        ControlEvent::ApprovalAsked { options, .. } => options.0.clone(),
        _ => Vec::new(),
    };
    let (approval_id, tool, arguments) = (id.clone(), tool.clone(), arguments.clone());
    Some((id, BlockKind::Approval { approval_id, tool, arguments, options, state, decision, by, reason, answered_at }))
}

/// An approval that is repeated stays answered if it was; otherwise the newer record counts.
fn follow(kind: &mut BlockKind, newer: BlockKind) {
    let is_answered = |kind: &BlockKind| matches!(kind, BlockKind::Approval { state: ApprovalState::Answered, .. });
    if is_answered(&newer) || !is_answered(kind) {
        *kind = newer;
    }
}
