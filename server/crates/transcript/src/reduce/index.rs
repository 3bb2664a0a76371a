//! Where a later record finds the block it belongs to.

use std::collections::HashMap;

use protocol::{CommandId, Timestamp, Trigger};

use crate::{BlockKind, PersonState, rows::Key};

#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// Streamed blocks by the records' `block`, one map for each [`Family`].
    pub(crate) pieces: [HashMap<String, Piece>; 3],
    /// By run id; records without one share the empty id.
    pub(crate) runs: HashMap<String, Run>,
    pub(crate) approvals: HashMap<String, Key>,
    /// Those that may still be open, to be voided when the run ends.
    pub(crate) open_approvals: Vec<Key>,
    /// Something in here voided every question that was open then.
    pub(crate) voids: bool,
    pub(crate) messages: HashMap<String, MessageCards>,
    pub(crate) commands: HashMap<String, Command>,
}

impl Index {
    /// The run's entry, made when there is none.
    pub(crate) fn run(&mut self, run_id: Option<&str>) -> &mut Run {
        let name = run_id.unwrap_or_default();
        // Not `entry`: it would copy the id for every chunk.
        if !self.runs.contains_key(name) {
            self.runs.insert(name.to_owned(), Run::default());
        }
        self.runs.get_mut(name).expect("inserted above")
    }
}

/// What kind of stream a `block` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Text,
    Reasoning,
    Tool,
}

impl Family {
    pub(crate) fn of(kind: &BlockKind) -> Option<Self> {
        match kind {
            BlockKind::Assistant { .. } => Some(Self::Text),
            BlockKind::Reasoning { .. } => Some(Self::Reasoning),
            BlockKind::Tool { .. } => Some(Self::Tool),
            _ => None,
        }
    }
}

/// A streamed block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) key: Key,
    /// A record that is never folded has given its place: `…_finished`, `tool_called` or `tool_finished`.
    pub(crate) whole: bool,
}

/// A record that shows that a run goes on: may it be folded away later?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thread {
    Chunk,
    Solid,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) started: Option<Started>,
    pub(crate) ends: Vec<End>,
    /// Blocks with a place of their own that its end interrupts if they are still live: calls without a result.
    pub(crate) unended: Vec<Key>,
    /// The retry whose place a further attempt takes. Chunks settle it but do not end it: they may be folded away.
    pub(crate) retry: Option<Key>,
    /// A retry before any solid record of this run: an older page may hold the attempt before it.
    pub(crate) leading_retry: Option<Key>,
    pub(crate) has_chunk: bool,
    pub(crate) has_solid: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) at: Timestamp,
    pub(crate) trigger: Trigger,
    pub(crate) command_id: Option<CommandId>,
}

/// One end of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) key: Key,
    pub(crate) at: Timestamp,
    /// So many blocks directly before it were closed by it.
    pub(crate) closed: usize,
}

/// The blocks that show one message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MessageCards {
    /// A card for receipts without a text.
    pub(crate) card: Option<Key>,
    pub(crate) peer: Option<Key>,
}

/// One person's command.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Command {
    pub(crate) person: Option<Key>,
    pub(crate) state: PersonState,
}
