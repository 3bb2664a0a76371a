//! One block of a transcript as lines.

use protocol::Segment;
use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::{
    ApprovalState, Block, BlockKind, PersonState, Status, ToolResult,
    words::{child_words, cost_words, duration_words, outcome_words, receipt_words, relation_words, tokens_words},
};

use crate::wrap::{fit, wrap};

/// The newest lines of a tool's output that are shown while it runs.
const OUTPUT_LINES_MAX: usize = 5;

/// The lines of a block, with an empty one before those that begin something. Empty blocks have none.
pub(crate) fn block_lines(block: &Block, width: usize) -> Vec<Line<'static>> {
    if block.is_empty() {
        return Vec::new();
    }
    let dim = Style::new().dim();
    match &block.kind {
        BlockKind::Turn { .. } => Vec::new(),
        BlockKind::Person { segments, by, state, .. } => {
            let text: Vec<_> = segments.iter().map(Segment::as_text).collect();
            let waits = if *state == PersonState::Stored { " (waiting)" } else { "" };
            said(&format!("{by}{waits}"), &text.join(" "), Color::Cyan, width)
        }
        BlockKind::Peer { from, text, receipt, .. } => {
            let state =
                receipt.as_ref().map(|receipt| format!(" · {}", receipt_words(receipt.state))).unwrap_or_default();
            said(&format!("⇄ {}{state}", from.name), text, Color::Magenta, width)
        }
        BlockKind::Assistant { text, status } => {
            let mut lines = vec![Line::default()];
            lines.extend(styled(&format!("{text}{}", tail_mark(*status)), Style::new(), width));
            lines
        }
        BlockKind::Reasoning { text, status, .. } => reasoning(text, *status, width),
        BlockKind::Tool { name, arguments, arguments_text, output, result, interrupted, .. } => {
            let arguments = arguments.as_ref().map_or_else(|| arguments_text.clone(), ToString::to_string);
            let name = name.as_deref().unwrap_or("tool");
            let mut lines = vec![Line::from(fit(&format!("⚙ {name} {arguments}"), width)).bold()];
            lines.extend(tool_end(result.as_ref(), *interrupted, output, width));
            lines
        }
        BlockKind::RunEnd { outcome, detail, usage, .. } => {
            let cost = usage.cost.map(|cost| format!(" · {}", cost_words(Some(cost)))).unwrap_or_default();
            let tokens = format!("{} in, {} out{cost}", tokens_words(usage.input), tokens_words(usage.output));
            let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            styled(&format!("— {}{detail} · {tokens}", outcome_words(*outcome)), dim, width)
        }
        BlockKind::Retry { attempt, detail, wait_ms, .. } => {
            let wait = duration_words(*wait_ms);
            noted(&format!("asking again (attempt {attempt}) in {wait}: {detail}"), Color::Yellow, width)
        }
        BlockKind::Approval { tool, arguments, state, decision, .. } => {
            let answer = match (state, decision) {
                (ApprovalState::Open, _) => "needs your answer".to_owned(),
                (ApprovalState::Void, _) => "void".to_owned(),
                (ApprovalState::Answered, decision) => format!("{decision:?}").to_lowercase(),
            };
            noted(&format!("? {tool} {arguments}: {answer}"), Color::Yellow, width)
        }
        BlockKind::Message { peer, receipt, .. } => {
            noted(&format!("⇄ message with {}: {}", peer.name, receipt_words(receipt.state)), Color::Magenta, width)
        }
        BlockKind::Relation { what, peer, note, .. } => {
            let note = note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            noted(&format!("⇄ {} {}{note}", relation_words(*what), peer.name), Color::Magenta, width)
        }
        BlockKind::Child { what, child, .. } => {
            noted(&format!("{} {}", child_words(*what), child.name), Color::Blue, width)
        }
        BlockKind::ChildEvent { what, child, detail } => {
            let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            let what = format!("{what:?}").to_lowercase();
            noted(&format!("child {} {what}{detail}", child.name), Color::Blue, width)
        }
        BlockKind::Compacted { summary, .. } => noted(&format!("compacted: {summary}"), Color::Blue, width),
        BlockKind::Rewound { to_seq } => noted(&format!("rewound to {to_seq}"), Color::Blue, width),
        BlockKind::Alert { source, text, .. } => noted(&format!("! {source}: {text}"), Color::Red, width),
        BlockKind::Unknown { kind, .. } => {
            styled(&format!("? {kind}: a newer server says what this version cannot show"), dim, width)
        }
    }
}

/// A message with its author before it.
fn said(author: &str, text: &str, colour: Color, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default(), Line::from(fit(author, width)).style(Style::new().fg(colour).bold())];
    lines.extend(styled(text, Style::new(), width));
    lines
}

/// Something that happened, marked by its colour and its own words.
fn noted(text: &str, colour: Color, width: usize) -> Vec<Line<'static>> {
    styled(text, Style::new().fg(colour), width)
}

fn styled(text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    wrap(text, width).into_iter().map(|line| Line::from(Span::styled(line, style))).collect()
}

fn tail_mark(status: Status) -> &'static str {
    match status {
        Status::Streaming => "▍",
        Status::Finished => "",
        Status::Interrupted => " (interrupted)",
    }
}

/// One line: what it thinks now, or what it began with.
fn reasoning(text: &str, status: Status, width: usize) -> Vec<Line<'static>> {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (word, line) = match status {
        Status::Streaming => ("thinking", lines.last()),
        _ => ("thought", lines.first()),
    };
    vec![Line::from(fit(&format!("{word}: {}", line.unwrap_or(&"…")), width)).italic().dim()]
}

fn tool_end(result: Option<&ToolResult>, interrupted: bool, output: &str, width: usize) -> Vec<Line<'static>> {
    match result {
        Some(result) => {
            let colour = if result.is_error { Color::Red } else { Color::Green };
            let mark = if result.is_error { "✗" } else { "→" };
            let text = format!("  {mark} {} · {}", result.summary, duration_words(result.duration_ms));
            noted(&text, colour, width)
        }
        None if interrupted => noted("  (interrupted)", Color::Yellow, width),
        None => {
            let lines: Vec<_> = output.lines().collect();
            let newest = &lines[lines.len().saturating_sub(OUTPUT_LINES_MAX)..];
            newest.iter().map(|line| Line::from(fit(&format!("  {line}"), width)).dim()).collect()
        }
    }
}
