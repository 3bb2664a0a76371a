//! What the model sees: a function of the Pod's spec and its turn events, and of nothing else (I4).
//!
//! No clock, random number or counter enters it, so the same journal gives the same bytes.

mod cut;
mod heads;
mod mend;
mod prompt;
mod reach;
mod room;
mod told;

use std::{borrow::Cow, collections::VecDeque};

use protocol::{
    Attachment, BlobView, Blobs, Message, Proof, ReasoningPolicy, Role, Segment, Seq, THOUGHT_OF_WORDS, Thought,
    ToolBy, ToolCall, TurnEvent,
};

pub use self::{
    cut::{Cut, in_tokens as tokens_of_bytes},
    reach::Reach,
    room::Room,
};
use self::{mend::drop_unanswered_calls, told::without_middle};
use crate::PodSpec;

/// The most bytes of an interrupted call's output that a model is sent. A tool's own result is no longer than that.
const INTERRUPTED_BYTES_MAX: usize = 160 * 1024;

/// A context that grows with the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    shows_reasoning: bool,
    system: Message,
    messages: Vec<Entry>,
    /// The entries that each summary replaced, with the summary's position: a rewind to before it restores them.
    compacted: Vec<(Seq, Vec<Entry>)>,
    /// Messages that came in during a run; they go after the current answer and its results.
    deferred: Vec<Entry>,
    /// The run of the newest event.
    run: Option<String>,
    /// Upcoming runs that no event of the conversation begins: where they begin, and their number.
    bare_runs: VecDeque<(Seq, u64)>,
    /// Reasoning of an answer whose text has not arrived.
    reasoning: Option<String>,
    /// Those of its thoughts that are sent back to the model as it gave them.
    thoughts: Vec<Thought>,
    /// Provider and name of the current model.
    model: (String, String),
    /// True if the newest message is an answer that further calls still join.
    answer_is_open: bool,
    /// The number of calls in the newest answer, and of the results after it.
    calls: usize,
    results: usize,
}

/// A message and the position it came from, so that a rewind can drop it.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    at: Seq,
    message: Message,
    /// The positions of the message's calls.
    calls_at: Vec<Seq>,
    /// It continues the answer before it, which has already made a call: both form one message.
    joins: bool,
}

/// The messages that a Pod's model would be sent after these events, each given with its position and run. `bare_runs`
/// comes from the fold of the same journal ([`crate::Pod::bare_runs`]).
pub fn context<'a>(
    spec: &PodSpec,
    bare_runs: &[(Seq, u64)],
    events: impl IntoIterator<Item = (Seq, Option<&'a str>, &'a TurnEvent)>,
) -> Vec<Message> {
    let mut context = Context::new(spec, bare_runs);
    for (seq, run_id, event) in events {
        context.push(seq, run_id, event);
    }
    context.messages()
}

impl Context {
    pub fn new(spec: &PodSpec, bare_runs: &[(Seq, u64)]) -> Self {
        Self {
            shows_reasoning: spec.reasoning == ReasoningPolicy::Full,
            system: Message::new(Role::System, prompt::system_text(spec)),
            messages: Vec::new(),
            compacted: Vec::new(),
            deferred: Vec::new(),
            run: None,
            bare_runs: bare_runs.iter().copied().collect(),
            reasoning: None,
            thoughts: Vec::new(),
            model: (spec.provider.clone(), spec.model.clone()),
            answer_is_open: false,
            calls: 0,
            results: 0,
        }
    }

    /// The approximate size of its text in bytes, to tell whether processing it takes long.
    pub fn weight(&self) -> usize {
        const BYTES_OF_A_MESSAGE: usize = 128;
        self.messages.iter().chain(&self.deferred).map(|entry| entry.message.content.len() + BYTES_OF_A_MESSAGE).sum()
    }

    /// All messages, the system message first.
    pub fn messages(&self) -> Vec<Message> {
        // An agent without instructions gets no introduction.
        let system = Some(self.system.clone()).filter(|system| !system.content.is_empty());
        system.into_iter().chain(joined(self.messages.iter().chain(&self.deferred))).collect()
    }

