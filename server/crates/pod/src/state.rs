//! The folded state of a Pod.

use protocol::{ControlEvent, Event, Outcome, PodState, Record, Seq, ToolBy, Trigger, TurnEvent, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a journal comes to. Small: the conversation itself stays in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pod {
    /// Position of the newest record that is folded in.
    pub head: Seq,
    pub state: PodState,
    pub state_reason: Option<String>,
    /// The run that goes on now.
    pub run: Option<Run>,
    /// Ordinal of the newest run; run ids come from it.
    pub runs: u64,
    /// The newest run ended before its answer did, so `resume` has something to go on with.
    pub resumable: bool,
    /// How many blocks were begun; block and call ids come from it.
    pub blocks: u64,
    /// Blocks whose finished record has not come.
    pub open_blocks: Vec<OpenBlock>,
    /// Calls of the model without a result.
    pub calls: Vec<OpenCall>,
    /// Questions without an answer.
    pub approvals: Vec<OpenApproval>,
    /// Tokens of all runs; context of the newest model call.
    pub usage: Usage,
    /// Why the newest run failed, until the next one starts.
    pub failure: Option<String>,
}

/// The open run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub trigger: Trigger,
    /// What this run used so far.
    pub usage: Usage,
}

/// A block that is being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenBlock {
    pub id: String,
    pub kind: BlockKind,
    /// Everything so far: an interruption closes the block with it.
    pub text: String,
    /// Where its chunks begin, for folding.
    pub first_seq: Seq,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    Text,
    Reasoning,
    /// Arguments of the n-th call of the present answer.
    ToolArgs(usize),
    ToolOutput,
}

/// A call whose result the model waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    pub call_id: String,
    pub block: String,
    pub name: String,
    pub arguments: Value,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenApproval {
    pub id: String,
    pub call_id: String,
    pub tool: String,
    pub arguments: Value,
}

/// An event with the run it belongs to, before it has a place in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub run_id: Option<String>,
    pub event: Event,
}

impl Default for Pod {
    fn default() -> Self {
        Self {
            head: Seq(0),
            state: PodState::Idle,
            state_reason: None,
            run: None,
            runs: 0,
            resumable: false,
            blocks: 0,
            open_blocks: Vec::new(),
            calls: Vec::new(),
            approvals: Vec::new(),
            usage: Usage::default(),
            failure: None,
        }
    }
}

impl Pod {
    /// A person has to look: a question is open, the last run failed, or a crash cut it.
    pub fn needs_you(&self) -> bool {
        self.state == PodState::Waiting
            || self.failure.is_some()
            || (self.state == PodState::Paused && self.state_reason.is_some())
    }

    /// A restart has to look at this Pod.
    pub fn is_open(&self) -> bool {
        self.run.is_some()
    }

    /// Id of the run that goes on, or of the newest one.
    pub fn run_id(&self) -> Option<String> {
        (self.runs > 0).then(|| format!("run-{}", self.runs))
    }

    /// Folds one record in. Records come in seq order; one that is folded in already changes nothing.
    pub fn apply(&mut self, record: &Record) {
        if record.seq > self.head {
            self.evolve(record.seq, &record.event);
        }
    }

    /// Folds one event in, as the record at `seq`.
    pub fn evolve(&mut self, seq: Seq, event: &Event) {
        self.head = seq;
        match event {
            Event::Turn(event) => self.evolve_turn(seq, event),
            Event::Control(event) => self.evolve_control(event),
            Event::Unknown(_) => (),
        }
    }

