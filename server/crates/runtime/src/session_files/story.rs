//! Builds a journal out of what a session says, so that it is always one that a Pod could have.

use std::{collections::HashMap, fmt::Write};

use jiff::Timestamp;
use protocol::{
    AlertLevel, Blobs, CommandId, ControlEvent, Event, Outcome, PodState, Record, Segment, Seq, ToolBy, Trigger,
    TurnEvent, Usage,
};
use serde_json::{Value, json};

use super::Told;

/// The longest text of a message or a thought, and the longest result of a call, in bytes.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
const RESULT_BYTES_MAX: usize = 256 * 1024;
/// The largest arguments of a call, as JSON.
const ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;
/// The longest name of a tool that every provider accepts.
const TOOL_CHARS_MAX: usize = 64;
/// The longest name of a folder or a session that is quoted.
const QUOTED_CHARS_MAX: usize = 300;
/// A result of one line of at most so many bytes is its own summary.
const SUMMARY_BYTES_MAX: usize = 200;
/// The most calls that wait for their results at once.
const OPEN_CALLS_MAX: usize = 256;

/// Replaces the first message of a session that begins with an answer.
const NO_BEGINNING: &str = "[the message that this answers is not in the session file]";

/// A history under construction.
#[derive(Debug)]
pub(super) struct Story {
    /// The agent, by its own name.
    agent: &'static str,
    pub(super) folder: Option<String>,
    pub(super) session: Option<String>,
    pub(super) left: Left,
    records: Vec<Record>,
    head: Seq,
    at: Timestamp,
    has_time: bool,
    run: Option<String>,
    runs: u64,
    blocks: u64,
    /// Whether something was answered in this run.
    is_answered: bool,
    /// The newest message of a person.
    asked_at: Option<Seq>,
    /// Calls without a result, by the ids of the agent.
    open: HashMap<String, Open>,
    answers: usize,
    messages: usize,
    calls: usize,
}

#[derive(Debug)]
struct Open {
    block: String,
    at: Timestamp,
}

/// What could not be taken over.
#[derive(Debug, Default)]
pub(super) struct Left {
    unreadable: usize,
    first_unreadable: usize,
    pub(super) subagents: usize,
    pub(super) attachments: usize,
    pub(super) thoughts: usize,
    pub(super) results: usize,
    pub(super) repeated: usize,
    pub(super) instructions: usize,
    pub(super) errors: usize,
    pub(super) other: usize,
    missing_results: usize,
    cut: usize,
}

impl Left {
    /// Counts an unreadable entry at this line or position, counted from 1.
    pub(super) fn unreadable(&mut self, number: usize) {
        self.unreadable += 1;
        if self.first_unreadable == 0 {
            self.first_unreadable = number;
        }
    }

    /// Each with its number, in words.
    fn list(&self) -> Vec<String> {
        let table = [
            (self.subagents, "line of a subagent", "lines of subagents"),
            (self.attachments, "picture or file", "pictures or files"),
            (self.thoughts, "thought that only its provider can read", "thoughts that only their provider can read"),
            (self.instructions, "message with the agent's instructions", "messages with the agent's instructions"),
            (self.errors, "error message", "error messages"),
            (self.results, "result without its call", "results without their calls"),
            (self.repeated, "repeated line", "repeated lines"),
            (self.other, "item of an unknown kind", "items of an unknown kind"),
            (self.unreadable, "unreadable line or message", "unreadable lines or messages"),
        ];
        let mut list: Vec<String> = table
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| counted(count, one, many))
            .collect();
        if let Some(unreadable) = list.last_mut().filter(|_| self.unreadable > 0) {
            let _ = write!(unreadable, " (the first is number {})", self.first_unreadable);
        }
        list
    }
}

impl Story {
    pub(super) fn new(agent: &'static str, now: Timestamp) -> Self {
        Self {
            agent,
            folder: None,
            session: None,
            left: Left::default(),
            records: Vec::new(),
            // The first record is written last: it says what was left out.
            head: Seq(1),
            at: now,
            has_time: false,
            run: None,
            runs: 0,
            blocks: 0,
            is_answered: false,
            asked_at: None,
            open: HashMap::new(),
            answers: 0,
            messages: 0,
            calls: 0,
        }
    }

    /// The position of the newest record.
    pub(super) fn head(&self) -> Seq {
        self.head
    }

    /// The position of the newest message of a person.
    pub(super) fn asked_at(&self) -> Option<Seq> {
        self.asked_at
    }

