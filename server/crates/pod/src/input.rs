//! What can happen to a Pod.

use std::fmt;

use protocol::{
    AgentOption, Blobs, CommandId, ControlEvent, Decision, PlanEntry, Proof, Seen, Segment, Seq, Timestamp, TurnEvent,
    Usage,
};
use serde_json::Value;

use crate::PictureKind;

/// Something that happens to a Pod from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A person's message that starts a run.
    Submit {
        command_id: CommandId,
        segments: Vec<Segment>,
        by: String,
        /// The blobs that the segments refer to, as they are stored.
        blobs: Blobs,
    },
    /// A person's message for the current run. It is taken together with the request to the model
    /// ([`crate::Effect::CallModel`]), so that the request includes it.
    Steer {
        command_id: CommandId,
        segments: Vec<Segment>,
        by: String,
        /// The blobs that the segments refer to, as they are stored.
        blobs: Blobs,
    },
    Pause,
    Resume {
        command_id: Option<CommandId>,
    },
    /// Ask the model again if its last answer was cut off or is missing.
    Retry {
        command_id: CommandId,
        /// The conversation ends with something unanswered.
        is_unanswered: bool,
    },
    /// The usage limit that paused the Pod has passed.
    LimitOver,
    Cancel,
    Stop,
    Restore,
    /// Compact: replace the beginning of the conversation by a summary.
    Compact,
    /// The summary that was requested.
    Summarised(Result<Summary, NoSummary>),
    Rewind {
        to_seq: Seq,
        expected_head: Seq,
        /// The estimated tokens of what is left.
        context_used: u64,
    },
    /// News of children and messages from peers, in the order in which they came.
    Mail {
        events: Vec<TurnEvent>,
        /// An idle Pod begins a run for it.
        wakes: bool,
    },
    /// Events that people see and no model ever does. Accepted in any state.
    Note(Vec<ControlEvent>),
    /// The rules or the mode of the Pod have changed: open questions that they decide now are answered.
    Rejudge {
        /// Who changed them.
        by: String,
    },
    /// A budget is spent: the model is not asked.
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
    /// A piece of the model's answer in the current run.
    Model(ModelPiece),
    /// A piece of what the Pod's agent does.
    Agent(AgentPiece),
    /// A tool wrote some output.
    ToolOutput {
        call_id: String,
        text: String,
    },
    /// A running command wants to connect to a host.
    WayOut {
        call_id: String,
        host: String,
        port: u16,
    },
    /// The server of a running tool asks a person something.
    Ask {
        call_id: String,
        /// Distinguishes the questions of one call.
        number: u64,
        server: String,
        message: String,
        schema: Value,
    },
    /// The usage of an answer or a summary that did not reach its end.
    Unfinished(Usage),
    /// Background commands have ended.
    CommandsEnded(Vec<CommandEnd>),
    /// A tool call has ended.
    ToolFinished {
        call_id: String,
        outcome: ToolOutcome,
    },
    /// The hooks at the end of this run have ended.
    RunHooked {
        run_id: String,
        /// What the one that failed says; `None` if none did.
        words: Option<String>,
    },
    /// A person answered an approval.
    Answer {
        id: String,
        decision: Decision,
        by: String,
        reason: Option<String>,
        /// The answer to what a tool's server asked.
        content: Option<Value>,
        /// Which of an agent's own options the answer is.
        option: Option<String>,
    },
}

