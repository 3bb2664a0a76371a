//! Streamed blocks of which both parts have a piece.

use std::collections::HashMap;

use crate::{
    Block, BlockKind, Status, Transcript,
    reduce::{Family, Index, Piece, stream},
    rows::Key,
};

impl Transcript {
    /// What the newer part does not mention, but the end of the run that it belongs to: calls of the page.
    pub(super) fn interrupt_ended(&mut self, older: &Index) {
        for (run_id, run) in &older.runs {
            let Some(end) = self.index.runs.get(run_id).and_then(|run| run.ends.first()).copied() else { continue };
            for &key in &run.unended {
                let Some(block) = self.rows.get(key) else { continue };
                let Some(family) = Family::of(&block.kind) else { continue };
                if !self.index.pieces[family as usize].contains_key(block.id.as_str()) {
                    self.interrupt(key, end.at);
                }
            }
        }
    }

    /// Calls that the page made: their output or their result may be in the newer part.
    pub(super) fn join_tools(&mut self, older: &mut Index) {
        let tools = std::mem::take(&mut older.pieces[Family::Tool as usize]);
        for (block, before) in tools {
            if self.rows.get(before.key).is_none() {
                // Still without a place; `join_open` has its turn next.
                older.pieces[Family::Tool as usize].insert(block, before);
                continue;
            }
            if let Some(after) = self.index.pieces[Family::Tool as usize].remove(&block) {
                self.absorb(before.key, after);
            }
            self.index.pieces[Family::Tool as usize].insert(block, before);
        }
    }

    /// Texts of the page that have their place. The newer part has a piece of one only if the Pod repeated itself.
    pub(super) fn join_fixed(&mut self, older: &mut Index) {
        for family in [Family::Text, Family::Reasoning] {
            for (block, mut before) in older.pieces[family as usize].drain() {
                if let Some(after) = self.index.pieces[family as usize].remove(&block) {
                    self.absorb(before.key, after);
                    before.whole |= after.whole;
                }
                self.index.pieces[family as usize].insert(block, before);
            }
        }
    }

    /// Blocks that still streamed when the page ended, oldest first.
    pub(super) fn join_open(&mut self, open: Vec<(Key, Block)>, older: &mut Index) {
        // These stand before the newer part's own streaming blocks, and are counted once all are in.
        let mut added_open = 0;
        let mut added_closed: HashMap<String, usize> = HashMap::new();
        for (key, mut block) in open {
            let Some(family) = Family::of(&block.kind) else { continue };
            let name = block.id.as_str().to_owned();
            older.pieces[family as usize].remove(&name);
            let newer = self.index.pieces[family as usize].get(&name).copied();
            match newer {
                Some(Piece { key: after, whole: true }) => {
                    self.begin_earlier(after, block);
                    continue;
                }
                Some(after) => {
                    if let Some(gone) = self.remove_piece(after.key, key) {
                        continue_block(&mut block, gone, after.whole);
                    }
                }
                None => (),
            }
            self.index.pieces[family as usize].insert(name, Piece { key, whole: false });
            let run_id = block.run_id.clone().unwrap_or_default();
            let end = self.index.runs.get(&run_id).and_then(|run| run.ends.first()).copied();
            match end.and_then(|end| Some((end, self.rows.index(end.key)?))) {
                Some((end, index)) => {
                    stream::interrupt(&mut block.kind, end.at);
                    self.rows.insert(index - end.closed, key, block);
                    *added_closed.entry(run_id).or_default() += 1;
                }
                None => {
                    self.rows.insert(self.rows.len() - self.rows.open, key, block);
                    added_open += 1;
                }
            }
        }
        self.rows.open += added_open;
        for (run_id, count) in added_closed {
            if let Some(end) = self.index.runs.get_mut(&run_id).and_then(|run| run.ends.first_mut()) {
                end.closed += count;
            }
        }
    }

    /// The whole block is in the newer part; the page only knew its beginning.
    fn begin_earlier(&mut self, after: Key, older: Block) {
        if let Some(block) = self.rows.edit(after) {
            block.seq = older.seq;
            block.at = older.at;
            block.run_id = older.run_id;
            block.cut.splice(0..0, older.cut);
            begin_kind(&mut block.kind, older.kind);
        }
    }

    /// Puts what the newer part has of a block into the older one, which keeps its place.
    fn absorb(&mut self, before: Key, after: Piece) {
        let Some(gone) = self.remove_piece(after.key, before) else { return };
        if let Some(kept) = self.rows.edit(before) {
            continue_block(kept, gone, after.whole);
        }
    }

    /// Takes out a block of the newer part; it may be one of those that a run's end closed.
    fn remove_piece(&mut self, key: Key, heir: Key) -> Option<Block> {
        let index = self.rows.index(key)?;
        let run_id = self.rows.get(key)?.run_id.clone().unwrap_or_default();
        let end = self.index.runs.get_mut(&run_id).and_then(|run| run.ends.first_mut());
        if let Some(end) = end
            && let Some(end_index) = self.rows.index(end.key)
            && (end_index - end.closed..end_index).contains(&index)
        {
            end.closed -= 1;
        }
        self.rows.remove(key, heir)
    }
}

/// What the beginning of a block knows and its end does not.
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

/// An interruption that brought no text keeps what was there.
fn keep_text(text: &mut String, status: Status, earlier: String) {
    if text.is_empty() && status == Status::Interrupted {
        *text = earlier;
    }
}

/// Adds to a block what came of it later; a finished record (`is_whole`) replaces the text instead.
fn continue_block(block: &mut Block, newer: Block, is_whole: bool) {
    block.last_seq = newer.last_seq;
    block.cut.extend(newer.cut);
    let mut newer = newer.kind;
    if let (Some(text), Some(more)) = (stream::text_of(&mut block.kind), stream::text_of(&mut newer)) {
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
