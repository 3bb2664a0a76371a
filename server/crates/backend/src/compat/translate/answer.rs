//! What the model says and thinks, as it comes.

use protocol::{Event, TurnEvent};
use serde_json::Value;

use super::Translator;
use crate::compat::{
    scrub::{TEXT_BYTES_MAX, cut},
    values,
};

/// A block that is not whole yet.
#[derive(Debug)]
pub(super) struct Speech {
    block: String,
    text: String,
    /// Pieces of it were shown.
    is_shown: bool,
    /// What came before was too long, and has a block of its own.
    is_rest: bool,
}

/// What kind of speech it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
}

impl Translator {
    pub(super) fn answer_event(&mut self, name: &str, data: &Value) -> bool {
        match name {
            "text_delta" => self.piece(Kind::Text, values::text(data, "text")),
            "text_done" => self.whole(Kind::Text, values::text(data, "text")),
            "thinking_start" => {
                self.in_run();
                self.open(Kind::Thought);
            }
            "thinking_delta" => self.piece(Kind::Thought, values::text(data, "text")),
            "thinking_done" => self.whole(Kind::Thought, values::text(data, "text")),
            _ => return false,
        }
        true
    }

    fn slot(&mut self, kind: Kind) -> &mut Option<Speech> {
        match kind {
            Kind::Text => &mut self.text,
            Kind::Thought => &mut self.thought,
        }
    }

    fn open(&mut self, kind: Kind) {
        if self.slot(kind).is_none() {
            let block = self.id("b");
            *self.slot(kind) = Some(Speech { block, text: String::new(), is_shown: false, is_rest: false });
        }
    }

    fn piece(&mut self, kind: Kind, text: &str) {
        self.in_run();
        let is_full = self.slot(kind).as_ref().is_some_and(|speech| speech.text.len() + text.len() > TEXT_BYTES_MAX);
        if is_full {
            self.close(kind, false);
        }
        self.open(kind);
        let piece = cut(text);
        let Some(speech) = self.slot(kind) else { return };
        speech.is_rest |= is_full;
        speech.is_shown = true;
        speech.text.push_str(&piece);
        let block = speech.block.clone();
        self.push(match kind {
            Kind::Text => TurnEvent::TextChunk { block, text: piece },
            Kind::Thought => TurnEvent::ReasoningChunk { block, text: piece },
        });
    }

    /// The whole of a block. Who came in mid-answer has only the rest of it until now.
    pub(super) fn said(&mut self, text: &str) {
        self.whole(Kind::Text, text);
    }

    pub(super) fn thought(&mut self, text: &str) {
        self.whole(Kind::Thought, text);
    }

    fn whole(&mut self, kind: Kind, text: &str) {
        self.in_run();
        let open = self.slot(kind).take();
        let text = match &open {
            Some(speech) if text.is_empty() || speech.is_rest => speech.text.clone(),
            _ => cut(text),
        };
        let is_shown = open.as_ref().is_some_and(|speech| speech.is_shown);
        if text.is_empty() && !is_shown {
            return;
        }
        let block = open.map(|speech| speech.block).unwrap_or_else(|| self.id("b"));
        self.finish(kind, block, text, false);
    }

    /// What is not whole ends here: the deltas were all of it.
    pub(super) fn close_speech(&mut self, interrupted: bool) {
        self.close(Kind::Thought, interrupted);
        self.close(Kind::Text, interrupted);
    }

    fn close(&mut self, kind: Kind, interrupted: bool) {
        if let Some(speech) = self.slot(kind).take().filter(|speech| speech.is_shown) {
            self.finish(kind, speech.block, speech.text, interrupted);
        }
    }

    fn finish(&mut self, kind: Kind, block: String, text: String, interrupted: bool) {
        self.push(Event::from(match kind {
            Kind::Text => TurnEvent::MessageFinished { block, text, interrupted },
            Kind::Thought => TurnEvent::ReasoningFinished { block, text, interrupted },
        }));
    }
}
