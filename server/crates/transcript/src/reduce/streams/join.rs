//! Streamed blocks of which an older page and the newer part each have a piece.
//!
//! The page was reduced on its own. What it left unfinished is looked up in the newer part, which began in the middle
//! of it. Each entry costs one look-up; a block is moved only if both parts have a piece of it.

use std::collections::HashMap;

use super::{Family, Piece, Streams, interrupt, interrupt_live, text_of};
use crate::{
    Block, BlockKind, Status,
    reduce::runs::Runs,
    rows::{Key, Rows},
};

impl Streams {
    /// `open`: the blocks that were still streaming when the page ended, oldest first.
    pub(in crate::reduce) fn join(
        &mut self,
        rows: &mut Rows,
        runs: &mut Runs,
        mut older: Self,
        open: Vec<(Key, Block)>,
    ) {
        self.interrupt_ended(rows, runs, &older);
        self.join_tools(rows, runs, &mut older);
        self.join_open(rows, runs, &mut older, open);
        self.join_fixed(rows, runs, &mut older);
        for (run_id, mut keys) in older.unended {
            let newer = self.unended.entry(run_id).or_default();
            keys.append(newer);
            *newer = keys;
        }
    }

    pub(in crate::reduce) fn shift(&mut self, base: usize) {
        self.pieces.iter_mut().flat_map(HashMap::values_mut).for_each(|piece| piece.key.shift(base));
        self.unended.values_mut().flatten().for_each(|key| key.shift(base));
    }

    /// Interrupts calls of the page that the newer part does not mention although it has the end of their run.
    fn interrupt_ended(&self, rows: &mut Rows, runs: &mut Runs, older: &Self) {
        for (run_id, keys) in &older.unended {
            let Some(end) = runs.first_end(run_id) else { continue };
            for &key in keys {
                let Some(block) = rows.get(key) else { continue };
                let Some(family) = Family::of(&block.kind) else { continue };
                if self.piece(family, block.id.as_str()).is_none() {
                    interrupt_live(rows, key, end.at);
                }
            }
        }
    }

    /// Calls made in the page, whose output or result may be in the newer part.
    fn join_tools(&mut self, rows: &mut Rows, runs: &mut Runs, older: &mut Self) {
        let newer = &mut self.pieces[Family::Tool as usize];
        // Those not yet placed are handled in `join_open`.
        let is_placed = |_: &String, piece: &mut Piece| rows.get(piece.key).is_some();
        let placed: Vec<_> = older.pieces[Family::Tool as usize].extract_if(is_placed).collect();
        for (block, before) in placed {
            if let Some(after) = newer.remove(&block) {
                absorb(rows, runs, before.key, after);
            }
            newer.insert(block, before);
        }
    }

    /// Placed texts of the page. The newer part has a piece of one only if the Pod repeated itself.
    fn join_fixed(&mut self, rows: &mut Rows, runs: &mut Runs, older: &mut Self) {
        for family in [Family::Text, Family::Reasoning] {
            for (block, mut before) in older.pieces[family as usize].drain() {
                if let Some(after) = self.pieces[family as usize].remove(&block) {
                    absorb(rows, runs, before.key, after);
                    before.whole |= after.whole;
                }
                self.pieces[family as usize].insert(block, before);
            }
        }
    }

    /// Blocks that were still streaming when the page ended, oldest first.
    fn join_open(&mut self, rows: &mut Rows, runs: &mut Runs, older: &mut Self, open: Vec<(Key, Block)>) {
        // These go before the newer part's own streaming blocks, and are counted once all are in.
        let mut added_open = 0;
        let mut added_closed: HashMap<String, usize> = HashMap::new();
        for (key, mut block) in open {
            let Some(family) = Family::of(&block.kind) else { continue };
            let name = block.id.as_str().to_owned();
            older.pieces[family as usize].remove(&name);
            match self.piece(family, &name) {
                Some(Piece { key: after, whole: true }) => {
                    begin_earlier(rows, after, block);
                    continue;
                }
                Some(after) => {
                    if let Some(gone) = remove_piece(rows, runs, after.key, key) {
                        continue_block(&mut block, gone, after.whole);
                    }
                }
                None => (),
            }
            self.pieces[family as usize].insert(name, Piece { key, whole: false });
            let run_id = block.run_id.clone().unwrap_or_default();
            let end = runs.first_end(&run_id).copied();
            match end.and_then(|end| Some((end, rows.index(end.key)?))) {
                Some((end, index)) => {
                    interrupt(&mut block.kind, end.at);
                    rows.insert(index - end.closed, key, block);
                    *added_closed.entry(run_id).or_default() += 1;
                }
                None => {
                    rows.insert(rows.len() - rows.open, key, block);
                    added_open += 1;
                }
            }
        }
        rows.open += added_open;
        for (run_id, count) in added_closed {
            if let Some(end) = runs.first_end(&run_id) {
                end.closed += count;
            }
        }
    }
}

