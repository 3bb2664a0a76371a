//! The transcript as rows: each block, or group of reasoning or of read-only calls, with its lines.

use std::rc::Rc;

use protocol::Approval;
use ratatui::text::Line;
use transcript::{Block, BlockId, BlockKind, group::Group};

use super::blocks::{Look, block_lines, reads_lines, thoughts_lines};
use crate::model::{Detail, OpenPod, Place};

/// Columns at the left for the mark of the current block.
const MARGIN: usize = 2;

/// The rows of one transcript at one width and detail.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    open: &'a OpenPod,
    look: Look,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(open: &'a OpenPod, detail: Detail, columns: u16) -> Self {
        let width = usize::from(columns).saturating_sub(MARGIN).max(1);
        Self { open, look: Look { width, detail } }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.groups.len()
    }

    /// The block that identifies the row.
    pub(crate) fn id(&self, row: usize) -> &'a BlockId {
        let index = match &self.open.groups[row] {
            Group::One(index) => *index,
            Group::Reasoning(range) | Group::Reads(range) => range.start,
        };
        &self.open.transcript.blocks()[index].id
    }

    /// The blocks of a row that draw something.
    pub(crate) fn blocks(&self, row: usize) -> impl Iterator<Item = &'a Block> + use<'a> {
        let range = match &self.open.groups[row] {
            Group::One(index) => *index..*index + 1,
            Group::Reasoning(range) | Group::Reads(range) => range.clone(),
        };
        self.open.transcript.blocks()[range].iter().filter(|block| !block.is_empty())
    }

    /// The lines of a row, with an empty one before those that begin something new.
    pub(crate) fn lines(&self, row: usize) -> Rc<Vec<Line<'static>>> {
        match &self.open.groups[row] {
            Group::One(index) => {
                let block = &self.open.transcript.blocks()[*index];
                let of = (self.look.width, self.look.detail);
                let make = || {
                    block_lines(
                        block,
                        self.open.transcript.rewinds(),
                        self.is_asked(block),
                        self.change(block),
                        self.look,
                    )
                };
                // Whether a call waits for approval depends on another block, so live blocks are not cached.
                if block.is_live() {
                    return Rc::new(make());
                }
                self.open.drawn.borrow_mut().lines(&block.id, of, make)
            }
            Group::Reasoning(_) => Rc::new(thoughts_lines(&self.blocks(row).collect::<Vec<_>>(), self.look)),
            Group::Reads(_) => Rc::new(reads_lines(&self.blocks(row).collect::<Vec<_>>(), self.look)),
        }
    }

    /// The lowest line on the screen: its row, and the line within it. `None` if there is nothing to show.
    pub(crate) fn lowest(&self, place: &Place) -> Option<(usize, usize)> {
        let at = match place {
            Place::End => None,
            Place::At { block, line } => self.row_of(block).map(|row| (row, *line)),
        };
        match at {
            Some((row, line)) => Some((row, line.min(self.lines(row).len().saturating_sub(1)))),
            None => {
                let row = (0..self.len()).rev().find(|row| !self.lines(*row).is_empty())?;
                Some((row, self.lines(row).len() - 1))
            }
        }
    }

    /// The highest line on a screen of this height.
    pub(crate) fn highest(&self, place: &Place, height: u16) -> Option<(usize, usize)> {
        let (lowest, line) = self.lowest(place)?;
        let mut left = usize::from(height).saturating_sub(line + 1);
        if usize::from(height) <= line + 1 {
            return Some((lowest, line + 1 - usize::from(height).max(1)));
        }
        for row in (0..lowest).rev() {
            let count = self.lines(row).len();
            if count >= left {
                return Some((row, count - left));
            }
            left -= count;
        }
        Some((0, 0))
    }

    /// The current block: the one that was gone to, else the lowest one on the screen that is text and not just the
    /// end of something.
    pub(crate) fn at_hand(&self, height: u16) -> Option<usize> {
        let place = &self.open.place;
        let (lowest, _) = self.lowest(place)?;
        let (highest, _) = self.highest(place, height)?;
        let mark = self.open.mark.as_ref().and_then(|mark| self.row_of(mark));
        if let Some(mark) = mark.filter(|mark| (highest..=lowest).contains(mark)) {
            return Some(mark);
        }
        let is_words = |row: &usize| self.blocks(*row).any(is_words);
        (highest..=lowest).rev().find(is_words).or(Some(lowest))
    }

    /// Whether this call waits for your approval.
    fn is_asked(&self, block: &Block) -> bool {
        let BlockKind::Tool { name: Some(name), arguments: Some(given), result: None, .. } = &block.kind else {
            return false;
        };
        self.open.transcript.open_questions().any(|question| {
            matches!(&question.kind, BlockKind::Approval { tool, arguments, .. } if tool == name && arguments == given)
        })
    }

    /// What an approval would do to its file as it is now.
    fn change(&self, block: &Block) -> Option<&'a Approval> {
        let BlockKind::Approval { approval_id, .. } = &block.kind else { return None };
        self.open.asked.iter().find(|asked| asked.id == *approval_id)
    }

    pub(crate) fn row_of(&self, id: &BlockId) -> Option<usize> {
        (0..self.len()).rev().find(|row| self.id(*row) == id).or_else(|| {
            // It was merged into a group that is identified by another block.
            (0..self.len()).rev().find(|row| self.blocks(*row).any(|block| block.id == *id))
        })
    }
}

fn is_words(block: &Block) -> bool {
    matches!(
        block.kind,
        BlockKind::Person { .. }
            | BlockKind::Peer { .. }
            | BlockKind::Assistant { .. }
            | BlockKind::Reasoning { .. }
            | BlockKind::Tool { .. }
            | BlockKind::Approval { .. }
            | BlockKind::Compacted { .. }
            | BlockKind::Alert { .. }
    )
}
