//! The open Pod.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use commands::{FileWord, Prompt, peering::called};
use protocol::{
    AgentChoice, AgentView, Approval, CommandId, GitView, McpResource, Mode, PeerView, PlanEntry, PodRef, PodSummary,
    QueuedInput, ReceiptState, Record, Segment, Seq,
};
use ratatui::text::Line;
use transcript::{BlockId, BlockKind, Change, Transcript, group};

use super::{Asking, Detail, Waiting};
use crate::composer::Composer;

/// The cache keeps the lines of at most this many blocks; beyond that it is cleared.
const DRAWN_MAX: usize = 4_000;

#[derive(Debug)]
pub(crate) struct OpenPod {
    pub(crate) pod: PodRef,
    /// The id of its subscription; frames with another id belong to a Pod that was open before.
    pub(crate) subscription: Option<String>,
    /// Whether the first snapshot has arrived: until then the transcript is not known to be empty.
    pub(crate) is_known: bool,
    pub(crate) transcript: Transcript,
    /// The blocks as they are drawn: runs of reasoning and of read-only calls are grouped.
    pub(crate) groups: Vec<group::Group>,
    pub(crate) older: Older,
    pub(crate) composer: Composer,
    /// How far back in the history the composer is, and what was in it before.
    pub(crate) recalled: Option<(usize, Composer)>,
    /// What is being named in the composer.
    pub(crate) naming: Option<Naming>,
    pub(crate) focus: Focus,
    pub(crate) place: Place,
    /// The text that `/` last searched for.
    pub(crate) find: String,
    /// The block that was gone to: a search result, a message. It is the current block until the screen is scrolled.
    pub(crate) mark: Option<BlockId>,
    pub(crate) seek: Option<Seek>,
    /// What it does without asking.
    pub(crate) mode: Mode,
    /// The mode that was walked to and does not hold yet.
    pub(crate) walked: Option<Walked>,
    /// The repository that its folder is in.
    pub(crate) git: Option<GitView>,
    /// Queued messages.
    pub(crate) queued: Vec<QueuedInput>,
    /// Its peers, and the peer requests from and to it.
    pub(crate) peers: Vec<PeerView>,
    /// Its open approvals, with their changes to the files as they are now.
    pub(crate) asked: Vec<Approval>,
    /// The agent's identity, offers and plan, if an agent answers in the Pod.
    pub(crate) agent: Option<AgentView>,
    /// Its model's task list, as it was loaded.
    pub(crate) tasks: Vec<PlanEntry>,
    /// Your commands and the prompts of its MCP servers, which a line can name.
    pub(crate) prompts: Prompts,
    /// The request for these details.
    pub(crate) asking: Asking,
    /// The message being sent. It stays in the composer until the server has it on disk.
    pub(crate) sending: Option<Sending>,
    /// The newest message that failed: sent again unchanged, it keeps its id and happens once.
    pub(crate) failed: Option<Sending>,
    pub(crate) drawn: RefCell<Drawn>,
}

/// A mode that was walked to, and the number of that step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) mode: Mode,
    pub(crate) step: u64,
}

/// Cached lines of blocks that have not changed since they were drawn.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// The columns and detail that they were drawn for.
    of: (usize, Detail),
    lines: HashMap<BlockId, Rc<Vec<Line<'static>>>>,
}

/// A message and its id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sending {
    pub(crate) command_id: CommandId,
    pub(crate) segments: Vec<Segment>,
    /// Whether it steers the current run.
    pub(crate) steer: bool,
}

/// A file being named after an `@`, or a command of the agent after a `/`, and the suggestions for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Naming {
    pub(crate) word: FileWord,
    /// The newest suggestions received; they stay until the next answer arrives.
    pub(crate) found: Vec<String>,
    /// Resources of MCP servers, which follow the files.
    pub(crate) resources: Vec<McpResource>,
    /// Instead of both: commands of the Pod's agent, for a message that is nothing but the beginning of one.
    pub(crate) commands: Vec<AgentChoice>,
    pub(crate) chosen: usize,
    /// The name that the server was asked about and has not answered yet. Only one request is in flight.
    pub(crate) asked: Option<String>,
}

impl Naming {
    /// Without suggestions so far.
    pub(crate) fn new(word: FileWord) -> Self {
        Self { word, found: Vec::new(), resources: Vec::new(), commands: Vec::new(), chosen: 0, asked: None }
    }

    /// The number of suggestions.
    pub(crate) fn count(&self) -> usize {
        self.found.len() + self.resources.len() + self.commands.len()
    }
}

/// Whose words a line can name beside the commands of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Yours,
    /// Of the Pod's MCP servers.
    Servers,
}

/// Your commands and the prompts of a Pod's MCP servers. Each of the two is asked for once; servers may have to be started
/// for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompts {
    pub(crate) own: Vec<Prompt>,
    pub(crate) of_servers: Vec<Prompt>,
    pub(crate) has_asked: bool,
}

/// Whether there are older records than those loaded.
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

/// The scroll position of the transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the end, following it.
    #[default]
    End,
    /// The lowest line on the screen is this line of this block, whatever comes after it.
    At { block: BlockId, line: usize },
}

/// A record to go to, before those loaded so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seek {
    pub(crate) seq: Seq,
    /// How many more pages may be requested.
    pub(crate) pages_left: u32,
}

impl OpenPod {
    /// The mode that was walked to, otherwise the one that holds.
    pub(crate) fn shown_mode(&self) -> Mode {
        self.walked.map_or(self.mode, |walked| walked.mode)
    }

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
            tasks: Vec::new(),
            prompts: Prompts::default(),
            mode: Mode::default(),
            walked: None,
            git: None,
            asking: Asking::Nothing,
            sending: None,
            failed: None,
            drawn: RefCell::default(),
        }
    }

    /// Replaces everything by a snapshot.
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

    /// Replaces truncated records.
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

    /// Whether the list is as new as the transcript.
    pub(crate) fn head_is_listed(&self, summary: Option<&PodSummary>) -> bool {
        summary.is_some_and(|summary| summary.head_seq >= self.transcript.head() || !summary.state.is_live())
    }

    /// Queued messages, then held ones, each oldest first.
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

    /// Returns the newest plan of its agent, or the task list of its model: the one from the stream, or else the one that
    /// was loaded with the details.
    pub(crate) fn plan(&self) -> Vec<PlanEntry> {
        let streamed = self.transcript.plan().and_then(|plan| serde_json::from_value(plan.clone()).ok());
        let loaded = || self.agent.as_ref().map_or_else(|| self.tasks.clone(), |agent| agent.plan.clone());
        streamed.unwrap_or_else(loaded)
    }

    /// What people wrote to it, oldest first, without consecutive duplicates.
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
    /// The cached lines of this block for these columns and this detail; calls the closure if there are none.
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

    /// How many blocks are cached.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    fn forget(&mut self, transcript: &Transcript, change: Change) {
        let blocks = transcript.blocks();
        match change {
            Change::None => {}
            Change::Changed { index } => drop(self.lines.remove(&blocks[index].id)),
            // Blocks that the rewind removed from the context are drawn differently from now on.
            Change::Added { index } if matches!(blocks[index].kind, BlockKind::Rewound { .. }) => self.lines.clear(),
            Change::Added { .. } => {}
            Change::Several { from } => blocks.iter().skip(from).for_each(|block| drop(self.lines.remove(&block.id))),
        }
    }
}
