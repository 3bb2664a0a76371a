//! Overlays on top of the dashboard or a Pod.

use commands::Topic;
use protocol::{
    Approval, BackgroundCommand, Changes, McpServerItem, OpenRequest, PodRef, QueuedInput, SearchHit, Since, WallItem,
};

use super::{Asking, ProviderSheet};

#[derive(Debug)]
pub(crate) enum Sheet {
    Help {
        topic: Topic,
        /// How many lines are scrolled off at the top.
        skipped: usize,
    },
    Inbox(Inbox),
    Found(Found),
    Walls(Walls),
    Providers(ProviderSheet),
    Servers(Servers),
    Changed(Changed),
    Jobs(Jobs),
    /// The agent of the open Pod; drawn from the Pod itself.
    Agent {
        /// The number of lines scrolled off at the top.
        skipped: usize,
    },
    /// The open Pod's queued and held messages; drawn from the Pod itself.
    Queue {
        selected: usize,
    },
}

/// A message that you can still act on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Waiting {
    /// Queued for the Pod, until its run ends or its model's next call.
    Queued(QueuedInput),
    /// Held between it and a peer.
    Held { message_id: String, peer: String, why: Option<String> },
}

/// Everything that waits for your answer.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) asked: Vec<Asked>,
    /// Whether it has been loaded at least once.
    pub(crate) is_known: bool,
    pub(crate) selected: usize,
    pub(crate) asking: Asking,
}

/// One thing that waits for your answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// An approval.
    Tool { pod: PodRef, approval: Box<Approval> },
    /// A peer request.
    Peer(OpenRequest),
}

impl Asked {
    /// The Pod for which you answer.
    pub(crate) fn pod(&self) -> &PodRef {
        match self {
            Self::Tool { pod, .. } => pod,
            Self::Peer(request) => &request.to,
        }
    }
}

/// The state of the sandbox around commands.
#[derive(Debug, Default)]
pub(crate) struct Walls {
    /// `None` while loading.
    pub(crate) items: Option<Vec<WallItem>>,
    /// How many lines are scrolled off at the top.
    pub(crate) skipped: usize,
}

/// What has changed in the open Pod's folders.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) pod: PodRef,
    /// What the files are compared with.
    pub(crate) since: Since,
    /// `None` while loading.
    pub(crate) changes: Option<Changes>,
    /// How many lines are scrolled off at the top.
    pub(crate) skipped: usize,
}

/// The background commands of the open Pod.
#[derive(Debug)]
pub(crate) struct Jobs {
    pub(crate) pod: PodRef,
    /// `None` while loading.
    pub(crate) items: Option<Vec<BackgroundCommand>>,
    pub(crate) selected: usize,
}

/// The MCP servers whose tools models may call.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// `None` while loading.
    pub(crate) items: Option<Vec<McpServerItem>>,
    /// The number of lines scrolled off at the top.
    pub(crate) skipped: usize,
}

/// Results of a search over all transcripts.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) words: String,
    /// `None` while loading.
    pub(crate) hits: Option<Vec<SearchHit>>,
    pub(crate) selected: usize,
}
