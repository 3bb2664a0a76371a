//! Converts the library's errors and the vendors' own error bodies into ours.

use std::time::Duration;

use genai::{Error, webc::StreamTimeout};
use jiff::{Timestamp, fmt::rfc2822};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{TimeLimits, bounds::TooMuch, overflow};
use crate::{ContextSizes, ProviderError, ProviderErrorCode, redact::Redactor};

/// Builds the errors of one provider: each names it, none contains its key.
#[derive(Debug, Clone)]
pub(super) struct Failures {
    name: String,
    redactor: Redactor,
    limits: TimeLimits,
}

impl Failures {
    pub(super) fn new(name: String, redactor: Redactor, limits: TimeLimits) -> Self {
        Self { name, redactor, limits }
    }

    pub(super) fn error(&self, code: ProviderErrorCode, reason: &str) -> ProviderError {
        ProviderError::new(code, self.redactor.sentence(&format!("{}: {reason}", self.name)))
    }

    pub(super) fn header_timeout(&self) -> ProviderError {
        let reason = format!("no answer within {} s", self.limits.header.as_secs_f32());
        self.error(ProviderErrorCode::Timeout, &reason)
    }

    pub(super) fn cut(&self) -> ProviderError {
        self.error(ProviderErrorCode::Cut, "the stream ended before the answer did")
    }

    /// A limit was exceeded. Nothing is kept, and a retry would give the same.
    pub(super) fn too_much(&self, bound: TooMuch) -> ProviderError {
        self.error(ProviderErrorCode::TooLarge, &format!("it sent {bound}, and no more than that is read"))
    }

    /// The library panicked.
    pub(super) fn unreadable(&self) -> ProviderError {
        self.error(ProviderErrorCode::Failed, "an unreadable piece of an answer")
    }

    pub(super) fn silence_timeout(&self) -> ProviderError {
        let reason = format!("silent for {} s in the middle of the answer", self.limits.silence.as_secs_f32());
        self.error(ProviderErrorCode::Timeout, &reason)
    }

    pub(super) fn translate(&self, error: Error) -> ProviderError {
        match error {
            Error::HttpError { status, body, headers, .. } => self.refused(status.as_u16(), &body, &headers),
            Error::ChatResponse { body, .. } => self.said(&body),
            Error::ChatResponseGeneration { response_body, .. } => self.said(&response_body),
            Error::WebStream { error, .. } => self.of_stream(error),
            Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
                self.of_web(webc_error)
            }
            Error::StreamParse { .. } => self.unreadable(),
            other => self.error(ProviderErrorCode::Failed, &other.to_string()),
        }
    }

    /// An error inside a stream that had begun normally, in the vendor's own words.
    pub(super) fn said(&self, body: &Value) -> ProviderError {
        let said = Said::read(body);
        let code = said.code().unwrap_or(ProviderErrorCode::Failed);
        ProviderError { sizes: said.sizes, ..self.error(code, &said.message) }
    }

    fn of_stream(&self, error: genai::BoxError) -> ProviderError {
        let error = match error.downcast::<Error>() {
            Ok(error) => return self.translate(*error),
            Err(error) => error,
        };
        if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
            return match timeout {
                StreamTimeout::Headers => self.header_timeout(),
                StreamTimeout::Read => self.silence_timeout(),
            };
        }
        match error.downcast_ref::<reqwest::Error>() {
            Some(error) => self.of_transport(error),
            None => self.error(ProviderErrorCode::Cut, &error.to_string()),
        }
    }

    fn of_web(&self, error: genai::webc::Error) -> ProviderError {
        match error {
            genai::webc::Error::ResponseFailedStatus { status, body, headers } => {
                self.refused(status.as_u16(), &body, &headers)
            }
            genai::webc::Error::Reqwest(error) => self.of_transport(&error),
            _ => self.error(ProviderErrorCode::Failed, "an answer that is not JSON"),
        }
    }

    /// The sentence contains no addresses; it states the root cause.
    pub(super) fn of_transport(&self, error: &reqwest::Error) -> ProviderError {
        let root = root_cause(error);
        if error.is_connect() {
            return self.error(ProviderErrorCode::Unreachable, &format!("cannot be reached: {root}"));
        }
        if error.is_timeout() {
            return self.header_timeout();
        }
        match error.is_body() || error.is_decode() {
            true => self.error(ProviderErrorCode::Cut, &format!("the connection was lost in the answer: {root}")),
            false => self.error(ProviderErrorCode::Unreachable, &format!("the connection was lost: {root}")),
        }
    }

    pub(super) fn refused(&self, status: u16, body: &str, headers: &HeaderMap) -> ProviderError {
        let said = Said::of(body);
        let code = match ProviderErrorCode::of_status(status) {
            // Only these are so broad that the vendor's words say more than the status.
            code @ (ProviderErrorCode::BadRequest | ProviderErrorCode::ModelNotFound) => said.narrow().unwrap_or(code),
            // Some servers use these statuses for an overflow too.
            ProviderErrorCode::Overloaded | ProviderErrorCode::Failed if said.is_overflow() => {
                ProviderErrorCode::ContextOverflow
            }
            code => code,
        };
        let reason = match said.message.trim() {
            "" => format!("HTTP status {status}"),
            message => format!("HTTP status {status}: {message}"),
        };
        let is_limited = code == ProviderErrorCode::RateLimited;
        let retry_after = wait_asked(headers).or_else(|| reset_in(headers, body).filter(|_| is_limited));
        ProviderError { retry_after, sizes: said.sizes, ..self.error(code, &reason) }
    }
}

