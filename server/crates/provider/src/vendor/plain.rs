//! A second look at an answer that is no stream.
//!
//! Some servers refuse a question with status 200 and a bare JSON body, where a stream of events was asked for. The library
//! reads nothing but events, and drops it. So the question is put again for an answer in one piece, whose body can be read.

use std::sync::Arc;

use genai::{Error, chat::ChatResponse, webc};
use serde_json::Value;

use super::{Frames, Shape, Shared, request::ChatQuestion};
use crate::{ModelRequest, ProviderError, ProviderErrorCode};

/// A question that may have to be put again.
pub(super) struct Plain {
    pub(super) shared: Arc<Shared>,
    pub(super) request: ModelRequest,
}

impl Plain {
    /// The answer in one piece: some servers know no other. Else what the server says in its place.
    pub(super) async fn ask(self) -> Result<ChatResponse, ProviderError> {
        let Self { shared, request } = self;
        let question =
            ChatQuestion::new(shared.spoken_kind(), &request, shared.limits, &Frames::new(shared.config.kind));
        let line = shared.line()?;
        let ask = line.gate.ask(Shape::Whole);
        let options = question.options.with_capture_raw_body(true);
        let asked = line.client.exec_chat(shared.target(&ask, &request), question.chat, Some(&options));
        let answer = tokio::time::timeout(shared.limits.silence, ask.drive(asked))
            .await
            .map_err(|_| shared.failures.cut())?
            .map_err(|_| shared.failures.unreadable())?
            .map_err(|error| ask.failure().unwrap_or_else(|| shared.failed_plainly(error)))?;
        match answer.captured_raw_body.as_ref().filter(|body| is_error(body)) {
            Some(body) => Err(shared.failures.said(body)),
            None if answer.content.is_empty() && answer.reasoning_content.is_none() => Err(shared.failures.cut()),
            None => Ok(answer),
        }
    }
}

impl Shared {
    fn failed_plainly(&self, error: Error) -> ProviderError {
        let Error::WebModelCall {
            webc_error:
                webc::Error::ResponseFailedNotJson { body, .. } | webc::Error::ResponseFailedInvalidJson { body, .. },
            ..
        } = error
        else {
            return self.failures.translate(error);
        };
        // JSON under another name, or words.
        let said = self.failures.said(&serde_json::from_str(&body).unwrap_or(Value::String(body)));
        match said.code {
            ProviderErrorCode::Failed => self.failures.cut(),
            _ => said,
        }
    }
}

/// Vendors agree that it says `error`, itself or in its first item.
fn is_error(body: &Value) -> bool {
    let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
    body.get("error").is_some_and(|error| !error.is_null()) || body.get("object") == Some(&Value::from("error"))
}
