//! The trait that every source of models implements.

use std::{fmt, pin::Pin};

use futures_util::Stream;

use crate::{ModelEvent, ModelRequest, ProviderError};

/// A streaming answer. Ends after `Finished` or after the first error.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>;

/// A source of models.
#[async_trait::async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Sends a request to a model. Connecting and retrying happen in the stream, so this never blocks.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// The models that it offers, with the facts that it reports.
    async fn models(&self) -> Result<Vec<protocol::ModelView>, ProviderError>;
}
