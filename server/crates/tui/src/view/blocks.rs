//! One block of a transcript as lines.

mod notes;
mod speech;

use protocol::{Approval, Seq};
use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::{Block, BlockKind, words::bytes_words};

pub(super) use self::speech::thoughts_lines;
use super::tool;
use crate::{
    model::Detail,
    wrap::{fit, wrap, wrap_styled},
};

/// How blocks are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// Columns per line.
    pub(super) width: usize,
    pub(super) detail: Detail,
}

/// The lines of a block, with an empty one before those that begin something new. What a rewind removed from the
/// context is dimmed; a call that waits for approval (`is_asked`) says so, and an approval shows its `change`.
pub(super) fn block_lines(
    block: &Block,
    rewinds: &[(Seq, Seq)],
    is_asked: bool,
    change: Option<&Approval>,
    look: Look,
) -> Vec<Line<'static>> {
    if block.is_empty() {
        return Vec::new();
    }
    let mut lines = clipped(lines(block, is_asked, change, look), look.width);
    if let Some(bytes) = block.cut_bytes() {
        let note = format!("  … cut here; o shows all {}", bytes_words(bytes));
        lines.push(Line::from(fit(&note, look.width)).yellow());
    }
    match block.is_rewound(rewinds) {
        true => lines.into_iter().map(Stylize::dim).collect(),
        false => lines,
    }
}

fn lines(block: &Block, is_asked: bool, change: Option<&Approval>, look: Look) -> Vec<Line<'static>> {
    match &block.kind {
        BlockKind::Turn { number, trigger } => notes::turn(block, *number, *trigger, look),
        BlockKind::Person { segments, by, state, blobs, .. } => speech::person((segments, blobs), by, *state, look),
        BlockKind::Peer { from, text, hops, receipt, .. } => speech::peer(from, text, *hops, receipt.as_ref(), look),
        BlockKind::Assistant { text, status } => speech::assistant(text, *status, look),
        BlockKind::Reasoning { .. } => thoughts_lines(&[block], look),
        BlockKind::Tool { .. } => tool::lines(&block.kind, is_asked, look),
        BlockKind::Approval { .. } => notes::approval(&block.kind, change, look),
        kind => notes::lines(kind, look),
    }
}

/// Consecutive read-only calls as one line, or one line each.
pub(super) fn reads_lines(blocks: &[&Block], look: Look) -> Vec<Line<'static>> {
    clipped(tool::reads_lines(blocks, look), look.width)
}

/// On a very narrow screen not even the end of a call fits, so cut it.
fn clipped(mut lines: Vec<Line<'static>>, width: usize) -> Vec<Line<'static>> {
    for line in lines.iter_mut().filter(|line| line.width() > width) {
        line.spans = wrap_styled(&line.spans, width).swap_remove(0);
    }
    lines
}

/// An event, marked by its words and additionally by colour. Continuation lines are indented.
fn noted(text: &str, colour: Color, look: Look) -> Vec<Line<'static>> {
    let style = Style::new().fg(colour);
    wrap(text, look.width.saturating_sub(2))
        .into_iter()
        .enumerate()
        .map(|(index, line)| Line::from(Span::styled(if index == 0 { line } else { format!("  {line}") }, style)))
        .collect()
}

/// A heading on one line: bold words, then dim ones as far as they fit.
fn heading(words: &str, rest: &str, style: Style, look: Look) -> Line<'static> {
    let words = fit(words, look.width);
    let room = look.width.saturating_sub(crate::wrap::width_of(&words));
    Line::from(vec![Span::styled(words, style.bold()), Span::raw(fit(rest, room)).dim()])
}
