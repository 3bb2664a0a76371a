//! The MCP servers of one Pod while it works: started when first needed, confined to what the Pod may access, and ended
//! when it rests.

use mcp::{Clients, Stand};
use protocol::ApiError;

use super::{Actor, Actors, calls::Calls, place, sight::look_up, state::State};

/// The connections, and the names of the servers that they were made for.
pub(super) struct Servers {
    pub(super) clients: Clients,
    named: Option<Vec<String>>,
}

impl Servers {
    pub(super) fn of(actors: &Actors, state: &State, calls: &mut Calls) -> Self {
        let named = state.spec.mcp.clone();
        let servers = &actors.equipment.servers;
        let clients = Clients::of_pod(servers, &state.worker_id, named.as_deref(), calls.asks());
        Self { clients, named }
    }
}

impl Actor {
    /// Starts the servers that were not started yet. Whoever waits for a server finds out whether it is away.
    pub(super) async fn meet_servers(&mut self) {
        if self.servers.named != self.state.spec.mcp {
            self.servers.clients.end().await;
            self.servers = Servers::of(&self.actors, &self.state, &mut self.calls);
        }
        if self.servers.clients.is_empty() {
            return;
        }
        match self.stand().await {
            Ok(stand) => self.servers.clients.meet(&stand).await,
            Err(error) => tracing::error!(%error, pod = %self.state.name, "its MCP servers cannot be begun"),
        }
    }

    /// Ends the servers whose program runs where the Pod no longer has access.
    pub(super) async fn hold_servers(&mut self) {
        if !self.servers.clients.is_begun() {
            return;
        }
        match self.stand().await {
            Ok(stand) => self.servers.clients.keep_to(&stand).await,
            Err(error) => {
                tracing::error!(%error, pod = %self.state.name, "its MCP servers are ended, for it is not known what they may touch");
                self.servers.clients.end().await;
            }
        }
    }

    async fn stand(&mut self) -> Result<Stand, ApiError> {
        look_up(&self.actors, &mut self.state).await?;
        let scope = place::scope(&self.actors, self.state.key, &self.state.spec).await?;
        let network = self.state.spec.network_now();
        Ok(Stand { cwd: self.state.spec.cwd.clone().into(), scope, network, wishes: self.calls.wishes() })
    }
}
