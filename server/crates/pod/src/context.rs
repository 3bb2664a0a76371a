//! What the model sees: a function of the Pod's recipe and its turn events, and of nothing else (I4).
//!
//! No clock, random or counter value enters it, so the same journal gives the same bytes.

use protocol::{Message, ReasoningPolicy, Role, Segment, Seq, ToolBy, ToolCall, TurnEvent};

use crate::PodSpec;

/// A context that grows with the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    shows_reasoning: bool,
    system: Message,
    /// Each with the position it came from, so that a rewind can drop it.
    messages: Vec<(Seq, Message)>,
    /// Reasoning of the answer whose text has not come yet.
    reasoning: Option<String>,
    /// The newest message is an answer that further calls still join.
    answer_is_open: bool,
}

/// The messages that the model of a Pod would be sent after these events.
pub fn context<'a>(spec: &PodSpec, events: impl IntoIterator<Item = (Seq, &'a TurnEvent)>) -> Vec<Message> {
    let mut context = Context::new(spec);
    for (seq, event) in events {
        context.push(seq, event);
    }
    context.messages()
}

impl Context {
    pub fn new(spec: &PodSpec) -> Self {
        Self {
            // What people may not see is not sent back either, so the history a client reads is what is sent.
            shows_reasoning: spec.reasoning == ReasoningPolicy::Full,
            system: Message::new(Role::System, system_text(spec)),
            messages: Vec::new(),
            reasoning: None,
            answer_is_open: false,
        }
    }

    /// System message first.
    pub fn messages(&self) -> Vec<Message> {
        std::iter::once(&self.system).chain(self.messages.iter().map(|(_, message)| message)).cloned().collect()
    }

    /// Adds the event at `seq`. Chunks are no part of a context: their finished record is.
    pub fn push(&mut self, seq: Seq, event: &TurnEvent) {
        match event {
            TurnEvent::UserMessage { segments, .. } => self.say(seq, Role::User, segments_text(segments)),
            TurnEvent::PeerMessage { text, from, .. } => {
                self.say(seq, Role::User, format!("[peer message from {}]\n{text}", from.name));
            }
            TurnEvent::ChildEvent { what, child, detail } => {
                let what = serde_json::to_value(what).expect("a word encodes");
                let detail = detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
                let what = what.as_str().unwrap_or_default().replace('_', " ");
                self.say(seq, Role::User, format!("[child event]\n{} {what}{detail}", child.name));
            }
            TurnEvent::ReasoningFinished { text, .. } => {
                self.answer_is_open = false;
                self.reasoning = (self.shows_reasoning && !text.is_empty()).then(|| text.clone());
            }
            TurnEvent::MessageFinished { text, .. } if !text.is_empty() => self.answer(seq, text.clone()),
            TurnEvent::ToolCalled { call_id, name, arguments, by: ToolBy::Model, .. } => {
                let call = ToolCall { call_id: call_id.clone(), name: name.clone(), arguments: arguments.clone() };
                self.call(seq, call);
            }
            TurnEvent::ToolFinished { call_id, summary, content, by: ToolBy::Model, .. } => {
                let text = match content {
                    Some(content) => format!("{summary}\n{content}"),
                    None => summary.clone(),
                };
                self.answer_is_open = false;
                let message = Message { call_id: Some(call_id.clone()), ..Message::new(Role::Tool, text) };
                self.messages.push((seq, message));
            }
            TurnEvent::Compacted { summary, kept_from_seq } => {
                self.answer_is_open = false;
                self.messages.retain(|(at, _)| at >= kept_from_seq);
                let beginning = Message::new(Role::User, format!("[summary of what came before]\n{summary}"));
                self.messages.insert(0, (seq, beginning));
            }
            TurnEvent::Rewound { to_seq } => {
                self.answer_is_open = false;
                self.messages.retain(|(at, _)| at <= to_seq);
            }
            TurnEvent::MessageFinished { .. }
            | TurnEvent::ToolCalled { .. }
            | TurnEvent::ToolFinished { .. }
            | TurnEvent::TextChunk { .. }
            | TurnEvent::ReasoningChunk { .. }
            | TurnEvent::ToolArgsChunk { .. }
            | TurnEvent::ToolOutputChunk { .. } => (),
        }
    }

    fn say(&mut self, seq: Seq, role: Role, text: String) {
        self.answer_is_open = false;
        self.reasoning = None;
        self.messages.push((seq, Message::new(role, text)));
    }

    fn answer(&mut self, seq: Seq, text: String) {
        let message = Message { reasoning: self.reasoning.take(), ..Message::new(Role::Assistant, text) };
        self.messages.push((seq, message));
        self.answer_is_open = true;
    }

    fn call(&mut self, seq: Seq, call: ToolCall) {
        if !self.answer_is_open {
            self.answer(seq, String::new());
        }
        let (_, message) = self.messages.last_mut().expect("an open answer is a message");
        message.tool_calls.push(call);
    }
}

fn system_text(spec: &PodSpec) -> String {
    let base = format!(
        "You are an agent that a person talks to through yoi. Your working directory is {}. Say plainly what you did, \
         what you did not do, and what you need.",
        spec.cwd
    );
    match spec.instructions.as_deref().map(str::trim) {
        None | Some("") => base,
        Some(instructions) => format!("{base}\n\n{instructions}"),
    }
}

fn segments_text(segments: &[Segment]) -> String {
    segments.iter().map(Segment::as_text).collect::<Vec<_>>().join("\n")
}
