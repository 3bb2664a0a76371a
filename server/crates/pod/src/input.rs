//! What can happen to a Pod.

use std::fmt;

use protocol::{Blobs, CommandId, ControlEvent, Decision, Proof, Seen, Segment, Seq, Timestamp, TurnEvent, Usage};
use serde_json::Value;

use crate::PictureKind;

/// One thing that happens to a Pod, from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A person's message that starts a run.
    Submit {
        command_id: CommandId,
        segments: Vec<Segment>,
        by: String,
        /// What the segments name, as it is kept.
        blobs: Blobs,
    },
    /// A person's message for the run that goes on. It is taken together with the question to the model
    /// ([`crate::Effect::CallModel`]), so that the model is asked with it.
    Steer {
        command_id: CommandId,
        segments: Vec<Segment>,
        by: String,
        /// What the segments name, as it is kept.
        blobs: Blobs,
    },
    Pause,
    Resume {
        command_id: Option<CommandId>,
    },
    /// The time of the usage limit that paused it is over.
    LimitOver,
    Cancel,
    Stop,
    Restore,
    /// Puts a summary in the place of the conversation's beginning.
    Compact,
    /// The summary that was asked for.
    Summarised(Result<Summary, NoSummary>),
    Rewind {
        to_seq: Seq,
        expected_head: Seq,
        /// Estimated tokens of what is left.
        context_used: u64,
    },
    /// News of children and messages of peers, in the order in which they came.
    Mail {
        events: Vec<TurnEvent>,
        /// An idle Pod begins a run for it.
        wakes: bool,
    },
    /// What people are told and no model ever is. In any state.
    Note(Vec<ControlEvent>),
    /// Nothing more may be used: the model is not asked.
    BudgetSpent(String),
    /// A person runs a tool as this Pod would.
    OperatorCall {
        name: String,
        arguments: Value,
    },
    /// The Pod's agent calls a tool through yoi's own MCP server.
    AgentCall {
        name: String,
        arguments: Value,
    },
    /// A piece of the answer that the model is giving in the present run.
    Model(ModelPiece),
    /// A tool wrote something.
    ToolOutput {
        call_id: String,
        text: String,
    },
    /// A command that runs wants to reach a host.
    WayOut {
        call_id: String,
        host: String,
        port: u16,
    },
    /// Of an answer or a summary that does not come to its end: what it has used.
    Unfinished(Usage),
    /// A tool came to an end.
    ToolFinished {
        call_id: String,
        outcome: ToolOutcome,
    },
    /// A person answered a question.
    Answer {
        id: String,
        decision: Decision,
        by: String,
        reason: Option<String>,
    },
}

/// What takes the place of a conversation's beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub text: String,
    /// The first record that stays as it is.
    pub kept_from_seq: Seq,
    /// What making it used; `context_used` is an estimate of what the context is now.
    pub usage: Usage,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq)]
pub enum NoSummary {
    /// There is nothing that one could stand for.
    NothingToDrop(Newest),
    /// In one line.
    Failed(String),
}

/// What no summary can stand for. Estimates, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Newest {
    /// Where the newest message is, when it has no answer yet.
    pub at: Option<Seq>,
    pub tokens: u64,
    /// Instructions, and the tools that are offered.
    pub always: u64,
    /// The context without it.
    pub left: u64,
}

/// A piece of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelPiece {
    Text(String),
    Reasoning(String),
    /// What the provider wants back with the thought that it has just given, or in the place of one that only it can read.
    Proof(Proof),
    /// Arguments of the `index`-th call of this answer, as they come.
    ToolArgs {
        index: usize,
        name: String,
        text: String,
    },
    ToolCall {
        index: usize,
        name: String,
        arguments: Value,
    },
    /// The provider is asked again after a wait. Nothing of the answer has come yet.
    Retry {
        attempt: u32,
        wait_ms: u64,
        code: String,
        detail: String,
    },
    /// What the provider does not know, and was not asked for.
    Alert(String),
    Usage(Usage),
    /// The answer is whole.
    Finished,
    /// The answer is cut by the model's own limit.
    Limit,
    /// The answer ended with nothing at all in it, and was whole or cut by the model's own limit.
    Nothing {
        is_limit: bool,
        asked: QuestionSize,
    },
    Failed(Failure),
}

/// How an answer failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// As `run_finished` tells it.
    pub code: String,
    pub detail: String,
    pub cause: Cause,
    pub asked: QuestionSize,
    /// From when on the provider takes more, where it said so.
    pub until: Option<Timestamp>,
}

/// Size of a question in estimated tokens; 0 when nothing was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionSize {
    pub whole: u64,
    /// The conversation alone, without instructions and tools.
    pub said: u64,
}

/// What an answer failed of, as far as it decides on what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The question is longer than the model's context. Tokens, as far as the provider told them.
    Overflow { limit: Option<u64>, used: Option<u64> },
    /// Nothing that says what; the question may have been too long.
    Unexplained,
    /// Something that no shorter question would change.
    Other,
}

impl Failure {
    /// Of something that no shorter question would change.
    pub fn new(code: impl Into<String>, detail: impl Into<String>) -> Self {
        let (code, detail, asked) = (code.into(), detail.into(), QuestionSize::default());
        Self { code, detail, cause: Cause::Other, asked, until: None }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// One line.
    pub summary: String,
    pub content: Option<String>,
    pub is_error: bool,
    pub code: Option<String>,
    pub diff: Option<String>,
    pub duration_ms: u64,
    /// What the caller has seen by it.
    pub seen: Option<Seen>,
    /// What it shows, until it is kept.
    pub picture: Option<Picture>,
    /// What it shows, kept.
    pub blobs: Blobs,
}

/// A picture that a tool gives, as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub kind: PictureKind,
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Picture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} bytes", self.kind.name(), self.bytes.len())
    }
}

impl ToolOutcome {
    /// A failure that no tool reported itself.
    pub fn failed(code: &str, summary: impl Into<String>) -> Self {
        Self {
            summary: summary.into(),
            content: None,
            is_error: true,
            code: Some(code.to_owned()),
            diff: None,
            duration_ms: 0,
            seen: None,
            picture: None,
            blobs: Blobs::default(),
        }
    }

    /// A success of one line.
    pub fn done(summary: impl Into<String>) -> Self {
        Self {
            summary: summary.into(),
            content: None,
            is_error: false,
            code: None,
            diff: None,
            duration_ms: 0,
            seen: None,
            picture: None,
            blobs: Blobs::default(),
        }
    }

    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }
}
