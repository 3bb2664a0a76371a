//! Models: one trait, the built-in rehearsal model, and the vendors behind our own types.
//!
//! A request is retried only before the first delta; after it, a failure ends the stream with a typed error and what
//! was streamed is kept. Dropping a stream closes its connection. No error, log line or `Debug` output of this crate
//! contains a key.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod accounted;
mod attached;
mod catalogue;
mod config;
mod error;
mod keys;
mod live_test;
mod metered;
mod nearby;
mod provider;
mod redact;
mod registry;
mod rehearsal;
mod request;
mod retry;
mod traced;
mod vendor;

pub use accounted::Unfinished;
pub use attached::{ATTACHED_BYTES_MAX, Attached, Held, Takes, called};
pub use catalogue::{Catalogue, ModelSettings};
pub use config::{ProviderConfig, ProviderEnvironment, ProviderKind, ProviderKindError, ProviderSource};
pub use error::{ContextSizes, ProviderError, ProviderErrorCode};
pub use keys::{KeyRefusal, TriedKey, usual_provider};
pub use provider::{ModelStream, Provider};
pub use registry::{ProviderOptions, Providers, ProvidersError};
pub use rehearsal::Rehearsal;
pub use request::{FinishReason, ModelEvent, ModelRequest, Purpose, ToolSpec};
pub use retry::{RetryPolicy, Retrying};
pub use vendor::{TimeLimits, Vendor};
