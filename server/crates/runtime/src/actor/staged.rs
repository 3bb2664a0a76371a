//! Events between decision and commit: folded in and encoded, with their consequences for others.

use bytes::Bytes;
use jiff::Timestamp;
use pod::{Pod, Step};
use pod_store::{Fold, MessageChange, NewRecord, PodChange, Spent};
use protocol::{
    ControlEvent, Event, Outcome as RunOutcome, PeerLabel, PodState, ReceiptState, Seq, ToolAnswer, ToolBy, Trigger,
    TurnEvent, WorkerId,
};

use super::{spending, state::State};
use crate::{
    clock, encode,
    meters::{self, Counted},
};

/// Events that have been folded in and encoded but not committed.
pub(super) struct Staged {
    pub(super) at: Timestamp,
    at_text: String,
    pub(super) records: Vec<NewRecord>,
    pub(super) folds: Vec<Fold>,
    /// What the events say was used.
    pub(super) spent: Vec<Spent>,
    /// True if there is an event other than a chunk, so that the checkpoint moves.
    pub(super) moves_checkpoint: bool,
    /// How the run ended, for the parent.
    pub(super) ended: Option<RunEnd>,
    /// Tool calls run by people or agents that have ended.
    pub(super) answers: Vec<(String, ToolAnswer)>,
    /// A run began that only a peer's message asked for.
    pub(super) begun_by_peer: bool,
    /// Peer messages that were read or answered here, and states that their senders record.
    pub(super) receipts: Vec<MessageStep>,
    /// What the events count as.
    pub(super) counted: Vec<Counted>,
}

/// The end of a run, and the position of its record.
pub(super) struct RunEnd {
    pub(super) outcome: RunOutcome,
    pub(super) detail: Option<String>,
    pub(super) at: Seq,
}

/// A message whose state has advanced, as the journal records it.
pub(super) struct MessageStep {
    pub(super) message_id: String,
    /// The Pod on the other side.
    pub(super) peer: PeerLabel,
    pub(super) state: ReceiptState,
    pub(super) turn: Option<u64>,
}

/// What is to be written for a Pod, and what follows from it.
pub(super) struct Change {
    pub(super) change: PodChange,
    /// The states of messages that it advances.
    pub(super) messages: Vec<MessageChange>,
    pub(super) shown: Shown,
}

/// What viewers and waiters are told about a change once it is committed.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) records: Vec<(Seq, Bytes)>,
    pub(super) answers: Vec<(String, ToolAnswer)>,
    pub(super) changes_row: bool,
    pub(super) wakes_parent: bool,
    /// Pods whose messages have advanced.
    pub(super) senders: Vec<WorkerId>,
    pub(super) counted: Vec<Counted>,
}

impl Staged {
    pub(super) fn new() -> Self {
        let at = clock::now();
        Self {
            at,
            at_text: encode::timestamp(at),
            records: Vec::new(),
            folds: Vec::new(),
            spent: Vec::new(),
            moves_checkpoint: false,
            ended: None,
            answers: Vec::new(),
            begun_by_peer: false,
            receipts: Vec::new(),
            counted: Vec::new(),
        }
    }

    /// Applies a step and encodes it; returns the position of its record. `asked` is the provider and the model that
    /// were asked.
    pub(super) fn add(&mut self, state: &mut State, asked: Option<(&str, &str)>, step: &Step) -> Seq {
        let seq = state.pod.head.next();
        self.folds.extend(fold(&state.pod, &step.event));
        let asked = asked.unwrap_or_else(|| state.asked());
        self.spent.extend(spending::spent(&state.pod, asked, self.at, &step.event));
        self.counted.extend(meters::counted(&state.pod, &step.event));
        state.pod.evolve_at(seq, self.at, &step.event);
        trace(state, &step.event);
        self.moves_checkpoint |= !matches!(&step.event, Event::Turn(event) if event.is_chunk());
        self.note(seq, &step.event);
        self.records.push(encode::record(seq, &self.at_text, step, state.spec.reasoning));
        seq
    }

    fn note(&mut self, at: Seq, event: &Event) {
        match event {
            Event::Control(ControlEvent::RunStarted { trigger: Trigger::Peer, .. }) => self.begun_by_peer = true,
            Event::Control(ControlEvent::RunFinished { outcome, detail, .. }) => {
                self.ended = Some(RunEnd { outcome: *outcome, detail: detail.clone(), at });
            }
            Event::Control(ControlEvent::MessageReceipt {
                message_id,
                peer,
                state: state @ (ReceiptState::Read | ReceiptState::Answered | ReceiptState::Expired),
                turn,
                ..
            }) => self.receipts.push(MessageStep {
                message_id: message_id.clone(),
                peer: peer.clone(),
                state: *state,
                turn: *turn,
            }),
            Event::Turn(TurnEvent::ToolFinished {
                call_id,
                summary,
                content,
                is_error,
                code,
                by: ToolBy::Operator | ToolBy::Agent,
                ..
            }) => {
                let answer = ToolAnswer {
                    summary: summary.clone(),
                    content: content.clone(),
                    is_error: *is_error,
                    code: code.clone(),
                };
                self.answers.push((call_id.clone(), answer));
            }
            _ => (),
        }
    }
}

/// Begins and ends the span of a run. A run that goes on after it waited for a person begins another one.
fn trace(state: &mut State, event: &Event) {
    match event {
        Event::Control(ControlEvent::RunStarted { .. }) => state.begin_span(),
        Event::Control(ControlEvent::RunFinished { outcome, usage, .. }) => state.span.end(*outcome, usage),
        Event::Control(_) if state.is_running() && state.span.is_none() => state.begin_span(),
        Event::Control(_) if state.pod.state == PodState::Waiting => state.span.wait(),
        _ => (),
    }
}

/// The chunks that this event replaces as a whole.
fn fold(pod: &Pod, event: &Event) -> Option<Fold> {
    let Event::Turn(event) = event else { return None };
    let block = match event {
        TurnEvent::MessageFinished { block, .. }
        | TurnEvent::ReasoningFinished { block, .. }
        | TurnEvent::ToolCalled { block, .. }
        | TurnEvent::ToolFinished { block, .. } => block,
        _ => return None,
    };
    let open = pod.open_blocks.iter().find(|open| open.id == *block)?;
    // Other blocks may have chunks in between, so chunks are folded only if this is the only open block.
    (pod.open_blocks.len() == 1).then(|| Fold { block: block.clone(), from: open.first_seq, to: pod.head })
}
