//! yoi as an MCP server: the API's `/mcp`, built on the official library.
//!
//! It decides nothing about Pods. A user's client gets tools over [`backend::Backend`], with the rights of its token;
//! the agent of a Pod gets the Pod tools, as that Pod's model has them. The caller is authenticated beforehand and
//! accompanies each request as a [`Caller`].

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
