//! A growing text, of which only the last top-level block is parsed again.

use super::{MarkupBlock, build};

/// The parsed form of a streaming text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MarkupStream {
    text: String,
    blocks: Vec<MarkupBlock>,
    /// How many blocks are final.
    settled: usize,
    /// The byte where the first block that can still change begins.
    tail: usize,
}

impl MarkupStream {
    /// Updates to the current text. Returns the index of the first block that may differ from before.
    pub fn update(&mut self, text: &str) -> usize {
        match text.strip_prefix(self.text.as_str()) {
            Some("") => return self.blocks.len(),
            Some(more) => self.text.push_str(more),
            None => *self = Self { text: text.to_owned(), ..Self::default() },
        }
        // A definition (`[name]: address`) changes links before it.
        if self.text.contains("]:") {
            (self.settled, self.tail) = (0, 0);
        }
        let (from, tail) = (self.settled, self.tail);
        let built = build::parse(&self.text[tail..]);
        self.blocks.truncate(from);
        self.blocks.extend(built.blocks);
        let is_certain = |start: &&(usize, usize)| is_certain(&self.text[tail + start.1..]);
        if let Some(&(before, start)) = built.starts.iter().rev().find(is_certain) {
            self.settled = from + before;
            self.tail = line_start(&self.text, tail + start);
        }
        from
    }

    pub fn blocks(&self) -> &[MarkupBlock] {
        &self.blocks
    }
}

/// Whether it is certain that a block begins here, which takes two whole lines (a table's head); with less it may
/// still join the one before.
fn is_certain(from_here: &str) -> bool {
    from_here.bytes().filter(|byte| *byte == b'\n').nth(1).is_some()
}

/// The start of the line: a block's indentation belongs to it.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |line_break| line_break + 1)
}
