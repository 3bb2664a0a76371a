//! The state of the console. Nothing here draws or waits.

mod choices;
mod message;
mod pod;
mod sheet;

use std::collections::{BTreeMap, BTreeSet};

use commands::{Client, Here, Standing, allowed::retry_refusal, peering::called};
use protocol::{Approval, PodRef, PodState, PodSummary};

pub(crate) use self::{
    choices::{Choices, FolderWord, Folders, KeyOf, ProviderSheet},
    message::{Act, Answer, Effect, Importing, Looked, Message, Spawn, Then},
    pod::{Focus, Naming, Older, OpenPod, Place, Seek, Sending, Walked, Whose},
    sheet::{Asked, Changed, Found, Inbox, Jobs, Servers, Sheet, Waiting, Walls},
};
use crate::composer::Composer;

/// The whole state of the screen.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// The server's address.
    pub(crate) address: String,
    pub(crate) link: Link,
    /// In the order of the list: what needs you first.
    pub(crate) pods: Vec<PodSummary>,
    /// Whether the list has arrived at least once; until then it is not known to be empty.
    pub(crate) pods_known: bool,
    /// The dashboard's filter.
    pub(crate) filter: String,
    pub(crate) selected: Option<PodRef>,
    /// The open Pod; `None` on the dashboard.
    pub(crate) open: Option<OpenPod>,
    /// The overlay on top of either: help, approvals, search results.
    pub(crate) sheet: Option<Sheet>,
    /// The line being typed at the bottom.
    pub(crate) line: Option<TypedLine>,
    /// The provider whose key is being typed there.
    pub(crate) key_of: Option<KeyOf>,
    /// The approval of the list that "always" is being chosen for there, with its Pod.
    pub(crate) always_of: Option<(PodRef, Box<Approval>)>,
    /// The choices for a new Pod; `None` until they were needed and the server has sent them.
    pub(crate) choices: Option<Choices>,
    /// Whether they are being requested.
    pub(crate) is_choosing: bool,
    /// Whether they were requested since the line was begun.
    pub(crate) has_chosen_from: bool,
    /// Folders that match the path being typed.
    pub(crate) folders: Folders,
    /// What waits to be confirmed with `y`.
    pub(crate) confirm: Option<Confirm>,
    /// The newest notice.
    pub(crate) notice: Option<Notice>,
    /// The Pod named at the start, until it has been found.
    pub(crate) wanted: Option<String>,
    /// The record to go to in the next Pod that opens.
    pub(crate) seek: Option<Seek>,
    /// Unsent text of Pods that are not open.
    pub(crate) drafts: BTreeMap<PodRef, Composer>,
    /// The Pods whose run is being ended.
    pub(crate) stopping: BTreeSet<PodRef>,
    pub(crate) detail: Detail,
    /// Whether the previous key was Ctrl-C while there was something to lose.
    pub(crate) is_leaving: bool,
    /// Whether the previous key was `g`.
    pub(crate) is_going: bool,
    /// How many steps through modes there were.
    pub(crate) walks: u64,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    pub(crate) has_quit: bool,
    /// The effects to carry out, in this order.
    pub(crate) effects: Vec<Effect>,
}

/// The state of the connection to the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Link {
    #[default]
    Connecting,
    Connected,
    Reconnecting {
        attempt: u32,
        cause: String,
    },
    Unauthorized,
}

/// How much of a Pod's work is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Messages in full, everything else as one line.
    Brief,
    /// Also the first lines of tools' output.
    #[default]
    Normal,
    /// Everything.
    Full,
}

impl Detail {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Brief => Self::Normal,
            Self::Normal => Self::Full,
            Self::Full => Self::Brief,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Brief => "brief",
            Self::Normal => "normal",
            Self::Full => "full",
        }
    }
}

/// The state of a request that keeps the screen up to date: one may be in flight, and at most one more is pending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Asking {
    #[default]
    Nothing,
    Once,
    OnceMore,
}

