//! The Pod that is looked at.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use commands::{FileWord, peering::called};
use protocol::{
    AgentView, Approval, CommandId, PeerView, PlanEntry, PodRef, PodSummary, QueuedInput, ReceiptState, Record,
    Segment, Seq,
};
use ratatui::text::Line;
use transcript::{BlockId, BlockKind, Change, Transcript, group};

use super::{Asking, Detail, Waiting};
use crate::composer::Composer;

/// Lines of so many blocks are kept; beyond it all are drawn anew.
const DRAWN_MAX: usize = 4_000;

#[derive(Debug)]
pub(crate) struct OpenPod {
    pub(crate) pod: PodRef,
    /// Its frames carry this id; those with another are of a Pod that was looked at before.
    pub(crate) subscription: Option<String>,
    /// The first snapshot has come: until then it is not known that nothing was said.
    pub(crate) is_known: bool,
    pub(crate) transcript: Transcript,
    /// The blocks as they are drawn: runs of thinking and of reads are one.
    pub(crate) groups: Vec<group::Group>,
    pub(crate) older: Older,
    pub(crate) composer: Composer,
    /// How far back in the history the composer is, and what was in it before.
    pub(crate) recalled: Option<(usize, Composer)>,
    /// The file that is being named in the composer.
    pub(crate) naming: Option<Naming>,
    pub(crate) focus: Focus,
    pub(crate) place: Place,
    /// What was last looked for with `/`.
    pub(crate) find: String,
    /// The block that was gone to: a hit, a message. It is the one at hand until the screen is scrolled.
    pub(crate) mark: Option<BlockId>,
    pub(crate) seek: Option<Seek>,
    /// Inputs that wait for the present run to end.
    pub(crate) queued: Vec<QueuedInput>,
    /// The Pods it knows, and requests between it and others.
    pub(crate) peers: Vec<PeerView>,
    /// What it asks, with what that would do to the files of now.
    pub(crate) asked: Vec<Approval>,
    /// What its agent is, offers and plans, where one answers in it.
    pub(crate) agent: Option<AgentView>,
    /// For its details.
    pub(crate) asking: Asking,
    /// The message that is on its way. It stays in the composer until the server has it on its disk.
    pub(crate) sending: Option<Sending>,
    /// The newest message that failed: sent again unchanged, it keeps its id and happens once.
    pub(crate) failed: Option<Sending>,
    pub(crate) drawn: RefCell<Drawn>,
}

/// Lines of blocks that have not changed since they were drawn.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// Columns and detail they are for.
    of: (usize, Detail),
    lines: HashMap<BlockId, Rc<Vec<Line<'static>>>>,
}

/// A message and its id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sending {
    pub(crate) command_id: CommandId,
    pub(crate) segments: Vec<Segment>,
    /// For the present run, when its model is asked next.
    pub(crate) steer: bool,
}

/// A file that is being named behind an `@`, and what the server knows for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Naming {
    pub(crate) word: FileWord,
    /// What was found for the newest name that was answered; it stays while the next answer is on its way.
    pub(crate) found: Vec<String>,
    pub(crate) chosen: usize,
    /// The name that the server was asked for and has not answered yet. Only one question is under way.
    pub(crate) asked: Option<String>,
}

/// Whether there are older records than those that are here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Older {
    #[default]
    None,
    OnTheServer,
    OnTheirWay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Composer,
    Transcript,
}

/// Where the transcript is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// At its end, wherever that goes.
    #[default]
    End,
    /// The lowest line on the screen is this line of this block, whatever comes after it.
    At { block: BlockId, line: usize },
}

/// A record to look at, further up than what has been loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seek {
    pub(crate) seq: Seq,
    /// So many more pages are asked for.
    pub(crate) pages_left: u32,
}

