//! The drawn list: single blocks, and consecutive read-only calls grouped into one.

use std::collections::HashMap;

use leptos::prelude::*;
use transcript::{
    Block, BlockId, BlockKind,
    group::{Group, groups},
};

/// One block. The signal is dropped with the row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: BlockId,
    pub(crate) block: ArcRwSignal<Block>,
}

impl Row {
    pub(super) fn new(block: &Block) -> Self {
        Self { id: block.id.clone(), block: ArcRwSignal::new(block.clone()) }
    }

    pub(super) fn update(&self, block: &Block) {
        if self.block.with_untracked(|shown| shown != block) {
            self.block.set(block.clone());
        }
    }
}

/// One item of the list.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The index of its first block.
    pub(super) first: usize,
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    One(Row),
    Reads(Reads),
}

/// Consecutive read-only calls; more may be added.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    /// The id of the first call's block.
    pub(crate) id: BlockId,
    pub(crate) rows: ArcRwSignal<Vec<Row>>,
}

impl Entry {
    /// The id of its first block, which stays the same as others join.
    pub(crate) fn id(&self) -> &BlockId {
        match &self.shape {
            Shape::One(row) => &row.id,
            Shape::Reads(reads) => &reads.id,
        }
    }

    /// Its key in a list. Differs between a single call and a group, so that a call which others join is redrawn.
    pub(crate) fn key(&self) -> (BlockId, bool) {
        (self.id().clone(), matches!(self.shape, Shape::Reads(_)))
    }

    /// The id of its element.
    pub(crate) fn dom_id(&self) -> String {
        match &self.shape {
            Shape::One(row) => dom_id(&row.id),
            Shape::Reads(reads) => reads_dom_id(&reads.id),
        }
    }

    /// Whether the element with this id is its own, or that of a block in it.
    pub(super) fn holds(&self, id: &str) -> bool {
        match &self.shape {
            Shape::One(row) => {
                is_dom_id(id, &row.id) || id.strip_prefix("turn-").is_some_and(|turn| is_turn(row, turn))
            }
            Shape::Reads(reads) => {
                // Earlier calls may have joined since, so the id need not be the first call's.
                let group = id.strip_prefix("reads-");
                let is_it = |row: &Row| is_dom_id(id, &row.id) || group == Some(row.id.as_str());
                reads.rows.with_untracked(|rows| rows.iter().any(is_it))
            }
        }
    }

    pub(super) fn is_turn(&self) -> bool {
        let is_turn = |row: &Row| row.block.with_untracked(|block| matches!(block.kind, BlockKind::Turn { .. }));
        matches!(&self.shape, Shape::One(row) if is_turn(row))
    }
}

/// An unambiguous element id: a record's block may have any id.
pub(crate) fn dom_id(id: &BlockId) -> String {
    match id.as_str() {
        seq if seq.starts_with("seq-") => seq.to_owned(),
        other => format!("block-{other}"),
    }
}

pub(crate) fn reads_dom_id(id: &BlockId) -> String {
    format!("reads-{id}")
}

/// Whether this is the heading of the turn with this number.
fn is_turn(row: &Row, turn: &str) -> bool {
    row.block.with_untracked(|block| match &block.kind {
        BlockKind::Turn { number: Some(number), .. } => turn.parse() == Ok(*number),
        _ => false,
    })
}

fn is_dom_id(dom_id: &str, id: &BlockId) -> bool {
    let name = id.as_str();
    dom_id == name && name.starts_with("seq-") || dom_id.strip_prefix("block-") == Some(name)
}

/// Regroups the blocks, starting with the entry that a change at `from` can affect; earlier ones stay. Returns that
/// entry's index.
pub(super) fn regroup(entries: &mut Vec<Entry>, rows: &[Row], blocks: &[Block], from: usize) -> usize {
    let kept = first_touched(entries, blocks, from);
    let start = entries.get(kept).map_or(0, |entry| entry.first);
    let known = entries.drain(kept..).filter_map(|entry| match entry.shape {
        Shape::Reads(reads) => Some((reads.id, reads.rows)),
        Shape::One(_) => None,
    });
    let mut known: HashMap<BlockId, ArcRwSignal<Vec<Row>>> = known.collect();
    let one = |index: usize| Entry { first: index, shape: Shape::One(rows[index].clone()) };
    let mut next = start;
    for group in groups(&blocks[start..]) {
        let Group::Reads(range) = group else { continue };
        let (first, end) = (start + range.start, start + range.end);
        entries.extend((next..first).map(one));
        let (id, group) = (rows[first].id.clone(), &rows[first..end]);
        let rows = match known.remove(&id) {
            Some(rows) => {
                follow(&rows, group);
                rows
            }
            None => ArcRwSignal::new(group.to_vec()),
        };
        entries.push(Entry { first, shape: Shape::Reads(Reads { id, rows }) });
        next = end;
    }
    entries.extend((next..blocks.len()).map(one));
    kept
}

fn follow(shown: &ArcRwSignal<Vec<Row>>, rows: &[Row]) {
    let is_same = shown.with_untracked(|shown| shown.iter().map(|row| &row.id).eq(rows.iter().map(|row| &row.id)));
    if !is_same {
        shown.set(rows.to_vec());
    }
}

/// A block can only join the last entry before it that draws something.
fn first_touched(entries: &[Entry], blocks: &[Block], from: usize) -> usize {
    let mut index = entries.partition_point(|entry| entry.first < from);
    while index > 0 {
        index -= 1;
        if blocks.get(entries[index].first).is_some_and(|block| !block.is_empty()) {
            break;
        }
    }
    index
}
