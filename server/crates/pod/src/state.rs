//! The folded state of a Pod.

use protocol::{
    ControlEvent, Decision, Event, Outcome, PeerLabel, PodRef, PodState, ReceiptState, Record, Seen, Seq, ToolBy,
    Trigger, TurnEvent, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Files whose content a caller is known to have seen; beyond it the oldest is forgotten, and has to be read again.
const SEEN_FILES_MAX: usize = 128;

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
    /// Calls of a person without a result; no part of the conversation.
    #[serde(default)]
    pub operator_calls: Vec<OpenCall>,
    /// Questions without an answer.
    pub approvals: Vec<OpenApproval>,
    /// The context is being compacted outside of a run; the state that comes back afterwards.
    #[serde(default)]
    pub compacting_from: Option<PodState>,
    /// Something came in that the model has not been asked with yet, and what it was.
    #[serde(default)]
    pub unread_mail: Option<Trigger>,
    /// Runs that began without an event of the conversation, and in which something came in before their answer: where
    /// they begin, and their ordinal. Without it nobody could tell later what their model had seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bare_runs: Vec<(Seq, u64)>,
    /// Automatic steps between the newest run and a person: 0 when a person began it.
    #[serde(default)]
    pub hops: u32,
    /// Messages of peers that the model has not been asked with, oldest first.
    #[serde(default)]
    pub unread_messages: Vec<PeerLetter>,
    /// Those that it was asked with in the present run.
    #[serde(default)]
    pub read_messages: Vec<PeerLetter>,
    /// Contents of files that a caller has seen, oldest first.
    #[serde(default)]
    pub seen_files: Vec<SeenFile>,
    /// How far the output of each child was read.
    #[serde(default)]
    pub read_outputs: Vec<ReadOutput>,
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
    /// Nothing has been asked yet: what comes in now belongs to its beginning.
    #[serde(default)]
    pub is_fresh: bool,
    /// Blocks that were begun before it. While there are no more, the model has given nothing.
    #[serde(default)]
    pub blocks_before: u64,
    /// Where the person's message is that began it.
    #[serde(default)]
    pub input_seq: Option<Seq>,
    /// Where it began, while no event of the conversation tells that it has.
    #[serde(default)]
    pub bare_since: Option<Seq>,
}

/// A file whose content a caller has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    pub by: ToolBy,
    pub path: String,
    pub sha256: String,
}

/// A message of a peer, on its way to being read and answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerLetter {
    pub message_id: String,
    pub from: PeerLabel,
    pub hops: u32,
    /// Where it is in the journal.
    pub seq: Seq,
}

/// How far a child's output was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOutput {
    pub pod: PodRef,
    pub seq: Seq,
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
    /// A person allowed it while the Pod was paused: it runs when the Pod goes on.
    #[serde(default)]
    pub is_allowed: bool,
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
            operator_calls: Vec::new(),
            approvals: Vec::new(),
            compacting_from: None,
            unread_mail: None,
            bare_runs: Vec::new(),
            hops: 0,
            unread_messages: Vec::new(),
            read_messages: Vec::new(),
            seen_files: Vec::new(),
            read_outputs: Vec::new(),
            usage: Usage::default(),
            failure: None,
        }
    }
}

impl Pod {
    /// A person has to look: a question is open, the last run failed, or a crash cut it.
    pub fn needs_you(&self) -> bool {
        !self.approvals.is_empty()
            || self.failure.is_some()
            || (self.state == PodState::Paused && self.state_reason.is_some())
    }

    /// A restart has to look at this Pod.
    pub fn is_open(&self) -> bool {
        self.run.is_some() || self.compacting_from.is_some() || !self.operator_calls.is_empty()
    }

    /// A run goes on in which the model answers, or a tool that it called runs.
    pub(crate) fn is_answering(&self) -> bool {
        self.state == PodState::Running && self.run.is_some()
    }

    /// It goes on when a person says so, and no earlier; its context may be compacted meanwhile.
    pub(crate) fn is_paused(&self) -> bool {
        self.compacting_from.unwrap_or(self.state) == PodState::Paused
    }

    /// The newest block that the model itself is writing.
    pub(crate) fn model_block(&self) -> Option<&OpenBlock> {
        self.open_blocks.iter().rev().find(|open| open.kind != BlockKind::ToolOutput)
    }

