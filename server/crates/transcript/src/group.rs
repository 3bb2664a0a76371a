//! Runs of blocks that a screen draws as one: consecutive thinking, consecutive reads.

use std::ops::Range;

use crate::{Block, BlockKind};

/// Blocks that belong together on a screen. Ranges are indices into the blocks that were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    One(usize),
    /// Two or more reasoning blocks of one run, with nothing but empty blocks between.
    Reasoning(Range<usize>),
    /// Two or more calls of `Read` in one run, with nothing but empty blocks between.
    Reads(Range<usize>),
}

/// All blocks but the [empty](Block::is_empty) ones, grouped. Empty ones inside a group's range are to be left out.
pub fn groups(blocks: &[Block]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut open: Option<(Sort, Range<usize>)> = None;
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !block.is_empty()) {
        let sort = Sort::of(block);
        match (&mut open, sort) {
            (Some((before, range)), Some(now)) if *before == now && blocks[range.start].run_id == block.run_id => {
                range.end = index + 1;
            }
            _ => {
                groups.extend(open.take().map(Sort::close));
                match sort {
                    Some(sort) => open = Some((sort, index..index + 1)),
                    None => groups.push(Group::One(index)),
                }
            }
        }
    }
    groups.extend(open.map(Sort::close));
    groups
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Reasoning,
    Read,
}

impl Sort {
    fn of(block: &Block) -> Option<Self> {
        match &block.kind {
            BlockKind::Reasoning { .. } => Some(Self::Reasoning),
            BlockKind::Tool { name: Some(name), .. } if name == "Read" => Some(Self::Read),
            _ => None,
        }
    }

    fn close((sort, range): (Self, Range<usize>)) -> Group {
        match sort {
            _ if range.len() == 1 => Group::One(range.start),
            Self::Reasoning => Group::Reasoning(range),
            Self::Read => Group::Reads(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use protocol::Seq;

    use super::*;
    use crate::{BlockId, Status};

    fn block(run: &str, kind: BlockKind) -> Block {
        let (seq, run_id) = (Seq(1), Some(run.to_owned()));
        Block { id: BlockId("b".to_owned()), seq, last_seq: seq, run_id, at: Timestamp::UNIX_EPOCH, kind }
    }

    fn thought(run: &str, text: &str) -> Block {
        let (text, status) = (text.to_owned(), Status::Finished);
        block(run, BlockKind::Reasoning { text, status, started_at: None, ended_at: None })
    }

    fn call(name: &str) -> Block {
        let kind = BlockKind::Tool {
            call_id: None,
            name: Some(name.to_owned()),
            arguments: None,
            arguments_text: String::new(),
            output: String::new(),
            result: None,
            by: None,
            interrupted: false,
        };
        block("r", kind)
    }

    #[test]
    fn neighbours_of_one_sort_and_one_run_are_drawn_as_one() {
        let blocks = [
            thought("r", "a"),
            thought("r", ""),
            thought("r", "b"),
            thought("s", "c"),
            call("Read"),
            call("Read"),
            call("Bash"),
            call("Read"),
        ];
        let expected = [Group::Reasoning(0..3), Group::One(3), Group::Reads(4..6), Group::One(6), Group::One(7)];
        assert_eq!(groups(&blocks), expected);
        assert_eq!(groups(&[thought("r", "")]), []);
    }
}
