//! Converts a Pod's records to what an editor shows. Pure: it remembers only how much of each block was shown.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, ContentChunk, Cost, Plan, ResourceLink, SessionUpdate, TextContent, ToolCall,
    ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind, UsageUpdate,
};
use protocol::{
    AlertLevel, CommandId, ControlEvent, Event, Outcome, Record, Segment, ToolBy, TurnEvent, Usage,
    tool::{self, Changes, Subject},
};
use serde_json::Value;

use super::diff;

/// How many bytes of a tool's output the editor is shown, both while it runs and at its end; the transcript has all
/// of it.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;
/// How much more output must arrive before it is shown again, in bytes.
const OUTPUT_STEP: usize = 1024;
/// How many characters of a call's subject are in its title.
const TITLE_CHARS_MAX: usize = 120;

/// The state of a Pod's stream.
#[derive(Debug, Default)]
pub(super) struct Translator {
    cwd: PathBuf,
    /// How many bytes of each open text block were shown.
    shown: HashMap<String, usize>,
    /// Open calls, by block.
    calls: HashMap<String, OpenCall>,
    /// Messages from this editor, which shows them itself.
    own: HashSet<CommandId>,
}

#[derive(Debug, Default)]
struct OpenCall {
    id: String,
    path: Option<PathBuf>,
    output: String,
    shown: usize,
}

