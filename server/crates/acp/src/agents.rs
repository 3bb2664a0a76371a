//! The agents of a server: which there are, and the tasks of those that run, one for each Pod.

use std::{fmt, sync::Arc};

use protocol::{AgentItem, AgentState, WorkerId};
use tokio::sync::mpsc;

use crate::{
    known::{AgentConfig, NameRefusal},
    registry::{AgentsOptions, Inner, Live},
    session,
    turn::{Begin, Door, Order, Turn},
};

/// The agents of a server. Cheap to clone.
#[derive(Clone)]
pub struct Agents {
    pub(crate) inner: Arc<Inner>,
}

impl fmt::Debug for Agents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Agents").finish_non_exhaustive()
    }
}

/// Why there is no Pod with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    Unknown(NameRefusal),
    /// A sentence: its program is not there.
    Missing(String),
}

impl Agents {
    pub fn new(options: AgentsOptions) -> Self {
        Self { inner: Arc::new(Inner::new(options)) }
    }

    /// Where agents get their way to yoi's own tools from, from now on. The first one counts.
    pub fn give_door(&self, door: Arc<dyn Door>) {
        self.inner.give_door(door);
    }

    /// Whether Pods can be made with this agent now.
    ///
    /// # Errors
    /// No agent is called so, or its program is not there.
    pub fn check(&self, name: &str) -> Result<(), Unusable> {
        let config =
            self.inner.config(name).ok_or_else(|| Unusable::Unknown(NameRefusal::of(name, &self.inner.names())))?;
        self.inner.program(name, &config).map(|_| ()).map_err(Unusable::Missing)
    }

    /// It runs as a whole in a room of its Pod's scope.
    pub fn is_confined(&self, name: &str) -> bool {
        self.inner.config(name).is_some_and(|config| config.confine)
    }

    /// Every agent by name, with what is known of it.
    pub async fn list(&self) -> Vec<AgentItem> {
        let asked = |name: String| {
            let (agents, config) = (self.clone(), self.inner.config(&name)?);
            // Each may take a while to say its version.
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

    /// Begins a turn of a Pod's agent, which is started where it does not run.
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
        // Where nobody takes it any more, the link is dropped, and the turn ends at once.
        let _ = orders.send(Order::Begin(Box::new(begin), link));
        turn
    }

    /// A Pod's agent is not wanted any more: its process ends.
    pub fn end(&self, worker_id: &WorkerId) {
        if let Some(live) = self.inner.live().get(worker_id) {
            let _ = live.orders.send(Order::End);
        }
    }

    /// All processes end.
    pub fn end_all(&self) {
        self.inner.live().values().for_each(|live| drop(live.orders.send(Order::End)));
    }

    /// Pods whose agent has a process now, or is about to.
    pub fn running(&self) -> usize {
        self.inner.live().values().filter(|live| !live.orders.is_closed()).count()
    }
}
