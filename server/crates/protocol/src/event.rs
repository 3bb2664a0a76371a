//! What happened in a Pod: the records of its journal.
//!
//! [`TurnEvent`] can reach a model, [`ControlEvent`] cannot: the function that builds a model's context accepts only
//! the former, so a handshake or a status can never affect a conversation (I4).

use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value};

use crate::{
    AgentOptions, Blobs, Budget, CommandId, Cut, Mode, ModelName, PodName, PodRef, PodState, RuntimeId, ScopeRule,
    Segment, Seq, Thinking, Timestamp, Usage, WorkerId,
};

/// One committed change of one Pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Record {
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    pub event: Event,
    /// Present if its texts are cut here; fetching the record by its seq returns them whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
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
    /// The value of `kind`.
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
        // A known kind with an unexpected field, as from a newer version, is shown as unknown rather than dropped
        // (E24).
        let known = TurnEvent::read(&value).map(Self::Turn).or_else(|| ControlEvent::read(&value).map(Self::Control));
        match (known, value) {
            (Some(event), _) => Ok(event),
            (None, Value::Object(map)) => Ok(Self::Unknown(map)),
            (None, _) => Err(de::Error::custom("an event is an object with a `kind`")),
        }
    }
}

/// Whether this version has an event for this `kind`.
pub(crate) fn is_known(kind: &str) -> bool {
    TurnEvent::KINDS.contains(&kind) || ControlEvent::KINDS.contains(&kind)
}

/// Defines the kinds of events and how each is read by its field names: required fields, optional ones, and one that
/// is flattened into the event.
macro_rules! kinds {
    ($name:ident {
        $($variant:ident => $text:literal {
            $($field:ident),* ; $($optional:ident),* ; $($spread:ident)?
        },)*
    }) => {
        impl $name {
            pub const KINDS: &'static [&'static str] = &[$($text,)*];

            /// The value of `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $text,)* }
            }

            /// `None` if it is of another kind, or a field does not have the form of this version.
            fn read(event: &Value) -> Option<Self> {
                match event.get("kind")?.as_str()? {
                    $($text => Some(Self::$variant {
                        $($field: field(event.get(stringify!($field))?)?,)*
                        $($optional: field(event.get(stringify!($optional)).unwrap_or(&Value::Null))?,)*
                        $($spread: field(event)?,)?
                    }),)*
                    _ => None,
                }
            }
        }

        // A derived implementation would be a fifth of what the browser loads for a Pod's page.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let event = Value::deserialize(deserializer)?;
                Self::read(&event).ok_or_else(|| de::Error::custom("an event of another kind, or without one of its fields"))
            }
        }
    };
}

fn field<'a, T: Deserialize<'a>>(value: &'a Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Events that can reach the model, directly or with the block they belong to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEvent {
    UserMessage {
        segments: Vec<Segment>,
        command_id: CommandId,
        by: String,
        /// The pictures and files that the segments name.
        #[serde(default, skip_serializing_if = "Blobs::is_empty")]
        blobs: Blobs,
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
    /// A background command has ended.
    CommandEnded {
        /// The id of the call that started it.
        call_id: String,
        command: String,
        /// Who started it. A model is told only of its own.
        by: ToolBy,
        /// How it ended, in half a sentence.
        detail: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The end of its output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
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
        /// The tool, in the first chunk of a block, so that an interrupted call has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
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
        /// What its provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<Proof>,
    },
    ToolCalled {
        call_id: String,
        block: String,
        name: String,
        arguments: Value,
        by: ToolBy,
        /// Of a call that an agent makes during its turn: the id by which the agent, or what it asks yoi for, is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_call_id: Option<String>,
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
        /// What the caller has seen through this result; later calls rely on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Seen>,
        /// Pictures that belong to the result.
        #[serde(default, skip_serializing_if = "Blobs::is_empty")]
        blobs: Blobs,
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
    UserMessage => "user_message" { segments, command_id, by ; blobs ; },
    PeerMessage => "peer_message" { message_id, text, from, hops ; ; },
    ChildEvent => "child_event" { what, child ; detail ; },
    CommandEnded => "command_ended" { call_id, command, by, detail ; exit_code, output ; },
    TextChunk => "text_chunk" { block, text ; ; },
    ReasoningChunk => "reasoning_chunk" { block, text ; ; },
    ToolArgsChunk => "tool_args_chunk" { block, text ; name ; },
    ToolOutputChunk => "tool_output_chunk" { block, text ; ; },
    MessageFinished => "message_finished" { block, text, interrupted ; ; },
    ReasoningFinished => "reasoning_finished" { block, text, interrupted ; proof ; },
    ToolCalled => "tool_called" { call_id, block, name, arguments, by ; agent_call_id ; },
    ToolFinished => "tool_finished" { call_id, block, summary, is_error, duration_ms, by ; content, code, diff, seen, blobs ; },
    Compacted => "compacted" { summary, kept_from_seq ; ; },
    Rewound => "rewound" { to_seq ; ; },
});

impl TurnEvent {
    /// Whether this is a chunk of a block, which a later record of the same block replaces as a whole.
    pub fn is_chunk(&self) -> bool {
        matches!(
            self,
            Self::TextChunk { .. }
                | Self::ReasoningChunk { .. }
                | Self::ToolArgsChunk { .. }
                | Self::ToolOutputChunk { .. }
        )
    }

    /// The length of a chunk's text in bytes; `None` if this is not a chunk.
    pub fn chunk_len(&self) -> Option<usize> {
        match self {
            Self::TextChunk { text, .. }
            | Self::ReasoningChunk { text, .. }
            | Self::ToolArgsChunk { text, .. }
            | Self::ToolOutputChunk { text, .. } => Some(text.len()),
            _ => None,
        }
    }

    /// Appends the following chunk. Returns false and changes nothing if `next` is not the next chunk of the same
    /// block.
    pub fn join_chunk(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::TextChunk { block, text }, Self::TextChunk { block: same, text: more })
            | (Self::ReasoningChunk { block, text }, Self::ReasoningChunk { block: same, text: more })
            | (Self::ToolArgsChunk { block, text, .. }, Self::ToolArgsChunk { block: same, text: more, .. })
            | (Self::ToolOutputChunk { block, text }, Self::ToolOutputChunk { block: same, text: more })
                if block == same =>
            {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

/// Events that people see and no model ever does.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
        /// The answers that an agent offers to its own question.
        #[serde(default, skip_serializing_if = "AgentOptions::is_empty")]
        options: AgentOptions,
    },
    ApprovalAnswered {
        id: String,
        tool: String,
        arguments: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Decision>,
        /// Which of the agent's options it is, by its id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What changed in a Pod's settings; it applies from the next model call on.
    SettingsChanged {
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<Thinking>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Vec<ScopeRule>>,
        /// A budget with neither cost nor tokens means no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// What the Pod does without asking from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
    },
    /// The provider accepts no more before this time: its usage limit is reached.
    LimitReached {
        until: Timestamp,
        /// The Pod then resumes by itself.
        resumes: bool,
    },
    /// A Pod's agent was started, and has a session.
    AgentStarted {
        agent: String,
        /// As it calls itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        session_id: String,
        /// It continues the session that it had.
        resumed: bool,
    },
    /// What the agent lets its client choose from now on.
    AgentOffers {
        // Kept as it arrived: the browser parses it where it is needed.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::AgentOffers))]
        offers: Value,
    },
    /// The agent is sent what was said up to this record.
    AgentPrompted {
        to_seq: Seq,
    },
    /// The agent's whole plan, which replaces the one before.
    PlanUpdated {
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::PlanEntry>))]
        entries: Value,
    },
    /// The mode that the agent is in now.
    ModeChanged {
        mode: String,
    },
    Alert {
        level: AlertLevel,
        source: String,
        text: String,
        /// The model that answers instead of the Pod's own one for the rest of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        model: Option<ModelName>,
    },
}