/// A piece of what an agent does in a Pod, besides its text and its thoughts, which arrive like a model's.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentPiece {
    /// The agent is running and has a session.
    Started {
        agent: String,
        title: Option<String>,
        version: Option<String>,
        session_id: String,
        resumed: bool,
    },
    /// The agent can be sent what was said up to this record.
    Ready {
        to_seq: Seq,
    },
    /// What can be chosen now: modes, models and commands.
    Offers(Value),
    Mode(String),
    Plan(Value),
    /// The agent began a call by itself.
    Called {
        id: String,
        name: String,
        arguments: Value,
    },
    /// Output of that call. [`Self::Finished`] ends it.
    Output {
        id: String,
        text: String,
    },
    Finished {
        id: String,
        outcome: ToolOutcome,
    },
    /// The agent asks for permission in the middle of a call.
    Asked {
        ask: String,
        id: String,
        tool: String,
        arguments: Value,
        options: Vec<AgentOption>,
    },
    /// The agent asks yoi to run one of its tools.
    Wants {
        id: String,
        name: String,
        arguments: Value,
    },
    /// The agent no longer wants that tool's outcome.
    Unwanted {
        id: String,
    },
    Usage(Usage),
    Alert(String),
    /// The agent's turn is over.
    Ended(Stop),
    /// The agent refused the turn or could not be started.
    Failed {
        code: String,
        detail: String,
    },
    /// The agent ended in the middle of its turn.
    Lost(String),
}

/// Why an agent's turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    EndTurn,
    MaxTokens,
    MaxRequests,
    Refusal,
    Cancelled,
}

/// What replaces the beginning of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub text: String,
    /// The first record that is kept unchanged.
    pub kept_from_seq: Seq,
    /// What producing it used; `context_used` is an estimate of the new context.
    pub usage: Usage,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq)]
pub enum NoSummary {
    /// There is nothing that a summary could replace.
    NothingToDrop(Newest),
    /// The failure in one line.
    Failed(String),
}

/// What no summary can replace. Estimates, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Newest {
    /// The position of the newest message, if it has no answer yet.
    pub at: Option<Seq>,
    pub tokens: u64,
    /// The instructions and the tools that are offered.
    pub always: u64,
    /// The context without that message.
    pub left: u64,
}

/// A piece of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelPiece {
    Text(String),
    Reasoning(String),
    /// What the provider wants back with the thought that it has just given, or instead of one that only it can read.
    Proof(Proof),
    /// Arguments of the `index`-th call of this answer, as they arrive.
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
    /// The provider is asked again after a wait. Nothing of the answer has arrived yet.
    Retry {
        attempt: u32,
        wait_ms: u64,
        code: String,
        detail: String,
    },
    /// Something that the provider does not know and was therefore not asked for.
    Alert(String),
    Usage(Usage),
    /// The answer is complete.
    Finished,
    /// The answer was cut off by the model's own limit.
    Limit,
    /// The answer ended without any content, either complete or cut off by the model's own limit.
    Nothing {
        is_limit: bool,
        asked: QuestionSize,
    },
    Failed(Failure),
}

/// How an answer failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The code as in `run_finished`.
    pub code: String,
    pub detail: String,
    pub cause: Cause,
    pub asked: QuestionSize,
    /// When the provider will accept more, if it said so.
    pub until: Option<Timestamp>,
}

/// The size of a request in estimated tokens; 0 if nothing was requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionSize {
    pub whole: u64,
    /// The conversation alone, without instructions and tools.
    pub said: u64,
}

/// The cause of a failed answer, as far as it matters for what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The request is longer than the model's context. In tokens, as far as the provider reported them.
    Overflow { limit: Option<u64>, used: Option<u64> },
    /// No stated cause; the request may have been too long.
    Unexplained,
    /// Something that no shorter request would change.
    Other,
}

impl Failure {
    /// A failure that no shorter request would change.
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
    /// The picture that it shows, until that is stored.
    pub picture: Option<Picture>,
    /// What it shows, stored.
    pub blobs: Blobs,
    /// The Pod's new task list.
    pub tasks: Option<Vec<PlanEntry>>,
}

/// How a background command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    /// The id of the call that started it.
    pub call_id: String,
    /// Half a sentence, such as `exit 1 after 2.0 s`.
    pub detail: String,
    pub exit_code: Option<i32>,
    /// The end of its output.
    pub output: Option<String>,
}

/// A picture that a tool returned, as it was read.
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
            tasks: None,
        }
    }

    /// A success, summarised in one line.
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
            tasks: None,
        }
    }

    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }
}
