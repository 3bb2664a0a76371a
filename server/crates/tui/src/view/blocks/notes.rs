//! Events beside the conversation: turns, ends, approvals, peers, children, alerts.

use protocol::{AlertLevel, Approval, ChildChange, Decision, Outcome, ReceiptState, Trigger, Usage};
use ratatui::{
    style::{Color, Stylize},
    text::Line,
};
use transcript::{
    ApprovalState, Block, BlockKind,
    words::{
        about_cost, about_tokens, actor_words, child_words, command_ended, duration_words, outcome_words,
        relation_words, trigger_words,
    },
};

use super::{
    Look, noted,
    speech::{peer_name, receipt_text},
};
use crate::{
    model::Detail,
    view::tool::{asked_lines, option_lines, telling},
    wrap::{fit, wrap},
};

/// The beginning of a run: omitted at brief detail, and where the message above says as much.
pub(super) fn turn(block: &Block, number: Option<u64>, trigger: Trigger, look: Look) -> Vec<Line<'static>> {
    if look.detail == Detail::Brief || (look.detail == Detail::Normal && trigger == Trigger::Input) {
        return Vec::new();
    }
    let number = number.map(|number| format!(" {number}")).unwrap_or_default();
    let at = if look.detail == Detail::Full {
        format!(" · {}", block.at.strftime("%Y-%m-%d %H:%M:%S UTC"))
    } else {
        String::new()
    };
    let words = format!("── turn{number} · {}{at}", trigger_words(trigger));
    vec![Line::default(), Line::from(fit(&words, look.width)).dim()]
}

pub(super) fn lines(kind: &BlockKind, look: Look) -> Vec<Line<'static>> {
    match kind {
        BlockKind::RunEnd { .. } => run_end(kind, look),
        BlockKind::Retry { attempt, detail, wait_ms, .. } => {
            let words = format!("↻ Retrying in {} (attempt {attempt}): {detail}", duration_words(*wait_ms));
            noted(&words, Color::Yellow, look)
        }
        BlockKind::Message { peer, delivered: true, .. } => {
            noted(&format!("⇄ message with {}: released, see below", peer_name(peer)), Color::Magenta, look)
        }
        BlockKind::Message { peer, receipt, .. } => {
            let way_out = match receipt.state {
                ReceiptState::Held => "; :release or :drop".to_owned(),
                _ => String::new(),
            };
            let words = format!("⇄ message with {}: {}{way_out}", peer_name(peer), receipt_text(receipt));
            noted(&words, Color::Magenta, look)
        }
        BlockKind::Relation { what, peer, by, note, .. } => {
            let note = note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            let (before, after) = relation_words(*what, by);
            let words = format!("⇄ {before} {} {after}{note}", peer_name(peer));
            noted(&words, Color::Magenta, look)
        }
        BlockKind::Child { what, child, .. } => {
            noted(&format!("⤷ child {}: {}", child.name, child_words(*what)), Color::Blue, look)
        }
        BlockKind::ChildEvent { what, child, detail } => {
            let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            noted(&format!("⤷ child {} {}{detail}", child.name, change_words(*what)), Color::Blue, look)
        }
        kind @ BlockKind::CommandEnded { exit_code, .. } => {
            let colour = if matches!(exit_code, None | Some(0)) { Color::Blue } else { Color::Red };
            noted(&format!("⚙ {}", command_ended(kind)), colour, look)
        }
        BlockKind::Compacted { summary, .. } => compacted(summary, look),
        BlockKind::Rewound { to_seq } => {
            noted(&format!("↶ rewound to {to_seq}: the dimmed part is no longer in the context"), Color::Blue, look)
        }
        BlockKind::Alert { level, source, text } => {
            let (mark, colour) = match level {
                AlertLevel::Note => ("·", Color::Blue),
                AlertLevel::Warn => ("!", Color::Yellow),
                AlertLevel::Error => ("!", Color::Red),
            };
            noted(&format!("{mark} {source}: {text}"), colour, look)
        }
        BlockKind::Unknown { kind, fields } => {
            let mut lines = noted(&format!("? {kind}: unknown to this version of yoi"), Color::Yellow, look);
            if look.detail == Detail::Full {
                let fields = serde_json::to_string(fields).unwrap_or_default();
                lines.extend(wrap(&fields, look.width).into_iter().map(|line| Line::from(line).dim()));
            }
            lines
        }
        _ => Vec::new(),
    }
}

