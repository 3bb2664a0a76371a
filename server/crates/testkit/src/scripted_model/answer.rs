//! What a scripted model says: written down by a test, step by step.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::sync::Notify;

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Sent as it is, in the place of the steps.
    pub(super) body: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Step {
    Text(String),
    Reasoning(String),
    /// A call; its arguments come in these pieces. OpenAI's wire may leave the id out.
    ToolCall {
        id: Option<String>,
        name: String,
        pieces: Vec<String>,
    },
    /// Reported with the end, wherever it stands before it.
    Usage(Tokens),
    /// Silent for a while.
    Pause(Duration),
    /// Silent until a test says so.
    WaitFor(Arc<Notify>),
    /// Words `w1`, `w2`, … one after each pause.
    Trickle {
        words: usize,
        every: Duration,
    },
    /// The connection is dropped.
    Cut,
    /// Silent for ever.
    Stall,
    /// An error inside a stream that began well.
    ErrorFrame(Value),
    /// These bytes, as they are.
    Raw(String),
    /// The end, with the reason of the wire or the one that fits.
    Finish(Option<String>),
}

/// Tokens of an answer; `input` includes `cached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Answer {
    /// Begins an answer that is streamed. It ends with its last step: without `finish` it just stops.
    #[expect(clippy::new_without_default, reason = "an empty answer is nothing to fall back to")]
    pub fn new() -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), body: None, steps: Vec::new() }
    }

    /// A whole answer: this text.
    pub fn say(text: impl Into<String>) -> Self {
        Self::new().text(text).finish()
    }

    /// A refusal.
    ///
    /// # Panics
    /// When `status` is no HTTP status.
    pub fn refuse(status: u16, body: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).expect("a test wrote an HTTP status");
        Self { status, body: Some(body.into()), ..Self::new() }
    }

    /// # Panics
    /// When it is no valid header.
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

    /// The tokens that it reports with its end.
    #[must_use]
    pub fn usage(self, tokens: Tokens) -> Self {
        self.step(Step::Usage(tokens))
    }

    #[must_use]
    pub fn finish(self) -> Self {
        self.step(Step::Finish(None))
    }
}