impl Asking {
    /// Returns whether to ask now; otherwise it is asked when the present answer arrives.
    pub(crate) fn begin(&mut self) -> bool {
        let is_free = *self == Self::Nothing;
        *self = if is_free { Self::Once } else { Self::OnceMore };
        is_free
    }

    /// The answer has arrived. Returns whether to ask once more.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(self) == Self::OnceMore
    }
}

/// A sentence for the last line. An error stays until Enter, Esc or a command; others until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A line being typed at the bottom of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypedLine {
    pub(crate) what: LineOf,
    /// Without the character that began it.
    pub(crate) text: Composer,
    /// The completion chosen with an arrow key.
    pub(crate) chosen: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineOf {
    Command,
    /// Text to find in the transcript.
    Find,
    /// The dashboard's filter.
    Filter,
    /// A provider's key, which is not echoed.
    Key,
    /// What "always" means for an approval of the list.
    Always,
}

/// An effect that is carried out only after `y`; pressing Enter again does not confirm it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Confirm {
    pub(crate) question: String,
    pub(crate) effect: Effect,
}

impl Model {
    /// The initial state. `wanted` is the Pod to open.
    pub(crate) fn new(address: impl Into<String>, wanted: Option<String>, size: (u16, u16)) -> Self {
        Self { address: address.into(), wanted, size, ..Self::default() }
    }

    /// Queues an effect.
    pub(crate) fn start(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Queues a command under a fresh id.
    pub(crate) fn act(&mut self, pod: PodRef, act: Act) {
        self.start(Effect::act(pod, act));
    }

    pub(crate) fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), is_error: false });
    }

    pub(crate) fn complain(&mut self, text: impl ToString) {
        self.notice = Some(Notice { text: text.to_string(), is_error: true });
    }

    pub(crate) fn summary_of(&self, pod: &PodRef) -> Option<&PodSummary> {
        self.pods.iter().find(|summary| summary.pod == *pod)
    }

    /// Its name; its address if the list does not have it.
    pub(crate) fn name_of(&self, pod: &PodRef) -> String {
        self.summary_of(pod).map_or_else(|| pod.to_string(), |summary| summary.name.to_string())
    }

    /// Its name for display: `bob`, or `bob@box`.
    pub(crate) fn called(&self, pod: &PodRef) -> String {
        let called = |summary: &PodSummary| called(&summary.name, &summary.pod.runtime_id);
        self.summary_of(pod).map_or_else(|| pod.to_string(), called)
    }

    /// Whether the open Pod is in a run.
    pub(crate) fn has_run(&self) -> bool {
        self.here().pod.is_some_and(|standing| matches!(standing.state, PodState::Running | PodState::Waiting))
    }

    /// The open Pod, if it is this one.
    pub(crate) fn open_as(&mut self, pod: &PodRef) -> Option<&mut OpenPod> {
        self.open.as_mut().filter(|open| open.pod == *pod)
    }

    /// Whether the server is reachable and has no Pods.
    pub(crate) fn is_fresh(&self) -> bool {
        self.pods_known && self.pods.is_empty() && self.link == Link::Connected
    }

    /// The context that the availability of commands depends on.
    pub(crate) fn here(&self) -> Here {
        let standing = self.open.as_ref().map(|open| {
            let summary = self.summary_of(&open.pod);
            let state = open.transcript.state().map(|status| status.state);
            Standing {
                // Only the list knows that a runtime went away; in all else the transcript is newer.
                state: match (summary.map(|summary| summary.state), state) {
                    (Some(listed), _) if open.head_is_listed(summary) => listed,
                    (listed, state) => state.or(listed).unwrap_or(protocol::PodState::Idle),
                },
                asks: open.transcript.open_questions().next().is_some(),
                knows: !open.peers.is_empty() || summary.is_some_and(|summary| summary.relations.peers > 0),
                no_retry: summary.filter(|_| open.head_is_listed(summary)).and_then(retry_refusal),
            }
        });
        Here { client: Client::Terminal, pod: standing }
    }
}