/// The whole block is in the newer part, and the page has only its beginning.
fn begin_earlier(rows: &mut Rows, after: Key, older: Block) {
    if let Some(block) = rows.edit(after) {
        block.seq = older.seq;
        block.at = older.at;
        block.run_id = older.run_id;
        block.cut.splice(0..0, older.cut);
        begin_kind(&mut block.kind, older.kind);
    }
}

/// Merges the newer part's piece of a block into the older one, which keeps its place.
fn absorb(rows: &mut Rows, runs: &mut Runs, before: Key, after: Piece) {
    let Some(gone) = remove_piece(rows, runs, after.key, before) else { return };
    if let Some(kept) = rows.edit(before) {
        continue_block(kept, gone, after.whole);
    }
}

/// Removes a block of the newer part; it may be one of those that the end of a run closed.
fn remove_piece(rows: &mut Rows, runs: &mut Runs, key: Key, heir: Key) -> Option<Block> {
    let index = rows.index(key)?;
    let run_id = rows.get(key)?.run_id.as_deref().unwrap_or_default();
    if let Some(end) = runs.first_end(run_id)
        && let Some(end_index) = rows.index(end.key)
        && (end_index - end.closed..end_index).contains(&index)
    {
        end.closed -= 1;
    }
    rows.remove(key, heir)
}

/// Copies what only the beginning of a block knows.
fn begin_kind(kind: &mut BlockKind, older: BlockKind) {
    match (kind, older) {
        (BlockKind::Assistant { text, status }, BlockKind::Assistant { text: earlier, .. }) => {
            keep_text(text, *status, earlier);
        }
        (
            BlockKind::Reasoning { text, status, started_at, .. },
            BlockKind::Reasoning { text: earlier, started_at: began, .. },
        ) => {
            keep_text(text, *status, earlier);
            *started_at = began;
        }
        (BlockKind::Tool { arguments: None, arguments_text, .. }, BlockKind::Tool { arguments_text: earlier, .. }) => {
            arguments_text.insert_str(0, &earlier)
        }
        _ => (),
    }
}

/// An interruption without text keeps what was there.
fn keep_text(text: &mut String, status: Status, earlier: String) {
    if text.is_empty() && status == Status::Interrupted {
        *text = earlier;
    }
}

/// Appends the later piece of a block; a finished record (`is_whole`) replaces the text instead.
fn continue_block(block: &mut Block, newer: Block, is_whole: bool) {
    block.last_seq = newer.last_seq;
    block.cut.extend(newer.cut);
    let mut newer = newer.kind;
    if let (Some(text), Some(more)) = (text_of(&mut block.kind), text_of(&mut newer)) {
        match is_whole && !more.is_empty() {
            true => std::mem::swap(text, more),
            false => text.push_str(more),
        }
    }
    match (&mut block.kind, newer) {
        (BlockKind::Assistant { status, .. }, BlockKind::Assistant { status: now, .. }) => *status = now,
        (BlockKind::Reasoning { status, ended_at, .. }, BlockKind::Reasoning { status: now, ended_at: end, .. }) => {
            (*status, *ended_at) = (now, end)
        }
        (older @ BlockKind::Tool { .. }, newer @ BlockKind::Tool { .. }) => continue_tool(older, newer),
        _ => (),
    }
}

fn continue_tool(older: &mut BlockKind, newer: BlockKind) {
    let BlockKind::Tool { call_id, name, arguments, arguments_text, output, result, by, interrupted } = older else {
        return;
    };
    let BlockKind::Tool {
        call_id: new_id,
        name: new_name,
        arguments: new_arguments,
        arguments_text: more_arguments,
        output: more_output,
        result: new_result,
        by: new_by,
        interrupted: is_interrupted,
    } = newer
    else {
        return;
    };
    *call_id = new_id.or(call_id.take());
    *name = new_name.or(name.take());
    *arguments = new_arguments.or(arguments.take());
    *by = new_by.or(*by);
    match arguments {
        Some(_) => arguments_text.clear(),
        None => arguments_text.push_str(&more_arguments),
    }
    *result = new_result.or(result.take());
    match result {
        Some(_) => output.clear(),
        None => output.push_str(&more_output),
    }
    *interrupted = is_interrupted;
}
