//! What happened in a Pod: the records of its journal.
//!
//! [`TurnEvent`] can reach a model, [`ControlEvent`] cannot: the function that builds a model's context takes only
//! the first kind, so a handshake or a status can never touch a conversation (I4).

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value};

use crate::{CommandId, PodName, PodRef, PodState, RuntimeId, ScopeRule, Segment, Seq, Usage, WorkerId};

/// One committed change of one Pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Record {
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    pub event: Event,
}

/// What a record says. A kind that this version does not know keeps its kind and fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Event {
    Turn(TurnEvent),
    Control(ControlEvent),
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    Unknown(Map<String, Value>),
}

impl Event {
    /// The word under `kind`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Turn(event) => event.kind(),
            Self::Control(event) => event.kind(),
            Self::Unknown(map) => map.get("kind").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }
}

impl From<TurnEvent> for Event {
    fn from(event: TurnEvent) -> Self {
        Self::Turn(event)
    }
}

impl From<ControlEvent> for Event {
    fn from(event: ControlEvent) -> Self {
        Self::Control(event)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        // A known kind with a field from a newer version is shown as unknown too, rather than dropped (E24).
        let known = match kind {
            kind if TurnEvent::KINDS.contains(&kind) => TurnEvent::deserialize(&value).ok().map(Self::Turn),
            kind if ControlEvent::KINDS.contains(&kind) => ControlEvent::deserialize(&value).ok().map(Self::Control),
            _ => None,
        };
        match (known, value) {
            (Some(event), _) => Ok(event),
            (None, Value::Object(map)) => Ok(Self::Unknown(map)),
            (None, _) => Err(de::Error::custom("an event is an object with a `kind`")),
        }
    }
}

macro_rules! kinds {
    ($name:ident { $($variant:ident => $text:literal,)* }) => {
        impl $name {
            pub const KINDS: &'static [&'static str] = &[$($text,)*];

            /// The word under `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $text,)* }
            }
        }
    };
}

/// Events that can reach the model, directly or with the block they belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEvent {
    UserMessage {
        segments: Vec<Segment>,
        command_id: CommandId,
        by: String,
    },
    PeerMessage {
        message_id: String,
        text: String,
        from: PeerLabel,
        hops: u32,
    },
    ChildEvent {
        what: ChildChange,
        child: PodLabel,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    TextChunk {
        block: String,
        text: String,
    },
    ReasoningChunk {
        block: String,
        text: String,
    },
    ToolArgsChunk {
        block: String,
        text: String,
    },
    ToolOutputChunk {
        block: String,
        text: String,
    },
    MessageFinished {
        block: String,
        text: String,
        interrupted: bool,
    },
    ReasoningFinished {
        block: String,
        text: String,
        interrupted: bool,
    },
    ToolCalled {
        call_id: String,
        block: String,
        name: String,
        arguments: Value,
        by: ToolBy,
    },
    ToolFinished {
        call_id: String,
        block: String,
        summary: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        is_error: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        duration_ms: u64,
        by: ToolBy,
        /// What the caller has seen by this result; it counts for later calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Seen>,
    },
    Compacted {
        summary: String,
        kept_from_seq: Seq,
    },
    Rewound {
        to_seq: Seq,
    },
}

kinds!(TurnEvent {
    UserMessage => "user_message",
    PeerMessage => "peer_message",
    ChildEvent => "child_event",
    TextChunk => "text_chunk",
    ReasoningChunk => "reasoning_chunk",
    ToolArgsChunk => "tool_args_chunk",
    ToolOutputChunk => "tool_output_chunk",
    MessageFinished => "message_finished",
    ReasoningFinished => "reasoning_finished",
    ToolCalled => "tool_called",
    ToolFinished => "tool_finished",
    Compacted => "compacted",
    Rewound => "rewound",
});

