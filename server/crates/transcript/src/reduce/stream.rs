//! Text and reasoning: chunks grow a block, a finished record replaces it.

use protocol::{Record, Timestamp};

use super::{Family, Piece, Thread, Transcript};
use crate::{Block, BlockId, BlockKind, Status};

impl Transcript {
    pub(super) fn text_chunk(&mut self, record: &Record, family: Family, block: &str, text: &str) {
        self.run_goes_on(record, Thread::Chunk);
        match self.piece(family, block) {
            // Nothing follows the finished record.
            Some(piece) if piece.whole => (),
            Some(piece) => self.grow(record, piece, text),
            None => {
                let kind = streamed(family, text.to_owned(), record.at);
                let key = self.add_open(Block::new(BlockId(block.to_owned()), record, kind));
                self.remember(family, block, Piece { key, whole: false });
            }
        }
    }

    pub(super) fn text_finished(
        &mut self,
        record: &Record,
        family: Family,
        block: &str,
        text: &str,
        is_interrupted: bool,
    ) {
        self.run_goes_on(record, Thread::Solid);
        let status = if is_interrupted { Status::Interrupted } else { Status::Finished };
        let known = self.piece(family, block);
        let key = match known {
            Some(piece) => {
                self.rows.settle(piece.key);
                piece.key
            }
            None => {
                let mut kind = streamed(family, String::new(), record.at);
                if let BlockKind::Reasoning { started_at, .. } = &mut kind {
                    *started_at = None;
                }
                self.rows.add(Block::new(BlockId(block.to_owned()), record, kind))
            }
        };
        self.remember(family, block, Piece { key, whole: true });
        let Some(block) = self.rows.edit(key) else { return };
        block.last_seq = record.seq;
        // An interruption that brings no text keeps what was on the screen.
        if let Some(shown) = text_of(&mut block.kind).filter(|_| !(is_interrupted && text.is_empty())) {
            text.clone_into(shown);
        }
        end(&mut block.kind, status, record.at);
    }

    pub(super) fn piece(&self, family: Family, block: &str) -> Option<Piece> {
        self.index.pieces[family as usize].get(block).copied()
    }

    pub(super) fn remember(&mut self, family: Family, block: &str, piece: Piece) {
        let pieces = &mut self.index.pieces[family as usize];
        match pieces.get_mut(block) {
            Some(known) => *known = piece,
            None => drop(pieces.insert(block.to_owned(), piece)),
        }
    }

    fn grow(&mut self, record: &Record, piece: Piece, more: &str) {
        let Some(block) = self.rows.edit(piece.key) else { return };
        block.last_seq = record.seq;
        if let Some(text) = text_of(&mut block.kind) {
            text.push_str(more);
        }
    }
}

fn streamed(family: Family, text: String, at: Timestamp) -> BlockKind {
    let status = Status::Streaming;
    match family {
        Family::Text => BlockKind::Assistant { text, status },
        Family::Reasoning => BlockKind::Reasoning { text, status, started_at: Some(at), ended_at: None },
        Family::Tool => super::tools::unnamed_tool(),
    }
}

/// The text of a text or reasoning block.
pub(crate) fn text_of(kind: &mut BlockKind) -> Option<&mut String> {
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

/// Its run ended first.
pub(crate) fn interrupt(kind: &mut BlockKind, at: Timestamp) {
    end(kind, Status::Interrupted, at);
    if let BlockKind::Tool { interrupted, .. } = kind {
        *interrupted = true;
    }
}
