//! What the console knows. Nothing here draws or waits.

use std::collections::BTreeMap;

use client::{ClientError, StreamItem};
use crossterm::event::KeyEvent;
use protocol::{CommandId, ControlVerb, Listing, PodRef, PodState, PodSummary, Receipt, Record, Seq};
use transcript::{BlockId, Transcript};

use crate::composer::Composer;

/// The whole state of the screen.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) link: Link,
    /// In the order of the list: what needs a person first.
    pub(crate) pods: Vec<PodSummary>,
    /// The list has come at least once; until then it is not known to be empty.
    pub(crate) pods_known: bool,
    pub(crate) selected: Option<PodRef>,
    /// The Pod that is looked at; none: the dashboard.
    pub(crate) open: Option<OpenPod>,
    /// The line that began with a colon, without it.
    pub(crate) command: Option<Composer>,
    /// The newest thing worth saying; the next key takes it away.
    pub(crate) notice: Option<Notice>,
    /// The Pod that was named at the start and is not found yet.
    pub(crate) wanted: Option<String>,
    /// Unsent text of Pods that are not looked at now.
    pub(crate) drafts: BTreeMap<PodRef, String>,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    pub(crate) has_quit: bool,
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

/// A sentence for the last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// The Pod that is looked at.
#[derive(Debug)]
pub(crate) struct OpenPod {
    pub(crate) pod: PodRef,
    /// Its frames carry this id; those with another are of a Pod that was looked at before.
    pub(crate) subscription: Option<String>,
    pub(crate) transcript: Transcript,
    pub(crate) older: Older,
    pub(crate) composer: Composer,
    pub(crate) focus: Focus,
    pub(crate) place: Place,
    /// The message that is on its way. It stays in the composer until the server has it on its disk.
    pub(crate) sending: Option<Sending>,
    /// The newest message that failed: sent again unchanged, it keeps its id and happens once.
    pub(crate) failed: Option<Sending>,
}

/// A message and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sending {
    pub(crate) command_id: CommandId,
    pub(crate) text: String,
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

/// What happens to the model.
#[derive(Debug)]
pub(crate) enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Stream(StreamItem),
    /// A subscription was made for the open Pod.
    Subscribed {
        pod: PodRef,
        id: String,
    },
    Resolved {
        target: String,
        done: Result<PodRef, ClientError>,
    },
    Created(Result<PodRef, ClientError>),
    /// A page of records before those that are here.
    Older {
        pod: PodRef,
        done: Result<Listing<Record>, ClientError>,
    },
    Sent {
        command_id: CommandId,
        done: Result<Receipt, ClientError>,
    },
    Controlled {
        verb: ControlVerb,
        done: Result<Receipt, ClientError>,
    },
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Subscribe(PodRef),
    Unsubscribe(String),
    Resolve(String),
    Create { command_id: CommandId, name: String },
    LoadOlder { pod: PodRef, before: Seq },
    Send { pod: PodRef, message: Sending },
    Control { pod: PodRef, command_id: CommandId, verb: ControlVerb },
}

impl Model {
    /// The console at its start. `wanted` is the Pod to open.
    pub(crate) fn new(wanted: Option<String>, size: (u16, u16)) -> Self {
        Self { wanted, size, ..Self::default() }
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
}

/// The four groups of the list, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    NeedsYou,
    Working,
    Idle,
    Stopped,
}

impl Group {
    pub(crate) fn of(summary: &PodSummary) -> Self {
        match summary.state {
            _ if summary.needs_you => Self::NeedsYou,
            PodState::Waiting => Self::NeedsYou,
            PodState::Running => Self::Working,
            PodState::Idle | PodState::Paused => Self::Idle,
            PodState::Stopped | PodState::Unreachable | PodState::Broken => Self::Stopped,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::Working => "Working",
            Self::Idle => "Idle",
            Self::Stopped => "Stopped",
        }
    }
}
