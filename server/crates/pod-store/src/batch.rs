//! What is written: a [`Batch`] applies as a whole or not at all.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, PodState, Seq, WorkerId};
use serde::{Deserialize, Serialize};

use crate::{
    CommandRow, FarChange, ForeignPod, InboxRow, MailPut, MessageChange, PeerChange, PodKey, RuleChange, Spent,
};

/// Changes that belong together: one transaction (the writer may combine several batches into one).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Idempotency: if a row with this id exists, nothing of the batch is written.
    pub command: Option<CommandRow>,
    pub changes: Vec<PodChange>,
    pub audit: Vec<AuditEntry>,
    /// Changes to pairs of Pods; applied after `changes`.
    pub peers: Vec<PeerChange>,
    pub messages: Vec<MessageChange>,
    /// Changes to the lines with other stores; applied before those in `changes`.
    pub far: Vec<FarChange>,
    /// Changes to the rules of folders and of the whole server.
    pub rules: Vec<RuleChange>,
    /// Pods in `changes` that other hosts own and have paused for this batch.
    pub foreign: Vec<ForeignPod>,
}

impl Batch {
    /// True if the batch does nothing but append to journals.
    pub(crate) fn has_records_alone(&self) -> bool {
        // Destructured, so that a new field has to be considered here.
        let Self { command: None, changes, audit, peers, messages, far, rules, foreign } = self else { return false };
        let is_empty =
            audit.is_empty() && peers.is_empty() && messages.is_empty() && far.is_empty() && rules.is_empty();
        is_empty && foreign.is_empty() && !changes.is_empty() && changes.iter().all(PodChange::has_records_alone)
    }
}

/// The changes to one Pod. Empty fields change nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PodChange {
    /// `None` for a Pod that this change creates.
    pub key: Option<PodKey>,
    pub create: Option<NewPod>,
    /// In seq order without gaps, beginning right after the journal's head. For a Pod that this change creates there
    /// may be gaps, as folded chunks leave them.
    pub records: Vec<NewRecord>,
    /// Chunks to drop: their block's finished record is in the journal or in `records`.
    pub folds: Vec<Fold>,
    /// The usage reported by `records`, counted once together with them.
    pub spent: Vec<Spent>,
    pub inbox_put: Vec<InboxRow>,
    pub inbox_taken: Vec<CommandId>,
    /// Mail for other Pods. Mail to a deleted Pod is dropped silently; a `key` that the mailbox has had before is
    /// ignored.
    pub mail_put: Vec<MailPut>,
    /// Keys of this Pod's own mail that is now in `records`. A key that has not arrived yet counts as taken from now
    /// on.
    pub mail_taken: Vec<String>,
    /// Makes this Pod the child of another one, with what is lent to it, replacing any previous parent. The batch is
    /// refused ([`crate::StoreError::PodGone`]) if the parent is gone.
    pub parent: Option<ParentLink>,
    /// The change to what this Pod was lent as a child; applied after `parent`. Ignored if the Pod has no parent.
    pub loan: Option<LoanChange>,
    pub update: Option<PodUpdate>,
    /// What `records` mean to other stores.
    pub far: Vec<FarChange>,
    /// Deletes the Pod and everything it has except audit and commands; its pairs, requests and messages are deleted
    /// for both sides. Its children remain without a parent. Of the rest of this change only `mail_put` applies: last
    /// messages to others.
    pub delete: bool,
}

impl PodChange {
    /// An empty change of an existing Pod.
    pub fn of(key: PodKey) -> Self {
        Self { key: Some(key), ..Self::empty() }
    }

    /// The creation of a Pod, and nothing else yet.
    pub fn creating(pod: NewPod) -> Self {
        Self { create: Some(pod), ..Self::empty() }
    }

    fn has_records_alone(&self) -> bool {
        let Self {
            key: Some(_),
            create: None,
            records,
            folds,
            spent,
            inbox_put,
            inbox_taken,
            mail_put,
            mail_taken,
            parent: None,
            loan: None,
            update: None,
            far,
            delete: false,
        } = self
        else {
            return false;
        };
        let is_empty = folds.is_empty()
            && spent.is_empty()
            && inbox_put.is_empty()
            && inbox_taken.is_empty()
            && mail_put.is_empty()
            && mail_taken.is_empty()
            && far.is_empty();
        is_empty && !records.is_empty() && records.iter().all(|record| record.search.is_none())
    }

    fn empty() -> Self {
        Self {
            key: None,
            create: None,
            records: Vec::new(),
            folds: Vec::new(),
            spent: Vec::new(),
            inbox_put: Vec::new(),
            inbox_taken: Vec::new(),
            mail_put: Vec::new(),
            mail_taken: Vec::new(),
            parent: None,
            loan: None,
            update: None,
            far: Vec::new(),
            delete: false,
        }
    }
}

/// A Pod's parent, and what is lent to the Pod (JSON of `Vec<protocol::ScopeRule>`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ParentLink {
    pub parent: PodKey,
    pub scope: String,
}

/// A change to a loan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoanChange {
    /// What was last lent is lent again.
    Out,
    /// It is taken back.
    Back,
}

/// A Pod to be created.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewPod {
    pub worker_id: WorkerId,
    pub name: PodName,
    pub spec: String,
    pub checkpoint: String,
    pub state: PodState,
    pub created_at: Timestamp,
}

/// New values for a Pod's row; `None` keeps the current one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PodUpdate {
    pub name: Option<PodName>,
    pub spec: Option<String>,
    pub checkpoint: Option<Checkpoint>,
    pub updated_at: Option<Timestamp>,
    pub unread: Option<u32>,
    /// JSON of a `protocol::ReviewDrafts`.
    #[serde(default)]
    pub drafts: Option<String>,
}

/// The folded state at one position, with the columns by which lists and recovery select.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    pub state: PodState,
    pub open: bool,
    pub json: String,
    pub seq: Seq,
}

/// One record, already encoded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewRecord {
    pub seq: Seq,
    pub class: RecordClass,
    /// JSON of a `protocol::Record` (UTF-8).
    #[serde(with = "crate::wire::text")]
    pub body: Bytes,
    /// The text by which a search may find it.
    pub search: Option<SearchText>,
}

/// Who needs a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordClass {
    /// Replaced by its block's finished record.
    Chunk,
    /// Part of a model's context.
    Turn,
    /// For people only.
    Control,
    /// An approval or a peer request, or its answer: for people only, and listed.
    Question,
}

/// The text of one record for the search index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchText {
    #[serde(deserialize_with = "crate::wire::kind")]
    pub kind: crate::wire::Kind,
    pub text: String,
}

/// The chunks of one block, `from..=to`. Other records in this range stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fold {
    pub block: String,
    pub from: Seq,
    pub to: Seq,
}

/// The outcome of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Committed {
    /// It is committed. Contains the keys of the created Pods, in the order of `changes`.
    Done { created: Vec<PodKey> },
    /// The command was carried out before, with this row; nothing was written.
    Repeated(CommandRow),
}