fn compacted(summary: &str, look: Look) -> Vec<Line<'static>> {
    let heading = fit("⧉ compacted: the conversation continues from here", look.width);
    let mut lines = vec![Line::default(), Line::from(heading).blue()];
    let text = wrap(summary, look.width.saturating_sub(2));
    let count = if look.detail == Detail::Full { text.len() } else { 3 };
    let has_more = text.len() > count;
    lines.extend(text.into_iter().take(count).map(|line| Line::from(format!("  {line}"))));
    lines.extend(has_more.then(|| Line::from("  …").dim()));
    lines
}

fn run_end(kind: &BlockKind, look: Look) -> Vec<Line<'static>> {
    let BlockKind::RunEnd { outcome, code, detail, usage, started_at, ended_at, .. } = kind else { return Vec::new() };
    let (mark, colour) = match outcome {
        Outcome::Completed => ("✓", None),
        Outcome::Error => ("✗", Some(Color::Red)),
        _ => ("■", Some(Color::Yellow)),
    };
    let why = match (code, detail) {
        (Some(code), Some(detail)) => format!(": {detail} ({code})"),
        (None, Some(words)) | (Some(words), None) => format!(": {words}"),
        (None, None) => String::new(),
    };
    let took = started_at.map(|start| ended_at.as_millisecond() - start.as_millisecond());
    let took = took.map(|ms| format!(" · {}", duration_words(u64::try_from(ms).unwrap_or_default())));
    let words = format!("{mark} {}{why}{}{}", outcome_words(*outcome), tokens(usage), took.unwrap_or_default());
    match colour {
        Some(colour) => noted(&words, colour, look),
        None => wrap(&words, look.width).into_iter().map(|line| Line::from(line).dim()).collect(),
    }
}

fn tokens(usage: &Usage) -> String {
    match usage.input + usage.output {
        0 => String::new(),
        _ => {
            let (read, written) =
                (about_tokens(usage.input, usage.estimated), about_tokens(usage.output, usage.estimated));
            format!(" · {read} in, {written} out · {}", about_cost(usage.cost, usage.currency, usage.estimated))
        }
    }
}

/// An approval; an open one says how to answer it.
pub(super) fn approval(kind: &BlockKind, change: Option<&Approval>, look: Look) -> Vec<Line<'static>> {
    let BlockKind::Approval { tool, arguments, options, state, decision, by, reason, .. } = kind else {
        return Vec::new();
    };
    let asked = telling(Some(arguments), "");
    if *state == ApprovalState::Open {
        let mut lines = vec![Line::default()];
        lines.extend(
            noted(&format!("? {tool} asks for permission"), Color::Yellow, look).into_iter().map(Stylize::bold),
        );
        lines.extend(asked_lines(arguments, change, look));
        lines.extend(option_lines(options, look));
        lines.push(
            Line::from(fit(
                "  a allow once · A allow always · d deny (Alt, or Ctrl-T first) · :deny REASON",
                look.width,
            ))
            .dim(),
        );
        return lines;
    }
    let answer = match (state, decision) {
        (ApprovalState::Void, _) => "no longer asked",
        (_, Some(Decision::Allow)) => "allowed",
        (_, Some(Decision::Deny)) => "denied",
        (_, None) => "no longer needed",
    };
    let by = by.as_deref().map(|by| format!(" by {}", actor_words(by))).unwrap_or_default();
    let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let room = look.width.saturating_sub(tool.len() + answer.len() + by.len() + 6);
    noted(&format!("? {tool} {}: {answer}{by}{reason}", fit(&asked, room)), Color::Yellow, look)
}

fn change_words(what: ChildChange) -> &'static str {
    match what {
        ChildChange::TurnEnded => "ended a turn",
        ChildChange::Errored => "failed",
        ChildChange::ShutDown => "shut down",
    }
}
