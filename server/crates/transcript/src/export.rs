//! Blocks as text, for the clipboard and for a file.

use protocol::{AlertLevel, ChildChange, ControlEvent, Decision, Event, PodLabel, Record, Segment, TurnEvent, Usage};
use serde::Serialize;
use serde_json::Value;

use crate::{
    ApprovalState, Block, BlockKind, Status, ToolResult,
    words::{
        about_cost, about_tokens, actor_words, child_words, command_ended, duration_words, outcome_words, receipt_text,
        relation_words, trigger_words,
    },
};

/// The block's own text without a heading: what "copy" copies.
pub fn plain_text(block: &Block) -> String {
    match &block.kind {
        BlockKind::Turn { number, trigger } => match number {
            Some(number) => format!("Turn {number}: {}", trigger_words(*trigger)),
            None => format!("Turn: {}", trigger_words(*trigger)),
        },
        BlockKind::Person { segments, .. } => segments_text(segments),
        BlockKind::Peer { text, .. } => text.clone(),
        BlockKind::Message { peer, delivered: true, .. } => format!("Message, {}: released, see below", peer.name),
        BlockKind::Message { peer, receipt, .. } => format!("Message, {}: {}", peer.name, receipt_text(receipt)),
        BlockKind::ChildEvent { what, child, detail } => child_event_text(*what, child, detail.as_deref()),
        BlockKind::CommandEnded { .. } => command_ended(&block.kind),
        BlockKind::Child { what, child, .. } => format!("Child {}: {}", child.name, child_words(*what)),
        BlockKind::Assistant { text, status } | BlockKind::Reasoning { text, status, .. } => match status {
            Status::Interrupted => join(text, "(interrupted)"),
            Status::Finished | Status::Streaming => text.clone(),
        },
        BlockKind::Tool { .. } => tool_text(&block.kind),
        BlockKind::RunEnd { .. } => run_end_text(&block.kind),
        BlockKind::Retry { attempt, wait_ms, code, detail, .. } => {
            format!("Attempt {attempt} failed ({code}: {detail}); next in {}", duration_words(*wait_ms))
        }
        BlockKind::Approval { .. } => approval_text(&block.kind),
        BlockKind::Relation { what, peer, by, note, .. } => {
            let (before, after) = relation_words(*what, by);
            let line = format!("{before} {} {after}", peer.name);
            note.as_deref().map_or(line.clone(), |note| join(&line, note))
        }
        BlockKind::Compacted { summary, .. } => summary.clone(),
        BlockKind::Rewound { to_seq } => format!("Rewound to {to_seq}"),
        BlockKind::Alert { source, text, .. } => format!("{source}: {text}"),
        BlockKind::Unknown { fields, .. } => serde_json::to_string(fields).unwrap_or_default(),
    }
}

/// The full text of one record, for a text that is truncated elsewhere.
pub fn record_text(record: &Record) -> String {
    use TurnEvent as E;
    match &record.event {
        Event::Turn(E::UserMessage { segments, .. }) => segments_text(segments),
        Event::Turn(
            E::PeerMessage { text, .. }
            | E::MessageFinished { text, .. }
            | E::ReasoningFinished { text, .. }
            | E::TextChunk { text, .. }
            | E::ReasoningChunk { text, .. }
            | E::ToolArgsChunk { text, .. }
            | E::ToolOutputChunk { text, .. },
        ) => text.clone(),
        Event::Turn(E::ToolCalled { arguments, .. }) => pretty(arguments),
        Event::Turn(E::ToolFinished { summary, content, diff, .. }) => {
            content.as_ref().or(diff.as_ref()).unwrap_or(summary).clone()
        }
        Event::Turn(E::Compacted { summary, .. }) => summary.clone(),
        Event::Control(ControlEvent::Alert { text, .. }) => text.clone(),
        // The instructions are shown in no other place.
        Event::Control(ControlEvent::SettingsChanged { instructions: Some(text), .. }) if !text.is_empty() => {
            text.clone()
        }
        other => pretty(other),
    }
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A transcript as a Markdown document. Empty blocks are left out.
pub fn export_markdown(blocks: &[Block]) -> String {
    let mut document = String::new();
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        if !document.is_empty() {
            document.push('\n');
        }
        document.push_str(section(block).trim_end());
        document.push('\n');
    }
    document
}

