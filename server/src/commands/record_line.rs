//! One record as one line for a terminal. Chunks have no line; the end of their block does.

use jiff::Timestamp;
use protocol::{ControlEvent, Decision, Event, Record, Segment, ToolBy, TurnEvent};
use transcript::words::{
    actor_words, agent_words, duration_words, limit_words, plan_words, settings_words, tokens_in_full,
};

use super::word;
use crate::output::printable;

/// The line, or `None` for records that only matter to a streaming view.
pub(super) fn record_line(record: &Record) -> Option<String> {
    let text = match &record.event {
        Event::Turn(event) => turn(event)?,
        Event::Control(event) => control(event)?,
        Event::Unknown(_) => format!("? {}", record.event.kind()),
    };
    Some(format!("{}  {}", stamp(record.at), indented(text.trim_end())))
}

/// The time of a record.
pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%H:%M:%S").to_string()
}

/// Indents the lines after the first.
pub(super) fn indented(text: &str) -> String {
    printable(text).replace('\n', "\n          ")
}

fn turn(event: &TurnEvent) -> Option<String> {
    Some(match event {
        TurnEvent::UserMessage { segments, by, .. } => {
            let words: Vec<_> = segments.iter().map(Segment::as_text).collect();
            format!("{}: {}", actor_words(by), words.join(" "))
        }
        TurnEvent::PeerMessage { from, text, .. } => format!("{} (peer): {text}", from.name),
        TurnEvent::ChildEvent { what, child, detail } => {
            format!("child {} {}{}", child.name, word(what), after(detail.as_deref()))
        }
        TurnEvent::CommandEnded { call_id, command, detail, .. } => {
            format!("background command {call_id} ended: {detail} ({command})")
        }
        TurnEvent::MessageFinished { text, interrupted, .. } => format!("model: {text}{}", cut(*interrupted)),
        TurnEvent::ReasoningFinished { text, interrupted, .. } => format!("thought: {text}{}", cut(*interrupted)),
        TurnEvent::ToolCalled { name, arguments, by: ToolBy::Model | ToolBy::Agent, .. } => {
            format!("{name} {arguments}")
        }
        TurnEvent::ToolCalled { name, arguments, by: ToolBy::Operator, .. } => format!("you: {name} {arguments}"),
        TurnEvent::ToolFinished { summary, is_error, .. } => {
            format!("{} {summary}", if *is_error { "failed:" } else { "→" })
        }
        TurnEvent::Compacted { summary, .. } => format!("compacted: {summary}"),
        TurnEvent::Rewound { to_seq } => format!("rewound to {to_seq}"),
        TurnEvent::TextChunk { .. }
        | TurnEvent::ReasoningChunk { .. }
        | TurnEvent::ToolArgsChunk { .. }
        | TurnEvent::ToolOutputChunk { .. } => return None,
    })
}

