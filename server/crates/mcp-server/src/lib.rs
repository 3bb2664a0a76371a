//! yoi as an MCP server: `/mcp` of the API, by the protocol's official library.
//!
//! It decides nothing about Pods. A person's client gets tools over [`backend::Backend`], with the rights of its token; the agent of a
//! Pod gets the Pod tools, as the model of that Pod has them. Who asks is found out before, and comes with each request as a [`Caller`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod arguments;
mod caller;
mod person;
mod pod;
mod resources;
mod server;
mod sessions;
mod transcripts;
mod watching;

pub use self::{
    caller::Caller,
    server::{Body, McpServer},
};
