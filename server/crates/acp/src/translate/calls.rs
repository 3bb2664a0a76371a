//! The calls that an agent makes by itself. The agent reports each one bit by bit; in a Pod each has a beginning,
//! output and an end.

use std::collections::HashMap;

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use pod::{AgentPiece, ToolOutcome, WANTED};
use serde_json::{Map, Value, json};

use super::shown;
use crate::{content::text_of, turn::Said, wire::cut};

/// The number of calls in one turn, and of those that may be open at once.
const CALLS_MAX: usize = 2_000;
const OPEN_MAX: usize = 64;
const ID_CHARS_MAX: usize = 200;
const TITLE_CHARS_MAX: usize = 400;
const LOCATIONS_MAX: usize = 50;
/// The size of a call's input, and of its output.
const INPUT_BYTES_MAX: usize = 64 * 1024;
const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// The size of the note that follows a text that was cut.
const NOTE_BYTES_MAX: usize = 64;
/// The size of all the content that is kept of a call until it ends.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// The calls of the current turn.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, Call>,
    /// The ids in order of arrival.
    order: Vec<String>,
    count: usize,
}

/// One call.
#[derive(Debug)]
struct Call {
    call: ToolCall,
    /// Whether the Pod knows about it.
    is_told: bool,
    /// Its output, as far as that was reported.
    written: String,
    /// The output of its terminal, if the agent runs the terminal itself.
    terminal: String,
}

impl Calls {
    pub(super) fn called(&mut self, mut call: ToolCall, raw: &Value) -> Vec<Said> {
        let Some(id) = id_of(&call.tool_call_id.0) else { return Vec::new() };
        if let Some(known) = self.open.get_mut(&id) {
            // The call was announced again, as some agents do: everything in the announcement counts.
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

    /// Returns the call that a question is about: the pieces to report first (the call, if it was not reported yet),
    /// its id, its tool and its arguments.
    pub(super) fn asked(&mut self, raw: &Value) -> Result<(Vec<Said>, String, String, Value), String> {
        let update: ToolCallUpdate =
            serde_json::from_value(raw.clone()).map_err(|_| "`toolCall` is not a tool call".to_owned())?;
        let id = id_of(&update.tool_call_id.0).ok_or("`toolCallId` is empty")?;
        let mut said = self.tell_begun();
        said.extend(self.updated(update, raw));
        let call = self.open.get_mut(&id).ok_or("the turn has too many calls, or this one is over")?;
        if !call.is_told {
            said.push(call.told(&id));
        }
        Ok((said, id, kind_name(call.call.kind).to_owned(), call.arguments()))
    }

    /// Reports calls that have begun and were not reported yet, before something else is reported after them.
    pub(super) fn tell_begun(&mut self) -> Vec<Said> {
        let open = &mut self.open;
        let untold = self.order.iter().filter_map(|id| {
            let call = open.get_mut(id).filter(|call| !call.is_told)?;
            Some(call.told(id))
        });
        untold.collect()
    }

    /// Returns what follows from the latest news about a call.
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
    /// Bounds what is kept of a call until it ends, however much the agent reports.
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

    /// Whether more than the call's name is known: the first report is often an empty shell.
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

    /// Returns the call's arguments: its input, its subject under the name that rules know, its title and its
    /// locations.
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
        // The subject comes first.
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

    /// Returns the command line that some agents put in backticks into the title and nowhere else.
    fn bare_title(&self) -> String {
        let title = self.call.title.trim();
        let bare = title.strip_prefix('`').and_then(|title| title.strip_suffix('`'));
        cut(bare.unwrap_or(title), TITLE_CHARS_MAX)
    }

    /// Notes what an agent reports about a terminal of its own, which is outside the protocol.
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

    /// Returns the output beyond what was reported already. Content that changes in another way than by growing is
    /// reported at the end.
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

/// Returns the output of a call when an agent gives it only in a form of its own.
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

/// Returns a command line as it was given, or joins its words.
fn command(arguments: &Map<String, Value>) -> Option<String> {
    match arguments.get("command").or_else(|| arguments.get("cmd"))? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// Cuts a text that is too long, with a note about what is missing. A text that was cut already stays as it is.
fn beginning(text: &str, bytes: usize) -> String {
    match text.len() > bytes + NOTE_BYTES_MAX {
        true => {
            let end = text.floor_char_boundary(bytes);
            format!("{}\n[{} bytes left out]", &text[..end], text.len() - end)
        }
        false => text.to_owned(),
    }
}

/// Returns the id that records carry: the agent's own, with a bounded length and never one of the ids that yoi
/// reserves.
fn id_of(id: &str) -> Option<String> {
    let id = cut(id, ID_CHARS_MAX);
    match id.is_empty() {
        true => None,
        false if id.starts_with(WANTED) => Some(format!("agent-{id}")),
        false => Some(id),
    }
}

/// Returns the name that records and rules use for calls of this kind.
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
