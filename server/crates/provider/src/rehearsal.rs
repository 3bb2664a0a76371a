//! The built-in model: no key, no network, deterministic. It reads the newest user or peer message line by line and
//! does what it says.
//!
//! Where to continue is computed from the messages alone: it keeps no state between requests, so an answer that was
//! interrupted by a crash resumes at the beginning of the interrupted line.

mod demo;
mod perform;
mod replay;
mod script;
mod summary;

use futures_util::stream;
use protocol::{Message, ModelFacts, ModelView, Thinking};

use self::{perform::Performance, replay::Rest};
use crate::{ModelRequest, ModelStream, Provider, ProviderError, Purpose};

/// Its name, both as a provider and as a model.
const NAME: &str = "rehearsal";
/// Its context limit in tokens.
const CONTEXT_LIMIT: u64 = 200_000;

/// The provider `rehearsal`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rehearsal;

impl Rehearsal {
    /// Its only model.
    pub(crate) fn models() -> Vec<ModelView> {
        let facts = ModelFacts {
            context_limit: Some(CONTEXT_LIMIT),
            images: Some(true),
            tools: Some(true),
            thinking: Some(Thinking::ALL.to_vec()),
            ..ModelFacts::default()
        };
        vec![ModelView { name: NAME.to_owned(), facts }]
    }
}

#[async_trait::async_trait]
impl Provider for Rehearsal {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let lines = match request.purpose {
            Purpose::Answer => Rest::of(&request.messages, &request.attached).lines,
            Purpose::Summary => summary::lines(&request.messages),
        };
        let performance = Performance::new(lines, &request.messages);
        Box::pin(stream::unfold(performance, Performance::next))
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        Ok(Self::models())
    }
}

/// Total bytes sent, for an estimate of tokens.
fn bytes(messages: &[Message]) -> usize {
    messages
        .iter()
        .map(|message| {
            let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
            message.content.len() + message.reasoning.as_ref().map_or(0, String::len) + calls.sum::<usize>()
        })
        .sum()
}

#[cfg(test)]
#[path = "rehearsal/tests.rs"]
mod tests;
