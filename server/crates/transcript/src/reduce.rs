//! Records in, blocks out. Each record costs the same however long the transcript is.
//!
//! A finished record replaces what its chunks had built, as a whole and in place, so a reader that was away while
//! the chunks were folded ends with the same blocks as one that saw them all.

pub(crate) mod control;
mod index;
pub(crate) mod stream;
mod tools;

use protocol::{ControlEvent, Event, PodState, Record, Seq, Timestamp, TurnEvent, Usage};

pub(crate) use self::index::{Command, End, Family, Index, MessageCards, Piece, Run, Started, Thread};
use crate::{Block, BlockId, BlockKind, Change, PersonState, rows::Key, rows::Rows};

/// What the newest status record says.
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
    pub(crate) index: Index,
    pub(crate) head: Seq,
    pub(crate) first: Seq,
    /// Runs that began in here.
    pub(crate) turns: u64,
    pub(crate) state: Option<PodStatus>,
    pub(crate) usage: Option<Usage>,
    /// Each rewind: the last seq that it kept, and its own.
    pub(crate) rewinds: Vec<(Seq, Seq)>,
}

impl Transcript {
    /// All of these, in order: a snapshot, or a page.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut transcript = Self::default();
        records.into_iter().for_each(|record| {
            transcript.apply(record);
        });
        transcript
    }

    /// Takes the next record. One that is not newer than the head has been applied before and changes nothing.
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
                self.add(record, BlockKind::Unknown { kind, fields: fields.clone() });
            }
        }
        if let Some(cut) = record.cut.filter(|_| !is_chunk(record)) {
            self.mark_cut(record.seq, cut);
        }
        self.rows.take_change()
    }

    /// Puts an older page before what is there. Records that are not older than the first are ignored.
    ///
    /// A block that the page begins and the rest ends becomes one block, where it would stand had all come in order.
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

    /// In the order of the screen, oldest first.
    pub fn blocks(&self) -> &[Block] {
        self.rows.blocks()
    }

    /// The newest record that was applied; 0 before the first.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// The oldest record that was applied; 0 before the first. A page before it is asked for with this.
    pub fn first_seq(&self) -> Seq {
        self.first
    }

    /// What the Pod does, by the newest status record in here.
    pub fn state(&self) -> Option<&PodStatus> {
        self.state.as_ref()
    }

    /// What the newest model call used. The Pod's totals are in its summary: a tail does not know them.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    fn is_blank(&self) -> bool {
        self.head == Seq(0)
    }

    fn turn_event(&mut self, record: &Record, event: &TurnEvent) {
        use TurnEvent as E;
        match event {
            E::UserMessage { segments, command_id, by } => {
                let (segments, by, command_id) = (segments.clone(), by.clone(), command_id.clone());
                let id = command_id.to_string();
                let state = if record.run_id.is_some() { PersonState::Read } else { PersonState::Stored };
                let key = self.add(record, BlockKind::Person { segments, by, command_id, state });
                self.index.commands.entry(id.clone()).or_default().person = Some(key);
                self.command_reaches(&id, state);
            }
            E::PeerMessage { message_id, text, from, hops } => {
                let (from, text, hops) = (from.clone(), text.clone(), *hops);
                let kind = BlockKind::Peer { from, text, message_id: message_id.clone(), hops, receipt: None };
                self.peer_message(record, message_id, kind);
            }
            E::ChildEvent { what, child, detail } => {
                let (child, detail) = (child.clone(), detail.clone());
                self.add(record, BlockKind::ChildEvent { what: *what, child, detail });
            }
            E::TextChunk { block, text } => self.text_chunk(record, Family::Text, block, text),
            E::ReasoningChunk { block, text } => self.text_chunk(record, Family::Reasoning, block, text),
            E::MessageFinished { block, text, interrupted } => {
                self.text_finished(record, Family::Text, block, text, *interrupted);
            }
            E::ReasoningFinished { block, text, interrupted } => {
                self.text_finished(record, Family::Reasoning, block, text, *interrupted);
            }
            E::ToolArgsChunk { block, text, .. } => self.tool_arguments_chunk(record, block, text),
            E::ToolOutputChunk { block, text } => self.tool_output_chunk(record, block, text),
            E::ToolCalled { block, .. } => self.tool_called(record, block, event),
            E::ToolFinished { block, .. } => self.tool_finished(record, block, event),
            E::Compacted { summary, kept_from_seq } => {
                let kind = BlockKind::Compacted { summary: summary.clone(), kept_from_seq: *kept_from_seq };
                self.add(record, kind);
            }
            E::Rewound { to_seq } => {
                self.rewinds.push((*to_seq, record.seq));
                self.add(record, BlockKind::Rewound { to_seq: *to_seq });
            }
        }
    }

    fn control_event(&mut self, record: &Record, event: &ControlEvent) {
        use ControlEvent as E;
        match event {
            E::RunStarted { trigger, command_id } => self.run_started(record, *trigger, command_id.as_ref()),
            E::RunFinished { .. } => self.run_finished(record, event),
            E::ProviderRetry { .. } => self.retry(record, event),
            E::Usage { usage } => {
                self.run_goes_on(record, Thread::Solid);
                self.usage = Some(*usage);
            }
            E::Status { state, state_reason } => self.status(record, *state, state_reason.clone()),
            E::MessageReceipt { .. } => self.receipt(record, event),
            E::ApprovalAsked { .. } | E::ApprovalAnswered { .. } => self.approval(record, event),
            _ => {
                if let Some(kind) = control::plain_kind(event) {
                    self.add(record, kind);
                }
            }
        }
    }

    /// A block that more records belong to.
    fn add_open(&mut self, block: Block) -> Key {
        if let Some(crowded_out) = self.rows.make_room() {
            let run_id = self.rows.get(crowded_out).and_then(|block| block.run_id.clone());
            self.index.run(run_id.as_deref()).unended.push(crowded_out);
        }
        self.rows.add_open(block)
    }

    /// A block of this record alone.
    fn add(&mut self, record: &Record, kind: BlockKind) -> Key {
        self.rows.add(Block::new(BlockId::of_seq(record.seq), record, kind))
    }
}

fn is_chunk(record: &Record) -> bool {
    matches!(&record.event, Event::Turn(event) if event.is_chunk())
}

/// The same on a screen: how they came about does not matter.
impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        (self.blocks(), self.head, self.first, &self.state, &self.usage)
            == (other.blocks(), other.head, other.first, &other.state, &other.usage)
    }
}
