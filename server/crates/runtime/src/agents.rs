//! Agents that are programs of their own: what is said of them to people.

use acp::Agents;
use protocol::{AgentView, PodDetail};

/// What yoi cannot control of an agent that runs as a program of its own,
const BEYOND: [&str; 3] = [
    "It can read and write files and run commands by itself, with your rights on this machine; only what it asks yoi for is held \
     to the Pod's scope and rules.",
    "It decides by itself what it asks you before it acts.",
    "Its network, and the model that it asks, are its own; yoi counts only the tokens that it tells.",
];
/// and of one in a sandbox.
const BEYOND_CONFINED: [&str; 3] = [
    "Within the Pod's scope it reads, writes and runs commands by itself; other files of this machine it cannot reach.",
    "It decides by itself what it asks you before it acts.",
    "Its network is open, unless the Pod has none, and yoi counts only the tokens that it tells.",
];

/// With what yoi cannot control of the Pod's agent.
pub(crate) fn with_limits(agents: &Agents, mut detail: PodDetail) -> PodDetail {
    if let (Some(agent), Some(session)) = (&detail.summary.agent, detail.session.take()) {
        let confined = agents.is_confined(agent);
        let beyond: &[&str] = if confined { &BEYOND_CONFINED } else { &BEYOND };
        let beyond = beyond.iter().map(|&sentence| sentence.to_owned()).collect();
        detail.session = Some(AgentView { confined, beyond, ..session });
    }
    detail
}
