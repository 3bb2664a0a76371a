//! What the store returns.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{Blobs, CommandId, PodName, PodState, Segment, Seq, WorkerId};
use serde::{Deserialize, Serialize};

/// A Pod's number within one database; keeps journal rows short. Never leaves the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PodKey(pub i64);

/// Groups of Pods that have an index of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodGroup {
    /// With rules of their own about what their tools may do.
    WithRules,
    /// Waiting or paused: those that may have asked for an approval.
    Halted,
    /// Paused by a provider's usage limit and set to resume by themselves.
    Limited,
}

/// A Pod as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PodRow {
    pub key: PodKey,
    pub worker_id: WorkerId,
    pub name: PodName,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The state as of `checkpoint`. A `running` that outlived its process is corrected by recovery and never shown.
    pub state: PodState,
    /// A run was open as of `checkpoint`, so this Pod has to recover after a restart.
    pub open: bool,
    /// The resolved spec that the Pod was created with or that was set later, as JSON of the runtime's own type.
    pub spec: String,
    /// The folded state, as JSON of `pod::Pod`.
    pub checkpoint: String,
    /// The newest record. `checkpoint` may lag behind it, because chunks do not move it.
    pub head: Seq,
    /// Answers finished since the Pod was last viewed.
    pub unread: u32,
    /// The Pod that spawned this one.
    pub parent: Option<ParentRow>,
    /// The number of its children that still exist.
    pub children: u32,
    /// The number of its peers.
    pub peers: u32,
    /// The number of queued inputs.
    pub queued: u32,
}

/// The parent of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRow {
    pub key: PodKey,
    pub worker_id: WorkerId,
}

/// A child.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildRow {
    pub pod: PodRow,
    /// What was last lent to it, as JSON of `Vec<protocol::ScopeRule>`.
    pub scope: String,
    /// True while it is lent, false once it was taken back.
    pub is_lent: bool,
}

/// A message in a Pod's mailbox, from when it is put in until the Pod's journal contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailRow {
    /// Unique within the mailbox, forever: a duplicate is ignored.
    pub key: String,
    /// JSON of the runtime's own type.
    pub body: String,
    pub at: Timestamp,
}

/// Mail for another Pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailPut {
    pub to: PodKey,
    pub key: String,
    pub body: String,
    pub at: Timestamp,
}

/// One row of a journal: `body` is the JSON of a `protocol::Record`, encoded once and sent to viewers unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    pub seq: Seq,
    pub body: Bytes,
}

/// How much of a journal to read at once. At least one record is returned, however large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    pub records: u32,
    pub bytes: usize,
    /// A record with more bytes comes without its body, which [`Journals::record`](crate::Journals::record) returns.
    pub each: usize,
    /// How many bytes such a record counts as.
    pub larger: usize,
}

/// A record that was found, with its body unless that is large.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRecord {
    pub seq: Seq,
    pub body: Option<Bytes>,
}

/// A command that has been carried out, and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRow {
    pub id: CommandId,
    /// A hash over verb, address and body: the same key with another hash is `key_reused`.
    pub fingerprint: [u8; 32],
    /// The answer as JSON.
    pub answer: String,
    pub at: Timestamp,
}

/// An accepted input that has not begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxRow {
    pub command_id: CommandId,
    pub segments: Vec<Segment>,
    pub by: String,
    pub at: Timestamp,
    /// It is meant for the current run, not for one of its own.
    pub steers: bool,
    /// The pictures and files that its segments refer to.
    pub blobs: Blobs,
}

/// Selects audit rows; absent fields select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub action: Option<String>,
    pub result: Option<String>,
    pub target: Option<String>,
}

/// A place where a word was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRow {
    pub worker_id: WorkerId,
    pub name: PodName,
    pub seq: Seq,
    pub kind: String,
    pub snippet: String,
    /// When it was said; `None` if the record cannot be read.
    pub at: Option<Timestamp>,
}
