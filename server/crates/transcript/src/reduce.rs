//! Records in, blocks out. Each record costs the same however long the transcript is.
//!
//! A finished record replaces everything that its chunks had built, in place, so a reader that was away while the
//! chunks were folded ends up with the same blocks as one that saw them all.

mod commands;
mod messages;
mod questions;
mod runs;
mod streams;

use protocol::{AlertLevel, ControlEvent, Event, Outcome, PodState, Record, Seq, Timestamp, TurnEvent, Usage};
use serde_json::Value;

use self::{
    commands::Commands,
    messages::Messages,
    questions::Questions,
    runs::{Runs, Thread},
    streams::{Family, Streams},
};
use crate::{
    Block, BlockKind, Change, ChildStep, PersonState, RelationStep,
    rows::Rows,
    words::{agent_words, limit_words, settings_words},
};

/// The content of the newest status record.
#[derive(Debug, Clone, PartialEq)]
pub struct PodStatus {
    pub state: PodState,
    pub reason: Option<String>,
    pub since: Timestamp,
}

/// One Pod's transcript, from wherever the reader began up to its head.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    pub(crate) rows: Rows,
    // Each of these finds the blocks that a later record of its kind belongs to.
    streams: Streams,
    runs: Runs,
    pub(crate) questions: Questions,
    messages: Messages,
    commands: Commands,
    head: Seq,
    first: Seq,
    state: Option<PodStatus>,
    usage: Option<Usage>,
    /// The agent's newest plan.
    plan: Option<Value>,
    /// Each rewind: the last seq that it kept, and its own seq.
    pub(crate) rewinds: Vec<(Seq, Seq)>,
}

