//! One turn of an agent, as its Pod holds it: what the agent says comes out, what the Pod answers goes in. Dropping it cancels
//! the turn.

use std::{fmt, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use pod::{AgentPiece, Scope, ToolOutcome};
use protocol::{Priced, Seq, WorkerId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tools::Network;

use crate::prompt::Prompt;

/// Pieces that wait to be taken by the Pod, and their bytes. Then the agent waits.
const WAITING_MAX: usize = 256;
const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an agent says in a turn.
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
    /// About.
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

/// Whose turn it is, and how the agent is started for it if it does not run.
#[derive(Debug, Clone)]
pub struct Begin {
    pub worker_id: WorkerId,
    pub agent: String,
    pub cwd: PathBuf,
    /// What the agent is held to, where it runs confined.
    pub scope: Scope,
    pub network: Network,
    /// The session to go on with.
    pub session: Option<String>,
    /// What it has cost until now.
    pub spent: Priced,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// The agent is sent what was said up to here.
    pub to_seq: Seq,
}

/// Where an agent reaches yoi's own tools, and by which token.
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

/// Hands out entrances to yoi's own tools. Each is its Pod's alone, and ends with the agent's process.
#[async_trait]
pub trait Door: fmt::Debug + Send + Sync {
    /// None where there is no way in.
    async fn open(&self, worker_id: &WorkerId) -> Option<Entrance>;

    /// What was handed out for this Pod is worth nothing any more.
    async fn close(&self, worker_id: &WorkerId);
}

/// What a Pod tells the task of its agent.
#[derive(Debug)]
pub(crate) enum Order {
    Begin(Box<Begin>, Link),
    Prompt(Prompt),
    /// To a question of the agent.
    Answer {
        ask: String,
        option: Option<String>,
    },
    /// What the agent wanted runs now,
    Begun {
        id: String,
    },
    /// wrote something,
    Wrote {
        id: String,
        text: String,
    },
    /// and came to this.
    Reply {
        id: String,
        outcome: Box<ToolOutcome>,
    },
    /// The process is wanted no more.
    End,
}

/// The agent's end of a turn.
#[derive(Debug)]
pub(crate) struct Link {
    said: mpsc::Sender<(Said, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

/// Nobody wants to hear more of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl Link {
    /// Waits while too much waits to be taken.
    pub(crate) async fn say(&self, said: impl IntoIterator<Item = Said>) -> Result<(), Gone> {
        for said in said {
            let bytes = said.bytes().clamp(1, WAITING_BYTES_MAX);
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let permit = self.room.clone().acquire_many_owned(bytes).await.map_err(|_| Gone)?;
            self.said.send((said, permit)).await.map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// The same, to whoever still wants to hear it: that nobody does is seen by [`Link::gone`].
    pub(crate) async fn tell(&self, said: impl IntoIterator<Item = Said>) {
        let _ = self.say(said).await;
    }

    /// Waits until nobody wants to hear more.
    pub(crate) async fn gone(&self) {
        self.said.closed().await;
    }
}

/// A turn that goes on.
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

    /// All that the agent has said, as soon as there is something; none when nothing comes any more. Cancel safe.
    pub async fn next(&mut self) -> Option<Vec<Said>> {
        let mut said = Vec::new();
        let count = self.said.recv_many(&mut said, WAITING_MAX).await;
        (count > 0).then(|| said.into_iter().map(|(said, _)| said).collect())
    }

    /// Sends the agent what was said, once it is [`AgentPiece::Ready`].
    pub fn prompt(&self, prompt: Prompt) {
        self.order(Order::Prompt(prompt));
    }

    /// The answer to its question; without an option nobody answers.
    pub fn answer(&self, ask: String, option: Option<String>) {
        self.order(Order::Answer { ask, option });
    }

    /// What it wanted runs now.
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
        // Where nobody takes it the turn is over, and says so.
        let _ = self.orders.send(order);
    }
}