    /// Returns what people, peers and children said after one record and up to another.
    pub fn said_between(&self, after: Seq, to: Seq) -> Vec<Message> {
        let is_said = |entry: &&Entry| entry.message.role == Role::User && entry.at > after && entry.at <= to;
        self.messages.iter().chain(&self.deferred).filter(is_said).map(|entry| entry.message.clone()).collect()
    }

    /// True if it ends with something that the model has not answered: a message, or the results of calls.
    pub fn is_unanswered(&self) -> bool {
        let last = self.deferred.last().or(self.messages.last());
        last.is_some_and(|entry| matches!(entry.message.role, Role::User | Role::Tool))
    }

    /// Adds the event at `seq`. Chunks are not part of a context; their finished record is. Messages from elsewhere
    /// that came in during a run belong to no run.
    pub fn push(&mut self, seq: Seq, run_id: Option<&str>, event: &TurnEvent) {
        while let Some((_, ordinal)) = self.bare_runs.pop_front_if(|(at, _)| *at < seq) {
            self.begin_run(ordinal);
        }
        if let Some(run_id) = run_id {
            self.enter_run(run_id);
        }
        match event {
            TurnEvent::UserMessage { segments, blobs, .. } => {
                let attachments = attachments(segments, blobs);
                self.say(seq, Message { attachments, ..Message::new(Role::User, segments_text(segments)) });
            }
            TurnEvent::PeerMessage { text, from, .. } => {
                let text = heads::marked(text);
                self.hear(seq, run_id.is_none(), format!("[peer message from {}]\n{text}", from.name));
            }
            TurnEvent::ChildEvent { what, child, detail } => {
                let what = serde_json::to_value(what).expect("a word encodes");
                let detail = detail.as_deref().map(|detail| format!(": {}", heads::marked(detail))).unwrap_or_default();
                let what = what.as_str().unwrap_or_default().replace('_', " ");
                self.hear(seq, run_id.is_none(), format!("[child event]\n{} {what}{detail}", child.name));
            }
            TurnEvent::CommandEnded { call_id, command, by: ToolBy::Model, detail, output, .. } => {
                let text = heads::command_ended(call_id, command, detail, output.as_deref());
                self.hear(seq, run_id.is_none(), text);
            }
            TurnEvent::ReasoningFinished { text, proof, .. } => self.think(text, proof.as_ref()),
            TurnEvent::MessageFinished { text, .. } if !text.is_empty() => self.answer(seq, text.clone()),
            TurnEvent::ToolCalled { call_id, name, arguments, by: ToolBy::Model, .. } => {
                let call = ToolCall { call_id: call_id.clone(), name: name.clone(), arguments: arguments.clone() };
                self.call(seq, call);
            }
            TurnEvent::ToolFinished { call_id, summary, content, is_error, by: ToolBy::Model, blobs, .. } => {
                let text = match content {
                    // A tool limits its own output; an interrupted one could not.
                    Some(content) if *is_error => format!("{summary}\n{}", shortened(content, call_id)),
                    Some(content) => format!("{summary}\n{content}"),
                    None => summary.clone(),
                };
                self.result(seq, call_id, text, blobs);
            }
            TurnEvent::Compacted { summary, kept_from_seq } => self.compact(seq, summary, *kept_from_seq),
            TurnEvent::Rewound { to_seq } => self.rewind(*to_seq),
            TurnEvent::MessageFinished { .. }
            | TurnEvent::ToolCalled { .. }
            | TurnEvent::ToolFinished { .. }
            | TurnEvent::CommandEnded { .. }
            | TurnEvent::TextChunk { .. }
            | TurnEvent::ReasoningChunk { .. }
            | TurnEvent::ToolArgsChunk { .. }
            | TurnEvent::ToolOutputChunk { .. } => (),
        }
    }

    /// A run has begun without an event in the conversation; messages that came in earlier go before its answer.
    pub fn begin_run(&mut self, ordinal: u64) {
        self.enter_run(&format!("run-{ordinal}"));
    }

    fn enter_run(&mut self, run_id: &str) {
        if self.run.as_deref() == Some(run_id) {
            return;
        }
        // A call that waited while the Pod was paused still gets its result directly after it.
        if !self.has_open_calls() {
            self.flush();
        }
        self.forget_thoughts();
        self.run = Some(run_id.to_owned());
    }

    fn say(&mut self, seq: Seq, message: Message) {
        self.flush();
        self.forget_thoughts();
        self.messages.push(Entry::new(seq, message));
    }

