//! Runs, retries, receipts, questions, status: what people see and no model does.

use protocol::{CommandId, ControlEvent, Outcome, PodState, Record, Timestamp, Trigger};

use super::{End, Started, Thread, Transcript, stream};
use crate::{ApprovalState, BlockKind, ChildStep, PersonState, PodStatus, Receipt, RelationStep, rows::Key};

/// The runtime names the third run of a Pod `run-3`. Of another name nothing can be said before the first run is here.
fn ordinal(run_id: &str) -> Option<u64> {
    run_id.strip_prefix("run-")?.parse().ok()
}

impl Transcript {
    pub(super) fn run_started(&mut self, record: &Record, trigger: Trigger, command_id: Option<&CommandId>) {
        self.turns += 1;
        let number = match self.first.0 <= 1 {
            true => Some(self.turns),
            false => record.run_id.as_deref().and_then(ordinal),
        };
        self.add(record, BlockKind::Turn { number, trigger });
        let started = Started { at: record.at, trigger, command_id: command_id.cloned() };
        self.index.run(record.run_id.as_deref()).started = Some(started);
        if let Some(command_id) = command_id {
            self.command_reaches(command_id.as_str(), PersonState::Read);
        }
    }

    pub(super) fn run_finished(&mut self, record: &Record, event: &ControlEvent) {
        let ControlEvent::RunFinished { outcome, code, detail, usage } = event else { return };
        self.run_goes_on(record, Thread::Solid);
        let closed = self.close_streaming(record);
        self.interrupt_unended(record);
        if !matches!(outcome, Outcome::Paused | Outcome::Interrupted) {
            self.void_questions();
        }
        let started = self.index.run(record.run_id.as_deref()).started.clone();
        let kind = BlockKind::RunEnd {
            outcome: *outcome,
            code: code.clone(),
            detail: detail.clone(),
            usage: *usage,
            started_at: started.as_ref().map(|started| started.at),
            ended_at: record.at,
            trigger: started.as_ref().map(|started| started.trigger),
        };
        let key = self.add(record, kind);
        self.index.run(record.run_id.as_deref()).ends.push(End { key, at: record.at, closed });
        let command_id = started.and_then(|started| started.command_id);
        if let Some(command_id) = command_id.filter(|_| *outcome == Outcome::RolledBack) {
            self.command_reaches(command_id.as_str(), PersonState::Returned);
        }
    }

    /// A model or a tool of this run has said something: what was retried has gone through.
    pub(super) fn run_goes_on(&mut self, record: &Record, thread: Thread) {
        let run = self.index.run(record.run_id.as_deref());
        match thread {
            Thread::Chunk => run.has_chunk = true,
            Thread::Solid => run.has_solid = true,
        }
        let Some(key) = run.retry else { return };
        if thread == Thread::Solid {
            run.retry = None;
        }
        self.settle_retry(key);
    }

    pub(crate) fn settle_retry(&mut self, key: Key) {
        if self.rows.get(key).is_some_and(|block| block.is_live())
            && let Some(BlockKind::Retry { settled, .. }) = self.rows.edit(key).map(|block| &mut block.kind)
        {
            *settled = true;
        }
    }

    pub(super) fn retry(&mut self, record: &Record, event: &ControlEvent) {
        let ControlEvent::ProviderRetry { attempt, wait_ms, code, detail } = event else { return };
        let (code, detail) = (code.clone(), detail.clone());
        let kind = BlockKind::Retry { attempt: *attempt, wait_ms: *wait_ms, code, detail, settled: false };
        let before = self.index.run(record.run_id.as_deref()).retry;
        if let Some(block) = before.and_then(|key| self.rows.edit(key)) {
            block.kind = kind;
            block.last_seq = record.seq;
            return;
        }
        let key = self.add(record, kind);
        let run = self.index.run(record.run_id.as_deref());
        run.retry = Some(key);
        if !run.has_solid {
            run.leading_retry = Some(key);
        }
    }

    pub(super) fn status(&mut self, record: &Record, state: PodState, reason: Option<String>) {
        self.state = Some(PodStatus { state, reason, since: record.at });
        if state == PodState::Stopped {
            self.void_questions();
        }
    }

    pub(super) fn peer_message(&mut self, record: &Record, message_id: &str, kind: BlockKind) {
        let key = self.add(record, kind);
        let cards = self.index.messages.entry(message_id.to_owned()).or_default();
        cards.peer = Some(key);
        let card = cards.card;
        if let Some(card) = card {
            self.deliver(card);
        }
    }

    /// The card of a message that now has a block of its own.
    pub(crate) fn deliver(&mut self, card: Key) {
        if let Some(BlockKind::Message { delivered, .. }) = self.rows.edit(card).map(|block| &mut block.kind) {
            *delivered = true;
        }
    }

    pub(super) fn receipt(&mut self, record: &Record, event: &ControlEvent) {
        let ControlEvent::MessageReceipt { message_id, peer, state, turn, reason } = event else { return };
        let receipt = Receipt { state: *state, turn: *turn, reason: reason.clone(), at: record.at };
        let cards = self.index.messages.get(message_id).copied().unwrap_or_default();
        if let Some(block) = cards.peer.or(cards.card).and_then(|key| self.rows.edit(key)) {
            block.last_seq = record.seq;
            put_receipt(&mut block.kind, receipt);
            return;
        }
        let (message_id, peer) = (message_id.clone(), peer.clone());
        let kind = BlockKind::Message { message_id: message_id.clone(), peer, receipt, delivered: false };
        let key = self.add(record, kind);
        self.index.messages.entry(message_id).or_default().card = Some(key);
    }

