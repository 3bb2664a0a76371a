//! How a record changes a Pod: the fold that recovery is made of.

use protocol::{
    ControlEvent, Decision, Event, Outcome, PodState, ReceiptState, Record, Seen, Seq, Timestamp, ToolBy, Trigger,
    TurnEvent, Usage,
};

use crate::{
    decide::OVERFLOW,
    state::{BlockKind, OpenApproval, OpenBlock, OpenCall, PeerLetter, Pod, ReadOutput, Run, SEEN_FILES_MAX, SeenFile},
};

impl Pod {
    /// Folds one record in. Records come in seq order; one that is folded in already changes nothing.
    pub fn apply(&mut self, record: &Record) {
        if record.seq > self.head {
            self.evolve_at(record.seq, record.at, &record.event);
        }
    }

    /// Folds one event in, as the record at `seq` that was written at `at`.
    pub fn evolve_at(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        self.evolve(seq, event);
        self.note_time(at, event);
    }

    /// When calls begin to run and when they write: what a restart knows of how long they ran.
    fn note_time(&mut self, at: Timestamp, event: &Event) {
        let calls = self.calls.iter_mut().chain(&mut self.operator_calls);
        match event {
            Event::Turn(TurnEvent::ToolCalled { call_id, .. })
            | Event::Control(ControlEvent::ApprovalAnswered { id: call_id, .. }) => {
                calls.filter(|call| call.call_id == *call_id).for_each(|call| call.began_at = Some(at));
            }
            Event::Turn(TurnEvent::ToolOutputChunk { block, .. }) => {
                calls.filter(|call| call.block == *block).for_each(|call| call.wrote_at = Some(at));
            }
            // What was allowed while the Pod was paused begins now; what stood in line, when the one before it ends.
            Event::Control(ControlEvent::RunStarted { .. })
            | Event::Turn(TurnEvent::ToolFinished { by: ToolBy::Model, .. }) => {
                self.calls.iter_mut().filter(|call| call.wrote_at.is_none()).for_each(|call| call.began_at = Some(at));
            }
            _ => (),
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
            TurnEvent::ToolArgsChunk { block, text, name } => {
                // Every open call belongs to the present answer: the next one is asked for when all have results.
                let open = self.open_blocks.iter().filter(|open| matches!(open.kind, BlockKind::ToolArgs(_)));
                let index = self.calls.len() + open.count();
                self.grow(seq, block, BlockKind::ToolArgs(index), text);
                if let (Some(name), Some(open)) = (name, self.open_blocks.iter_mut().find(|open| open.id == *block)) {
                    open.name = Some(name.clone());
                }
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
                    began_at: None,
                    wrote_at: None,
                });
            }
            TurnEvent::ToolFinished { call_id, block, by, seen, .. } => {
                self.close_block(block);
                self.calls.retain(|call| call.call_id != *call_id);
                self.operator_calls.retain(|call| call.call_id != *call_id);
                if *by == ToolBy::Model && self.calls.is_empty() {
                    // The model is asked next, with all that has come in.
                    self.unread_mail = None;
                    if let Some(run) = &mut self.run {
                        run.rounds += 1;
                        run.overflows = 0;
                    }
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
                (self.fits, self.suspicion) = (None, None);
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
                (self.fits, self.suspicion) = (None, None);
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
                    rounds: 0,
                    overflows: 0,
                });
            }
            ControlEvent::RunFinished { outcome, code, detail, .. } => {
                let run = self.run.take();
                if code.as_deref() == Some(OVERFLOW) {
                    // There was nothing left to drop. The next question is asked as it is: its model may have more room by then.
                    (self.fits, self.suspicion) = (None, None);
                }
                self.count_failures(*outcome, run.is_some_and(|run| run.blocks_before == self.blocks));
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
            ControlEvent::ProviderRetry { attempt, code, detail, .. } => self.note_retry(*attempt, code, detail),
            ControlEvent::Usage { usage } => {
                self.learn(usage);
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
            ReceiptState::Sent
            | ReceiptState::Stored
            | ReceiptState::Held
            | ReceiptState::Refused
            | ReceiptState::Expired => (),
        }
    }

    fn grow(&mut self, seq: Seq, block: &str, kind: BlockKind, text: &str) {
        // The newest block is the one that grows, nearly always.
        match self.open_blocks.iter_mut().rev().find(|open| open.id == block) {
            Some(open) => open.text.push_str(text),
            None => {
                self.count_block(block);
                let (id, text) = (block.to_owned(), text.to_owned());
                self.open_blocks.push(OpenBlock { id, kind, text, first_seq: seq, name: None });
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