kinds!(ControlEvent {
    RunStarted => "run_started" { trigger ; command_id ; },
    RunFinished => "run_finished" { outcome, usage ; code, detail ; },
    ProviderRetry => "provider_retry" { attempt, wait_ms, code, detail ; ; },
    Usage => "usage" { ; ; usage },
    Status => "status" { state ; state_reason ; },
    PeerLinked => "peer_linked" { peer, by ; request_id, note ; },
    PeerUnlinked => "peer_unlinked" { peer, by ; request_id, note ; },
    PeerRequested => "peer_requested" { peer, by ; request_id, note ; },
    PeerDeclined => "peer_declined" { peer, by ; request_id, note ; },
    MessageReceipt => "message_receipt" { message_id, peer, state ; turn, reason ; },
    ChildSpawned => "child_spawned" { child, scope ; ; },
    ChildStopped => "child_stopped" { child, scope ; ; },
    ScopeChanged => "scope_changed" { child, scope ; ; },
    ApprovalAsked => "approval_asked" { id, tool, arguments ; options ; },
    ApprovalAnswered => "approval_answered" { id, tool, arguments ; decision, option, by, reason ; },
    SettingsChanged => "settings_changed" { by ; profile, provider, model, thinking, instructions, scope, budget, mode ; },
    LimitReached => "limit_reached" { until, resumes ; ; },
    AgentStarted => "agent_started" { agent, session_id, resumed ; title, version ; },
    AgentOffers => "agent_offers" { offers ; ; },
    AgentPrompted => "agent_prompted" { to_seq ; ; },
    PlanUpdated => "plan_updated" { entries ; ; },
    ModeChanged => "mode_changed" { mode ; ; },
    Alert => "alert" { level, source, text ; model ; },
});

/// A peer as a record names it: the fields of its address, and the name that it had then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeerLabel {
    pub runtime_id: RuntimeId,
    pub worker_id: WorkerId,
    pub name: PodName,
}

/// A child as a record names it: `{ pod, name }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PodLabel {
    pub pod: PodRef,
    pub name: PodName,
}

/// What a provider wants back with a thought, exactly as it gave it: a signature, or a thought that only it
/// can read. It is meaningless to any other model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Proof {
    pub provider: String,
    pub model: String,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub data: Value,
}

/// What a tool's result showed its caller, so that later calls can rely on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Seen {
    /// The whole content of a file: its absolute path, and the content's SHA-256 as 64 hex digits.
    File { path: String, sha256: String },
    /// What a child said, up to this position in its journal.
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
    ToolBy {
        Model,
        Operator,
        /// The Pod's agent, through yoi's own MCP server: beside what it says itself of its calls, and no part of the context.
        Agent,
    }
}
words! {
    /// What began a run.
    Trigger {
        Input,
        Peer,
        Child,
        Resume,
        /// The time of a usage limit is over.
        Limit,
        /// The model is asked again.
        Retry,
    }
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
    /// The state of a message between peers.
    ReceiptState {
        /// It left this server for another one, which has not said yet that it has it.
        Sent,
        /// It is durable at its receiver.
        Stored,
        Read,
        Answered,
        Held,
        Refused,
        Expired,
    }
}
words! {
    /// What a child told its parent.
    ChildChange { TurnEnded, Errored, ShutDown, }
}
words! {
    /// Your answer to an approval.
    Decision { Allow, Deny, }
}
words! {
    /// How much an alert matters.
    AlertLevel { Note, Warn, Error, }
}