impl Transcript {
    /// Builds a transcript from these records in order: a snapshot, or a page.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut transcript = Self::default();
        records.into_iter().for_each(|record| {
            transcript.apply(record);
        });
        transcript
    }

    /// Applies the next record. One that is not newer than the head has been applied before and changes nothing.
    pub fn apply(&mut self, record: &Record) -> Change {
        if record.seq <= self.head {
            return Change::None;
        }
        if self.is_blank() {
            self.first = record.seq;
        }
        self.head = record.seq;
        match &record.event {
            Event::Turn(event) => self.turn_event(record, event),
            Event::Control(event) => self.control_event(record, event),
            Event::Unknown(fields) => {
                let kind = record.event.kind().to_owned();
                self.rows.add_of(record, BlockKind::Unknown { kind, fields: fields.clone() });
            }
        }
        if let Some(cut) = record.cut.filter(|_| !is_chunk(record)) {
            self.mark_cut(record.seq, cut);
        }
        self.rows.take_change()
    }

    /// Prepends an older page. Records that are not older than the first are ignored.
    ///
    /// A block that begins in the page and ends in the rest becomes one block, in the place where it would be had
    /// everything arrived in order.
    pub fn prepend(&mut self, older: &[Record]) -> Change {
        let page = match self.is_blank() {
            true => Self::from_records(older),
            false => Self::from_records(older.iter().filter(|record| record.seq < self.first)),
        };
        match (page.is_blank(), self.is_blank()) {
            (true, _) => return Change::None,
            (false, true) => *self = page,
            (false, false) => self.join(page),
        }
        self.rows.take_change();
        Change::Several { from: 0 }
    }

    /// The blocks in the order of the screen, oldest first.
    pub fn blocks(&self) -> &[Block] {
        self.rows.blocks()
    }

    /// The newest record that was applied; 0 before the first.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// The oldest record that was applied; 0 before the first. The page before it is requested with this.
    pub fn first_seq(&self) -> Seq {
        self.first
    }

    /// The Pod's state, by the newest status record in here.
    pub fn state(&self) -> Option<&PodStatus> {
        self.state.as_ref()
    }

    /// The usage of the newest model call. The Pod's totals are in its summary, because the newest records alone do
    /// not have them.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Returns the agent's plan as last reported in this transcript: a list of [`protocol::PlanEntry`].
    pub fn plan(&self) -> Option<&Value> {
        self.plan.as_ref()
    }

    fn is_blank(&self) -> bool {
        self.head == Seq(0)
    }

    /// Whether it reaches back to the first record, so that turns can be counted.
    fn is_whole(&self) -> bool {
        self.first.0 <= 1
    }

    fn turn_event(&mut self, record: &Record, event: &TurnEvent) {
        use TurnEvent as E;
        if let Some(thread) = Thread::of(event) {
            self.runs.goes_on(&mut self.rows, record, thread);
        }
        let rows = &mut self.rows;
        match event {
            E::UserMessage { segments, command_id, by, blobs } => {
                let (segments, by, blobs, command_id) =
                    (segments.clone(), by.clone(), blobs.clone(), command_id.clone());
                let id = command_id.to_string();
                let state = if record.run_id.is_some() { PersonState::Read } else { PersonState::Stored };
                let key = rows.add_of(record, BlockKind::Person { segments, by, command_id, state, blobs });
                self.commands.said(rows, &id, key, state);
            }
            E::PeerMessage { message_id, text, from, hops } => {
                let (from, text, hops) = (from.clone(), text.clone(), *hops);
                let kind = BlockKind::Peer { from, text, message_id: message_id.clone(), hops, receipt: None };
                let key = rows.add_of(record, kind);
                self.messages.said(rows, message_id, key);
            }
            E::ChildEvent { what, child, detail } => {
                let (child, detail) = (child.clone(), detail.clone());
                rows.add_of(record, BlockKind::ChildEvent { what: *what, child, detail });
            }
            E::CommandEnded { call_id, command, by, detail, exit_code, output } => {
                let (call_id, command, detail) = (call_id.clone(), command.clone(), detail.clone());
                let (exit_code, output, by) = (*exit_code, output.clone(), *by);
                rows.add_of(record, BlockKind::CommandEnded { call_id, command, detail, exit_code, output, by });
            }
            E::TextChunk { block, text } => self.streams.text_chunk(rows, record, Family::Text, block, text),
            E::ReasoningChunk { block, text } => self.streams.text_chunk(rows, record, Family::Reasoning, block, text),
            E::MessageFinished { block, text, interrupted } => {
                self.streams.text_finished(rows, record, Family::Text, block, text, *interrupted);
            }
            E::ReasoningFinished { block, text, interrupted, .. } => {
                self.streams.text_finished(rows, record, Family::Reasoning, block, text, *interrupted);
            }
            E::ToolArgsChunk { block, text, .. } => self.streams.tool_arguments_chunk(rows, record, block, text),
            E::ToolOutputChunk { block, text } => self.streams.tool_output_chunk(rows, record, block, text),
            E::ToolCalled { .. } => self.streams.tool_called(rows, record, event),
            E::ToolFinished { .. } => self.streams.tool_finished(rows, record, event),
            E::Compacted { summary, kept_from_seq } => {
                let kind = BlockKind::Compacted { summary: summary.clone(), kept_from_seq: *kept_from_seq };
                rows.add_of(record, kind);
            }
            E::Rewound { to_seq } => {
                self.rewinds.push((*to_seq, record.seq));
                rows.add_of(record, BlockKind::Rewound { to_seq: *to_seq });
            }
        }
    }

    fn control_event(&mut self, record: &Record, event: &ControlEvent) {
        use ControlEvent as E;
        let (is_whole, rows) = (self.is_whole(), &mut self.rows);
        match event {
            E::RunStarted { trigger, command_id } => {
                self.runs.started(rows, record, *trigger, command_id.as_ref(), is_whole);
                if let Some(command_id) = command_id {
                    self.commands.reaches(rows, command_id.as_str(), PersonState::Read);
                }
            }
            E::RunFinished { outcome, .. } => {
                self.runs.goes_on(rows, record, Thread::Solid);
                let closed = self.streams.close(rows, record);
                if !matches!(outcome, Outcome::Paused | Outcome::Interrupted) {
                    self.questions.void(rows);
                }
                if let Some(command_id) = self.runs.finished(rows, record, event, closed) {
                    self.commands.reaches(rows, command_id.as_str(), PersonState::Returned);
                }
            }
            E::ProviderRetry { .. } => self.runs.retry(rows, record, event),
            E::Usage { usage } => {
                self.runs.goes_on(rows, record, Thread::Solid);
                self.usage = Some(*usage);
            }
            E::Status { state, state_reason } => {
                self.state = Some(PodStatus { state: *state, reason: state_reason.clone(), since: record.at });
                if *state == PodState::Stopped {
                    self.questions.void(rows);
                }
            }
            E::PlanUpdated { entries } => self.plan = Some(entries.clone()),
            E::MessageReceipt { .. } => self.messages.receipt(rows, record, event),
            E::ApprovalAsked { .. } | E::ApprovalAnswered { .. } => self.questions.take(rows, record, event),
            _ => {
                if let Some(kind) = plain_kind(event) {
                    rows.add_of(record, kind);
                }
            }
        }
    }

    /// Prepends `page`, with the same result as if all records had come in order; `page` is older throughout, and
    /// neither is blank.
    fn join(&mut self, page: Self) {
        let Self { rows: older, mut streams, mut runs, mut questions, mut messages, mut commands, .. } = page;
        self.first = page.first;
        self.state = self.state.take().or(page.state);
        self.usage = self.usage.take().or(page.usage);
        self.plan = self.plan.take().or(page.plan);
        self.rewinds.splice(0..0, page.rewinds);

        let (is_whole, rows) = (self.is_whole(), &mut self.rows);
        let (base, open) = rows.adopt(older);
        streams.shift(base);
        runs.shift(base);
        questions.shift(base);
        messages.shift(base);
        commands.shift(base);
        self.streams.join(rows, &mut self.runs, streams, open);
        self.runs.join(rows, &mut self.commands, runs, is_whole);
        self.messages.join(rows, messages);
        self.questions.join(rows, questions);
        self.commands.join(rows, commands);
    }
}

