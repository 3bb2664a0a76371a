//! Streaming blocks: chunks extend them, and the finished record replaces them. Here text and reasoning.

mod join;
mod tools;

use std::collections::HashMap;

use protocol::{Record, Timestamp};

use crate::{
    Block, BlockId, BlockKind, Status,
    rows::{Key, Rows},
};

#[derive(Debug, Clone, Default)]
pub(super) struct Streams {
    /// By the records' `block`, one map for each [`Family`].
    pieces: [HashMap<String, Piece>; 3],
    /// By run id: placed blocks that the end of the run interrupts if they are still live (calls without a result).
    unended: HashMap<String, Vec<Key>>,
}

/// The kind of stream that a `block` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Text,
    Reasoning,
    Tool,
}

impl Family {
    fn of(kind: &BlockKind) -> Option<Self> {
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
struct Piece {
    key: Key,
    /// Whether a record that is never folded has fixed its place: `…_finished`, `tool_called` or `tool_finished`.
    whole: bool,
}

impl Streams {
    pub(super) fn text_chunk(&mut self, rows: &mut Rows, record: &Record, family: Family, block: &str, text: &str) {
        match self.piece(family, block) {
            // Nothing follows the finished record.
            Some(piece) if piece.whole => (),
            Some(piece) => grow(rows, record, piece, text),
            None => {
                let kind = streamed(family, text.to_owned(), record.at);
                let key = self.add_open(rows, Block::new(BlockId(block.to_owned()), record, kind));
                self.remember(family, block, Piece { key, whole: false });
            }
        }
    }

    pub(super) fn text_finished(
        &mut self,
        rows: &mut Rows,
        record: &Record,
        family: Family,
        block: &str,
        text: &str,
        is_interrupted: bool,
    ) {
        let status = if is_interrupted { Status::Interrupted } else { Status::Finished };
        let known = self.piece(family, block);
        let key = match known {
            Some(piece) => {
                rows.settle(piece.key);
                piece.key
            }
            None => {
                let mut kind = streamed(family, String::new(), record.at);
                if let BlockKind::Reasoning { started_at, .. } = &mut kind {
                    *started_at = None;
                }
                rows.add(Block::new(BlockId(block.to_owned()), record, kind))
            }
        };
        self.remember(family, block, Piece { key, whole: true });
        let Some(block) = rows.edit(key) else { return };
        block.last_seq = record.seq;
        // An interruption without text keeps what was on the screen.
        if let Some(shown) = text_of(&mut block.kind).filter(|_| !(is_interrupted && text.is_empty())) {
            text.clone_into(shown);
        }
        end(&mut block.kind, status, record.at);
    }

    /// The record ends its run, and with it every block of the run that is still streaming. Returns how many.
    pub(super) fn close(&mut self, rows: &mut Rows, record: &Record) -> usize {
        let streaming = rows.len() - rows.open..rows.len();
        let keys: Vec<Key> = streaming
            .filter(|&index| rows.blocks()[index].run_id == record.run_id)
            .map(|index| rows.key_at(index))
            .collect();
        for &key in &keys {
            rows.settle(key);
            if let Some(block) = rows.edit(key) {
                interrupt(&mut block.kind, record.at);
            }
        }
        for key in self.unended.remove(record.run_id.as_deref().unwrap_or_default()).into_iter().flatten() {
            interrupt_live(rows, key, record.at);
        }
        keys.len()
    }

    fn piece(&self, family: Family, block: &str) -> Option<Piece> {
        self.pieces[family as usize].get(block).copied()
    }

    fn remember(&mut self, family: Family, block: &str, piece: Piece) {
        let pieces = &mut self.pieces[family as usize];
        match pieces.get_mut(block) {
            Some(known) => *known = piece,
            None => drop(pieces.insert(block.to_owned(), piece)),
        }
    }

    /// Adds a block that more records belong to.
    fn add_open(&mut self, rows: &mut Rows, block: Block) -> Key {
        if let Some(crowded_out) = rows.make_room() {
            let run_id = rows.get(crowded_out).and_then(|block| block.run_id.clone());
            self.ends_with(run_id.as_deref(), crowded_out);
        }
        rows.add_open(block)
    }

    /// Has the end of this run interrupt the block, if it is live by then.
    fn ends_with(&mut self, run_id: Option<&str>, key: Key) {
        self.unended.entry(run_id.unwrap_or_default().to_owned()).or_default().push(key);
    }
}

fn grow(rows: &mut Rows, record: &Record, piece: Piece, more: &str) {
    let Some(block) = rows.edit(piece.key) else { return };
    block.last_seq = record.seq;
    if let Some(text) = text_of(&mut block.kind) {
        text.push_str(more);
    }
}

fn streamed(family: Family, text: String, at: Timestamp) -> BlockKind {
    let status = Status::Streaming;
    match family {
        Family::Text => BlockKind::Assistant { text, status },
        Family::Reasoning => BlockKind::Reasoning { text, status, started_at: Some(at), ended_at: None },
        Family::Tool => tools::unnamed_tool(),
    }
}

/// The text of a text or reasoning block.
fn text_of(kind: &mut BlockKind) -> Option<&mut String> {
    match kind {
        BlockKind::Assistant { text, .. } | BlockKind::Reasoning { text, .. } => Some(text),
        _ => None,
    }
}

/// Ends a text or reasoning block.
fn end(kind: &mut BlockKind, how: Status, at: Timestamp) {
    match kind {
        BlockKind::Assistant { status, .. } => *status = how,
        BlockKind::Reasoning { status, ended_at, .. } => {
            *status = how;
            *ended_at = Some(at);
        }
        _ => (),
    }
}

/// Interrupts a block whose run ended first.
fn interrupt(kind: &mut BlockKind, at: Timestamp) {
    end(kind, Status::Interrupted, at);
    if let BlockKind::Tool { interrupted, .. } = kind {
        *interrupted = true;
    }
}

fn interrupt_live(rows: &mut Rows, key: Key, at: Timestamp) {
    if let Some(kind) = rows.edit_if(key, Block::is_live) {
        interrupt(kind, at);
    }
}