impl Translator {
    pub(super) fn new(cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), ..Self::default() }
    }

    /// Marks a message as the editor's own.
    pub(super) fn is_own(&mut self, command: CommandId) {
        self.own.insert(command);
    }

    /// The updates for a record.
    pub(super) fn updates(&mut self, record: &Record) -> Vec<SessionUpdate> {
        match &record.event {
            Event::Turn(event) => self.turn(event),
            Event::Control(ControlEvent::RunFinished { outcome, detail, .. }) => ended(*outcome, detail.as_deref()),
            Event::Control(ControlEvent::Alert { level, source, text, .. }) if *level != AlertLevel::Note => {
                vec![thought(format!("{source}: {text}\n"))]
            }
            other => plan(other).into_iter().collect(),
        }
    }

    fn turn(&mut self, event: &TurnEvent) -> Vec<SessionUpdate> {
        match event {
            TurnEvent::UserMessage { command_id, .. } if self.own.remove(command_id) => Vec::new(),
            TurnEvent::UserMessage { segments, .. } => segments.iter().map(|segment| self.said(segment)).collect(),
            TurnEvent::PeerMessage { text, from, .. } => {
                vec![SessionUpdate::UserMessageChunk(chunk(format!("Message from {}:\n{text}", from.name), None))]
            }
            TurnEvent::TextChunk { block, text } => {
                *self.shown.entry(block.clone()).or_default() += text.len();
                vec![SessionUpdate::AgentMessageChunk(chunk(text.clone(), Some(block)))]
            }
            TurnEvent::ReasoningChunk { block, text } => {
                *self.shown.entry(block.clone()).or_default() += text.len();
                vec![SessionUpdate::AgentThoughtChunk(chunk(text.clone(), Some(block)))]
            }
            TurnEvent::MessageFinished { block, text, .. } => {
                let rest = self.rest(block, text);
                rest.map(|rest| SessionUpdate::AgentMessageChunk(chunk(rest, Some(block)))).into_iter().collect()
            }
            TurnEvent::ReasoningFinished { block, text, .. } => {
                let rest = self.rest(block, text);
                rest.map(|rest| SessionUpdate::AgentThoughtChunk(chunk(rest, Some(block)))).into_iter().collect()
            }
            TurnEvent::ToolCalled { call_id, block, name, arguments, by, .. } => {
                vec![self.called(call_id, block, name, arguments, *by)]
            }
            TurnEvent::ToolOutputChunk { block, text } => self.wrote(block, text).into_iter().collect(),
            TurnEvent::ToolFinished { call_id, block, summary, content, is_error, diff, .. } => {
                let call = self.calls.remove(block);
                let text = content.as_deref().unwrap_or(summary);
                vec![finished(call_id, call.and_then(|call| call.path), text, diff.as_deref(), *is_error)]
            }
            TurnEvent::Compacted { .. } => vec![thought("The conversation was compacted.\n".to_owned())],
            TurnEvent::Rewound { .. } => vec![thought("The conversation was rewound.\n".to_owned())],
            TurnEvent::ChildEvent { what, child, detail } => {
                let what = serde_json::to_value(what).ok();
                let what = what.as_ref().and_then(Value::as_str).unwrap_or_default().replace('_', " ");
                let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
                vec![thought(format!("Child {} {what}{detail}\n", child.name))]
            }
            TurnEvent::CommandEnded { command, detail, .. } => {
                vec![thought(format!("Background command ended: {command}: {detail}\n"))]
            }
            TurnEvent::ToolArgsChunk { .. } => Vec::new(),
        }
    }

    /// The part of a finished block that has not been shown yet; `None` if all of it was.
    fn rest(&mut self, block: &str, text: &str) -> Option<String> {
        let shown = self.shown.remove(block).unwrap_or(0);
        text.get(shown..).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }

    fn said(&self, segment: &Segment) -> SessionUpdate {
        let content = match segment {
            Segment::FileRef { path } => {
                let whole = self.cwd.join(path);
                ContentBlock::ResourceLink(ResourceLink::new(path.clone(), format!("file://{}", whole.display())))
            }
            other => ContentBlock::Text(TextContent::new(other.as_text().into_owned())),
        };
        SessionUpdate::UserMessageChunk(ContentChunk::new(content))
    }

    fn called(&mut self, call_id: &str, block: &str, name: &str, arguments: &Value, by: ToolBy) -> SessionUpdate {
        let path = arguments.get("path").and_then(Value::as_str).map(|path| self.cwd.join(path));
        let mut call = ToolCall::new(call_id.to_owned(), title(name, arguments, by));
        call.kind = kind(name);
        call.status = ToolCallStatus::InProgress;
        call.locations = path.iter().map(ToolCallLocation::new).collect();
        call.raw_input = Some(arguments.clone());
        let open = OpenCall { id: call_id.to_owned(), path, ..OpenCall::default() };
        self.calls.insert(block.to_owned(), open);
        SessionUpdate::ToolCall(call)
    }

    fn wrote(&mut self, block: &str, text: &str) -> Option<SessionUpdate> {
        let call = self.calls.get_mut(block)?;
        call.output.push_str(text);
        call.shown += text.len();
        if call.output.len() > OUTPUT_BYTES_MAX {
            let from = call.output.ceil_char_boundary(call.output.len() - OUTPUT_BYTES_MAX / 2);
            call.output = format!("[…]\n{}", &call.output[from..]);
        }
        if call.shown < OUTPUT_STEP && !text.ends_with('\n') {
            return None;
        }
        call.shown = 0;
        let mut fields = ToolCallUpdateFields::new();
        fields.content = Some(vec![shown(&call.output)]);
        Some(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call.id.clone(), fields)))
    }
}

fn finished(call_id: &str, path: Option<PathBuf>, text: &str, unified: Option<&str>, is_error: bool) -> SessionUpdate {
    let changes = path.zip(unified).map(|(path, unified)| diff::contents(&path, unified)).unwrap_or_default();
    let mut fields = ToolCallUpdateFields::new();
    fields.status = Some(if is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed });
    fields.content = Some(if changes.is_empty() { vec![shown(text)] } else { changes });
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call_id.to_owned(), fields))
}

/// A one-line title for a call.
pub(super) fn title(name: &str, arguments: &Value, by: ToolBy) -> String {
    let argument = arguments.get(tool::facts(name).subject.argument()).and_then(Value::as_str).unwrap_or_default();
    let line: String = argument.lines().next().unwrap_or_default().chars().take(TITLE_CHARS_MAX).collect();
    let who = if by == ToolBy::Operator { "you: " } else { "" };
    match line.is_empty() {
        true => format!("{who}{name}"),
        false => format!("{who}{name}: {line}"),
    }
}

