//! A provider whose usage says what the model has room for, and what it cost.

use std::{fmt, sync::Arc};

use futures_util::StreamExt;
use protocol::{ModelView, Proof};

use crate::{Catalogue, ModelEvent, ModelRequest, ModelStream, Provider, ProviderError, ProviderKind};

pub(crate) struct Accounted {
    pub(crate) provider: Arc<dyn Provider>,
    /// The provider's name and kind.
    pub(crate) source: (String, ProviderKind),
    pub(crate) catalogue: Arc<Catalogue>,
}

impl fmt::Debug for Accounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(formatter)
    }
}

#[async_trait::async_trait]
impl Provider for Accounted {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (source, model, catalogue) = (self.source.clone(), request.model.clone(), Arc::clone(&self.catalogue));
        Box::pin(self.provider.stream(request).map(move |item| match item {
            Ok(ModelEvent::Usage(usage)) => {
                Ok(ModelEvent::Usage(catalogue.account(&source.0, source.1, &model, usage)))
            }
            Ok(ModelEvent::Proof(proof)) => {
                Ok(ModelEvent::Proof(Proof { provider: source.0.clone(), model: model.clone(), ..proof }))
            }
            other => other,
        }))
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        let list = self.provider.models().await?;
        self.catalogue.tell(&self.source.0, list.clone());
        Ok(list)
    }
}
