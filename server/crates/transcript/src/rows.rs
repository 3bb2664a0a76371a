//! The blocks in the order of the screen, each with a key that stays the same when it moves.
//!
//! Streaming blocks stand at the end until a record that is never folded away (`…_finished`, `tool_called`) fixes
//! their place. So the final order is the same for a reader that saw every chunk and for one that saw none.

use std::collections::HashMap;

use protocol::{Record, Seq, Timestamp};

use crate::{Block, BlockId, BlockKind, Change};

/// At most this many blocks may be unplaced at the end; beyond that the oldest is placed where it is. Bounds the cost
/// of a record.
pub const OPEN_BLOCKS_MAX: usize = 64;

/// Identifies a block inside one transcript, wherever it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(usize);

impl Key {
    /// Identifies the same block after its transcript has become the older part of another.
    pub(crate) fn shift(&mut self, base: usize) {
        self.0 += base;
    }
}

/// Marks a removed block in [`Rows::places`].
const GONE: i64 = i64::MIN;

#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    /// The blocks, after `gap` unused slots: older pages go into the gap without moving the rest.
    slots: Vec<Block>,
    keys: Vec<Key>,
    gap: usize,
    /// Position of the first block. Positions grow downwards without limit, so that prepending a page moves none.
    first: i64,
    /// Position of each key.
    places: Vec<i64>,
    /// Blocks that were merged into others: maps the old key to that of the other block.
    heirs: HashMap<Key, Key>,
    /// How many blocks at the end are not placed yet.
    pub(crate) open: usize,
    change: Change,
}