fn control(event: &ControlEvent) -> Option<String> {
    Some(match event {
        ControlEvent::RunStarted { .. } | ControlEvent::Usage { .. } => return None,
        ControlEvent::RunFinished { outcome, detail, usage, .. } => {
            let tokens = tokens_in_full(usage);
            format!("— run {} ({tokens}){}", word(outcome), after(detail.as_deref()))
        }
        ControlEvent::ProviderRetry { attempt, wait_ms, detail, .. } => {
            format!("retrying in {} (attempt {attempt}): {detail}", duration_words(*wait_ms))
        }
        ControlEvent::Status { state, state_reason } => {
            format!("— {}{}", state.as_str(), after(state_reason.as_deref()))
        }
        ControlEvent::PeerLinked { peer, .. } => format!("{} is a peer", peer.name),
        ControlEvent::PeerUnlinked { peer, .. } => format!("{} is no longer a peer", peer.name),
        ControlEvent::PeerRequested { peer, note, .. } => {
            format!("peer request, {}{}", peer.name, after(note.as_deref()))
        }
        ControlEvent::PeerDeclined { peer, note, .. } => {
            format!("peer request declined, {}{}", peer.name, after(note.as_deref()))
        }
        ControlEvent::MessageReceipt { message_id, peer, state, .. } => {
            format!("message with {}: {} ({message_id})", peer.name, word(state))
        }
        ControlEvent::ChildSpawned { child, .. } => format!("child {} spawned", child.name),
        ControlEvent::ChildStopped { child, .. } => format!("child {} stopped", child.name),
        ControlEvent::ScopeChanged { child, .. } => format!("scope of {} changed", child.name),
        ControlEvent::ApprovalAsked { tool, arguments, .. } => format!("asks for permission: {tool} {arguments}"),
        ControlEvent::ApprovalAnswered { tool, decision, by, reason, .. } => {
            let answer = match decision {
                Some(Decision::Allow) => "allowed",
                Some(Decision::Deny) => "denied",
                None => "no longer asked",
            };
            let by = by.as_deref().map(|by| format!(" by {}", actor_words(by))).unwrap_or_default();
            format!("{tool}: {answer}{by}{}", after(reason.as_deref()))
        }
        ControlEvent::SettingsChanged { .. } => settings_words(event),
        ControlEvent::LimitReached { until, resumes } => limit_words(*until, *resumes),
        ControlEvent::AgentPrompted { .. } | ControlEvent::AgentOffers { .. } => return None,
        ControlEvent::AgentStarted { agent, resumed, .. } => agent_words(agent, *resumed),
        ControlEvent::PlanUpdated { entries } => format!("plan: {}", plan_words(entries)),
        ControlEvent::ModeChanged { mode } => format!("mode {mode}"),
        ControlEvent::Alert { level, source, text, .. } => format!("{} from {source}: {text}", word(level)),
    })
}

fn after(detail: Option<&str>) -> String {
    detail.map(|detail| format!(": {detail}")).unwrap_or_default()
}

pub(super) fn cut(interrupted: bool) -> &'static str {
    if interrupted { " … (interrupted)" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: serde_json::Value) -> Option<String> {
        let record = serde_json::json!({ "seq": 1, "at": "2026-01-02T03:04:05Z", "event": event });
        record_line(&serde_json::from_value(record).unwrap())
    }

    #[test]
    fn what_was_said_and_done_is_one_line_each_and_chunks_are_none() {
        let table = [
            (
                serde_json::json!({ "kind": "user_message", "segments": [{ "type": "text", "text": "hi\nthere" }],
                    "command_id": "c", "by": "operator" }),
                Some("03:04:05  you: hi\n          there"),
            ),
            (
                serde_json::json!({ "kind": "message_finished", "block": "b", "text": "ok\u{1b}[2J", "interrupted": true }),
                Some("03:04:05  model: ok\u{fffd}[2J … (interrupted)"),
            ),
            (serde_json::json!({ "kind": "text_chunk", "block": "b", "text": "o" }), None),
            (
                serde_json::json!({ "kind": "run_finished", "outcome": "rolled_back",
                    "usage": { "input": 3, "cached": 0, "output": 4 } }),
                Some("03:04:05  — run rolled back (3 in, 4 out)"),
            ),
            (
                serde_json::json!({ "kind": "tool_called", "call_id": "c", "block": "b", "name": "Read",
                    "arguments": { "path": "a" }, "by": "operator" }),
                Some("03:04:05  you: Read {\"path\":\"a\"}"),
            ),
            (
                serde_json::json!({ "kind": "approval_answered", "id": "1", "tool": "Bash", "arguments": {},
                    "decision": "deny", "by": "operator", "reason": "not now" }),
                Some("03:04:05  Bash: denied by you: not now"),
            ),
            (
                serde_json::json!({ "kind": "approval_answered", "id": "1", "tool": "Bash", "arguments": {},
                    "reason": "the Pod was stopped" }),
                Some("03:04:05  Bash: no longer asked: the Pod was stopped"),
            ),
            (
                serde_json::json!({ "kind": "message_receipt", "message_id": "m-1", "state": "held",
                    "peer": { "runtime_id": "local", "worker_id": "2", "name": "bob" } }),
                Some("03:04:05  message with bob: held (m-1)"),
            ),
            (serde_json::json!({ "kind": "from_the_future", "x": 1 }), Some("03:04:05  ? from_the_future")),
        ];
        for (event, expected) in table {
            assert_eq!(line(event.clone()).as_deref(), expected, "{event}");
        }
    }
}
