//! The built-in model: no key, no network, deterministic. It reads the newest user or peer message line by line and
//! does what it says.
//!
//! Where it goes on is computed from the messages alone: no state is kept between two questions, so an answer that a
//! crash cut in half goes on at the beginning of the line that was cut.

mod perform;
mod replay;
mod script;
mod summary;

use futures_util::stream;
use protocol::{Message, ModelView};

use self::{perform::Performance, replay::Rest};
use crate::{ModelRequest, ModelStream, Provider, ProviderError, Purpose, known};

/// Its name, as a provider and as a model.
const NAME: &str = "rehearsal";

/// The provider `rehearsal`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rehearsal;

#[async_trait::async_trait]
impl Provider for Rehearsal {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let lines = match request.purpose {
            Purpose::Answer => Rest::of(&request.messages).lines,
            Purpose::Summary => summary::lines(&request.messages),
        };
        let performance = Performance::new(lines, &request.messages, self.context_limit(NAME));
        Box::pin(stream::unfold(performance, Performance::next))
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        Ok(vec![ModelView { name: NAME.to_owned(), context_limit: self.context_limit(NAME) }])
    }

    fn context_limit(&self, _: &str) -> Option<u64> {
        known::context_limit(NAME)
    }
}

/// Bytes of everything that was sent, for an estimate of tokens.
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
