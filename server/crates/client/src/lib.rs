//! A typed client of yoi's API: one method per call, and an event stream that reconnects for ever by cursor.
//!
//! Used by the command line, the terminal console, remote runtimes and tests. It keeps no history: what a caller
//! wants to see again it asks for again.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod backoff;
mod calls;
mod error;
mod events;
mod http;
mod items;
mod link;
mod lists;
mod peers;
mod place;
mod previews;
mod raw;
mod runtimes;
mod settings;
mod socket;
mod subscriptions;
mod token;

pub use calls::{PodsFilter, ProvidersPage};
pub use error::{ClientError, in_verbs};
pub use events::EventStream;
pub use http::Client;
pub use items::{Connection, StreamItem};
pub use lists::{Download, SearchFilter};
pub use raw::RawPage;
pub use settings::AuditFilter;
pub use token::TokenSource;
