//! A server's agents: which there are, and the tasks of the running ones, one per Pod.

use std::{fmt, sync::Arc};

use protocol::{AgentItem, AgentState, WorkerId};
use tokio::sync::mpsc;

use crate::{
    known::{AgentConfig, NameRefusal},
    registry::{AgentsOptions, Inner, Live},
    session,
    turn::{Begin, Door, Order, Turn},
};

/// A server's agents. Cheap to clone.
#[derive(Clone)]
pub struct Agents {
    pub(crate) inner: Arc<Inner>,
}

impl fmt::Debug for Agents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Agents").finish_non_exhaustive()
    }
}

/// Why a Pod cannot have an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    Unknown(NameRefusal),
    /// A sentence: the agent's program is missing.
    Missing(String),
}

impl Agents {
    pub fn new(options: AgentsOptions) -> Self {
        Self { inner: Arc::new(Inner::new(options)) }
    }

    /// Sets where agents get access to yoi's own tools. Only the first call counts.
    pub fn give_door(&self, door: Arc<dyn Door>) {
        self.inner.give_door(door);
    }

    /// Checks whether Pods can be created with this agent now.
    ///
    /// # Errors
    /// No agent has this name, or its program is missing.
    pub fn check(&self, name: &str) -> Result<(), Unusable> {
        let config =
            self.inner.config(name).ok_or_else(|| Unusable::Unknown(NameRefusal::of(name, &self.inner.names())))?;
        self.inner.program(name, &config).map(|_| ()).map_err(Unusable::Missing)
    }

    /// Returns whether the whole agent runs in a sandbox with its Pod's scope.
    pub fn is_confined(&self, name: &str) -> bool {
        self.inner.config(name).is_some_and(|config| config.confine)
    }

    /// Returns all agents in the order of their names, with what is known about each.
    pub async fn list(&self) -> Vec<AgentItem> {
        let asked = |name: String| {
            let (agents, config) = (self.clone(), self.inner.config(&name)?);
            // Each may take a while to print its version.
            Some(tokio::spawn(async move { agents.item(name, config).await }))
        };
        let mut items = Vec::new();
        for item in self.inner.names().into_iter().filter_map(asked).collect::<Vec<_>>() {
            items.extend(item.await.ok());
        }
        items
    }

    async fn item(&self, name: String, config: AgentConfig) -> AgentItem {
        let inner = &self.inner;
        let confined = config.confine;
        let item = |state, detail| AgentItem { name: name.clone(), state, detail, tools: Vec::new(), confined };
        let program = match inner.program(&name, &config) {
            Ok(program) => program,
            Err(sentence) => return item(AgentState::Missing, Some(sentence)),
        };
        if inner.live().values().any(|live| live.agent == name && !live.orders.is_closed()) {
            return item(AgentState::Running, inner.version(&name, program).await);
        }
        match inner.failure(&name) {
            Some(why) => item(AgentState::Failed, Some(why)),
            None => item(AgentState::Ready, inner.version(&name, program).await),
        }
    }

    /// Begins a turn of a Pod's agent, and starts the agent if it is not running.
    pub fn begin(&self, begin: Begin) -> Turn {
        let mut live = self.inner.live();
        let worker_id = begin.worker_id.clone();
        let known = live.get(&worker_id).filter(|known| known.agent == begin.agent && !known.orders.is_closed());
        let orders = match known {
            Some(known) => known.orders.clone(),
            None => {
                let (orders, taken) = mpsc::unbounded_channel();
                let agent = begin.agent.clone();
                live.insert(worker_id.clone(), Live { agent, orders: orders.clone() });
                tokio::spawn(session::run(self.inner.clone(), worker_id, taken));
                orders
            }
        };
        let (turn, link) = Turn::pair(orders.clone());
        // If the task is gone, the link is dropped, and the turn ends at once.
        let _ = orders.send(Order::Begin(Box::new(begin), link));
        turn
    }

    /// Ends the process of a Pod's agent, because it is no longer needed.
    pub fn end(&self, worker_id: &WorkerId) {
        if let Some(live) = self.inner.live().get(worker_id) {
            let _ = live.orders.send(Order::End);
        }
    }

    /// Ends all processes.
    pub fn end_all(&self) {
        self.inner.live().values().for_each(|live| drop(live.orders.send(Order::End)));
    }

    /// Returns the number of Pods whose agent has a process now or is about to have one.
    pub fn running(&self) -> usize {
        self.inner.live().values().filter(|live| !live.orders.is_closed()).count()
    }
}
