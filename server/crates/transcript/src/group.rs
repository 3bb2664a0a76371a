//! Groups of blocks that a screen draws as one: consecutive reasoning, consecutive read-only calls, and the words for
//! them.

use std::ops::Range;

use protocol::{
    ToolBy,
    tool::{self, Card},
};

use crate::{Block, BlockKind};

/// Blocks that belong together on a screen. Ranges are indices into the given blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    One(usize),
    /// Two or more reasoning blocks of one run, with only empty blocks between.
    Reasoning(Range<usize>),
    /// Two or more of a model's calls that [read or search](Card) in one run, with only empty blocks between.
    Reads(Range<usize>),
}

/// All blocks except the [empty](Block::is_empty) ones, grouped. Skip empty ones inside a group's range.
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

/// Whether a block has changed such that it may belong to another group: its tool is now known, or it is now empty.
pub fn changes_groups(before: &Block, after: &Block) -> bool {
    before.is_empty() != after.is_empty() || Sort::of(before) != Sort::of(after)
}

/// `read 5 files, searched once, 1 failed`, for the blocks of one [`Group::Reads`].
pub fn reads_words<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    let (mut read, mut searched, mut failed) = (0, 0, 0);
    for block in blocks {
        let BlockKind::Tool { name: Some(name), result, interrupted, .. } = &block.kind else { continue };
        match tool::facts(name).card {
            Card::Read => read += 1,
            _ => searched += 1,
        }
        failed += usize::from(*interrupted || result.as_ref().is_some_and(|result| result.is_error));
    }
    let read = match read {
        0 => None,
        1 => Some("read 1 file".to_owned()),
        _ => Some(format!("read {read} files")),
    };
    let searched = match searched {
        0 => None,
        1 => Some("searched once".to_owned()),
        _ => Some(format!("searched {searched} times")),
    };
    let failed = (failed > 0).then(|| format!("{failed} failed"));
    [read, searched, failed].into_iter().flatten().collect::<Vec<_>>().join(", ")
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
            // A call that you ran is a reply to you and stays on its own.
            BlockKind::Tool { name: Some(name), by, .. }
                if matches!(tool::facts(name).card, Card::Read | Card::Search) && *by != Some(ToolBy::Operator) =>
            {
                Some(Self::Read)
            }
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
    use protocol::{Seq, Timestamp};

    use super::*;
    use crate::{BlockId, Status};

    fn block(run: &str, kind: BlockKind) -> Block {
        let (seq, run_id) = (Seq(1), Some(run.to_owned()));
        Block {
            id: BlockId("b".to_owned()),
            seq,
            last_seq: seq,
            run_id,
            at: Timestamp::UNIX_EPOCH,
            kind,
            cut: Vec::new(),
        }
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
            call("Grep"),
            call("Bash"),
            call("Read"),
        ];
        let expected = [Group::Reasoning(0..3), Group::One(3), Group::Reads(4..6), Group::One(6), Group::One(7)];
        assert_eq!(groups(&blocks), expected);
        assert_eq!(groups(&[thought("r", "")]), []);
    }

    #[test]
    fn what_a_person_ran_stays_by_itself() {
        let mut asked = call("Read");
        if let BlockKind::Tool { by, .. } = &mut asked.kind {
            *by = Some(ToolBy::Operator);
        }
        assert_eq!(groups(&[call("Read"), asked]), [Group::One(0), Group::One(1)]);
    }

    #[test]
    fn a_group_says_what_was_read_and_what_failed() {
        let mut failed = call("Glob");
        if let BlockKind::Tool { interrupted, .. } = &mut failed.kind {
            *interrupted = true;
        }
        assert_eq!(reads_words(&[call("Read"), call("Read")]), "read 2 files");
        assert_eq!(reads_words(&[call("Read"), call("Grep"), failed]), "read 1 file, searched 2 times, 1 failed");
        assert_eq!(reads_words(&[call("Grep"), thought("r", "a")]), "searched once");
    }

    #[test]
    fn a_call_that_gets_its_name_may_join_a_group() {
        let mut unnamed = call("Read");
        if let BlockKind::Tool { name, .. } = &mut unnamed.kind {
            *name = None;
        }
        assert!(changes_groups(&unnamed, &call("Read")));
        assert!(changes_groups(&thought("r", "a"), &thought("r", "")));
        assert!(!changes_groups(&call("Read"), &call("Grep")));
    }
}
