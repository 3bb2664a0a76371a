//! The calls that an agent makes by itself. It tells of each bit by bit; in a Pod each has a beginning, what it wrote, and an end.

use std::collections::HashMap;

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use pod::{AgentPiece, ToolOutcome, WANTED};
use serde_json::{Map, Value, json};

use super::shown;
use crate::{content::text_of, turn::Said, wire::cut};

/// Calls of one turn, and those of them that are open at once.
const CALLS_MAX: usize = 2_000;
const OPEN_MAX: usize = 64;
const ID_CHARS_MAX: usize = 200;
const TITLE_CHARS_MAX: usize = 400;
const LOCATIONS_MAX: usize = 50;
/// Of what a call was given, and of what came of it.
const INPUT_BYTES_MAX: usize = 64 * 1024;
const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Of the note behind a text that was cut.
const NOTE_BYTES_MAX: usize = 64;
/// Of all the content that is kept of a call until it ends.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// Calls of the present turn.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, Call>,
    /// Ids in the order in which they came.
    order: Vec<String>,
    count: usize,
}

/// One of them.
#[derive(Debug)]
struct Call {
    call: ToolCall,
    /// The Pod knows of it.
    is_told: bool,
    /// What it wrote, as far as that was told.
    written: String,
    /// What its terminal wrote, where the agent runs that by itself.
    terminal: String,
}

impl Calls {
    pub(super) fn called(&mut self, mut call: ToolCall, raw: &Value) -> Vec<Said> {
        let Some(id) = id_of(&call.tool_call_id.0) else { return Vec::new() };
        if let Some(known) = self.open.get_mut(&id) {
            // Told once more, as some agents do: all of it counts.
            let (title, kind, status) = (call.title, call.kind, call.status);
            let fields = ToolCallUpdateFields::new()
                .title(title)
                .kind(kind)
                .status(status)
                .content(some(call.content))
                .locations(some(call.locations))
                .raw_input(call.raw_input)
                .raw_output(call.raw_output);
            known.call.update(fields);
            return self.goes_on(&id, raw);
        }
        if self.count >= CALLS_MAX || self.open.len() >= OPEN_MAX {
            return Vec::new();
        }
        self.count += 1;
        call.title = cut(&call.title, TITLE_CHARS_MAX);
        self.order.push(id.clone());
        let call = Call { call, is_told: false, written: String::new(), terminal: String::new() };
        self.open.insert(id.clone(), call);
        self.goes_on(&id, raw)
    }

    pub(super) fn updated(&mut self, update: ToolCallUpdate, raw: &Value) -> Vec<Said> {
        let Some(id) = id_of(&update.tool_call_id.0) else { return Vec::new() };
        match self.open.get_mut(&id) {
            Some(known) => {
                known.call.update(update.fields);
                self.goes_on(&id, raw)
            }
            None => {
                let title = update.fields.title.clone().unwrap_or_default();
                let mut call = ToolCall::new(update.tool_call_id, title);
                call.update(update.fields);
                self.called(call, raw)
            }
        }
    }

    /// The call that a question is about, told if it was not yet: what to say first, its id, its tool and its arguments.
    pub(super) fn asked(&mut self, raw: &Value) -> Result<(Vec<Said>, String, String, Value), String> {
        let update: ToolCallUpdate =
            serde_json::from_value(raw.clone()).map_err(|_| "`toolCall` is no tool call".to_owned())?;
        let id = id_of(&update.tool_call_id.0).ok_or("`toolCallId` is empty")?;
        let mut said = self.tell_begun();
        said.extend(self.updated(update, raw));
        let call = self.open.get_mut(&id).ok_or("the turn has too many calls, or this one is over")?;
        if !call.is_told {
            said.push(call.told(&id));
        }
        Ok((said, id, kind_name(call.call.kind).to_owned(), call.arguments()))
    }

    /// What has begun and was not told yet. Something else comes now, and what came before it stands before it.
    pub(super) fn tell_begun(&mut self) -> Vec<Said> {
        let open = &mut self.open;
        let untold = self.order.iter().filter_map(|id| {
            let call = open.get_mut(id).filter(|call| !call.is_told)?;
            Some(call.told(id))
        });
        untold.collect()
    }

