//! One turn of an agent, as its Pod holds it: what the agent says comes out, and the Pod's answers go in. Dropping it
//! cancels the turn.

use std::{fmt, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use pod::{AgentPiece, Scope, ToolOutcome};
use protocol::{NetworkPolicy, Priced, Seq, WorkerId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tools::proxy::Wish;

use crate::prompt::Prompt;

/// How many pieces, and how many bytes of them, may wait for the Pod. When either limit is reached, the agent waits.
const WAITING_MAX: usize = 256;
const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Something that an agent says during a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Text(String),
    Thought(String),
    Piece(Box<AgentPiece>),
}

impl From<AgentPiece> for Said {
    fn from(piece: AgentPiece) -> Self {
        Self::Piece(Box::new(piece))
    }
}

impl Said {
    /// The approximate size.
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Thought(text) => text.len(),
            Self::Piece(piece) => match piece.as_ref() {
                AgentPiece::Output { text, .. } => text.len(),
                AgentPiece::Finished { outcome, .. } => {
                    [&outcome.content, &outcome.diff].into_iter().flatten().map(String::len).sum()
                }
                AgentPiece::Wants { arguments, .. } | AgentPiece::Called { arguments, .. } => {
                    arguments.get("content").and_then(|content| content.as_str()).map_or(1_024, str::len)
                }
                _ => 1_024,
            },
        }
    }
}

/// Whose turn it is, and how to start the agent if it is not running.
#[derive(Debug, Clone)]
pub struct Begin {
    pub worker_id: WorkerId,
    pub agent: String,
    pub cwd: PathBuf,
    /// What the agent is confined to, if it runs confined.
    pub scope: Scope,
    pub network: NetworkPolicy,
    /// Where a confined agent's requests for network access go; the call in them is [`pod::AGENT_WAY`].
    pub wishes: mpsc::Sender<Wish>,
    /// The session to continue.
    pub session: Option<String>,
    /// The session's cost so far.
    pub spent: Priced,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// The last position in the journal that the agent is sent with this turn.
    pub to_seq: Seq,
}

/// The address at which an agent reaches yoi's own tools, and the token for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Entrance {
    pub url: String,
    pub token: String,
}

impl fmt::Debug for Entrance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entrance").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Hands out entrances to yoi's own tools. Each belongs to one Pod and ends with the agent's process.
#[async_trait]
pub trait Door: fmt::Debug + Send + Sync {
    /// Returns `None` if there is no way in.
    async fn open(&self, worker_id: &WorkerId) -> Option<Entrance>;

    /// Invalidates what was handed out for this Pod.
    async fn close(&self, worker_id: &WorkerId);
}

/// What a Pod tells its agent's task.
#[derive(Debug)]
pub(crate) enum Order {
    Begin(Box<Begin>, Link),
    Prompt(Prompt),
    /// The answer to a question that the agent asked.
    Answer {
        ask: String,
        option: Option<String>,
    },
    /// The tool that the agent asked for has started.
    Begun {
        id: String,
    },
    /// That tool wrote some output.
    Wrote {
        id: String,
        text: String,
    },
    /// That tool has ended with this outcome.
    Reply {
        id: String,
        outcome: Box<ToolOutcome>,
    },
    /// The process is no longer needed.
    End,
}

/// The agent's end of a turn.
#[derive(Debug)]
pub(crate) struct Link {
    said: mpsc::Sender<(Said, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

/// The receiver of the turn is gone: nobody reads it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl Link {
    /// Sends the pieces to the Pod. Waits while too much is waiting to be read.
    pub(crate) async fn say(&self, said: impl IntoIterator<Item = Said>) -> Result<(), Gone> {
        for said in said {
            let bytes = said.bytes().clamp(1, WAITING_BYTES_MAX);
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let permit = self.room.clone().acquire_many_owned(bytes).await.map_err(|_| Gone)?;
            self.said.send((said, permit)).await.map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// Does the same as [`Link::say`] but ignores a turn that nobody reads any more; [`Link::gone`] notices that.
    pub(crate) async fn tell(&self, said: impl IntoIterator<Item = Said>) {
        let _ = self.say(said).await;
    }

    /// Waits until nobody reads the turn any more.
    pub(crate) async fn gone(&self) {
        self.said.closed().await;
    }
}

/// A turn in progress.
#[derive(Debug)]
pub struct Turn {
    said: mpsc::Receiver<(Said, OwnedSemaphorePermit)>,
    orders: mpsc::UnboundedSender<Order>,
}

impl Turn {
    pub(crate) fn pair(orders: mpsc::UnboundedSender<Order>) -> (Self, Link) {
        let (sender, said) = mpsc::channel(WAITING_MAX);
        let room = Arc::new(Semaphore::new(WAITING_BYTES_MAX));
        (Self { said, orders }, Link { said: sender, room })
    }

    /// Returns everything that the agent has said, as soon as there is something, or `None` once nothing more will
    /// come. Cancel safe.
    pub async fn next(&mut self) -> Option<Vec<Said>> {
        let mut said = Vec::new();
        let count = self.said.recv_many(&mut said, WAITING_MAX).await;
        (count > 0).then(|| said.into_iter().map(|(said, _)| said).collect())
    }

    /// Sends the agent the prompt. To be called once the agent has reported [`AgentPiece::Ready`].
    pub fn prompt(&self, prompt: Prompt) {
        self.order(Order::Prompt(prompt));
    }

    /// Answers the agent's question; `None` means that nobody answers it.
    pub fn answer(&self, ask: String, option: Option<String>) {
        self.order(Order::Answer { ask, option });
    }

    /// Reports that the tool that the agent asked for has started.
    pub fn begun(&self, id: String) {
        self.order(Order::Begun { id });
    }

    pub fn wrote(&self, id: String, text: String) {
        self.order(Order::Wrote { id, text });
    }

    pub fn reply(&self, id: String, outcome: ToolOutcome) {
        self.order(Order::Reply { id, outcome: Box::new(outcome) });
    }

    fn order(&self, order: Order) {
        // If nobody receives the order, the turn is over and says so itself.
        let _ = self.orders.send(order);
    }
}
