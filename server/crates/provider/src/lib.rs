//! Models: one trait, the built-in rehearsal model, and the vendors behind our own types.
//!
//! A stream begins with nothing shown. Retries happen only before the first delta; after it, a failure ends the
//! stream with a typed error and what was streamed is kept. Dropping a stream drops the connection.

use std::{fmt, pin::Pin, time::Duration};

use futures_util::Stream;
use protocol::{Message, Usage};
use serde_json::Value;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub model: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
}

/// A tool as a model is offered it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub schema: Value,
}

/// One piece of an answer. `ToolArgs` of a call come before its `ToolCall`.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// A piece of the arguments' JSON text. `index` counts the calls of this answer from 0.
    ToolArgs { index: usize, name: String, text: String },
    /// A call, whole. `call_id` is the provider's, or made from the index when it gives none.
    ToolCall { index: usize, call_id: String, name: String, arguments: Value },
    /// Not an answer yet: the provider is asked again after `wait`.
    Retry { attempt: u32, wait: Duration, code: String, detail: String },
    /// Tokens of this call.
    Usage(Usage),
    /// The answer is complete. Nothing follows.
    Finished { reason: FinishReason },
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    ToolCalls,
    /// The provider's limit of output tokens.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// A failure of a provider. Its sentence never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProviderError {
    pub code: ProviderErrorCode,
    pub detail: String,
    pub retry_after: Option<Duration>,
}

/// What kind of failure it was; the text of it goes into `run_finished.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderErrorCode {
    Unauthorized,
    RateLimited,
    Overloaded,
    Timeout,
    Unreachable,
    /// The stream ended before the answer did.
    Cut,
    ContextTooLong,
    ModelNotFound,
    BadRequest,
    /// Any other failure of the provider.
    Failed,
}

/// An answer as it comes. Ends after `Finished` or after the first error.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>;

/// A source of models.
#[async_trait::async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Asks a model. Connecting and retrying are part of the stream, so this never waits.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// The models it offers.
    async fn models(&self) -> Result<Vec<protocol::ModelView>, ProviderError>;

    /// Tokens of context that `model` has room for, when known.
    fn context_limit(&self, model: &str) -> Option<u64>;
}

/// The providers of this server, by name.
#[derive(Debug, Clone)]
pub struct Providers { /* private */ }

// To be provided by this crate (see the helper's brief): `Providers::new(Vec<ProviderConfig>, environment)`,
// `get`, `default_name`, `views`.
