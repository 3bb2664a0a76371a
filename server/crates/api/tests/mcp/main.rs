//! yoi as an MCP server, over a real listener: what people's clients and the agents of Pods can do, and what nobody
//! can.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

#[allow(unreachable_pub)]
mod client;
mod hostile;
mod people;
mod pods;
