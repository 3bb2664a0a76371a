//! The running server on standard input and output, for programs that start their servers and agents themselves.
//!
//! Both are thin clients: they relay between the program and the server, and keep nothing beyond their own end.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acp;
mod lines;
mod mcp;

pub use self::{acp::acp, mcp::mcp};
