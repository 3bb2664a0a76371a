//! The model's text and reasoning as they stream: one block of each at a time.

use protocol::TurnEvent;

use super::drafts::Drafts;
use crate::scrub::{TEXT_BYTES_MAX, cut};

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    Thought,
}

/// The unfinished blocks, by kind.
#[derive(Debug, Default)]
pub(super) struct Speech([Option<Block>; 2]);

#[derive(Debug)]
struct Block {
    id: String,
    text: String,
    /// Whether chunks of it were shown.
    is_shown: bool,
    /// Whether what came before was too long and has a block of its own.
    is_rest: bool,
}

impl Speech {
    pub(super) fn begin(&mut self, kind: Kind, drafts: &mut Drafts) {
        self.open(kind, drafts);
    }

    fn open(&mut self, kind: Kind, drafts: &mut Drafts) -> &mut Block {
        let new = || Block { id: drafts.id("b"), text: String::new(), is_shown: false, is_rest: false };
        self.0[kind as usize].get_or_insert_with(new)
    }

    pub(super) fn piece(&mut self, kind: Kind, text: &str, drafts: &mut Drafts) {
        let is_full =
            self.0[kind as usize].as_ref().is_some_and(|block| block.text.len() + text.len() > TEXT_BYTES_MAX);
        if is_full {
            self.end(kind, false, drafts);
        }
        let block = self.open(kind, drafts);
        let text = cut(text);
        block.is_rest |= is_full;
        block.is_shown = true;
        block.text.push_str(&text);
        let block = block.id.clone();
        drafts.push(match kind {
            Kind::Text => TurnEvent::TextChunk { block, text },
            Kind::Thought => TurnEvent::ReasoningChunk { block, text },
        });
    }

    /// The whole block. Joining in mid-answer gives only the rest of it until now.
    pub(super) fn whole(&mut self, kind: Kind, text: &str, drafts: &mut Drafts) {
        let open = self.0[kind as usize].take();
        let text = match &open {
            Some(block) if text.is_empty() || block.is_rest => block.text.clone(),
            _ => cut(text),
        };
        let is_shown = open.as_ref().is_some_and(|block| block.is_shown);
        if !text.is_empty() || is_shown {
            let block = open.map_or_else(|| drafts.id("b"), |block| block.id);
            drafts.push(finished(kind, block, text, false));
        }
    }

    /// Ends the unfinished blocks: the deltas were all there is.
    pub(super) fn end_all(&mut self, interrupted: bool, drafts: &mut Drafts) {
        self.end(Kind::Thought, interrupted, drafts);
        self.end(Kind::Text, interrupted, drafts);
    }

    fn end(&mut self, kind: Kind, interrupted: bool, drafts: &mut Drafts) {
        if let Some(block) = self.0[kind as usize].take().filter(|block| block.is_shown) {
            drafts.push(finished(kind, block.id, block.text, interrupted));
        }
    }
}

fn finished(kind: Kind, block: String, text: String, interrupted: bool) -> TurnEvent {
    match kind {
        Kind::Text => TurnEvent::MessageFinished { block, text, interrupted },
        Kind::Thought => TurnEvent::ReasoningFinished { block, text, interrupted, proof: None },
    }
}
