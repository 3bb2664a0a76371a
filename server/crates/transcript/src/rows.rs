//! The blocks in the order of the screen, each with a key that stays when it moves.
//!
//! Blocks that still stream stand at the end until a record that is never folded away (`…_finished`, `tool_called`)
//! fixes their place. So the final order is the same for a reader that saw every chunk and for one that saw none.

use std::collections::HashMap;

use protocol::{Record, Seq, Timestamp};

use crate::{Block, BlockId, BlockKind, Change};

/// So many blocks may stand unfixed at the end; beyond it the oldest stays where it is. Bounds the cost of a record.
pub const OPEN_BLOCKS_MAX: usize = 64;

/// Names a block inside one transcript, wherever it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(usize);

impl Key {
    /// Names the same block after its transcript became the older part of another.
    pub(crate) fn shift(&mut self, base: usize) {
        self.0 += base;
    }
}

/// A block that is gone, in [`Rows::places`].
const GONE: i64 = i64::MIN;

#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    /// The blocks, behind a gap of `gap` unused slots: older pages go into the gap without moving the rest.
    slots: Vec<Block>,
    keys: Vec<Key>,
    gap: usize,
    /// Position of the first block. Positions grow downwards without end, so that a prepended page moves none.
    first: i64,
    /// Position of each key.
    places: Vec<i64>,
    /// Blocks that went into others: whoever holds the old key finds the heir.
    heirs: HashMap<Key, Key>,
    /// So many blocks at the end have no fixed place yet.
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

    /// What changed since the last call.
    pub(crate) fn take_change(&mut self) -> Change {
        std::mem::take(&mut self.change)
    }

    /// Where the block is now, or the one that it went into. `None` while it is being put in.
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

    /// The block, to be changed in its place.
    pub(crate) fn edit(&mut self, key: Key) -> Option<&mut Block> {
        let index = self.index(key)?;
        self.change = self.change.and(Change::Changed { index });
        Some(&mut self.slots[self.gap + index])
    }

    /// What the block shows, to be changed in its place, where it is such a block.
    pub(crate) fn edit_if(&mut self, key: Key, is_such: impl FnOnce(&Block) -> bool) -> Option<&mut BlockKind> {
        self.get(key).filter(|block| is_such(block))?;
        self.edit(key).map(|block| &mut block.kind)
    }

    fn is_open(&self, key: Key) -> bool {
        self.index(key).is_some_and(|index| index >= self.len() - self.open)
    }

    /// A block whose place is final.
    pub(crate) fn add(&mut self, block: Block) -> Key {
        let key = self.new_key();
        self.insert(self.len() - self.open, key, block);
        key
    }

    /// A block of this record alone.
    pub(crate) fn add_of(&mut self, record: &Record, kind: BlockKind) -> Key {
        self.add(Block::new(BlockId::of_seq(record.seq), record, kind))
    }

    /// At the limit, gives the oldest open block its place where it stands. It may still stream.
    pub(crate) fn make_room(&mut self) -> Option<Key> {
        if self.open < OPEN_BLOCKS_MAX {
            return None;
        }
        let oldest = self.key_at(self.len() - self.open);
        self.open -= 1;
        Some(oldest)
    }

    /// A block that still streams, after [`Rows::make_room`].
    pub(crate) fn add_open(&mut self, block: Block) -> Key {
        let key = self.new_key();
        self.insert(self.len(), key, block);
        self.open += 1;
        key
    }

    /// Gives a streaming block its final place: behind all that have one.
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

    /// Takes the older blocks that have a place before its own, and gives back those that have none, with their
    /// keys. Keys of `older` are valid here once they are [moved](Key::shift) by the number that comes back.
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

    /// Puts a block at `index`; moves whichever side is shorter.
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

    /// Takes a block out, for another that it becomes part of.
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

    /// Takes out a block that goes on with an older one. Gives it, and the older one to be changed in its place.
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

    /// Doubles, so that a block is moved a constant number of times however many pages come before it.
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

/// Fills a slot of the gap; never seen. Owns no memory.
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
