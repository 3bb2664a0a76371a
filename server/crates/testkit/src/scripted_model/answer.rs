//! Scripted answers, written step by step.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::sync::Notify;

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Sent unchanged, in place of the steps.
    pub(super) body: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Step {
    Text(String),
    Reasoning(String),
    /// A call; its arguments are sent in these chunks. OpenAI's protocols may omit the id.
    ToolCall {
        id: Option<String>,
        name: String,
        pieces: Vec<String>,
    },
    /// Reported at the end, wherever it stands before it.
    Usage(Tokens),
    /// Silence for a while.
    Pause(Duration),
    /// Silence until a test notifies it.
    WaitFor(Arc<Notify>),
    /// Words `w1`, `w2`, … one after each pause.
    Trickle {
        words: usize,
        every: Duration,
    },
    /// Closes the connection.
    Cut,
    /// Silence for ever.
    Stall,
    /// An error inside a stream that had begun normally.
    ErrorFrame(Value),
    /// These bytes, unchanged.
    Raw(String),
    /// The end, with this reason or the one that fits.
    Finish(Option<String>),
}

/// The token counts of an answer; `input` includes `cached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Answer {
    /// Begins a streamed answer. It ends after its last step: without `finish` it just stops.
    #[expect(clippy::new_without_default, reason = "an empty answer is nothing to fall back to")]
    pub fn new() -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), body: None, steps: Vec::new() }
    }

    /// A complete answer with this text.
    pub fn say(text: impl Into<String>) -> Self {
        Self::new().text(text).finish()
    }

    /// A refusal.
    ///
    /// # Panics
    /// If `status` is not an HTTP status.
    pub fn refuse(status: u16, body: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).expect("a test wrote an HTTP status");
        Self { status, body: Some(body.into()), ..Self::new() }
    }

    /// # Panics
    /// If it is not a valid header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("a test wrote a header");
        self.headers.insert(HeaderName::from_static(name), value);
        self
    }

    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.step(Step::Reasoning(text.into()))
    }

    #[must_use]
    pub fn tool_call(self, id: &str, name: &str, pieces: &[&str]) -> Self {
        let pieces = pieces.iter().map(|&piece| piece.to_owned()).collect();
        self.step(Step::ToolCall { id: Some(id.to_owned()), name: name.to_owned(), pieces })
    }

    /// The token counts that it reports at the end.
    #[must_use]
    pub fn usage(self, tokens: Tokens) -> Self {
        self.step(Step::Usage(tokens))
    }

    #[must_use]
    pub fn finish(self) -> Self {
        self.step(Step::Finish(None))
    }
}