impl TurnEvent {
    /// A piece of a block that a later record of the same block replaces as a whole.
    pub fn is_chunk(&self) -> bool {
        matches!(
            self,
            Self::TextChunk { .. }
                | Self::ReasoningChunk { .. }
                | Self::ToolArgsChunk { .. }
                | Self::ToolOutputChunk { .. }
        )
    }
}

/// Events that people see and no model ever does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ControlEvent {
    RunStarted {
        trigger: Trigger,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command_id: Option<CommandId>,
    },
    RunFinished {
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// What this run alone used.
        usage: Usage,
    },
    ProviderRetry {
        attempt: u32,
        wait_ms: u64,
        code: String,
        detail: String,
    },
    /// What one model call used.
    Usage {
        #[serde(flatten)]
        usage: Usage,
    },
    Status {
        state: PodState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_reason: Option<String>,
    },
    PeerLinked {
        peer: PeerLabel,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    PeerUnlinked {
        peer: PeerLabel,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    PeerRequested {
        peer: PeerLabel,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    PeerDeclined {
        peer: PeerLabel,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    MessageReceipt {
        message_id: String,
        peer: PeerLabel,
        state: ReceiptState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Why it is held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ChildSpawned {
        child: PodLabel,
        scope: Vec<ScopeRule>,
    },
    ChildStopped {
        child: PodLabel,
        scope: Vec<ScopeRule>,
    },
    ScopeChanged {
        child: PodLabel,
        scope: Vec<ScopeRule>,
    },
    ApprovalAsked {
        id: String,
        tool: String,
        arguments: Value,
    },
    ApprovalAnswered {
        id: String,
        tool: String,
        arguments: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Decision>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Alert {
        level: AlertLevel,
        source: String,
        text: String,
    },
}

kinds!(ControlEvent {
    RunStarted => "run_started",
    RunFinished => "run_finished",
    ProviderRetry => "provider_retry",
    Usage => "usage",
    Status => "status",
    PeerLinked => "peer_linked",
    PeerUnlinked => "peer_unlinked",
    PeerRequested => "peer_requested",
    PeerDeclined => "peer_declined",
    MessageReceipt => "message_receipt",
    ChildSpawned => "child_spawned",
    ChildStopped => "child_stopped",
    ScopeChanged => "scope_changed",
    ApprovalAsked => "approval_asked",
    ApprovalAnswered => "approval_answered",
    Alert => "alert",
});

/// Another Pod as a record names a peer: the address, flat, and the name it had then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeerLabel {
    pub runtime_id: RuntimeId,
    pub worker_id: WorkerId,
    pub name: PodName,
}

/// Another Pod as a record names a child: `{ pod, name }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PodLabel {
    pub pod: PodRef,
    pub name: PodName,
}

/// What a tool's result showed to its caller, so that later calls may rely on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Seen {
    /// The whole present content of a file: its absolute path, and SHA-256 as 64 hex digits.
    File { path: String, sha256: String },
    /// What a child said, up to this position of its journal.
    Output { pod: PodRef, seq: Seq },
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$inner])* $variant,)* }
    };
}

words! {
    /// Who called a tool.
    ToolBy { Model, Operator, }
}
words! {
    /// What began a run.
    Trigger { Input, Peer, Child, Resume, }
}
words! {
    /// How a run ended.
    Outcome {
        Completed,
        Cancelled,
        Paused,
        /// The model's or a Pod's own limit cut it.
        Limit,
        /// The process died or was stopped in mid-run.
        Interrupted,
        /// It ended before anything happened; its text went back to the sender.
        RolledBack,
        Error,
    }
}
words! {
    /// Where a peer message is.
    ReceiptState { Stored, Read, Answered, Held, Refused, Expired, }
}
words! {
    /// What a child told its parent.
    ChildChange { TurnEnded, Errored, ShutDown, }
}
words! {
    /// A person's answer to a question.
    Decision { Allow, Deny, }
}
words! {
    /// How much an alert matters.
    AlertLevel { Note, Warn, Error, }
}
