//! The servers of one Pod: started when first needed, and ended when the Pod rests.

use std::{sync::Arc, time::Duration};

use protocol::WorkerId;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tools::Tool;

use crate::{
    bounds::{SETTLE_MAX, TOOLS_OF_POD_MAX},
    connection::{Connection, Status},
    form::Ask,
    handler::Running,
    live::Live,
    names::server_of,
    servers::{Known, Servers},
    stand::Stand,
    tool::ServerTool,
};

/// The servers of one Pod. Dropping it ends them.
#[derive(Debug)]
pub struct Clients {
    pod: String,
    asks: mpsc::Sender<Ask>,
    used: Vec<Used>,
}

#[derive(Debug)]
struct Used {
    known: Arc<Known>,
    connection: Option<Connection>,
}

/// A wait for all the servers that a Pod has started, until each is ready or away.
#[derive(Debug, Default)]
pub struct Settled {
    pod: String,
    waits: Vec<(Arc<Known>, watch::Receiver<Status>)>,
}

impl Clients {
    /// Returns the servers that a Pod uses: those in `named`, or all. Their questions to people go to `asks`.
    pub fn of_pod(servers: &Servers, worker_id: &WorkerId, named: Option<&[String]>, asks: mpsc::Sender<Ask>) -> Self {
        let used = servers.named(named).map(|known| Used { known, connection: None }).collect();
        Self { pod: worker_id.to_string(), asks, used }
    }

    /// Returns whether the Pod uses no servers.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Returns whether any server has a connection or is getting one.
    pub fn is_begun(&self) -> bool {
        self.used.iter().any(|used| used.connection.is_some())
    }

    /// Starts all servers that were not started yet. A program whose surroundings have changed is restarted.
    pub async fn meet(&mut self, stand: &Stand) {
        self.keep_to(stand).await;
        for used in &mut self.used {
            if used.connection.is_none() {
                let running = Running::new(used.known.config.name.clone(), self.asks.clone());
                let (known, pod) = (used.known.clone(), self.pod.clone());
                used.connection = Some(Connection::begin(known, stand.clone(), running, pod));
            }
        }
    }

    /// Ends the programs whose surroundings have changed: their Pod may have access to something else now.
    pub async fn keep_to(&mut self, stand: &Stand) {
        for used in &mut self.used {
            let is_elsewhere =
                |connection: &mut Connection| used.known.is_program() && !connection.stand.is_same(stand);
            if let Some(connection) = used.connection.take_if(is_elsewhere) {
                connection.end().await;
            }
        }
    }

    /// Ends all servers, to the last process. Returns false if something does not end.
    pub async fn end(&mut self) -> bool {
        let ends: Vec<_> =
            self.used.iter_mut().filter_map(|used| used.connection.take()).map(Connection::end).collect();
        let mut is_over = true;
        for end in ends {
            is_over &= end.await;
        }
        is_over
    }

    /// Returns a wait until each started server is ready or away.
    pub fn settled(&self) -> Settled {
        let wait = |used: &Used| Some((used.known.clone(), used.connection.as_ref()?.status.clone()));
        Settled { pod: self.pod.clone(), waits: self.used.iter().filter_map(wait).collect() }
    }

    /// Returns the tools that are available now.
    pub fn offered(&self) -> Vec<Arc<dyn Tool>> {
        let lives = self.used.iter().filter_map(|used| Some((used, used.live()?)));
        let tools = lives.flat_map(|(used, live)| {
            let status = used.connection.as_ref().map(|connection| connection.status.clone());
            let tool = |(name, definition): (&String, &crate::offer::Definition)| {
                let (name, definition) = (name.clone(), Some(definition.clone()));
                Arc::new(ServerTool { known: used.known.clone(), name, definition, status: status.clone() })
                    as Arc<dyn Tool>
            };
            live.offer.tools.iter().map(tool).collect::<Vec<_>>()
        });
        tools.take(TOOLS_OF_POD_MAX).collect()
    }

    /// Returns the tool of this name, which may not be available yet, or `None` if no server of the Pod could have it.
    pub fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let used = self.of(name)?;
        let definition = used.live().and_then(|live| live.offer.tools.get(name).cloned());
        let status = used.connection.as_ref().map(|connection| connection.status.clone());
        Some(Arc::new(ServerTool { known: used.known.clone(), name: name.to_owned(), definition, status }))
    }

    /// Returns whether the server now describes this tool differently from what was accepted.
    pub fn is_changed(&self, name: &str) -> bool {
        let Some(used) = self.of(name) else { return false };
        let digest = used.live().and_then(|live| Some(live.offer.tools.get(name)?.digest.clone()));
        digest.is_some_and(|digest| used.known.pins.is_changed(name, &digest))
    }

    /// Accepts the tool as it was last seen, because a person has allowed it.
    pub fn accept(&self, name: &str) {
        let Some(used) = self.of(name) else { return };
        used.known.pins.accept(name);
    }

    /// Returns whether one of the Pod's servers could have a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.of(name).is_some()
    }

    fn of(&self, tool: &str) -> Option<&Used> {
        let server = server_of(tool)?;
        self.used.iter().find(|used| used.known.config.name.as_str() == server)
    }
}

impl Used {
    fn live(&self) -> Option<Arc<Live>> {
        match &*self.connection.as_ref()?.status.borrow() {
            Status::Live(live) => Some(live.clone()),
            Status::Beginning | Status::Away(_) => None,
        }
    }
}

impl Settled {
    /// Waits, and returns what people are to be told: which servers are away, each only once.
    pub async fn wait(self) -> Vec<String> {
        self.within(SETTLE_MAX).await
    }

    async fn within(self, most: Duration) -> Vec<String> {
        let until = tokio::time::Instant::now() + most;
        let mut told = Vec::new();
        for (known, mut status) in self.waits {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            let settled = timeout(left, status.wait_for(|status| !matches!(status, Status::Beginning))).await;
            let name = &known.config.name;
            let sentence = match settled.ok().and_then(Result::ok).map(|status| status.clone()) {
                Some(Status::Live(live)) => {
                    let left_out = live.offer.left_out.iter();
                    let left_out = left_out.map(|why| format!("the MCP server \"{name}\": {why}"));
                    told.extend(left_out.filter(|sentence| known.is_news(&self.pod, sentence)));
                    continue;
                }
                Some(Status::Away(why)) => {
                    format!("the MCP server \"{name}\" is away, so its tools are left out until it is back: {why}")
                }
                Some(Status::Beginning) | None => {
                    format!("the MCP server \"{name}\" is slow to start, so its tools are left out until it is ready")
                }
            };
            // Reported once each time the server goes away, even if the reasons change.
            if known.is_news(&self.pod, "away") {
                told.push(sentence);
            }
        }
        told
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        for used in &self.used {
            if used.live().is_some() {
                used.known.forget_news(&self.pod);
                used.known.is_back(&self.pod);
            }
        }
    }
}
