//! Translates a provider's events and failures into the Pod's terms.

use std::time::Duration;

use jiff::Timestamp;
use pod::{Cause, Failure, ModelPiece, QuestionSize};
use provider::{FinishReason, ModelEvent, ProviderError, ProviderErrorCode};

use crate::clock;

/// The code of a failure that has none of its own.
pub(super) const PROVIDER_ERROR: &str = "provider_error";

/// Returns a piece of the answer to a request of this size, or `None` for an event that is no part of it.
pub(super) fn piece_of(
    event: Result<ModelEvent, ProviderError>,
    asked: QuestionSize,
    has_begun: bool,
) -> Option<ModelPiece> {
    Some(match event {
        Ok(ModelEvent::Text(text)) => ModelPiece::Text(text),
        Ok(ModelEvent::Reasoning(text)) => ModelPiece::Reasoning(text),
        Ok(ModelEvent::Proof(proof)) => ModelPiece::Proof(proof),
        Ok(ModelEvent::ToolArgs { index, name, text }) => ModelPiece::ToolArgs { index, name, text },
        Ok(ModelEvent::ToolCall { index, name, arguments, .. }) => ModelPiece::ToolCall { index, name, arguments },
        Ok(ModelEvent::Retry { attempt, wait, code, detail }) => {
            ModelPiece::Retry { attempt, wait_ms: wait.as_millis().try_into().unwrap_or(u64::MAX), code, detail }
        }
        Ok(ModelEvent::Alert { text }) => ModelPiece::Alert(text),
        Ok(ModelEvent::UsedSoFar(_)) => return None,
        Ok(ModelEvent::Usage(usage)) => ModelPiece::Usage(usage),
        Ok(ModelEvent::Finished { reason: FinishReason::Filtered }) => {
            let detail = "the provider withheld the rest of the answer (content filter)";
            ModelPiece::Failed(Failure::new(PROVIDER_ERROR, detail))
        }
        Ok(ModelEvent::Finished { reason }) if !has_begun => {
            ModelPiece::Nothing { is_limit: reason == FinishReason::Length, asked }
        }
        Ok(ModelEvent::Finished { reason: FinishReason::Length }) => ModelPiece::Limit,
        Ok(ModelEvent::Finished { reason: FinishReason::Stop | FinishReason::ToolCalls }) => ModelPiece::Finished,
        Err(error) => ModelPiece::Failed(Failure { asked, ..failure_of(error) }),
    })
}

/// A provider's failure in the Pod's terms.
pub(super) fn failure_of(ProviderError { code, detail, sizes, retry_after, .. }: ProviderError) -> Failure {
    use ProviderErrorCode::{
        BadRequest, ContextOverflow, Cut, Failed, ModelNotFound, Overloaded, RateLimited, Timeout, TooLarge,
        Unauthorized, Unreachable,
    };
    let until = retry_after.filter(|_| code == RateLimited).and_then(reset_after);
    let (code, cause) = match code {
        ContextOverflow => (code.as_str(), Cause::Overflow { limit: sizes.limit, used: sizes.used }),
        // Servers have been seen to answer a request that is too long in each of these ways.
        Cut | BadRequest | Failed | Overloaded | Timeout => (PROVIDER_ERROR, Cause::Unexplained),
        Unauthorized | RateLimited | Unreachable | ModelNotFound | TooLarge => (PROVIDER_ERROR, Cause::Other),
    };
    Failure { cause, until, ..Failure::new(code, detail) }
}

/// When a usage limit that resets after `wait` is over. `None` if that is more than a month away.
fn reset_after(wait: Duration) -> Option<Timestamp> {
    const LONGEST: Duration = Duration::from_secs(31 * 24 * 60 * 60);
    (wait <= LONGEST).then(|| clock::now().checked_add(wait).ok()).flatten()
}
