//! What an older Pod says → records of ours. Pure: no clock, no socket; what is unknown is shown as unknown.
//!
//! Runs and blocks have no ids on the older wire; they are made here, and are unique within a connection.

mod answer;
mod entries;
mod items;
mod notices;
mod runs;
#[cfg(test)]
mod tests;
mod tools;

use std::{collections::VecDeque, sync::Arc};

use jiff::Timestamp;
use protocol::{CommandId, Event, PodName, PodState, Segment, Trigger, TurnEvent, Usage};
use serde_json::Value;

use self::{answer::Speech, runs::Run, tools::Call};
use super::{journal::Draft, scrub::Scrub, values};

pub(super) use self::{
    items::{segments_of, to_wire},
    runs::is_cancelled,
};

/// What an event comes to.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    More(Vec<Draft>),
    /// The view begins again with these.
    Anew(Vec<Draft>),
}

/// An input of ours that the Pod has not echoed yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sent {
    pub(super) segments: Vec<Segment>,
    pub(super) command_id: CommandId,
    pub(super) by: String,
}

/// What a list of Pods shows of this one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Face {
    pub(super) state: PodState,
    pub(super) usage: Usage,
    pub(super) activity: Option<String>,
    /// The last run ended with an error.
    pub(super) has_failed: bool,
    /// It said that it ends.
    pub(super) has_shut_down: bool,
    /// Answers that were finished in this view.
    pub(super) answers: u32,
}

#[derive(Debug)]
pub(super) struct Translator {
    scrub: Arc<Scrub>,
    name: PodName,
    /// Sets this connection's ids apart from another's.
    label: String,
    /// Ids that were made.
    made: u64,
    at: Timestamp,
    drafts: Vec<Draft>,
    face: Face,
    run: Option<Run>,
    /// A run was announced, and what began it is still to come.
    invoked: Option<Trigger>,
    text: Option<Speech>,
    thought: Option<Speech>,
    /// Calls without a result, oldest first.
    calls: VecDeque<Call>,
    /// Calls whose result came before they were whole.
    answered: VecDeque<String>,
    sent: Option<Sent>,
    /// An input whose record was written before its echo.
    shown: Option<Vec<Segment>>,
    /// It said idle in the middle of a run: the run is over, unless more of it comes.
    is_quiet: bool,
    /// Something of a conversation is in this view.
    has_conversation: bool,
    /// Entries of a log are read: they say nothing about now.
    is_replay: bool,
}

impl Translator {
    pub(super) fn new(scrub: Arc<Scrub>, name: PodName, label: String) -> Self {
        let face = Face {
            state: PodState::Unreachable,
            usage: Usage::default(),
            activity: None,
            has_failed: false,
            has_shut_down: false,
            answers: 0,
        };
        Self {
            scrub,
            name,
            label,
            made: 0,
            at: Timestamp::UNIX_EPOCH,
            drafts: Vec::new(),
            face,
            run: None,
            invoked: None,
            text: None,
            thought: None,
            calls: VecDeque::new(),
            answered: VecDeque::new(),
            sent: None,
            shown: None,
            is_quiet: false,
            has_conversation: false,
            is_replay: false,
        }
    }

    pub(super) fn face(&self) -> Face {
        let activity = self.calls.back().filter(|_| self.run.is_some()).map(|call| call.name.clone());
        Face { activity, ..self.face.clone() }
    }

    /// The next event of a connection whose snapshot has come.
    pub(super) fn event(&mut self, name: &str, data: &Value, at: Timestamp) -> Step {
        self.at = at;
        let is_anew = match name {
            "snapshot" => {
                self.take_snapshot(data);
                true
            }
            "segment_rotated" => self.rotated(data),
            "rewind_applied" => {
                self.rewound(data);
                true
            }
            _ => {
                self.goes_on(name, data);
                false
            }
        };
        let drafts = std::mem::take(&mut self.drafts);
        if is_anew { Step::Anew(drafts) } else { Step::More(drafts) }
    }

    fn goes_on(&mut self, name: &str, data: &Value) {
        let is_known = self.run_event(name, data)
            || self.answer_event(name, data)
            || self.tool_event(name, data)
            || self.notice_event(name, data);
        if !is_known {
            let map = self.scrub.unknown(name, data);
            self.push(Event::Unknown(map));
        }
    }

    /// An input goes out; what comes back of it gets its id.
    pub(super) fn expect_input(&mut self, sent: Option<Sent>) {
        self.sent = sent;
    }

    /// The Pod took an input and has not echoed it: its record is written now.
    pub(super) fn input_taken(&mut self, at: Timestamp) -> Vec<Draft> {
        self.at = at;
        if let Some(sent) = self.sent.take() {
            self.shown = Some(sent.segments.clone());
            self.user_message(sent.segments.clone(), Some(sent));
        }
        std::mem::take(&mut self.drafts)
    }

    /// Whether [`Translator::settle`] has something to do, when nothing comes for a moment.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Nothing came after it had said idle: the run is over.
    pub(super) fn settle(&mut self, at: Timestamp) -> Vec<Draft> {
        self.at = at;
        if std::mem::take(&mut self.is_quiet) {
            self.run_ended_unsaid();
            self.state(PodState::Idle);
        }
        std::mem::take(&mut self.drafts)
    }

    /// The connection is gone. Why goes into the state's reason.
    pub(super) fn lost(&mut self, reason: &str, at: Timestamp) -> Vec<Draft> {
        self.at = at;
        self.close_speech(true);
        let state = if self.face.has_shut_down { PodState::Stopped } else { PodState::Unreachable };
        self.state_because(state, Some(reason.to_owned()));
        std::mem::take(&mut self.drafts)
    }

    fn push(&mut self, event: impl Into<Event>) {
        let event = event.into();
        self.has_conversation |= matches!(event, Event::Turn(_));
        if matches!(event, Event::Turn(TurnEvent::MessageFinished { .. })) {
            self.face.answers += 1;
        }
        let run_id = self.run.as_ref().map(|run| run.id.clone());
        self.drafts.push(Draft { at: self.at, run_id, event });
    }

    /// A new id, unique among all connections.
    fn id(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{what}-{}-{}", self.label, self.made)
    }

    /// Drops what the view was, and begins with the entries of a log.
    fn take_snapshot(&mut self, data: &Value) {
        self.clear();
        let greeting = data.get("greeting").unwrap_or(&Value::Null);
        self.face.usage.context_limit = values::number(greeting, "context_window");
        self.face.usage.context_used = values::number(greeting, "context_tokens");
        self.replay(values::list(data, "entries"));
        self.live_again(values::text(data, "status"));
    }

    fn clear(&mut self) {
        let usage = Usage { context_limit: self.face.usage.context_limit, ..Usage::default() };
        let fresh = Self::new(self.scrub.clone(), self.name.clone(), self.label.clone());
        let face = Face { state: self.face.state, usage, ..fresh.face.clone() };
        let (made, at, sent) = (self.made, self.at, self.sent.take());
        *self = Self { made, at, sent, face, ..fresh };
    }
}