    /// The text of the first message.
    pub(super) fn words(&self) -> Option<&str> {
        self.records.iter().find_map(|record| match &record.event {
            Event::Turn(TurnEvent::UserMessage { segments, .. }) => match segments.first() {
                Some(Segment::Text { text }) if text != NO_BEGINNING => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        })
    }

    /// Sets the time of everything that follows; `None` keeps the time.
    pub(super) fn at(&mut self, at: Option<Timestamp>) {
        // Years with four digits, as records have them.
        let years = Timestamp::UNIX_EPOCH.as_second()..=253_402_300_799;
        if let Some(at) = at.filter(|at| years.contains(&at.as_second())) {
            (self.at, self.has_time) = (at, true);
        }
    }

    /// Keeps the first folder that is named.
    pub(super) fn in_folder(&mut self, folder: Option<&str>) {
        if self.folder.is_none() {
            self.folder = folder.filter(|folder| !folder.is_empty()).map(quoted);
        }
    }

    /// Keeps the first session that is named.
    pub(super) fn of_session(&mut self, id: Option<&str>) {
        if self.session.is_none() {
            self.session = id.filter(|id| !id.is_empty()).map(quoted);
        }
    }

    /// A person's message. It begins a run, unless the one before it has not been answered yet.
    pub(super) fn person(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.close_calls();
        let is_more = self.run.is_some() && !self.is_answered;
        if !is_more {
            self.end_run(Outcome::Completed);
        }
        let command_id = CommandId::parse(&format!("import-{}", self.messages + 1)).expect("it is visible ASCII");
        self.messages += 1;
        if !is_more {
            self.runs += 1;
            self.run = Some(format!("run-{}", self.runs));
            self.is_answered = false;
            self.control(ControlEvent::RunStarted { trigger: Trigger::Input, command_id: Some(command_id.clone()) });
        }
        let segments = vec![Segment::text(self.bounded(text, TEXT_BYTES_MAX))];
        let (by, blobs) = ("operator".to_owned(), Blobs::default());
        self.turn(TurnEvent::UserMessage { segments, command_id, by, blobs });
        self.asked_at = Some(self.head);
        if !is_more {
            self.control(ControlEvent::Status { state: PodState::Running, state_reason: None });
        }
    }

    /// The model's answer, or a part of it.
    pub(super) fn answer(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.begin_answer();
        self.answers += 1;
        let (block, text) = (self.next_block(), self.bounded(text, TEXT_BYTES_MAX));
        self.turn(TurnEvent::MessageFinished { block, text, interrupted: false });
    }

    pub(super) fn thought(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.begin_answer();
        let (block, text) = (self.next_block(), self.bounded(text, TEXT_BYTES_MAX));
        self.turn(TurnEvent::ReasoningFinished { block, text, interrupted: false, proof: None });
    }

    /// A call of a tool, by the id that its result names.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: &Value) {
        self.begin_answer();
        if self.open.contains_key(id) {
            self.missing_result(id);
        }
        if self.open.len() >= OPEN_CALLS_MAX {
            self.close_calls();
        }
        self.calls += 1;
        let block = self.next_block();
        self.open.insert(id.to_owned(), Open { block: block.clone(), at: self.at });
        let call_id = call_id(&block);
        let (name, arguments) = (tool_name(name), self.arguments(arguments));
        self.turn(TurnEvent::ToolCalled { call_id, block, name, arguments, by: ToolBy::Model, agent_call_id: None });
    }

    /// The result of a call. Without the call, it is left out.
    pub(super) fn result(&mut self, id: &str, text: &str, is_error: bool) {
        let Some(Open { block, at }) = self.open.remove(id) else {
            self.left.results += 1;
            return;
        };
        let duration_ms = u64::try_from(self.at.duration_since(at).as_millis()).unwrap_or(0);
        let (summary, content) = match (text.trim(), is_error) {
            ("", false) => ("no output".to_owned(), None),
            ("", true) => ("failed".to_owned(), None),
            (line, _) if line.len() <= SUMMARY_BYTES_MAX && !line.contains('\n') => (line.to_owned(), None),
            (_, true) => ("failed".to_owned(), Some(self.bounded(text, RESULT_BYTES_MAX))),
            (_, false) => {
                let summary = counted(text.lines().count(), "line", "lines");
                (summary, Some(self.bounded(text, RESULT_BYTES_MAX)))
            }
        };
        self.finish(block, summary, content, is_error, None, duration_ms);
    }

    /// The person has interrupted the run.
    pub(super) fn interrupted(&mut self) {
        self.close_calls();
        self.end_run(Outcome::Cancelled);
    }

    /// The agent has replaced everything before by a summary.
    pub(super) fn summary(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.close_calls();
        let summary = self.bounded(text, TEXT_BYTES_MAX);
        let kept_from_seq = self.head.next();
        self.turn(TurnEvent::Compacted { summary, kept_from_seq });
    }

    /// The conversation continued from this position: what came after it is history and not part of the context.
    pub(super) fn rewind(&mut self, to_seq: Seq) {
        self.close_calls();
        self.end_run(Outcome::Completed);
        if to_seq < self.head {
            self.turn(TurnEvent::Rewound { to_seq });
        }
    }