    /// What follows from the newest of what was said of a call.
    fn goes_on(&mut self, id: &str, raw: &Value) -> Vec<Said> {
        let Some(call) = self.open.get_mut(id) else { return Vec::new() };
        call.bound();
        call.hear_terminal(raw);
        let mut said = Vec::new();
        if !call.is_told && call.is_worth_telling() {
            said.push(call.told(id));
        }
        let is_over = matches!(call.call.status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        if is_over {
            if !call.is_told {
                said.push(call.told(id));
            }
            said.push(AgentPiece::Finished { id: id.to_owned(), outcome: call.outcome() }.into());
            self.open.remove(id);
            self.order.retain(|known| known != id);
        } else if let Some(text) = call.more_output().filter(|_| call.is_told) {
            said.push(AgentPiece::Output { id: id.to_owned(), text }.into());
        }
        said
    }
}

impl Call {
    /// What is kept of it until it ends is bounded, however much it was told.
    fn bound(&mut self) {
        let mut room = KEPT_BYTES_MAX;
        self.call.content.retain_mut(|content| {
            let bytes = match content {
                ToolCallContent::Content(Content { content: ContentBlock::Text(text), .. }) => {
                    text.text = beginning(&text.text, OUTPUT_BYTES_MAX);
                    text.text.len()
                }
                ToolCallContent::Diff(diff) => diff.old_text.as_ref().map_or(0, String::len) + diff.new_text.len(),
                other => serde_json::to_vec(other).map_or(KEPT_BYTES_MAX, |bytes| bytes.len()),
            };
            let fits = bytes < room;
            room = room.saturating_sub(bytes);
            fits
        });
        for (value, most) in
            [(&mut self.call.raw_input, INPUT_BYTES_MAX), (&mut self.call.raw_output, OUTPUT_BYTES_MAX)]
        {
            let text = value.as_ref().map(Value::to_string).unwrap_or_default();
            if text.len() > most + NOTE_BYTES_MAX {
                *value = Some(Value::String(beginning(&text, most)));
            }
        }
        self.call.locations.truncate(LOCATIONS_MAX);
    }

