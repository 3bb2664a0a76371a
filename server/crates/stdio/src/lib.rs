//! The running server on standard input and output, for programs that start their servers and agents themselves.
//!
//! Both are thin clients: what they say is the server's, what they are told goes there, and neither keeps anything over its end.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acp;
mod lines;
mod mcp;

pub use self::{acp::acp, mcp::mcp};