    fn evolve_turn(&mut self, seq: Seq, event: &TurnEvent) {
        match event {
            TurnEvent::TextChunk { block, text } => self.grow(seq, block, BlockKind::Text, text),
            TurnEvent::ReasoningChunk { block, text } => self.grow(seq, block, BlockKind::Reasoning, text),
            TurnEvent::ToolArgsChunk { block, text } => {
                // Every open call belongs to the present answer: the next one is asked for when all have results.
                let open = self.open_blocks.iter().filter(|open| matches!(open.kind, BlockKind::ToolArgs(_)));
                let index = self.calls.len() + open.count();
                self.grow(seq, block, BlockKind::ToolArgs(index), text);
            }
            TurnEvent::ToolOutputChunk { block, text } => self.grow(seq, block, BlockKind::ToolOutput, text),
            TurnEvent::MessageFinished { block, .. } | TurnEvent::ReasoningFinished { block, .. } => {
                self.close_block(block);
            }
            TurnEvent::ToolCalled { call_id, block, name, arguments, by: ToolBy::Model } => {
                self.close_block(block);
                self.calls.push(OpenCall {
                    call_id: call_id.clone(),
                    block: block.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                });
            }
            TurnEvent::ToolFinished { call_id, block, .. } => {
                self.close_block(block);
                self.calls.retain(|call| call.call_id != *call_id);
            }
            TurnEvent::UserMessage { .. }
            | TurnEvent::PeerMessage { .. }
            | TurnEvent::ChildEvent { .. }
            | TurnEvent::ToolCalled { .. }
            | TurnEvent::Compacted { .. }
            | TurnEvent::Rewound { .. } => (),
        }
    }

    fn evolve_control(&mut self, event: &ControlEvent) {
        match event {
            ControlEvent::RunStarted { trigger, .. } => {
                self.runs += 1;
                self.failure = None;
                self.resumable = false;
                self.run = Some(Run { id: format!("run-{}", self.runs), trigger: *trigger, usage: Usage::default() });
            }
            ControlEvent::RunFinished { outcome, detail, .. } => {
                self.run = None;
                self.open_blocks.clear();
                self.resumable = matches!(outcome, Outcome::Paused | Outcome::Interrupted);
                if *outcome == Outcome::Error {
                    self.failure = Some(detail.clone().unwrap_or_default());
                }
            }
            ControlEvent::Status { state, state_reason } => {
                self.state = *state;
                self.state_reason = state_reason.clone();
            }
            ControlEvent::Usage { usage } => {
                add(&mut self.usage, usage);
                if let Some(run) = &mut self.run {
                    add(&mut run.usage, usage);
                }
            }
            ControlEvent::ApprovalAsked { id, tool, arguments } => self.approvals.push(OpenApproval {
                id: id.clone(),
                call_id: id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
            }),
            ControlEvent::ApprovalAnswered { id, .. } => self.approvals.retain(|open| open.id != *id),
            _ => (),
        }
    }

    fn grow(&mut self, seq: Seq, block: &str, kind: BlockKind, text: &str) {
        // The newest block is the one that grows, nearly always.
        match self.open_blocks.iter_mut().rev().find(|open| open.id == block) {
            Some(open) => open.text.push_str(text),
            None => {
                self.count_block(block);
                self.open_blocks.push(OpenBlock { id: block.to_owned(), kind, text: text.to_owned(), first_seq: seq });
            }
        }
    }

    fn close_block(&mut self, block: &str) {
        self.count_block(block);
        self.open_blocks.retain(|open| open.id != block);
    }

    /// Block ids are `b1`, `b2`, …; the highest that was seen is the number of blocks begun.
    fn count_block(&mut self, block: &str) {
        if let Some(number) = block.strip_prefix('b').and_then(|digits| digits.parse().ok()) {
            self.blocks = self.blocks.max(number);
        }
    }
}

fn add(total: &mut Usage, part: &Usage) {
    total.input += part.input;
    total.cached += part.cached;
    total.output += part.output;
    total.context_used = part.context_used;
    total.context_limit = part.context_limit;
    total.cost = match (total.cost, part.cost) {
        (None, None) => None,
        (total, part) => Some(total.unwrap_or_default() + part.unwrap_or_default()),
    };
}