    /// Drops thoughts that no answer followed.
    fn forget_thoughts(&mut self) {
        self.reasoning = None;
        self.thoughts.clear();
    }

    /// Adds a message from elsewhere: at once if it begins a run, otherwise after the current answer.
    fn hear(&mut self, seq: Seq, is_outside: bool, text: String) {
        let message = Message::new(Role::User, text);
        match is_outside {
            true => self.deferred.push(Entry::new(seq, message)),
            false => self.say(seq, message),
        }
    }

    /// Appends what came in meanwhile, now that the answer is complete.
    fn flush(&mut self) {
        self.answer_is_open = false;
        self.messages.append(&mut self.deferred);
    }

    /// Adds reasoning. A proof is useful only to the model that gave it. It is sent back regardless of who may see it:
    /// without it, a turn with tool calls may be refused.
    fn think(&mut self, text: &str, proof: Option<&Proof>) {
        let is_of_words = proof.is_some_and(|proof| proof.data["type"] == THOUGHT_OF_WORDS);
        let said = self.messages.last_mut().filter(|_| is_of_words && self.answer_is_open);
        let (provider, model) = &self.model;
        let own = proof.filter(|proof| proof.provider == *provider && proof.model == *model);
        let thought =
            own.map(|Proof { data, .. }| Thought { text: text.to_owned(), data: data.clone(), hidden: false });
        match said {
            Some(said) => said.message.thoughts.extend(thought),
            None => {
                self.answer_is_open = false;
                self.thoughts.extend(thought);
                if self.shows_reasoning && !text.is_empty() {
                    self.reasoning = Some(text.to_owned());
                }
            }
        }
    }

    fn answer(&mut self, seq: Seq, text: String) {
        let (reasoning, thoughts) = (self.reasoning.take(), std::mem::take(&mut self.thoughts));
        let message = Message { reasoning, thoughts, ..Message::new(Role::Assistant, text) };
        let joins = self.messages.last().is_some_and(|last| last.joins || !last.message.tool_calls.is_empty());
        if !joins {
            (self.calls, self.results) = (0, 0);
        }
        self.messages.push(Entry { joins, ..Entry::new(seq, message) });
        self.answer_is_open = true;
    }

    fn call(&mut self, seq: Seq, call: ToolCall) {
        if !self.answer_is_open {
            self.answer(seq, String::new());
        }
        let entry = self.messages.last_mut().expect("an open answer is a message");
        entry.message.tool_calls.push(call);
        entry.calls_at.push(seq);
        self.calls += 1;
    }

    fn result(&mut self, seq: Seq, call_id: &str, text: String, blobs: &Blobs) {
        self.answer_is_open = false;
        let attachments = blobs.0.iter().map(|blob| attachment(blob, None)).collect();
        let call_id = Some(call_id.to_owned());
        let message = Message { call_id, attachments, ..Message::new(Role::Tool, text) };
        self.messages.push(Entry::new(seq, message));
        self.results += 1;
        if !self.has_open_calls() {
            self.flush();
        }
    }

    /// Replaces everything before the entry at `kept_from` by the summary. Messages that came in during an answer stand
    /// after it but have earlier positions, so entries are compared by order, not by position.
    fn compact(&mut self, seq: Seq, summary: &str, kept_from: Seq) {
        if !self.has_open_calls() {
            self.flush();
        }
        let exactly = self.messages.iter().position(|entry| entry.at == kept_from);
        let from = || self.messages.iter().position(|entry| entry.at > kept_from);
        let kept = self.messages.split_off(exactly.or_else(from).unwrap_or(self.messages.len()));
        let beginning = Message::new(Role::User, format!("{}\n{summary}", prompt::SUMMARY_HEADER));
        let dropped = std::mem::replace(&mut self.messages, vec![Entry::new(seq, beginning)]);
        self.compacted.push((seq, dropped));
        self.messages.extend(kept);
        self.count_calls();
        // The end of an answer that was open may be lost with its record; the summary is no answer.
        self.answer_is_open &= self.messages.last().is_some_and(|last| last.message.role == Role::Assistant);
    }

