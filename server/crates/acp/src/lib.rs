//! Agents that are programs of their own and speak the Agent Client Protocol (ACP), with yoi as their client.
//!
//! A Pod's agent has one process and one session. What it says during a turn comes out as pieces for the Pod to decide
//! on ([`Said`]); what the Pod decides goes back in ([`Turn`]). The types on the wire come from the official crate. The
//! connection is our own, because it bounds everything that an agent sends: lines, questions, calls, terminals, and
//! what waits to be read. This crate knows no store, no journal and no permissions: the Pod decides who may do what.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod agents;
mod connect;
mod content;
mod files;
mod known;
mod offers;
mod process;
mod prompt;
mod registry;
mod session;
mod terminals;
mod translate;
mod turn;
mod wire;

pub use self::{
    agents::{Agents, Unusable},
    known::{AgentConfig, IDLE, NameRefusal},
    prompt::{Attachment, Prompt},
    registry::AgentsOptions,
    turn::{Begin, Door, Entrance, Said, Turn},
};
