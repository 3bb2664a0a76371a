//! A second attempt without streaming, for an answer that is not a stream.
//!
//! Some servers refuse a request with status 200 and a bare JSON body where an event stream was requested; some do
//! not support streaming. The library reads only events and drops such a body. So the request is sent again without
//! streaming, and the whole body is read.

use std::sync::Arc;

use genai::{
    Error,
    chat::{ChatResponse, ContentPart, StopReason},
    webc,
};
use protocol::Usage;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Extra, Frames, Shape, Shared,
    calls::CallPiece,
    notice::Notice,
    request::{ChatQuestion, REASONING_CONTENT, fields},
    responses::{self, End},
    weak::Manner,
};
use crate::{ModelRequest, ProviderError, ProviderErrorCode, ProviderKind};

/// A request that may have to be sent again.
pub(super) struct Plain {
    pub(super) shared: Arc<Shared>,
    pub(super) request: Arc<ModelRequest>,
    pub(super) manner: Manner,
}

/// An answer in one piece.
pub(super) struct Whole {
    pub(super) items: Vec<Notice>,
    pub(super) reason: Option<StopReason>,
    pub(super) usage: Option<Usage>,
}

impl Plain {
    /// Returns the answer in one piece, which is the only form that some servers know; otherwise the server's error.
    pub(super) async fn ask(self) -> Result<Whole, ProviderError> {
        let whole = match self.manner.wire {
            ProviderKind::OpenAi => self.ask_for_items().await?,
            _ => self.ask_by_library().await?,
        };
        if whole.items.is_empty() { Err(self.shared.failures.cut()) } else { Ok(whole) }
    }

    async fn ask_for_items(&self) -> Result<Whole, ProviderError> {
        let Shared { failures, .. } = &*self.shared;
        let body = responses::body(&self.request, self.manner.offers_tools);
        let asked = self.shared.asked(Method::POST, "responses", |question| question.json(&body)).await;
        let body = asked.map_err(|error| match error.code {
            ProviderErrorCode::Failed => failures.cut(),
            _ => error,
        })?;
        if is_error(&body) {
            return Err(failures.said(&body));
        }
        let End { reason, usage, output } = responses::whole(body).ok_or_else(|| failures.cut())?;
        let reason = reason.map_err(|error| failures.said(&error))?;
        Ok(Whole { items: responses::notices(&output), reason: Some(StopReason::from(reason.to_owned())), usage })
    }

    async fn ask_by_library(&self) -> Result<Whole, ProviderError> {
        let Self { shared, request, manner } = self;
        let question = ChatQuestion::new(*manner, request, shared.limits, &Frames::new(manner.wire));
        let line = shared.line()?;
        let extra = Extra { fields: fields(manner.wire, request), messages: question.messages };
        let ask = line.gate.ask(Shape::Whole, extra);
        let options = question.options.with_capture_raw_body(true);
        let asked = line.client.exec_chat(shared.target(&ask, request, *manner)?, question.chat, Some(&options));
        let answer = tokio::time::timeout(shared.limits.silence, ask.drive(asked))
            .await
            .map_err(|_| shared.failures.cut())?
            .map_err(|_| shared.failures.unreadable())?
            .map_err(|error| ask.failure().unwrap_or_else(|| shared.failed_plainly(error)))?;
        match answer.captured_raw_body.as_ref().filter(|body| is_error(body)) {
            Some(body) => Err(shared.failures.said(body)),
            None => Ok(whole(manner.wire, answer)),
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
        // JSON of another form, or plain text.
        let said = self.failures.said(&serde_json::from_str(&body).unwrap_or(Value::String(body)));
        match said.code {
            ProviderErrorCode::Failed => self.failures.cut(),
            _ => said,
        }
    }
}

/// The library's reading of the answer, plus the reasoning data that has to go back.
fn whole(wire: ProviderKind, answer: ChatResponse) -> Whole {
    let ChatResponse { content, reasoning_content, stop_reason, usage, captured_raw_body, .. } = answer;
    let body = captured_raw_body.unwrap_or_default();
    let mut items = match wire {
        ProviderKind::Anthropic => blocks(&body),
        _ => reasoning_content.filter(|text| !text.is_empty()).map(Notice::Reasoning).into_iter().collect(),
    };
    let wants_words_back = match wire {
        ProviderKind::OpenAiCompatible => {
            body.pointer("/choices/0/message/reasoning_content").is_some_and(Value::is_string)
        }
        _ => wire == ProviderKind::Ollama,
    };
    if wants_words_back && !items.is_empty() {
        items.push(Notice::Thought(json!({ "type": REASONING_CONTENT })));
    }
    for part in content.into_parts() {
        match part {
            ContentPart::Text(text) if !text.is_empty() => items.push(Notice::Text(text)),
            ContentPart::ThoughtSignature(signature) if wire == ProviderKind::Gemini => {
                items.push(Notice::Thought(json!({ "type": "thinking", "signature": signature })));
            }
            ContentPart::ToolCall(call) => items.push(Notice::Whole(CallPiece::from(call))),
            _ => (),
        }
    }
    let refusal = body.pointer("/choices/0/message/refusal").and_then(Value::as_str).filter(|text| !text.is_empty());
    items.extend(refusal.map(|text| Notice::Text(text.to_owned())));
    let usage = usage.prompt_tokens.is_some().then(|| counted(&usage));
    Whole { items, reason: stop_reason, usage }
}

/// Anthropic's thinking blocks, each with its own signature.
fn blocks(body: &Value) -> Vec<Notice> {
    let text = |block: &Value, key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    let blocks = body.get("content").and_then(Value::as_array).into_iter().flatten();
    let notices = |block: &Value| match text(block, "type").as_deref() {
        Some("thinking") => {
            let said = text(block, "thinking").filter(|text| !text.is_empty()).map(Notice::Reasoning);
            let signature =
                text(block, "signature").map(|signature| json!({ "type": "thinking", "signature": signature }));
            said.into_iter().chain(signature.map(Notice::Thought)).collect()
        }
        Some("redacted_thinking") => vec![Notice::Thought(block.clone())],
        _ => Vec::new(),
    };
    blocks.flat_map(notices).collect()
}

/// Converts the library's token counts into ours.
pub(super) fn counted(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    let (input, output) = (count(usage.prompt_tokens), count(usage.completion_tokens));
    let details = usage.prompt_tokens_details.as_ref();
    Usage {
        input,
        cached: count(details.and_then(|details| details.cached_tokens)),
        written: count(details.and_then(|details| details.cache_creation_tokens)),
        output,
        context_used: input + output,
        ..Usage::default()
    }
}

/// All vendors have `error` in the body, or in its first item.
fn is_error(body: &Value) -> bool {
    let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
    body.get("error").is_some_and(|error| !error.is_null()) || body.get("object") == Some(&Value::from("error"))
}
