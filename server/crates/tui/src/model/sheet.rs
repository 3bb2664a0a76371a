//! What lies over the dashboard or a Pod.

use commands::Topic;
use protocol::{Approval, OpenRequest, PodRef, QueuedInput, SearchHit, WallItem};

use super::{Asking, ProviderSheet};

#[derive(Debug)]
pub(crate) enum Sheet {
    Help {
        topic: Topic,
        /// Lines that are scrolled off at the top.
        skipped: usize,
    },
    Inbox(Inbox),
    Found(Found),
    Walls(Walls),
    Providers(ProviderSheet),
    /// The agent of the open Pod; drawn from the Pod itself.
    Agent {
        /// Lines that are scrolled off at the top.
        skipped: usize,
    },
    /// What waits for the open Pod, and what is held back; drawn from the Pod itself.
    Queue {
        selected: usize,
    },
}

/// A message that a person can still decide on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Waiting {
    /// To the Pod, for the end of its run or for its model's next question.
    Queued(QueuedInput),
    /// Between it and another Pod.
    Held { message_id: String, peer: String, why: Option<String> },
}

/// All questions to a person.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) asked: Vec<Asked>,
    /// They have come at least once.
    pub(crate) is_known: bool,
    pub(crate) selected: usize,
    pub(crate) asking: Asking,
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// A Pod may not go on without an answer.
    Tool { pod: PodRef, approval: Approval },
    /// A Pod wants to be introduced to another one.
    Peer(OpenRequest),
}

impl Asked {
    /// The Pod whose people have to answer.
    pub(crate) fn pod(&self) -> &PodRef {
        match self {
            Self::Tool { pod, .. } => pod,
            Self::Peer(request) => &request.to,
        }
    }
}

/// What stands between the server's commands and its machine.
#[derive(Debug, Default)]
pub(crate) struct Walls {
    /// None: on their way.
    pub(crate) items: Option<Vec<WallItem>>,
    /// Lines that are scrolled off at the top.
    pub(crate) skipped: usize,
}

/// Hits of a search over all transcripts.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) words: String,
    /// None: on their way.
    pub(crate) hits: Option<Vec<SearchHit>>,
    pub(crate) selected: usize,
}
