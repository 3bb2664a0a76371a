//! A typed client of yoi's API: each operation by its type, and an event stream that reconnects by cursor
//! indefinitely.
//!
//! Used by the command line, the terminal console, remote runtimes and tests. It keeps no history: callers request
//! again what they want to see again.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod blobs;
mod calls;
mod error;
mod events;
mod http;
mod items;
mod journals;
mod mcp;
mod place;
mod raw;
mod runtimes;
mod socket;
mod token;

pub use error::{ClientError, in_verbs};
pub use events::EventStream;
pub use http::{Client, Reply};
pub use items::{Connection, StreamItem};
pub use journals::Download;
pub use mcp::{BrokenOff, McpAnswer, McpVerb};
pub use raw::RawPage;
pub use token::TokenSource;