    /// Something of it is known beyond its name: what comes first is often an empty shell.
    fn is_worth_telling(&self) -> bool {
        let is_command = self.call.kind == ToolKind::Execute;
        let has_input = self.call.raw_input.as_ref().is_some_and(|input| match input {
            Value::Object(fields) if is_command => command(fields).is_some(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Null => false,
            _ => true,
        });
        let is_placed = !is_command && !self.call.locations.is_empty();
        !matches!(self.call.status, ToolCallStatus::Pending) || has_input || is_placed || !self.call.content.is_empty()
    }

    fn told(&mut self, id: &str) -> Said {
        self.is_told = true;
        let name = kind_name(self.call.kind).to_owned();
        AgentPiece::Called { id: id.to_owned(), name, arguments: self.arguments() }.into()
    }

    /// What it was given, what it is about by the name that rules know, how it is called, and where it is.
    fn arguments(&self) -> Value {
        let arguments = match &self.call.raw_input {
            Some(Value::Object(fields)) => fields.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(input) => Map::from_iter([("input".to_owned(), input.clone())]),
        };
        let locations = &self.call.locations;
        let path = || {
            let named = ["path", "file_path", "filePath", "abs_path", "absolute_path", "notebook_path"]
                .iter()
                .find_map(|name| arguments.get(*name)?.as_str().map(str::to_owned));
            let of_diff = self.call.content.iter().find_map(|content| match content {
                ToolCallContent::Diff(diff) => Some(shown(&diff.path)),
                _ => None,
            });
            named.or_else(|| locations.first().map(|location| shown(&location.path))).or(of_diff)
        };
        let about = match self.call.kind {
            ToolKind::Execute => Some(("command", command(&arguments).unwrap_or_else(|| self.bare_title()))),
            ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move => path().map(|path| ("path", path)),
            _ => None,
        };
        // What it is about stands first.
        let title = Some(("title", cut(&self.call.title, TITLE_CHARS_MAX)));
        let first = about.into_iter().chain(title).map(|(name, text)| (name.to_owned(), Value::String(text)));
        let mut first: Map<String, Value> = first.collect();
        for (name, value) in arguments {
            first.entry(name).or_insert(value);
        }
        let mut arguments = first;
        if !locations.is_empty() {
            let location = |location: &ToolCallLocation| match location.line {
                Some(line) => json!({ "path": shown(&location.path), "line": line }),
                None => json!({ "path": shown(&location.path) }),
            };
            arguments.insert("locations".to_owned(), locations.iter().map(location).collect());
        }
        Value::Object(arguments)
    }

    /// Some agents put a command line in backticks into the title, and nowhere else.
    fn bare_title(&self) -> String {
        let title = self.call.title.trim();
        let bare = title.strip_prefix('`').and_then(|title| title.strip_suffix('`'));
        cut(bare.unwrap_or(title), TITLE_CHARS_MAX)
    }

    /// What an agent tells of a terminal of its own, beside the protocol.
    fn hear_terminal(&mut self, raw: &Value) {
        let data = raw.get("_meta").and_then(|meta| meta.get("terminal_output")?.get("data")?.as_str());
        if let Some(data) = data {
            let room = OUTPUT_BYTES_MAX.saturating_sub(self.terminal.len());
            self.terminal.push_str(&data[..data.floor_char_boundary(room)]);
        }
    }

    fn text(&self) -> String {
        let parts = self.call.content.iter().filter_map(|content| match content {
            ToolCallContent::Content(content) => Some(text_of(content.content.clone())),
            _ => None,
        });
        let text = parts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        if text.is_empty() { self.terminal.clone() } else { text }
    }

    /// What it wrote beyond what was told. Content that changes otherwise than by growing is told in the end.
    fn more_output(&mut self) -> Option<String> {
        let text = self.text();
        let more = text.strip_prefix(self.written.as_str()).filter(|more| !more.is_empty())?.to_owned();
        let room = OUTPUT_BYTES_MAX.saturating_sub(self.written.len());
        let more = more[..more.floor_char_boundary(room)].to_owned();
        self.written.push_str(&more);
        (!more.is_empty()).then_some(more)
    }

    fn outcome(&self) -> ToolOutcome {
        let diffs: Vec<String> = self.call.content.iter().filter_map(diff_of).collect();
        let text = match self.text() {
            text if !text.is_empty() => Some(text),
            _ if !diffs.is_empty() => None,
            _ => self.call.raw_output.as_ref().and_then(raw_text),
        };
        let title = match self.bare_title() {
            title if title.is_empty() => kind_name(self.call.kind).to_owned(),
            title => title.lines().next().unwrap_or_default().to_owned(),
        };
        let is_error = matches!(self.call.status, ToolCallStatus::Failed);
        let outcome = match is_error {
            true => ToolOutcome::failed("failed", title),
            false => ToolOutcome::done(title),
        };
        let diff = Some(diffs.join("\n")).filter(|diff| !diff.is_empty());
        ToolOutcome { content: text.map(|text| beginning(&text, OUTPUT_BYTES_MAX)), diff, ..outcome }
    }
}

fn diff_of(content: &ToolCallContent) -> Option<String> {
    let ToolCallContent::Diff(Diff { path, old_text, new_text, .. }) = content else { return None };
    tools::files::unified_diff(&shown(path), old_text.as_deref(), new_text)
}

/// What came of a call, where an agent gives nothing but its own form of it.
fn raw_text(output: &Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => {
            let text = ["output", "formatted_output", "stdout", "content", "text", "error"]
                .iter()
                .find_map(|name| fields.get(*name)?.as_str());
            Some(text.map_or_else(|| output.to_string(), str::to_owned))
        }
        other => Some(other.to_string()),
    }
    .filter(|text| !text.is_empty())
}

/// A command line as it was given, or its words.
fn command(arguments: &Map<String, Value>) -> Option<String> {
    match arguments.get("command").or_else(|| arguments.get("cmd"))? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// A text that is too long up to there, with a note of what is missing. What was cut already stays as it is.
fn beginning(text: &str, bytes: usize) -> String {
    match text.len() > bytes + NOTE_BYTES_MAX {
        true => {
            let end = text.floor_char_boundary(bytes);
            format!("{}\n[{} bytes left out]", &text[..end], text.len() - end)
        }
        false => text.to_owned(),
    }
}

/// The id that records carry: the agent's own, but never one of those that are yoi's, and not endless.
fn id_of(id: &str) -> Option<String> {
    let id = cut(id, ID_CHARS_MAX);
    match id.is_empty() {
        true => None,
        false if id.starts_with(WANTED) => Some(format!("agent-{id}")),
        false => Some(id),
    }
}

/// What calls of this kind are called in records and rules.
fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        _ => "other",
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
