//! Agents that are programs of their own: what people are told about them, and their access to yoi's own tools.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use acp::{Agents, Door, Entrance};
use async_trait::async_trait;
use protocol::{AgentItem, AgentView, NetworkPolicy, PodDetail, WorkerId};

use crate::pod_tokens::{PodToken, PodTokens};

/// The tools of ours that an agent gets.
const TOOLS: [&str; 7] =
    ["ListPods", "ReadPodOutput", "RestorePod", "SendToPeerPod", "SendToPod", "SpawnPod", "StopPod"];

/// What yoi cannot control of an agent that runs unconfined.
const BEYOND: [&str; 3] = [
    "It can read and write files and run commands by itself, with your rights on this machine; only what it asks yoi for is held \
     to the Pod's scope and rules.",
    "It decides by itself what it asks you before it acts.",
    "Its network, and the model that it asks, are its own; yoi counts only the tokens that it reports.",
];
/// What yoi cannot control of an agent in a sandbox.
const BEYOND_CONFINED: [&str; 3] = [
    "Within the Pod's scope it reads, writes and runs commands by itself; other files of this machine it cannot reach.",
    "It decides by itself what it asks you before it acts.",
    "What it sends to a host that it may reach, it decides by itself; yoi counts only the tokens that it reports.",
];

/// What a confined agent reaches on the network.
fn reach(network: NetworkPolicy) -> &'static str {
    match network {
        NetworkPolicy::None => {
            "It reaches no network but yoi's own tools, so its model has to be within the Pod's scope."
        }
        NetworkPolicy::Ask => {
            "It reaches only hosts that a rule or a person allows, and those only if it uses a proxy, as HTTPS_PROXY tells it."
        }
        NetworkPolicy::Open => "Its network is open.",
    }
}

/// Added for an agent that can neither load nor resume a session.
const FORGETS: &str = "It cannot load a session: when its process ends, after a rest or a crash, it begins a new one and \
     knows nothing of what was said before.";

/// Adds what yoi cannot control of the Pod's agent.
pub(crate) fn with_limits(agents: &Agents, mut detail: PodDetail) -> PodDetail {
    if let (Some(agent), Some(session)) = (&detail.summary.agent, detail.session.take()) {
        let confined = agents.is_confined(agent);
        let beyond: &[&str] = if confined { &BEYOND_CONFINED } else { &BEYOND };
        let forgets = session.offers.forgets.then_some(FORGETS);
        let reach = confined.then(|| reach(detail.network));
        let all = forgets.into_iter().chain(beyond.iter().copied()).chain(reach);
        let beyond = all.map(str::to_owned).collect();
        detail.session = Some(AgentView { confined, beyond, ..session });
    }
    detail
}

/// Returns every agent, with the tools that it gets.
pub(crate) async fn list(agents: &Agents) -> Vec<AgentItem> {
    let tools = || TOOLS.iter().map(|&tool| tool.to_owned()).collect();
    agents.list().await.into_iter().map(|item| AgentItem { tools: tools(), ..item }).collect()
}

/// Gives agents access with a token for one Pod, for as long as the agent's process lives.
#[derive(Debug)]
pub(crate) struct TokenDoor {
    tokens: PodTokens,
    held: Mutex<HashMap<WorkerId, PodToken>>,
}

impl TokenDoor {
    pub(crate) fn new(tokens: PodTokens) -> Self {
        Self { tokens, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<WorkerId, PodToken>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Door for TokenDoor {
    async fn open(&self, worker_id: &WorkerId) -> Option<Entrance> {
        let token = match self.tokens.mint(worker_id) {
            Ok(token) => token?,
            Err(error) => {
                tracing::warn!(%error, %worker_id, "an agent gets no token, so it has none of yoi's own tools");
                return None;
            }
        };
        let entrance = Entrance { url: token.url().to_owned(), token: token.secret().to_owned() };
        self.held().insert(worker_id.clone(), token);
        Some(entrance)
    }

    async fn close(&self, worker_id: &WorkerId) {
        self.held().remove(worker_id);
    }
}