    /// Ends what is open, and writes the first record.
    pub(super) fn end(mut self) -> Told {
        self.close_calls();
        self.end_run(Outcome::Completed);
        let said = self.messages + self.answers + self.calls;
        let at = self.records.first().map_or(self.at, |record| record.at);
        let note = ControlEvent::Alert {
            level: AlertLevel::Note,
            source: "import".to_owned(),
            text: self.provenance(),
            model: None,
        };
        let first = Record { seq: Seq(1), at, run_id: None, event: note.into(), cut: None };
        self.records.insert(0, first);
        Told { records: self.records, said }
    }

    /// Where it comes from, what is in it, and what is not.
    fn provenance(&self) -> String {
        let mut text = format!("imported from a session of {}", self.agent);
        if let Some(session) = &self.session {
            let _ = write!(text, " ({session})");
        }
        if let Some(folder) = &self.folder {
            let _ = write!(text, " in {folder}");
        }
        let messages = counted(self.messages, "message", "messages");
        let answers = counted(self.answers, "answer", "answers");
        let calls = counted(self.calls, "tool call", "tool calls");
        let _ = write!(text, ": {messages}, {answers}, {calls}.");
        let list = self.left.list();
        if !list.is_empty() {
            let _ = write!(text, " Not taken over: {}.", list.join(", "));
        }
        for (count, one, many) in [
            (self.left.cut, "long text was shortened", "long texts were shortened"),
            (self.left.missing_results, "call has no result", "calls have no result"),
        ] {
            if count > 0 {
                let _ = write!(text, " {}.", counted(count, one, many));
            }
        }
        if !self.has_time {
            text.push_str(" The file has no times.");
        }
        text
    }

    fn begin_answer(&mut self) {
        if self.run.is_none() {
            self.person(NO_BEGINNING);
        }
        self.is_answered = true;
    }

    fn end_run(&mut self, outcome: Outcome) {
        if self.run.is_some() {
            self.control(ControlEvent::RunFinished { outcome, code: None, detail: None, usage: Usage::default() });
            self.control(ControlEvent::Status { state: PodState::Idle, state_reason: None });
            self.run = None;
        }
    }

    /// Gives every open call a result, in the order of the calls.
    fn close_calls(&mut self) {
        let mut open: Vec<_> = self.open.drain().map(|(_, open)| open.block).collect();
        open.sort_by_key(|block| block[1..].parse::<u64>().unwrap_or(0));
        for block in open {
            self.without_result(block);
        }
    }

    fn missing_result(&mut self, id: &str) {
        if let Some(Open { block, .. }) = self.open.remove(id) {
            self.without_result(block);
        }
    }

    fn without_result(&mut self, block: String) {
        self.left.missing_results += 1;
        let summary = "not finished: the session file has no result of this call".to_owned();
        self.finish(block, summary, None, true, Some("interrupted".to_owned()), 0);
    }

    fn finish(
        &mut self,
        block: String,
        summary: String,
        content: Option<String>,
        is_error: bool,
        code: Option<String>,
        duration_ms: u64,
    ) {
        self.turn(TurnEvent::ToolFinished {
            call_id: call_id(&block),
            block,
            summary,
            content,
            is_error,
            code,
            diff: None,
            duration_ms,
            by: ToolBy::Model,
            seen: None,
            blobs: Blobs::default(),
        });
    }

    fn next_block(&mut self) -> String {
        self.blocks += 1;
        format!("b{}", self.blocks)
    }

    /// Arguments are an object, whatever a file says.
    fn arguments(&mut self, arguments: &Value) -> Value {
        let arguments = match arguments {
            Value::Object(_) => arguments.clone(),
            Value::Null => json!({}),
            other => json!({ "input": other }),
        };
        let bytes = serde_json::to_vec(&arguments).map_or(0, |json| json.len());
        if bytes <= ARGUMENTS_BYTES_MAX {
            return arguments;
        }
        self.left.cut += 1;
        json!({ "left_out": format!("{bytes} bytes of arguments") })
    }

    fn bounded(&mut self, text: &str, bytes_max: usize) -> String {
        if text.len() <= bytes_max {
            return text.to_owned();
        }
        self.left.cut += 1;
        let head = &text[..text.floor_char_boundary(bytes_max / 2)];
        let tail = &text[text.ceil_char_boundary(text.len() - bytes_max / 4)..];
        format!("{head}\n[{} bytes left out in the import]\n{tail}", text.len() - head.len() - tail.len())
    }

    fn turn(&mut self, event: TurnEvent) {
        self.push(event.into());
    }

    fn control(&mut self, event: ControlEvent) {
        self.push(event.into());
    }

    fn push(&mut self, event: Event) {
        self.head = self.head.next();
        self.records.push(Record { seq: self.head, at: self.at, run_id: self.run.clone(), event, cut: None });
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn call_id(block: &str) -> String {
    format!("call-{block}")
}

/// A name that every provider accepts.
fn tool_name(name: &str) -> String {
    let is_fine = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let name: String = name.chars().take(TOOL_CHARS_MAX).map(|char| if is_fine(char) { char } else { '_' }).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// A name from a file, in one line and of a bounded length.
fn quoted(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(QUOTED_CHARS_MAX).collect()
}