fn is_chunk(record: &Record) -> bool {
    matches!(&record.event, Event::Turn(event) if event.is_chunk())
}

/// Equal if they look the same on a screen, however they came about.
impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        (self.blocks(), self.head, self.first, &self.state, &self.usage)
            == (other.blocks(), other.head, other.first, &other.state, &other.usage)
    }
}

/// The kind of block for events that are a block of their own and nothing else.
fn plain_kind(event: &ControlEvent) -> Option<BlockKind> {
    use ControlEvent as E;
    let relation = |what, peer: &protocol::PeerLabel, by: &str, request_id: &Option<String>, note: &Option<String>| {
        let (request_id, note) = (request_id.clone(), note.clone());
        BlockKind::Relation { what, peer: peer.clone(), by: by.to_owned(), request_id, note }
    };
    let child = |what, child: &protocol::PodLabel, scope: &[protocol::ScopeRule]| BlockKind::Child {
        what,
        child: child.clone(),
        scope: scope.to_vec(),
    };
    Some(match event {
        E::PeerLinked { peer, by, request_id, note } => relation(RelationStep::Linked, peer, by, request_id, note),
        E::PeerUnlinked { peer, by, request_id, note } => relation(RelationStep::Unlinked, peer, by, request_id, note),
        E::PeerRequested { peer, by, request_id, note } => {
            relation(RelationStep::Requested, peer, by, request_id, note)
        }
        E::PeerDeclined { peer, by, request_id, note } => relation(RelationStep::Declined, peer, by, request_id, note),
        E::ChildSpawned { child: whose, scope } => child(ChildStep::Spawned, whose, scope),
        E::ChildStopped { child: whose, scope } => child(ChildStep::Stopped, whose, scope),
        E::ScopeChanged { child: whose, scope } => child(ChildStep::ScopeChanged, whose, scope),
        E::Alert { level, source, text, .. } => {
            BlockKind::Alert { level: *level, source: source.clone(), text: text.clone() }
        }
        E::AgentStarted { agent, resumed, .. } => {
            let text = agent_words(agent, *resumed);
            BlockKind::Alert { level: AlertLevel::Note, source: "agent".to_owned(), text }
        }
        E::ModeChanged { mode } => {
            BlockKind::Alert { level: AlertLevel::Note, source: "mode".to_owned(), text: mode.clone() }
        }
        E::LimitReached { until, resumes } => {
            let text = limit_words(*until, *resumes);
            BlockKind::Alert { level: AlertLevel::Warn, source: "limit".to_owned(), text }
        }
        E::SettingsChanged { .. } => {
            BlockKind::Alert { level: AlertLevel::Note, source: "settings".to_owned(), text: settings_words(event) }
        }
        _ => return None,
    })
}
