//! What the store gives back.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{Blobs, CommandId, PodName, PodState, Segment, Seq, WorkerId};
use serde::{Deserialize, Serialize};

/// A Pod's number inside one database; it keeps journal rows short. Never leaves the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PodKey(pub i64);

/// Pods that are found without looking at the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodGroup {
    /// With rules of their own, for what their tools may do.
    WithRules,
    /// Waiting or paused: those that can have asked a person something.
    Halted,
    /// Paused by a provider's usage limit, and told to go on by themselves.
    Limited,
}

/// A Pod as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PodRow {
    pub key: PodKey,
    pub worker_id: WorkerId,
    pub name: PodName,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// State at `checkpoint`. A `running` that outlived its process is corrected by recovery, never shown.
    pub state: PodState,
    /// A run was open at `checkpoint`, so a restart has to recover this Pod.
    pub open: bool,
    /// The resolved recipe the Pod was born with, as JSON of the runtime's own type.
    pub spec: String,
    /// The folded state, as JSON of `pod::Pod`.
    pub checkpoint: String,
    /// The newest record. `checkpoint` may end before it: chunks do not move that.
    pub head: Seq,
    /// Answers finished since somebody last looked.
    pub unread: u32,
    /// The Pod that spawned this one.
    pub parent: Option<ParentRow>,
    /// How many Pods it spawned that are still there.
    pub children: u32,
    /// How many Pods it knows.
    pub peers: u32,
    /// Inputs that wait.
    pub queued: u32,
}

/// Who leads a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRow {
    pub key: PodKey,
    pub worker_id: WorkerId,
}

/// A Pod that another one spawned.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildRow {
    pub pod: PodRow,
    /// What was lent to it last, as JSON of `Vec<protocol::ScopeRule>`.
    pub scope: String,
    /// The loan is out. False once it was taken back.
    pub is_lent: bool,
}

/// Something that a Pod is to be told, from where it was put until the Pod's journal holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailRow {
    /// Unique within the mailbox, for ever: what came twice is put in once.
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

/// One row of a journal: `body` is the JSON of a `protocol::Record`, encoded once, sent to viewers as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    pub seq: Seq,
    pub body: Bytes,
}

/// How much of a journal is read at once. One record always comes, however large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    pub records: u32,
    pub bytes: usize,
    /// A record of more bytes comes without its body: [`Journals::record`](crate::Journals::record) has it.
    pub each: usize,
    /// It counts as one of so many bytes.
    pub larger: usize,
}

/// A record that was found, and what it says unless it is a large one.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRecord {
    pub seq: Seq,
    pub body: Option<Bytes>,
}

/// A command that has been carried out, and what its caller was told.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRow {
    pub id: CommandId,
    /// Hash over verb, address and body: the same key with another one is `key_reused`.
    pub fingerprint: [u8; 32],
    /// JSON of the answer.
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
    /// It is for the run that goes on, and not for one of its own.
    pub steers: bool,
    /// The pictures and files that its segments name.
    pub blobs: Blobs,
}

/// Which rows of the audit are asked for; what is absent lets all through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub action: Option<String>,
    pub result: Option<String>,
    pub target: Option<String>,
}

/// One place where a word was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRow {
    pub worker_id: WorkerId,
    pub name: PodName,
    pub seq: Seq,
    pub kind: String,
    pub snippet: String,
    /// When it was said. None when the record itself cannot be read.
    pub at: Option<Timestamp>,
}