fn section(block: &Block) -> String {
    let text = plain_text(block);
    match &block.kind {
        BlockKind::Turn { .. } => format!("## {text} · {}", block.at),
        BlockKind::Person { by, .. } if by == "operator" => format!("### You\n\n{text}"),
        BlockKind::Person { by, .. } => format!("### {}\n\n{text}", actor_words(by)),
        BlockKind::Peer { from, message_id, receipt, .. } => {
            let state = receipt.as_ref().map(|receipt| format!(", {}", receipt_text(receipt))).unwrap_or_default();
            format!("### {} (peer, message {message_id}{state})\n\n{text}", from.name)
        }
        BlockKind::Assistant { .. } => format!("### Assistant\n\n{text}"),
        BlockKind::Reasoning { .. } => format!("### Reasoning\n\n{}", quoted(&text)),
        BlockKind::Tool { name, .. } => {
            format!("### Tool {}\n\n{}", name.as_deref().unwrap_or("call"), fenced(&text))
        }
        BlockKind::Compacted { .. } => {
            format!("### Compacted: the conversation continues from here\n\n{}", quoted(&text))
        }
        BlockKind::Alert { level, .. } => format!("**{}** {text}", alert_words(*level)),
        BlockKind::Unknown { kind, .. } => format!("### Unknown record `{kind}`\n\n{}", fenced(&text)),
        _ => format!("_{}_", text.replace('\n', " · ")),
    }
}

fn segments_text(segments: &[Segment]) -> String {
    Segment::join(segments)
}

fn child_event_text(what: ChildChange, child: &PodLabel, detail: Option<&str>) -> String {
    let what = match what {
        ChildChange::TurnEnded => "ended a turn",
        ChildChange::Errored => "failed",
        ChildChange::ShutDown => "shut down",
    };
    let line = format!("Child {} {what}", child.name);
    detail.map_or(line.clone(), |detail| join(&line, detail))
}

fn tool_text(tool: &BlockKind) -> String {
    let BlockKind::Tool { name, arguments, arguments_text, output, result, interrupted, .. } = tool else {
        return String::new();
    };
    let given = arguments.as_ref().map_or_else(|| arguments_text.clone(), Value::to_string);
    let call = format!("{} {given}", name.as_deref().unwrap_or("tool"));
    match result {
        Some(result) => join(&call, &result_text(result)),
        None if *interrupted => join(&join(&call, output), "(interrupted)"),
        None => join(&call, output),
    }
}

fn result_text(result: &ToolResult) -> String {
    let failed = match (result.is_error, &result.code) {
        (false, _) => String::new(),
        (true, Some(code)) => format!("failed ({code}): "),
        (true, None) => "failed: ".to_owned(),
    };
    let head = format!("{failed}{} · {}", result.summary, duration_words(result.duration_ms));
    let body = result.diff.as_deref().or(result.content.as_deref()).unwrap_or_default();
    join(&head, &crate::ansi::strip(body))
}

fn run_end_text(end: &BlockKind) -> String {
    let BlockKind::RunEnd { outcome, code, detail, usage, started_at, ended_at, .. } = end else {
        return String::new();
    };
    let mut parts = vec![format!("Run {}", outcome_words(*outcome))];
    parts.extend(code.clone());
    parts.extend(detail.clone());
    parts.push(usage_text(usage));
    parts.extend(started_at.map(|started_at| {
        let ms = ended_at.as_millisecond() - started_at.as_millisecond();
        duration_words(u64::try_from(ms).unwrap_or_default())
    }));
    parts.join(" · ")
}

fn usage_text(usage: &Usage) -> String {
    let (read, written) = (about_tokens(usage.input, usage.estimated), about_tokens(usage.output, usage.estimated));
    format!("tokens: {read} in, {written} out · {}", about_cost(usage.cost, usage.currency, usage.estimated))
}

fn approval_text(approval: &BlockKind) -> String {
    let BlockKind::Approval { tool, arguments, state, decision, by, reason, .. } = approval else {
        return String::new();
    };
    let answer = match (state, decision) {
        (ApprovalState::Open, _) => "waiting for an answer",
        (ApprovalState::Void, _) => "no longer asked",
        (ApprovalState::Answered, Some(Decision::Allow)) => "allowed",
        (ApprovalState::Answered, Some(Decision::Deny)) => "denied",
        (ApprovalState::Answered, None) => "no longer needed",
    };
    let by = by.as_deref().map(|by| format!(" by {}", actor_words(by))).unwrap_or_default();
    let line = format!("{tool} {arguments}: {answer}{by}");
    reason.as_deref().map_or(line.clone(), |reason| join(&line, reason))
}

fn alert_words(level: AlertLevel) -> &'static str {
    match level {
        AlertLevel::Note => "Note",
        AlertLevel::Warn => "Warning",
        AlertLevel::Error => "Error",
    }
}

/// Both texts on separate lines.
fn join(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first.to_owned(),
        (true, _) => second.to_owned(),
        _ => format!("{}\n{second}", first.trim_end_matches('\n')),
    }
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// The fence is longer than any in the text, so that the text cannot close it.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}
