//! What the console knows. Nothing here draws or waits.

mod choices;
mod message;
mod pod;
mod sheet;

use std::collections::BTreeMap;

use commands::{Client, Here, Standing, peering::called};
use protocol::{PodRef, PodSummary};

pub(crate) use self::{
    choices::{Choices, FolderWord, Folders, KeyOf, ProviderSheet},
    message::{Act, Answer, Effect, Looked, Message, Spawn, Then},
    pod::{Focus, Naming, Older, OpenPod, Place, Seek, Sending},
    sheet::{Asked, Found, Inbox, Servers, Sheet, Waiting, Walls},
};
use crate::composer::Composer;

/// The whole state of the screen.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Where the server is said to be.
    pub(crate) address: String,
    pub(crate) link: Link,
    /// In the order of the list: what needs a person first.
    pub(crate) pods: Vec<PodSummary>,
    /// The list has come at least once; until then it is not known to be empty.
    pub(crate) pods_known: bool,
    /// Words that a Pod of the dashboard has to have.
    pub(crate) filter: String,
    pub(crate) selected: Option<PodRef>,
    /// The Pod that is looked at; none: the dashboard.
    pub(crate) open: Option<OpenPod>,
    /// What lies over both: help, questions, hits.
    pub(crate) sheet: Option<Sheet>,
    /// What is typed into the last line.
    pub(crate) line: Option<TypedLine>,
    /// Whose key is typed into it.
    pub(crate) key_of: Option<KeyOf>,
    /// What a Pod can be made of; none until it was needed and the server has said it.
    pub(crate) choices: Option<Choices>,
    /// … is being asked for.
    pub(crate) is_choosing: bool,
    /// … was asked for since the line was begun.
    pub(crate) has_chosen_from: bool,
    /// Folders for the path that is typed.
    pub(crate) folders: Folders,
    /// What waits for a `y`.
    pub(crate) confirm: Option<Confirm>,
    /// The newest thing worth saying.
    pub(crate) notice: Option<Notice>,
    /// The Pod that was named at the start and is not found yet.
    pub(crate) wanted: Option<String>,
    /// Where the next Pod that opens is to be looked at.
    pub(crate) seek: Option<Seek>,
    /// Unsent text of Pods that are not looked at now.
    pub(crate) drafts: BTreeMap<PodRef, Composer>,
    pub(crate) detail: Detail,
    /// Ctrl-C was the key before, and there was something to lose.
    pub(crate) is_leaving: bool,
    /// `g` was the key before.
    pub(crate) is_going: bool,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    pub(crate) has_quit: bool,
    /// What is to be done outside, in this order.
    pub(crate) effects: Vec<Effect>,
}

/// Whether the server is there.
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

/// How much of what a Pod did is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What was said; of all else one line.
    Brief,
    /// … and the first lines of what tools gave.
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

/// A question to the server that the screen is kept up to date with: one is under way at a time, and one more at most
/// waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Asking {
    #[default]
    Nothing,
    Once,
    OnceMore,
}

impl Asking {
    /// Whether it is to be asked now; else it is when the answer has come.
    pub(crate) fn begin(&mut self) -> bool {
        let is_free = *self == Self::Nothing;
        *self = if is_free { Self::Once } else { Self::OnceMore };
        is_free
    }

    /// The answer has come. Whether it is to be asked once more.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(self) == Self::OnceMore
    }
}

/// A sentence for the last line. An error stays until Enter, Esc or a command; the rest until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A line that is typed at the bottom of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypedLine {
    pub(crate) what: LineOf,
    /// Without the character that began it.
    pub(crate) text: Composer,
    /// The offer that an arrow key has chosen.
    pub(crate) chosen: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineOf {
    Command,
    /// Words to look for in the transcript.
    Find,
    /// Words that a Pod of the dashboard has to have.
    Filter,
    /// A provider's key, which is not shown.
    Key,
}

/// What is done only after a `y`: a second Enter is no answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Confirm {
    pub(crate) question: String,
    pub(crate) effect: Effect,
}

impl Model {
    /// The console at its start. `wanted` is the Pod to open.
    pub(crate) fn new(address: impl Into<String>, wanted: Option<String>, size: (u16, u16)) -> Self {
        Self { address: address.into(), wanted, size, ..Self::default() }
    }

    /// Has it done outside.
    pub(crate) fn start(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// A command under a fresh id.
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

    /// Its name alone; its address as long as the list does not know it.
    pub(crate) fn name_of(&self, pod: &PodRef) -> String {
        self.summary_of(pod).map_or_else(|| pod.to_string(), |summary| summary.name.to_string())
    }

    /// What a person calls it: `bob`, or `bob@box`.
    pub(crate) fn called(&self, pod: &PodRef) -> String {
        let called = |summary: &PodSummary| called(&summary.name, &summary.pod.runtime_id);
        self.summary_of(pod).map_or_else(|| pod.to_string(), called)
    }

    /// The Pod that is looked at, if it is this one.
    pub(crate) fn open_as(&mut self, pod: &PodRef) -> Option<&mut OpenPod> {
        self.open.as_mut().filter(|open| open.pod == *pod)
    }

    /// The server is there, and has no Pod.
    pub(crate) fn is_fresh(&self) -> bool {
        self.pods_known && self.pods.is_empty() && self.link == Link::Connected
    }

    /// What commands depend on.
    pub(crate) fn here(&self) -> Here {
        let standing = self.open.as_ref().map(|open| {
            let summary = self.summary_of(&open.pod);
            let state = open.transcript.state().map(|status| status.state);
            Standing {
                // The list knows of a runtime that went away; the transcript is newer in all else.
                state: match (summary.map(|summary| summary.state), state) {
                    (Some(listed), _) if open.head_is_listed(summary) => listed,
                    (listed, state) => state.or(listed).unwrap_or(protocol::PodState::Idle),
                },
                asks: open.transcript.open_questions().next().is_some(),
                knows: !open.peers.is_empty() || summary.is_some_and(|summary| summary.relations.peers > 0),
            }
        });
        Here { client: Client::Terminal, pod: standing }
    }
}