/// The kind of a call, for which the editor has an icon.
pub(super) fn kind(name: &str) -> ToolKind {
    let facts = tool::facts(name);
    match (facts.subject, facts.changes) {
        (Subject::Command, _) => ToolKind::Execute,
        (Subject::Path, Changes::Nothing) => ToolKind::Read,
        (Subject::Path, _) => ToolKind::Edit,
        (Subject::Pattern, _) => ToolKind::Search,
        (Subject::Url | Subject::Host, _) => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

/// A message about the end of a run that did not end normally.
fn ended(outcome: Outcome, detail: Option<&str>) -> Vec<SessionUpdate> {
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    let sentence = match outcome {
        Outcome::Completed | Outcome::Cancelled => return Vec::new(),
        Outcome::Paused => "The run was paused; a new message continues from here, or `resume` in yoi.".to_owned(),
        Outcome::Interrupted => format!("The run was interrupted{detail}; a new message continues from here."),
        Outcome::Limit => format!("The run hit a limit{detail}"),
        Outcome::RolledBack => format!("The message was taken back{detail}"),
        Outcome::Error => format!("The run failed{detail}"),
    };
    vec![thought(format!("{sentence}\n"))]
}

/// How much of the context is used, and what everything has cost; `None` if the size of the context is unknown.
pub(super) fn usage(usage: &Usage) -> Option<SessionUpdate> {
    let mut update = UsageUpdate::new(usage.context_used, usage.context_limit);
    let currency = usage.currency.unwrap_or_default();
    update.cost = usage.cost.map(|cost| Cost::new(cost.as_f64(), currency.to_string()));
    (usage.context_limit > 0).then_some(SessionUpdate::UsageUpdate(update))
}

/// The plan of a Pod whose agent is another program.
fn plan(event: &Event) -> Option<SessionUpdate> {
    let said = serde_json::to_value(event).ok()?;
    if said.get("kind")?.as_str()? != "plan_updated" {
        return None;
    }
    let entries = serde_json::from_value(said.get("entries")?.clone()).ok()?;
    Some(SessionUpdate::Plan(Plan::new(entries)))
}

fn chunk(text: String, block: Option<&String>) -> ContentChunk {
    let mut chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
    chunk.message_id = block.map(|block| block.clone().into());
    chunk
}

fn thought(text: String) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(chunk(text, None))
}

/// A tool's output, truncated to the newest part.
fn shown(text: &str) -> ToolCallContent {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
    let text = if from > 0 { format!("[…]\n{}", &text[from..]) } else { text.to_owned() };
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(seq: i64, event: Value) -> Record {
        serde_json::from_value(json!({ "seq": seq, "at": "2026-11-25T00:00:00Z", "event": event })).unwrap()
    }

    fn told(translator: &mut Translator, event: Value) -> Vec<Value> {
        translator.updates(&record(1, event)).iter().map(|update| serde_json::to_value(update).unwrap()).collect()
    }

    #[test]
    fn speech_is_shown_once_whether_its_pieces_came_or_were_folded_away() {
        let mut all = Translator::new(Path::new("/w"));
        let piece = told(&mut all, json!({ "kind": "text_chunk", "block": "b1", "text": "hel" }));
        assert_eq!(
            (&piece[0]["sessionUpdate"], &piece[0]["content"]["text"]),
            (&json!("agent_message_chunk"), &json!("hel"))
        );
        let end = json!({ "kind": "message_finished", "block": "b1", "text": "hello", "interrupted": false });
        assert_eq!(told(&mut all, end.clone())[0]["content"]["text"], "lo");
        // Its chunks were folded away.
        assert_eq!(told(&mut all, end)[0]["content"]["text"], "hello");
        let thought = json!({ "kind": "reasoning_finished", "block": "b2", "text": "hm", "interrupted": false });
        assert_eq!(told(&mut all, thought)[0]["sessionUpdate"], "agent_thought_chunk");
    }

    #[test]
    fn what_others_write_is_shown_and_what_this_editor_wrote_is_not_shown_twice() {
        let mut all = Translator::new(Path::new("/w"));
        all.is_own(CommandId::parse("mine").unwrap());
        let message = |id: &str| {
            json!({ "kind": "user_message", "command_id": id, "by": "operator", "segments": [
            { "type": "text", "text": "look at" }, { "type": "file_ref", "path": "a.rs" },
        ] })
        };
        assert!(told(&mut all, message("mine")).is_empty());
        let others = told(&mut all, message("theirs"));
        assert_eq!(others[0]["content"]["text"], "look at");
        assert_eq!(others[1]["content"]["uri"], "file:///w/a.rs");
    }

    #[test]
    fn a_call_has_its_place_its_output_and_its_diff() {
        let mut all = Translator::new(Path::new("/w"));
        let called = told(
            &mut all,
            json!({ "kind": "tool_called", "call_id": "call-b1", "block": "b1", "name": "Edit", "by": "model",
                "arguments": { "path": "a.rs", "old": "x", "new": "y" } }),
        );
        assert_eq!(
            (&called[0]["kind"], &called[0]["title"], &called[0]["locations"][0]["path"]),
            (&json!("edit"), &json!("Edit: a.rs"), &json!("/w/a.rs"))
        );
        let finished = told(
            &mut all,
            json!({ "kind": "tool_finished", "call_id": "call-b1", "block": "b1", "summary": "edited", "is_error": false,
                "diff": "@@ -1 +1 @@\n-x\n+y\n", "duration_ms": 1, "by": "model" }),
        );
        assert_eq!(
            (&finished[0]["status"], &finished[0]["content"][0]),
            (&json!("completed"), &json!({ "type": "diff", "path": "/w/a.rs", "oldText": "x\n", "newText": "y\n" }))
        );
        told(
            &mut all,
            json!({ "kind": "tool_called", "call_id": "c2", "block": "b2", "name": "Bash", "by": "model",
                "arguments": { "command": "make\nall" } }),
        );
        let line = json!({ "kind": "tool_output_chunk", "block": "b2", "text": "compiling\n" });
        let wrote = told(&mut all, line);
        assert_eq!(wrote[0]["content"][0]["content"]["text"], "compiling\n");
        for _ in 0..100 {
            told(&mut all, json!({ "kind": "tool_output_chunk", "block": "b2", "text": "ä".repeat(1_000) }));
        }
        let failed = told(
            &mut all,
            json!({ "kind": "tool_finished", "call_id": "c2", "block": "b2", "summary": "failed", "content": "x".repeat(99_999),
                "is_error": true, "code": "exit", "duration_ms": 1, "by": "model" }),
        );
        assert_eq!(failed[0]["status"], "failed");
        assert!(failed[0]["content"][0]["content"]["text"].as_str().unwrap().len() < OUTPUT_BYTES_MAX + 16);
    }

    #[test]
    fn what_it_costs_is_told_with_its_currency_where_it_is_known() {
        let of = |more: Value| {
            let mut said = json!({ "input": 1, "cached": 0, "output": 1, "context_used": 5, "context_limit": 10 });
            said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            usage(&serde_json::from_value(said).unwrap()).map(|update| json!(update))
        };
        let told = of(json!({ "cost": "0.25" })).unwrap();
        assert_eq!((&told["used"], &told["size"]), (&json!(5), &json!(10)));
        assert_eq!(told["cost"], json!({ "amount": 0.25, "currency": "USD" }));
        assert_eq!(of(json!({ "cost": "2", "currency": "EUR" })).unwrap()["cost"]["currency"], "EUR");
        for unknown in [json!({}), json!({ "currency": "several" })] {
            assert!(of(unknown).unwrap()["cost"].is_null());
        }
        assert_eq!(of(json!({ "context_limit": 0 })), None);
    }

    #[test]
    fn a_plan_is_shown_and_a_failed_run_says_why() {
        let mut all = Translator::new(Path::new("/w"));
        let planned = told(
            &mut all,
            json!({ "kind": "plan_updated", "entries": [
                { "content": "do it", "priority": "high", "status": "in_progress" } ] }),
        );
        assert_eq!(
            (&planned[0]["sessionUpdate"], &planned[0]["entries"][0]["content"]),
            (&json!("plan"), &json!("do it"))
        );
        let usage = json!({ "input": 0, "cached": 0, "output": 0 });
        let failed =
            told(&mut all, json!({ "kind": "run_finished", "outcome": "error", "detail": "no key", "usage": usage }));
        assert!(failed[0]["content"]["text"].as_str().unwrap().contains("no key"));
    }
}
