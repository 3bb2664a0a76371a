//! The blocks of a transcript.

use std::fmt;

use protocol::{
    AgentOption, AlertLevel, Blobs, ChildChange, CommandId, Decision, Outcome, PeerLabel, PodLabel, ReceiptState,
    Record, ScopeRule, Segment, Seq, Timestamp, ToolBy, Trigger, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Identifies a block for the lifetime of its Pod: the records' own `block`, or `seq-N` of its only record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockId(pub String);

impl BlockId {
    pub fn of_seq(seq: Seq) -> Self {
        Self(format!("seq-{seq}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One thing on the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub id: BlockId,
    /// Its first record. After folding, the first that is left, so only `id` is suitable as a key.
    pub seq: Seq,
    /// The newest of its own records. Others can change it too: the end of a run ends what is still streaming.
    pub last_seq: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// When its first record was committed.
    pub at: Timestamp,
    pub kind: BlockKind,
    /// Its records with truncated texts; [`crate::Transcript::complete`] replaces them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutRecord>,
}

/// A truncated record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutRecord {
    pub seq: Seq,
    /// The size of the whole record, in bytes.
    pub bytes: u64,
}

impl Block {
    pub(crate) fn new(id: BlockId, record: &Record, kind: BlockKind) -> Self {
        let run_id = record.run_id.clone();
        Self { id, seq: record.seq, last_seq: record.seq, run_id, at: record.at, kind, cut: Vec::new() }
    }

    /// The full size of its truncated records, in bytes; `None` if there are none.
    pub fn cut_bytes(&self) -> Option<u64> {
        let bytes = self.cut.iter().map(|cut| cut.bytes).sum();
        (bytes > 0).then_some(bytes)
    }

    /// Whether it is still growing, so that a screen shows it as unfinished.
    pub fn is_live(&self) -> bool {
        match &self.kind {
            BlockKind::Assistant { status, .. } | BlockKind::Reasoning { status, .. } => *status == Status::Streaming,
            BlockKind::Tool { result, interrupted, .. } => result.is_none() && !interrupted,
            BlockKind::Retry { settled, .. } => !settled,
            BlockKind::Approval { state, .. } => *state == ApprovalState::Open,
            _ => false,
        }
    }

    /// Whether there is nothing to draw: hidden reasoning that has ended, an answer without text, a retry that is
    /// over.
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            BlockKind::Assistant { text, status } => *status != Status::Streaming && text.is_empty(),
            BlockKind::Reasoning { text, status, .. } => *status != Status::Streaming && text.is_empty(),
            BlockKind::Retry { settled, .. } => *settled,
            _ => false,
        }
    }
}

/// What a block shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockKind {
    /// A run began: the heading of a turn. The run's id and start are the block's own.
    Turn {
        /// Ordinal of the run in its Pod, from 1. If the run's name does not give it, unknown until the transcript
        /// reaches back to the first record.
        number: Option<u64>,
        trigger: Trigger,
    },
    Person {
        segments: Vec<Segment>,
        by: String,
        command_id: CommandId,
        state: PersonState,
        /// The pictures and files that it refers to.
        #[serde(default, skip_serializing_if = "Blobs::is_empty")]
        blobs: Blobs,
    },
    Peer {
        from: PeerLabel,
        text: String,
        message_id: String,
        hops: u32,
        receipt: Option<Receipt>,
    },
    /// The state of a message whose text is not in this transcript: one that this Pod sent, or one that is held.
    Message {
        message_id: String,
        peer: PeerLabel,
        receipt: Receipt,
        /// Whether the message itself arrived later, as a [`BlockKind::Peer`] of its own.
        delivered: bool,
    },
    ChildEvent {
        what: ChildChange,
        child: PodLabel,
        detail: Option<String>,
    },
    /// A background command has ended.
    CommandEnded {
        /// The id of the call that started it.
        call_id: String,
        command: String,
        /// How it ended, in half a sentence.
        detail: String,
        exit_code: Option<i32>,
        /// The end of its output.
        output: Option<String>,
        by: ToolBy,
    },
    /// A child was spawned, stopped, or changed its scope.
    Child {
        what: ChildStep,
        child: PodLabel,
        scope: Vec<ScopeRule>,
    },
    Assistant {
        text: String,
        status: Status,
    },
    Reasoning {
        text: String,
        status: Status,
        /// Time of its first chunk; unknown if the chunks were folded away.
        started_at: Option<Timestamp>,
        ended_at: Option<Timestamp>,
    },
    Tool {
        /// These three are unknown until the call is complete.
        call_id: Option<String>,
        name: Option<String>,
        arguments: Option<Value>,
        /// The arguments while they stream; empty once `arguments` is set.
        arguments_text: String,
        /// The tool's output so far; empty once `result` is set.
        output: String,
        result: Option<ToolResult>,
        by: Option<ToolBy>,
        /// Whether its run ended before it had a result.
        interrupted: bool,
    },
    RunEnd {
        outcome: Outcome,
        code: Option<String>,
        detail: Option<String>,
        usage: Usage,
        /// Unknown until the transcript reaches back to the run's beginning; so is `trigger`.
        started_at: Option<Timestamp>,
        ended_at: Timestamp,
        trigger: Option<Trigger>,
    },
    /// The provider is asked again. A further attempt replaces this one.
    Retry {
        attempt: u32,
        wait_ms: u64,
        code: String,
        detail: String,
        /// Whether the run continued or ended.
        settled: bool,
    },
    Approval {
        approval_id: String,
        tool: String,
        arguments: Value,
        /// The answers that an agent offers to its own question.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<AgentOption>,
        state: ApprovalState,
        decision: Option<Decision>,
        by: Option<String>,
        reason: Option<String>,
        answered_at: Option<Timestamp>,
    },
    Relation {
        what: RelationStep,
        peer: PeerLabel,
        by: String,
        request_id: Option<String>,
        note: Option<String>,
    },
    Compacted {
        summary: String,
        kept_from_seq: Seq,
    },
    Rewound {
        to_seq: Seq,
    },
    Alert {
        level: AlertLevel,
        source: String,
        text: String,
    },
    /// A record of a kind that this version does not know.
    Unknown {
        kind: String,
        fields: Map<String, Value>,
    },
}

/// The progress of a streamed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Streaming,
    Finished,
    Interrupted,
}

/// The state of a person's message, in chronological order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonState {
    #[default]
    Stored,
    /// A run began with it.
    Read,
    /// That run was rolled back, and the text was returned to its sender.
    Returned,
}

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Open,
    Answered,
    /// The run that asked ended, or its Pod stopped.
    Void,
}

/// The newest known state of a message's delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub state: ReceiptState,
    /// Ordinal of the receiver's run that read it.
    pub turn: Option<u64>,
    /// Why it is held.
    pub reason: Option<String>,
    pub at: Timestamp,
}

/// A tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub summary: String,
    pub content: Option<String>,
    pub is_error: bool,
    pub code: Option<String>,
    pub diff: Option<String>,
    pub duration_ms: u64,
    /// Pictures that belong to it.
    #[serde(default, skip_serializing_if = "Blobs::is_empty")]
    pub blobs: Blobs,
}

/// What happened between this Pod and a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationStep {
    Linked,
    Unlinked,
    Requested,
    Declined,
}

/// What happened to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildStep {
    Spawned,
    Stopped,
    ScopeChanged,
}