/// The server's response in place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Refused {
    /// Whether it is the model that was not found, and not the path.
    pub(super) fn is_about_model(&self) -> bool {
        self.said().narrow() == Some(ProviderErrorCode::ModelNotFound)
    }

    /// Matches how Ollama, OpenRouter, llama.cpp, vLLM, Gemini and others say that a model does not support tools.
    /// Refusals of a single tool, or of part of its schema, do not match.
    pub(super) fn takes_no_tools(&self) -> bool {
        const WORDS: [&str; 12] = [
            "not support tool",
            "not support function call",
            "nt support tool",
            "nt support function call",
            "no endpoints found that support tool use",
            "tools are not supported",
            "tools is not supported",
            "tool use is not supported",
            "tool calling is not supported",
            "function calling is not ",
            "tool choice requires ",
            "tools param requires ",
        ];
        let said = self.said().message.to_lowercase().replace(['"', '`', '\'', '’'], "");
        WORDS.iter().any(|words| said.contains(words))
    }

    fn said(&self) -> Said {
        Said::of(&self.body)
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

/// A vendor's description of a failure.
struct Said {
    message: String,
    /// The values of `type`, `code` and `status`, in lower case.
    names: Vec<String>,
    sizes: ContextSizes,
}

impl Said {
    fn of(body: &str) -> Self {
        serde_json::from_str(body).map_or_else(|_| Self::words(body), |body| Self::read(&body))
    }

    /// A body that is not JSON.
    fn words(text: &str) -> Self {
        let sizes = overflow::sizes(&Value::Null, text);
        Self { message: text.to_owned(), names: Vec::new(), sizes }
    }

    /// All vendors use JSON; the error is in `error`, or is the whole body.
    fn read(body: &Value) -> Self {
        let body = match body {
            Value::Array(items) => items.first().unwrap_or(body),
            _ => body,
        };
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let message = match error {
            Value::String(text) => text.clone(),
            _ => match error.get("message").or_else(|| body.get("message")).or_else(|| body.get("detail")) {
                Some(Value::String(text)) => text.clone(),
                _ => error.to_string(),
            },
        };
        let names = ["type", "code", "status"]
            .iter()
            .filter_map(|name| error.get(name))
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).to_lowercase())
            .collect();
        let sizes = overflow::sizes(error, &message);
        Self { message, names, sizes }
    }

    fn code(&self) -> Option<ProviderErrorCode> {
        self.narrow().or_else(|| self.names.iter().find_map(|name| named(name)))
    }

    fn is_overflow(&self) -> bool {
        overflow::is_told(&self.names, &self.message)
    }

    /// The two failures that have a code of their own, whatever the status.
    fn narrow(&self) -> Option<ProviderErrorCode> {
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let named = |word: &str| self.names.iter().any(|name| name.contains(word));
        if self.is_overflow() {
            return Some(ProviderErrorCode::ContextOverflow);
        }
        let is_unknown = message.contains("model") && says(&["does not exist", "not found", "unknown model"]);
        (named("model_not_found") || is_unknown).then_some(ProviderErrorCode::ModelNotFound)
    }
}

/// The meaning of a vendor's own error name.
fn named(name: &str) -> Option<ProviderErrorCode> {
    if let Ok(status) = name.parse::<u16>() {
        return (400..600).contains(&status).then(|| ProviderErrorCode::of_status(status));
    }
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Some(match () {
        () if is(&["overloaded", "unavailable", "server_error", "api_error", "internal"]) => {
            ProviderErrorCode::Overloaded
        }
        () if is(&["rate_limit", "resource_exhausted", "quota"]) => ProviderErrorCode::RateLimited,
        () if is(&["authentication", "permission", "unauthorized", "invalid_api_key"]) => {
            ProviderErrorCode::Unauthorized
        }
        () if is(&["timeout", "deadline"]) => ProviderErrorCode::Timeout,
        () if is(&["invalid_request", "invalid_argument", "bad_request"]) => ProviderErrorCode::BadRequest,
        () => return None,
    })
}

/// How long the provider asks to wait: milliseconds, seconds or a date.
fn wait_asked(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str, unit: f64| {
        text.parse::<f64>().ok().and_then(|count| Duration::try_from_secs_f64(count * unit).ok())
    };
    if let Some(wait) = text("retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(wait);
    }
    let given = text("retry-after")?;
    seconds(given, 1.0).or_else(|| {
        let at = rfc2822::parse(given).ok()?.timestamp();
        Some(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or(Duration::ZERO))
    })
}

/// When a usage limit is reset, in the formats of vendors without `Retry-After`: Anthropic's header has the time when
/// its longest limit is reset, in seconds since 1970; OpenAI's body has a number of seconds; Google's has a duration
/// such as `34.5s`.
fn reset_in(headers: &HeaderMap, body: &str) -> Option<Duration> {
    let from_now = |second: i64| {
        let wait = Timestamp::from_second(second).ok()?.duration_since(Timestamp::now());
        Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
    };
    let header = headers.get("anthropic-ratelimit-unified-reset").and_then(|value| value.to_str().ok());
    if let Some(second) = header.and_then(|text| text.trim().parse().ok()) {
        return from_now(second);
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error").unwrap_or(&body);
    let number = |name: &str| error.get(name).and_then(Value::as_f64);
    if let Some(seconds) = number("resets_in_seconds") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let Some(second) = number("resets_at") {
        return from_now(second as i64);
    }
    let details = error.get("details").and_then(Value::as_array)?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str()?.strip_suffix('s'))?;
    Duration::try_from_secs_f64(delay.parse().ok()?).ok()
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