    pub(super) fn approval(&mut self, record: &Record, event: &ControlEvent) {
        let Some((id, kind)) = question(record, event) else { return };
        let known = self.index.approvals.get(id).copied();
        let key = match known.and_then(|key| self.rows.edit(key).map(|block| (key, block))) {
            Some((key, block)) => {
                block.last_seq = record.seq;
                follow_question(&mut block.kind, kind);
                key
            }
            None => {
                let key = self.add(record, kind);
                self.index.approvals.insert(id.to_owned(), key);
                key
            }
        };
        if matches!(event, ControlEvent::ApprovalAsked { .. }) {
            self.index.open_approvals.push(key);
        }
    }

    /// The questions of runs. What a command asks that a person runs belongs to no run, and does not end with one.
    pub(crate) fn void_questions(&mut self) {
        self.index.voids = true;
        let mut open = std::mem::take(&mut self.index.open_approvals);
        open.iter().for_each(|&key| self.void_question(key));
        open.retain(|&key| self.rows.get(key).is_some_and(|block| block.is_live()));
        self.index.open_approvals = open;
    }

    pub(crate) fn void_question(&mut self, key: Key) {
        if self.rows.get(key).is_some_and(|block| block.is_live() && block.run_id.is_some())
            && let Some(BlockKind::Approval { state, .. }) = self.rows.edit(key).map(|block| &mut block.kind)
        {
            *state = ApprovalState::Void;
        }
    }

    /// A command's state never goes back, so it does not matter which of its records comes first.
    pub(crate) fn command_reaches(&mut self, command_id: &str, reached: PersonState) {
        let command = self.index.commands.entry(command_id.to_owned()).or_default();
        command.state = command.state.max(reached);
        let (person, now) = (command.person, command.state);
        let Some(key) = person else { return };
        let is_shown = |kind: &BlockKind| matches!(kind, BlockKind::Person { state, .. } if *state == now);
        if self.rows.get(key).is_none_or(|block| is_shown(&block.kind)) {
            return;
        }
        if let Some(BlockKind::Person { state, .. }) = self.rows.edit(key).map(|block| &mut block.kind) {
            *state = now;
        }
    }

    /// Ends every block of the run that still streams. Gives how many.
    fn close_streaming(&mut self, record: &Record) -> usize {
        let streaming = self.rows.len() - self.rows.open..self.rows.len();
        let keys: Vec<Key> = streaming
            .filter(|&index| self.rows.blocks()[index].run_id == record.run_id)
            .map(|index| self.rows.key_at(index))
            .collect();
        for &key in &keys {
            self.rows.settle(key);
            if let Some(block) = self.rows.edit(key) {
                stream::interrupt(&mut block.kind, record.at);
            }
        }
        keys.len()
    }

    fn interrupt_unended(&mut self, record: &Record) {
        for key in std::mem::take(&mut self.index.run(record.run_id.as_deref()).unended) {
            self.interrupt(key, record.at);
        }
    }

    pub(crate) fn interrupt(&mut self, key: Key, at: Timestamp) {
        if self.rows.get(key).is_some_and(|block| block.is_live())
            && let Some(block) = self.rows.edit(key)
        {
            stream::interrupt(&mut block.kind, at);
        }
    }
}

/// Events that are a block of their own and nothing else.
pub(super) fn plain_kind(event: &ControlEvent) -> Option<BlockKind> {
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
        E::Alert { level, source, text } => {
            BlockKind::Alert { level: *level, source: source.clone(), text: text.clone() }
        }
        _ => return None,
    })
}

/// Shows a receipt on a message's card. The turn that read it stays known.
pub(crate) fn put_receipt(kind: &mut BlockKind, mut new: Receipt) {
    match kind {
        BlockKind::Peer { receipt, .. } => {
            new.turn = new.turn.or(receipt.as_ref().and_then(|receipt| receipt.turn));
            *receipt = Some(new);
        }
        BlockKind::Message { receipt, .. } => {
            new.turn = new.turn.or(receipt.turn);
            *receipt = new;
        }
        _ => (),
    }
}

fn question<'a>(record: &Record, event: &'a ControlEvent) -> Option<(&'a str, BlockKind)> {
    Some(match event {
        ControlEvent::ApprovalAsked { id, tool, arguments } => {
            let kind = BlockKind::Approval {
                approval_id: id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                state: ApprovalState::Open,
                decision: None,
                by: None,
                reason: None,
                answered_at: None,
            };
            (id, kind)
        }
        ControlEvent::ApprovalAnswered { id, tool, arguments, decision, by, reason } => {
            let kind = BlockKind::Approval {
                approval_id: id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                state: ApprovalState::Answered,
                decision: *decision,
                by: by.clone(),
                reason: reason.clone(),
                answered_at: Some(record.at),
            };
            (id, kind)
        }
        _ => return None,
    })
}

/// A question asked once more stays answered when it was; all else is as the newer record says.
pub(crate) fn follow_question(kind: &mut BlockKind, newer: BlockKind) {
    let is_answered = |kind: &BlockKind| matches!(kind, BlockKind::Approval { state: ApprovalState::Answered, .. });
    if is_answered(&newer) || !is_answered(kind) {
        *kind = newer;
    }
}
