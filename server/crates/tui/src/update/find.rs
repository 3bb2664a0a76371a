//! Finding text in the transcript, and copying from it.

use protocol::Seq;
use transcript::{Block, BlockKind, plain_text};

use super::scroll;
use crate::{
    model::{Effect, Model},
    view::Rows,
};

/// Starts at the current position and searches upwards, so that the newest match comes first.
pub(super) fn begin(model: &mut Model, words: String) {
    let Some(open) = &mut model.open else { return };
    if !words.is_empty() {
        open.find = words;
    }
    open.mark = None;
    go(model, true);
}

/// Goes to the next match further up or down.
pub(super) fn again(model: &mut Model, is_up: bool) {
    go(model, is_up);
}

fn go(model: &mut Model, is_up: bool) {
    let area = crate::view::transcript_area(model);
    let Some(open) = &model.open else { return };
    if open.find.is_empty() {
        return model.complain("no search yet; / searches this transcript");
    }
    let (words, rows) = (open.find.to_lowercase(), Rows::new(open, model.detail, area.width));
    let lowest = rows.lowest(&open.place).map_or(0, |(row, _)| row);
    let highest = rows.highest(&open.place, area.height).map_or(0, |(row, _)| row);
    // Continues from the last match while it is on the screen, otherwise from the screen.
    let hit = open.mark.as_ref().and_then(|mark| rows.row_of(mark)).filter(|row| (highest..=lowest).contains(row));
    let is_hit = |row: &usize| rows.blocks(*row).any(|block| has(block, &words));
    let found = match is_up {
        true => (0..hit.unwrap_or(lowest + 1).min(rows.len())).rev().find(is_hit),
        false => (hit.map_or(highest, |row| row + 1)..rows.len()).find(is_hit),
    };
    match found {
        Some(row) => {
            let lines = rows.lines(row);
            let is_shown = |line: &ratatui::text::Line<'_>| line.to_string().to_lowercase().contains(&words);
            let line = lines.iter().position(is_shown).unwrap_or_default();
            let (place, id) = (scroll::place_with_room(&rows, row, line, area.height), rows.id(row).clone());
            if let Some(open) = &mut model.open {
                (open.place, open.mark) = (place, Some(id));
            }
        }
        None => {
            let (words, end) = (open.find.clone(), if is_up { "above" } else { "below" });
            let hint = if open.older == crate::model::Older::None {
                ""
            } else {
                " in the loaded part; :search searches everything"
            };
            model.complain(format!("\"{words}\" is not {end}{hint}"));
        }
    }
}

fn has(block: &Block, words: &str) -> bool {
    plain_text(block).to_lowercase().contains(words)
}

/// Copies the current block.
pub(super) fn copy(model: &mut Model) {
    let area = crate::view::transcript_area(model);
    let Some(open) = &model.open else { return };
    let rows = Rows::new(open, model.detail, area.width);
    let Some(row) = rows.at_hand(area.height) else {
        return model.complain("nothing to copy yet");
    };
    let texts: Vec<String> = rows.blocks(row).map(plain_text).collect();
    let (text, what) = (texts.join("\n"), rows.blocks(row).next().map_or("block", word));
    let lines = text.lines().count();
    model.tell(format!("copied: {what}, {lines} {}", if lines == 1 { "line" } else { "lines" }));
    model.start(Effect::Copy(text));
}

/// Loads the truncated parts of the current block.
pub(super) fn show_all(model: &mut Model) {
    let area = crate::view::transcript_area(model);
    let Some(open) = &model.open else { return };
    let rows = Rows::new(open, model.detail, area.width);
    let at_hand = rows.at_hand(area.height).into_iter().flat_map(|row| rows.blocks(row));
    let seqs: Vec<Seq> = at_hand.flat_map(|block| &block.cut).map(|cut| cut.seq).collect();
    if seqs.is_empty() {
        return model.tell("this block is not cut; v shows more detail");
    }
    let effect = Effect::LoadWhole { pod: open.pod.clone(), seqs };
    model.tell("fetching the whole block …");
    model.start(effect);
}

fn word(block: &Block) -> &'static str {
    match &block.kind {
        BlockKind::Person { .. } => "message",
        BlockKind::Peer { .. } => "peer's message",
        BlockKind::Assistant { .. } => "answer",
        BlockKind::Reasoning { .. } => "thinking",
        BlockKind::Tool { .. } => "call",
        _ => "block",
    }
}
