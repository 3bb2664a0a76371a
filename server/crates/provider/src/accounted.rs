//! A provider that adds the model's context limit and the cost to its usage. Where the server reports no counts,
//! tokens are estimated.

use std::{fmt, sync::Arc};

use futures_util::{StreamExt, stream};
use protocol::{ModelView, Proof, Usage};

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
        let (source, catalogue) = (self.source.clone(), Arc::clone(&self.catalogue));
        let context_limit = catalogue.facts(&source.0, source.1, &request.model).context_limit;
        let request = ModelRequest { context_limit, ..request };
        let mut length = Length { model: request.model.clone(), asked: bytes_of(&request), ..Length::default() };
        Box::pin(self.provider.stream(request).flat_map(move |item| {
            let (provider, kind) = (&source.0, source.1);
            let account = |usage| ModelEvent::Usage(catalogue.account(provider, kind, &length.model, usage));
            let items = match item {
                Ok(ModelEvent::Usage(usage)) if usage.input + usage.output > 0 => {
                    length.is_counted = true;
                    [Some(Ok(account(usage))), None, None]
                }
                // Some servers do not count and report zeros.
                Ok(ModelEvent::Usage(_)) => [None, None, None],
                Ok(end @ ModelEvent::Finished { .. }) if !length.is_counted => {
                    let estimate = Ok(account(length.estimate()));
                    [Some(Ok(ModelEvent::Alert { text: uncounted(provider) })), Some(estimate), Some(Ok(end))]
                }
                Ok(ModelEvent::Proof(proof)) => {
                    let proof = Proof { provider: provider.clone(), model: length.model.clone(), ..proof };
                    [Some(Ok(ModelEvent::Proof(proof))), None, None]
                }
                other => {
                    length.said += other.as_ref().map_or(0, said);
                    [Some(other), None, None]
                }
            };
            stream::iter(items.into_iter().flatten())
        }))
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        let list = self.provider.models().await?;
        self.catalogue.tell(&self.source.0, list.clone());
        Ok(list)
    }
}

/// The lengths of request and answer, in bytes.
#[derive(Default)]
struct Length {
    model: String,
    asked: usize,
    said: usize,
    is_counted: bool,
}

impl Length {
    fn estimate(&self) -> Usage {
        Unfinished { asked: pod::tokens_of_bytes(self.asked), counted: None, said: self.said }.used()
    }
}

/// An answer that does not reach its end, as far as it has arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unfinished {
    /// The size of the request, in estimated tokens.
    pub asked: u64,
    /// What the server has counted so far.
    pub counted: Option<Usage>,
    /// The number of bytes that were received since then.
    pub said: usize,
}

impl Unfinished {
    /// Returns what was counted, plus an estimate for everything else.
    pub(crate) fn used(&self) -> Usage {
        let counted = self.counted.unwrap_or_default();
        let said = pod::tokens_of_bytes(self.said);
        let input = if counted.input > 0 { counted.input } else { self.asked };
        let output = counted.output.saturating_add(said);
        let estimated = counted.input == 0 || said > 0;
        Usage { input, output, context_used: input.saturating_add(output), estimated, ..counted }
    }
}

fn uncounted(provider: &str) -> String {
    format!(
        "The provider \"{provider}\" does not count the tokens of its answers; they are estimated by the length of the text."
    )
}

/// The total length of a request's texts.
fn bytes_of(request: &ModelRequest) -> usize {
    let calls = request.messages.iter().flat_map(|message| &message.tool_calls);
    let calls: usize = calls.map(|call| call.name.len() + call.arguments.to_string().len()).sum();
    let tools = request.tools.iter();
    let tools: usize = tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len()).sum();
    request.messages.iter().map(|message| message.content.len()).sum::<usize>() + calls + tools
}

fn said(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Reasoning(text) | ModelEvent::ToolArgs { text, .. } => text.len(),
        _ => 0,
    }
}
