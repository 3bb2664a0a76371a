//! Agents that are programs of their own and speak the Agent Client Protocol (ACP): yoi is their client.
//!
//! A Pod's agent has one process and one session. What it says in a turn comes out as the pieces that a Pod decides on
//! ([`Said`]); what a Pod decides goes back in ([`Turn`]). The types of the wire are those of the official crate; the connection
//! is our own, because everything an agent sends is bounded here: lines, questions, calls, terminals, and what waits to be taken.
//! This crate knows no store, no journal and no permissions: who may do what is the Pod's business.

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