    /// How far the output of this Pod was read.
    pub fn output_read(&self, pod: &PodRef) -> Seq {
        self.read_outputs.iter().find(|read| read.pod == *pod).map_or(Seq(0), |read| read.seq)
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
        let tells_run = matches!(
            event,
            TurnEvent::UserMessage { .. }
                | TurnEvent::MessageFinished { .. }
                | TurnEvent::ReasoningFinished { .. }
                | TurnEvent::ToolCalled { by: ToolBy::Model, .. }
                | TurnEvent::ToolFinished { by: ToolBy::Model, .. }
        );
        if let Some(run) = self.run.as_mut().filter(|_| tells_run) {
            run.bare_since = None;
        }
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
            TurnEvent::ToolCalled { call_id, block, name, arguments, by } => {
                self.close_block(block);
                let calls = match by {
                    ToolBy::Model => &mut self.calls,
                    ToolBy::Operator => &mut self.operator_calls,
                };
                calls.push(OpenCall {
                    call_id: call_id.clone(),
                    block: block.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                    is_allowed: false,
                });
            }
            TurnEvent::ToolFinished { call_id, block, by, seen, .. } => {
                self.close_block(block);
                self.calls.retain(|call| call.call_id != *call_id);
                self.operator_calls.retain(|call| call.call_id != *call_id);
                if *by == ToolBy::Model && self.calls.is_empty() {
                    // The model is asked next, with all that has come in.
                    self.unread_mail = None;
                }
                if let Some(seen) = seen {
                    self.note_seen(*by, seen);
                }
            }
            TurnEvent::UserMessage { .. } => {
                if let Some(run) = &mut self.run {
                    // One that came in later is not taken back with the one that began the run.
                    run.input_seq = run.is_fresh.then_some(seq);
                }
            }
            TurnEvent::PeerMessage { message_id, from, hops, .. } => {
                let letter = PeerLetter { message_id: message_id.clone(), from: from.clone(), hops: *hops, seq };
                let begins = self.run.as_ref().is_some_and(|run| run.is_fresh && run.trigger == Trigger::Peer);
                if begins {
                    self.hops = self.hops.max(hops + 1);
                }
                self.unread_messages.push(letter);
                self.note_mail(Trigger::Peer);
            }
            TurnEvent::ChildEvent { .. } => self.note_mail(Trigger::Child),
            // The model has the contents of files before it no longer.
            TurnEvent::Compacted { .. } => {
                self.seen_files.clear();
                if let Some(run) = &mut self.run {
                    // Taking the message back would bring back what the summary stands for.
                    run.input_seq = None;
                    // The model is asked next.
                    self.unread_mail = None;
                }
            }
            TurnEvent::Rewound { to_seq } => {
                self.unread_messages.retain(|letter| letter.seq <= *to_seq);
                self.seen_files.clear();
                self.resumable = false;
            }
        }
    }

    /// What comes in while the model answers is read by it when it is asked next.
    fn note_mail(&mut self, kind: Trigger) {
        let is_late = self.run.as_ref().is_some_and(|run| !run.is_fresh);
        let since = self.run.as_mut().and_then(|run| run.bare_since.take());
        if let Some(since) = since.filter(|_| is_late) {
            self.bare_runs.push((since, self.runs));
        }
        // News of a child always begin a run; a message may only be noted.
        if is_late && self.unread_mail != Some(Trigger::Child) {
            self.unread_mail = Some(kind);
        }
    }

    fn note_seen(&mut self, by: ToolBy, seen: &Seen) {
        match seen {
            Seen::File { path, sha256 } => {
                self.seen_files.retain(|file| file.by != by || file.path != *path);
                self.seen_files.push(SeenFile { by, path: path.clone(), sha256: sha256.clone() });
                let too_many = self.seen_files.len().saturating_sub(SEEN_FILES_MAX);
                self.seen_files.drain(..too_many);
            }
            Seen::Output { pod, seq } => {
                self.read_outputs.retain(|read| read.pod != *pod);
                self.read_outputs.push(ReadOutput { pod: pod.clone(), seq: *seq });
            }
        }
    }

    fn evolve_control(&mut self, event: &ControlEvent) {
        match event {
            ControlEvent::RunStarted { trigger, .. } => {
                self.runs += 1;
                self.failure = None;
                self.resumable = false;
                self.unread_mail = None;
                self.read_messages.clear();
                self.hops = match trigger {
                    Trigger::Input | Trigger::Resume => 0,
                    Trigger::Peer => self.unread_messages.iter().map(|letter| letter.hops + 1).max().unwrap_or(0),
                    Trigger::Child => self.hops,
                };
                self.run = Some(Run {
                    id: format!("run-{}", self.runs),
                    trigger: *trigger,
                    usage: Usage::default(),
                    is_fresh: true,
                    blocks_before: self.blocks,
                    input_seq: None,
                    bare_since: Some(self.head),
                });
            }
            ControlEvent::RunFinished { outcome, detail, .. } => {
                self.run = None;
                if *outcome != Outcome::Completed {
                    self.read_messages.clear();
                }
                let operators = &self.operator_calls;
                self.open_blocks.retain(|open| operators.iter().any(|call| call.block == open.id));
                self.resumable = matches!(outcome, Outcome::Paused | Outcome::Interrupted);
                if *outcome == Outcome::Error {
                    self.failure = Some(detail.clone().unwrap_or_default());
                }
            }
            ControlEvent::Status { state, state_reason } => {
                match &mut self.run {
                    Some(run) => run.is_fresh = false,
                    // Running without a run: the context is being compacted.
                    None if *state == PodState::Running => self.compacting_from = Some(self.state),
                    None => self.compacting_from = None,
                }
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
            ControlEvent::ApprovalAnswered { id, decision, .. } => {
                self.approvals.retain(|open| open.id != *id);
                let is_later = *decision == Some(Decision::Allow) && self.is_paused();
                if let Some(call) = self.calls.iter_mut().find(|call| is_later && call.call_id == *id) {
                    call.is_allowed = true;
                }
            }
            ControlEvent::MessageReceipt { message_id, state, .. } => self.note_receipt(message_id, *state),
            _ => (),
        }
    }

    /// How far a message of a peer has come here. Receipts of what this Pod sent itself name none of these.
    fn note_receipt(&mut self, message_id: &str, state: ReceiptState) {
        match state {
            ReceiptState::Read => {
                let is_automatic =
                    self.run.as_ref().is_some_and(|run| matches!(run.trigger, Trigger::Peer | Trigger::Child));
                for letter in self.unread_messages.extract_if(.., |letter| letter.message_id == message_id) {
                    // Read in the middle of a run that nobody began: what follows is as far from a person as it is.
                    if is_automatic {
                        self.hops = self.hops.max(letter.hops + 1);
                    }
                    self.read_messages.push(letter);
                }
            }
            ReceiptState::Answered => self.read_messages.retain(|letter| letter.message_id != message_id),
            ReceiptState::Stored | ReceiptState::Held | ReceiptState::Refused | ReceiptState::Expired => (),
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