impl Rows {
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.slots[self.gap..]
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.slots[self.gap..]
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.gap
    }

    /// What has changed since the last call.
    pub(crate) fn take_change(&mut self) -> Change {
        std::mem::take(&mut self.change)
    }

    /// The index of the block, or of the one that it was merged into. `None` while it is being inserted.
    pub(crate) fn index(&self, mut key: Key) -> Option<usize> {
        while let Some(&heir) = self.heirs.get(&key) {
            key = heir;
        }
        let place = self.places[key.0];
        (place != GONE).then(|| (place - self.first) as usize)
    }

    pub(crate) fn key_at(&self, index: usize) -> Key {
        self.keys[self.gap + index]
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Block> {
        self.index(key).map(|index| &self.slots[self.gap + index])
    }

    /// The block, for editing in place.
    pub(crate) fn edit(&mut self, key: Key) -> Option<&mut Block> {
        let index = self.index(key)?;
        self.change = self.change.and(Change::Changed { index });
        Some(&mut self.slots[self.gap + index])
    }

    /// The block's kind for editing in place, if `is_such` is true for the block.
    pub(crate) fn edit_if(&mut self, key: Key, is_such: impl FnOnce(&Block) -> bool) -> Option<&mut BlockKind> {
        self.get(key).filter(|block| is_such(block))?;
        self.edit(key).map(|block| &mut block.kind)
    }

    fn is_open(&self, key: Key) -> bool {
        self.index(key).is_some_and(|index| index >= self.len() - self.open)
    }

    /// Adds a block whose place is final.
    pub(crate) fn add(&mut self, block: Block) -> Key {
        let key = self.new_key();
        self.insert(self.len() - self.open, key, block);
        key
    }

    /// Adds a block for this record alone.
    pub(crate) fn add_of(&mut self, record: &Record, kind: BlockKind) -> Key {
        self.add(Block::new(BlockId::of_seq(record.seq), record, kind))
    }

    /// At the limit, places the oldest open block where it is and returns it. It may still be streaming.
    pub(crate) fn make_room(&mut self) -> Option<Key> {
        if self.open < OPEN_BLOCKS_MAX {
            return None;
        }
        let oldest = self.key_at(self.len() - self.open);
        self.open -= 1;
        Some(oldest)
    }

    /// Adds a streaming block; call [`Rows::make_room`] first.
    pub(crate) fn add_open(&mut self, block: Block) -> Key {
        let key = self.new_key();
        self.insert(self.len(), key, block);
        self.open += 1;
        key
    }

    /// Gives a streaming block its final place, after all placed ones.
    pub(crate) fn settle(&mut self, key: Key) {
        let target = self.len() - self.open;
        let Some(index) = self.index(key).filter(|&index| index >= target) else { return };
        self.open -= 1;
        if index == target {
            return;
        }
        let (from, to) = (self.gap + target, self.gap + index);
        self.slots[from..=to].rotate_right(1);
        self.keys[from..=to].rotate_right(1);
        self.renumber(target, index + 1);
        self.change = self.change.and(Change::Several { from: target });
    }

    /// Prepends the placed blocks of `older`, and returns its unplaced ones with their keys. Keys of `older` are
    /// valid here once [shifted](Key::shift) by the returned number.
    pub(crate) fn adopt(&mut self, mut older: Self) -> (usize, Vec<(Key, Block)>) {
        let base = self.places.len();
        self.places.resize(base + older.places.len(), GONE);
        let fixed = older.slots.len() - older.open;
        older.keys[older.gap..].iter_mut().for_each(|key| key.shift(base));
        let open = older.keys.split_off(fixed).into_iter().zip(older.slots.split_off(fixed)).collect();
        let count = fixed - older.gap;
        self.make_gap(count);
        self.gap -= count;
        self.first -= count as i64;
        for (offset, block) in older.slots.drain(older.gap..).enumerate() {
            self.slots[self.gap + offset] = block;
            self.keys[self.gap + offset] = older.keys[older.gap + offset];
        }
        self.renumber(0, count);
        (base, open)
    }

    /// Inserts a block at `index`; moves whichever side is shorter.
    pub(crate) fn insert(&mut self, index: usize, key: Key, block: Block) {
        if index * 2 >= self.len() {
            self.slots.insert(self.gap + index, block);
            self.keys.insert(self.gap + index, key);
            self.renumber(index, self.len());
        } else {
            self.make_gap(1);
            self.gap -= 1;
            self.first -= 1;
            self.slots[self.gap..=self.gap + index].rotate_left(1);
            self.keys[self.gap..=self.gap + index].rotate_left(1);
            self.slots[self.gap + index] = block;
            self.keys[self.gap + index] = key;
            self.renumber(0, index + 1);
        }
        self.change = self.change.and(Change::Added { index });
    }

    /// Removes a block that is merged into `heir`.
    pub(crate) fn remove(&mut self, key: Key, heir: Key) -> Option<Block> {
        let index = self.index(key)?;
        if self.is_open(key) {
            self.open -= 1;
        }
        let key = self.key_at(index);
        self.places[key.0] = GONE;
        self.heirs.insert(key, heir);
        self.change = self.change.and(Change::Several { from: index });
        if index * 2 >= self.len() {
            self.keys.remove(self.gap + index);
            let block = self.slots.remove(self.gap + index);
            self.renumber(index, self.len());
            return Some(block);
        }
        self.slots[self.gap..=self.gap + index].rotate_right(1);
        self.keys[self.gap..=self.gap + index].rotate_right(1);
        let block = std::mem::replace(&mut self.slots[self.gap], unused());
        self.gap += 1;
        self.first += 1;
        self.renumber(0, index);
        Some(block)
    }

    /// Removes a block that continues an older one. Returns it, and the older one for editing in place.
    pub(crate) fn take_into(&mut self, newer: Key, older: Key) -> Option<(Block, &mut Block)> {
        let gone = self.remove(newer, older)?;
        let kept = self.edit(older)?;
        kept.last_seq = gone.last_seq;
        Some((gone, kept))
    }

    fn new_key(&mut self) -> Key {
        self.places.push(GONE);
        Key(self.places.len() - 1)
    }

    fn renumber(&mut self, from: usize, to: usize) {
        for index in from..to {
            let key = self.keys[self.gap + index];
            self.places[key.0] = self.first + index as i64;
        }
    }

    /// Doubles the gap, so that a block is moved a constant number of times however many pages are prepended.
    fn make_gap(&mut self, wanted: usize) {
        if self.gap >= wanted {
            return;
        }
        let more = wanted.max(self.len());
        self.slots.splice(0..0, std::iter::repeat_with(unused).take(more));
        self.keys.splice(0..0, std::iter::repeat_n(Key(0), more));
        self.gap += more;
    }
}

/// Fills a slot of the gap; never visible. Allocates no memory.
fn unused() -> Block {
    Block {
        id: BlockId(String::new()),
        seq: Seq(0),
        last_seq: Seq(0),
        run_id: None,
        at: Timestamp::UNIX_EPOCH,
        kind: BlockKind::Rewound { to_seq: Seq(0) },
        cut: Vec::new(),
    }
}