impl OpenPod {
    pub(crate) fn new(pod: PodRef, composer: Composer) -> Self {
        Self {
            pod,
            subscription: None,
            is_known: false,
            transcript: Transcript::default(),
            groups: Vec::new(),
            older: Older::None,
            composer,
            recalled: None,
            naming: None,
            focus: Focus::Composer,
            place: Place::End,
            find: String::new(),
            mark: None,
            seek: None,
            queued: Vec::new(),
            peers: Vec::new(),
            asked: Vec::new(),
            agent: None,
            asking: Asking::Nothing,
            sending: None,
            failed: None,
            drawn: RefCell::default(),
        }
    }

    /// A snapshot takes the place of what was there.
    pub(crate) fn begin(&mut self, records: &[Record]) {
        self.transcript = Transcript::from_records(records);
        self.is_known = true;
        self.redraw();
    }

    pub(crate) fn apply(&mut self, records: &[Record]) {
        for record in records {
            let change = self.transcript.apply(record);
            self.drawn.get_mut().forget(&self.transcript, change);
        }
        self.groups = group::groups(self.transcript.blocks());
    }

    /// Takes records that were cut.
    pub(crate) fn complete(&mut self, whole: &[Record]) {
        for record in whole {
            let change = self.transcript.complete(record);
            self.drawn.get_mut().forget(&self.transcript, change);
        }
    }

    pub(crate) fn prepend(&mut self, older: &[Record]) {
        self.transcript.prepend(older);
        self.redraw();
    }

    fn redraw(&mut self) {
        self.drawn.get_mut().lines.clear();
        self.groups = group::groups(self.transcript.blocks());
    }

    /// The list has heard of all that the transcript has.
    pub(crate) fn head_is_listed(&self, summary: Option<&PodSummary>) -> bool {
        summary.is_some_and(|summary| summary.head_seq >= self.transcript.head() || !summary.state.is_live())
    }

    /// What waits for it, then what is held back, each oldest first.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let held = self.transcript.blocks().iter().filter_map(|block| match &block.kind {
            BlockKind::Message { message_id, peer, receipt, delivered: false }
                if receipt.state == ReceiptState::Held =>
            {
                Some(Waiting::Held {
                    message_id: message_id.clone(),
                    peer: called(&peer.name, &peer.runtime_id),
                    why: receipt.reason.clone(),
                })
            }
            _ => None,
        });
        self.queued.iter().cloned().map(Waiting::Queued).chain(held).collect()
    }

    /// The newest plan of its agent: that of the stream, else the one that was there when it was looked at.
    pub(crate) fn plan(&self) -> Vec<PlanEntry> {
        let streamed = self.transcript.plan().and_then(|plan| serde_json::from_value(plan.clone()).ok());
        streamed.or_else(|| self.agent.as_ref().map(|agent| agent.plan.clone())).unwrap_or_default()
    }

    /// What people wrote to it, oldest first, without repetitions in a row.
    pub(crate) fn history(&self) -> Vec<&[Segment]> {
        let mut written: Vec<&[Segment]> = Vec::new();
        for block in self.transcript.blocks() {
            if let BlockKind::Person { segments, .. } = &block.kind
                && written.last().is_none_or(|last| *last != segments.as_slice())
            {
                written.push(segments);
            }
        }
        written
    }
}

impl Drawn {
    /// The lines of this block, made when there are none for these columns and this detail.
    pub(crate) fn lines(
        &mut self,
        id: &BlockId,
        of: (usize, Detail),
        make: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Rc<Vec<Line<'static>>> {
        if self.of != of || self.lines.len() > DRAWN_MAX {
            self.of = of;
            self.lines.clear();
        }
        Rc::clone(self.lines.entry(id.clone()).or_insert_with(|| Rc::new(make())))
    }

    /// Of so many blocks.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    fn forget(&mut self, transcript: &Transcript, change: Change) {
        let blocks = transcript.blocks();
        match change {
            Change::None => {}
            Change::Changed { index } => drop(self.lines.remove(&blocks[index].id)),
            // What a rewind took out of the context is drawn otherwise than before.
            Change::Added { index } if matches!(blocks[index].kind, BlockKind::Rewound { .. }) => self.lines.clear(),
            Change::Added { .. } => {}
            Change::Several { from } => blocks.iter().skip(from).for_each(|block| drop(self.lines.remove(&block.id))),
        }
    }
}
