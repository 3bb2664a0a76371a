//! The one trait that every source of models is behind.

use std::{fmt, pin::Pin};

use futures_util::Stream;

use crate::{ModelEvent, ModelRequest, ProviderError};

/// An answer as it comes. Ends after `Finished` or after the first error.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>;

/// A source of models.
#[async_trait::async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Asks a model. Connecting and retrying are part of the stream, so this never waits.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// The models it offers, with what it says of them.
    async fn models(&self) -> Result<Vec<protocol::ModelView>, ProviderError>;
}