    fn rewind(&mut self, to: Seq) {
        self.flush();
        self.forget_thoughts();
        while let Some((_, dropped)) = self.compacted.pop_if(|(at, _)| *at > to) {
            // The summary itself, which stands first, is dropped below: it came after `to`.
            self.messages.splice(0..0, dropped);
        }
        self.messages.retain(|entry| entry.at <= to);
        drop_unanswered_calls(&mut self.messages, to);
        self.count_calls();
    }

    /// True if a call of the newest answer has no result.
    fn has_open_calls(&self) -> bool {
        self.results < self.calls
    }

    /// Recounts calls and results from the messages.
    fn count_calls(&mut self) {
        let counted = newest_answer(self.messages.iter());
        (self.calls, self.results) = counted.map_or((0, 0), |(_, calls, results)| (calls, results));
    }
}

impl Entry {
    fn new(at: Seq, message: Message) -> Self {
        Self { at, message, calls_at: Vec::new(), joins: false }
    }
}

/// Shortens an interrupted call's output to its beginning and end if it is longer than a tool's own result.
fn shortened<'a>(content: &'a str, call_id: &str) -> Cow<'a, str> {
    let left_out =
        |bytes: usize| format!("\n[{bytes} bytes left out; Read {{\"path\":\"output:{call_id}\"}} shows all]\n");
    without_middle(content, INTERRUPTED_BYTES_MAX, left_out)
}

/// Where the newest answer begins, the number of its calls, and the number of results after it.
fn newest_answer<'a>(
    entries: impl DoubleEndedIterator<Item = &'a Entry> + ExactSizeIterator,
) -> Option<(usize, usize, usize)> {
    let (mut calls, mut results) = (0, 0);
    for (at, Entry { message, joins, .. }) in entries.enumerate().rev() {
        calls += message.tool_calls.len();
        results += usize::from(message.role == Role::Tool);
        if message.role == Role::Assistant && !joins {
            return Some((at, calls, results));
        }
    }
    None
}

/// Where the newest answer begins, if one of its calls has no result.
fn open_answer<'a>(entries: impl DoubleEndedIterator<Item = &'a Entry> + ExactSizeIterator) -> Option<usize> {
    newest_answer(entries).filter(|(_, calls, results)| results < calls).map(|(at, ..)| at)
}

/// The messages of these entries; an entry that joins an answer is merged into it.
fn joined<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for Entry { message, joins, .. } in entries {
        match messages.last_mut().filter(|last| *joins && last.role == Role::Assistant) {
            Some(answer) => join(answer, message),
            None => messages.push(message.clone()),
        }
    }
    messages
}

fn join(answer: &mut Message, rest: &Message) {
    let lines = |one: &str, other: &str| {
        [one, other].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    };
    answer.content = lines(&answer.content, &rest.content);
    if let Some(reasoning) = &rest.reasoning {
        answer.reasoning = Some(lines(answer.reasoning.as_deref().unwrap_or_default(), reasoning));
    }
    answer.thoughts.extend(rest.thoughts.iter().cloned());
    answer.tool_calls.extend(rest.tool_calls.iter().cloned());
}

/// The text that a person wrote. For a file that it refers to, the model gets the path and is told that it is only
/// that.
fn segments_text(segments: &[Segment]) -> String {
    let files = segments.iter().filter_map(|segment| match segment {
        Segment::FileRef { path } => Some(path.as_str()),
        _ => None,
    });
    let files: Vec<&str> = files.collect();
    match files.is_empty() {
        true => Segment::join(segments),
        false => format!("{}\n\n{}\n{}", Segment::join(segments), prompt::FILES_HEADER, files.join("\n")),
    }
}

/// The pictures and files that a person sent, in order. Those that are missing from the record are skipped.
fn attachments(segments: &[Segment], blobs: &Blobs) -> Vec<Attachment> {
    let named = segments.iter().filter_map(|segment| match segment {
        Segment::Image { blob, name } => Some((blob, name.clone())),
        Segment::File { blob, name } => Some((blob, Some(name.clone()))),
        _ => None,
    });
    named.filter_map(|(blob, name)| Some(attachment(blobs.find(blob)?, name))).collect()
}

fn attachment(BlobView { blob, media_type, bytes }: &BlobView, name: Option<String>) -> Attachment {
    Attachment { blob: blob.clone(), media_type: media_type.clone(), bytes: *bytes, name }
}
