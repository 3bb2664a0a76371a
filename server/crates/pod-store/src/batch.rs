//! What is written: a [`Batch`] is true as a whole or not at all.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, PodState, Seq, WorkerId};
use serde::{Deserialize, Serialize};

use crate::{CommandRow, FarChange, ForeignPod, InboxRow, MailPut, MessageChange, PeerChange, PodKey, Spent};

/// Changes that belong together: one transaction (the writer may put several batches into one).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Idempotency. If a row with this id stands, nothing of the batch is written.
    pub command: Option<CommandRow>,
    pub changes: Vec<PodChange>,
    pub audit: Vec<AuditEntry>,
    /// What happens to pairs of Pods; after `changes`.
    pub peers: Vec<PeerChange>,
    pub messages: Vec<MessageChange>,
    /// What happens on the way to other stores; before those of `changes`.
    pub far: Vec<FarChange>,
    /// Pods of `changes` that other hosts own, and that stand still there for this batch.
    pub foreign: Vec<ForeignPod>,
}

impl Batch {
    /// It appends to journals and does nothing else.
    pub(crate) fn has_records_alone(&self) -> bool {
        // Field by field: one that is added has to be thought of here.
        let Self { command: None, changes, audit, peers, messages, far, foreign } = self else { return false };
        let is_empty =
            audit.is_empty() && peers.is_empty() && messages.is_empty() && far.is_empty() && foreign.is_empty();
        is_empty && !changes.is_empty() && changes.iter().all(PodChange::has_records_alone)
    }
}

/// What happens to one Pod. Fields that are empty change nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PodChange {
    /// Absent for a Pod that this change creates.
    pub key: Option<PodKey>,
    pub create: Option<NewPod>,
    /// In seq order, dense, beginning right after the journal's head. Those of a Pod that this change creates may
    /// leave out seqs, as chunks that were folded away do.
    pub records: Vec<NewRecord>,
    /// Chunks to drop: their block's finished record is in the journal, or in `records`.
    pub folds: Vec<Fold>,
    /// What `records` say was used: counted once, with them.
    pub spent: Vec<Spent>,
    pub inbox_put: Vec<InboxRow>,
    pub inbox_taken: Vec<CommandId>,
    /// What other Pods are to be told. A Pod that is gone is told nothing, and that is no failure; a `key` that its
    /// mailbox has had before is put in once.
    pub mail_put: Vec<MailPut>,
    /// Keys of this Pod's own mail that `records` hold now. One that was not there yet is known from now on.
    pub mail_taken: Vec<String>,
    /// Makes this Pod the child of another one, with what is lent to it, instead of whoever led it before. The batch is
    /// refused ([`crate::StoreError::PodGone`]) when that one is gone.
    pub parent: Option<ParentLink>,
    /// What happens to the loan that this Pod holds as a child; after `parent`. Nothing, if nobody leads it.
    pub loan: Option<LoanChange>,
    pub update: Option<PodUpdate>,
    /// What `records` mean to other stores.
    pub far: Vec<FarChange>,
    /// Removes the Pod and everything of it except audit and commands; its links, requests and messages go for both
    /// sides. Its children go on without a parent. Of the rest
    /// of this change only `mail_put` counts: a last word to others.
    pub delete: bool,
}

impl PodChange {
    /// An empty change of an existing Pod.
    pub fn of(key: PodKey) -> Self {
        Self { key: Some(key), ..Self::empty() }
    }

    /// A Pod that comes into being, and nothing else yet.
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

/// Who leads a Pod, and what is lent to it (JSON of `Vec<protocol::ScopeRule>`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ParentLink {
    pub parent: PodKey,
    pub scope: String,
}

/// What happens to a loan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoanChange {
    /// What was lent last is lent again.
    Out,
    /// It is taken back.
    Back,
}

/// A Pod that comes into being.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewPod {
    pub worker_id: WorkerId,
    pub name: PodName,
    pub spec: String,
    pub checkpoint: String,
    pub state: PodState,
    pub created_at: Timestamp,
}

/// New values of a Pod's row; `None` keeps what is there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PodUpdate {
    pub name: Option<PodName>,
    pub spec: Option<String>,
    pub checkpoint: Option<Checkpoint>,
    pub updated_at: Option<Timestamp>,
    pub unread: Option<u32>,
}

/// The folded state at one position, with the columns that lists and recovery select by.
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
    /// What a search may find it by.
    pub search: Option<SearchText>,
}

/// What kind of reader needs a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordClass {
    /// Replaced by its block's finished record.
    Chunk,
    /// Part of a model's context.
    Turn,
    /// For people only.
    Control,
    /// A question to a person, or its answer: for people only, and listed.
    Question,
}

/// The words of one record, for the search index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchText {
    #[serde(deserialize_with = "crate::wire::kind")]
    pub kind: crate::wire::Kind,
    pub text: String,
}

/// Chunks of one block, `from..=to`. Other records between them stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fold {
    pub block: String,
    pub from: Seq,
    pub to: Seq,
}

/// What a batch came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Committed {
    /// It is on the disk. Keys of the created Pods, in order of `changes`.
    Done { created: Vec<PodKey> },
    /// The command stands already, with this row; nothing was written.
    Repeated(CommandRow),
}
