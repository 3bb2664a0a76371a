//! What a database has to be able to do. Two implementations, one suite of story tests over both.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};
use tokio::{sync::watch, task::AbortHandle};

use crate::{
    Checkpoint, CommandRow, Fold, ForeignPod, HostCall, HostRow, InboxRow, MailPut, Moves, NewMessage, NewPod,
    NewRecord, ParentLink, PodKey, PodRow, StoreError, WakeUps, Whereabouts,
    checksum::RawRecord,
    peer_plan::{PeerLines, ReceiptLine},
    reader::{Engine, Readers},
    txn::{Txn, WriteError},
    usage::SpentLine,
};

/// The one connection that writes: its transactions. What is written in them are the steps of a commit, each for a whole group
/// at once, table by table.
///
/// Between `begin` and `commit` or `rollback` there is an open transaction; every method needs one that does not say otherwise.
#[async_trait]
pub(crate) trait Pen: PodPen + JournalPen + PeerPen + LedgerPen + LeasePen {
    /// At any time: whether what is open is still the database that others find. Asked before anything is written, so that it is
    /// not, and after the commit, so that what is lost is not said to be kept.
    fn find(&self) -> Result<(), WriteError> {
        Ok(())
    }
    /// Without an open transaction, as it opens one.
    async fn begin(&mut self) -> Result<(), WriteError>;
    /// The newest host's number; held still until the transaction ends.
    async fn host_epoch(&mut self) -> Result<i64, WriteError>;
    /// For what both databases write in the same words.
    fn words(&mut self) -> Result<Txn<'_>, WriteError>;
    async fn commit(&mut self) -> Result<(), WriteError>;
    /// Within a later transaction: whether the one whose commit failed is on the disk all the same. `None` where the records
    /// tell.
    async fn landed(&mut self) -> Result<Option<bool>, WriteError> {
        Ok(None)
    }
    /// Never fails: a connection that cannot roll back is thrown away, which rolls back too.
    async fn rollback(&mut self);
    async fn close(self: Box<Self>);
    /// Nothing has come for a while: lets go of what only speeds up the next transaction.
    async fn rest(&mut self) {}
    /// Joins anew, outside of a transaction, after this host was declared dead. `None`: it was replaced.
    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        Ok(None)
    }
}

/// Pods, and who leads them.
#[async_trait]
pub(crate) trait PodPen: Send {
    /// Keys in the order of `pods`.
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError>;
    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError>;
    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError>;
    /// Puts each child under its parent, whoever led it before.
    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError>;
    /// Whether the loan of each child is out. A Pod that is nobody's child has none, and that is no failure.
    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError>;
}

/// Journals, and what is counted and found of them.
#[async_trait]
pub(crate) trait JournalPen: Send {
    /// Journal heads of those Pods that exist.
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError>;
    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError>;
    /// Without an open transaction: appends and commits at once, if this is the newest host. `None` where this costs as much as
    /// the steps one by one; `false`, with nothing written, when another host has come.
    async fn records_append_alone(
        &mut self,
        _host_epoch: i64,
        _lines: &[(PodKey, &NewRecord)],
    ) -> Result<Option<bool>, WriteError> {
        Ok(None)
    }
    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError>;
    /// Adds to what stands; a Pod that is gone is left out.
    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError>;
    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError>;
}

/// Pairs and messages.
#[async_trait]
pub(crate) trait PeerPen: Send {
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError>;
    /// All or [`WriteError::Conflict`]: a message that was not written must not be taken for one that was.
    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError>;
    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError>;
}

/// What waits for Pods, what was asked of them, and by whom.
#[async_trait]
pub(crate) trait LedgerPen: Send {
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError>;
    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError>;
    /// Leaves out Pods that are gone and keys that are known.
    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError>;
    /// A key that was never put in is known from now on all the same: the journal holds what it stands for.
    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError>;
    /// Ids that were not there and now are.
    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError>;
    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError>;
    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError>;
}

/// Whose Pods are whose. A database that one host serves alone has no owners.
#[async_trait]
pub(crate) trait LeasePen: JournalPen {
    /// Takes those Pods that nobody owns, or this host does, with their heads.
    async fn claim(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        self.heads(pods).await
    }
    /// Heads of those Pods that other hosts own as it is said; they stay so until the transaction ends.
    async fn foreign(&mut self, _pods: &[ForeignPod]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        Ok(Vec::new())
    }
    /// Who owns these; those that are gone are left out.
    async fn owners(&mut self, _pods: &[PodKey]) -> Result<Vec<(PodKey, HostRow)>, WriteError> {
        Ok(Vec::new())
    }
}

/// This host among those that serve the database. What is asked here does not wait behind long reads.
#[async_trait]
pub(crate) trait Cluster: std::fmt::Debug + Send + Sync {
    fn id(&self) -> i64;
    fn this(&self) -> HostRow;
    fn has_others(&self) -> bool;
    /// True while this host was declared dead, or cannot say that it lives.
    fn lost(&self) -> watch::Receiver<bool>;
    fn tell_lost(&self);
    /// Something was committed: the others look at it soon.
    fn tell_moved(&self);
    fn wake_ups(&self) -> WakeUps;
    async fn all(&self) -> Result<Vec<HostRow>, StoreError>;
    async fn close(&self);

    async fn whereabouts(&self, pod: PodKey) -> Result<Whereabouts, StoreError>;
    async fn left_behind(&self) -> Result<Vec<(WorkerId, String)>, StoreError>;
    async fn orphaned(&self) -> Result<Vec<PodRow>, StoreError>;

    async fn call_put(&self, host: i64, body: &str) -> Result<i64, StoreError>;
    async fn calls_take(&self) -> Result<Vec<HostCall>, StoreError>;
    async fn call_answer(&self, id: i64, answer: &str) -> Result<(), StoreError>;
    async fn call_forget(&self, id: i64) -> Result<(), StoreError>;
    async fn call_withdraw(&self, id: i64) -> Result<bool, StoreError>;
    async fn answers_take(&self) -> Result<Vec<(i64, String)>, StoreError>;

    /// Every transaction below the position has ended: what comes to an end later is at or above it.
    async fn moves_since(&self, position: Option<&str>) -> Result<Moves, StoreError>;
    async fn follow(
        &self,
        pods: &[(PodKey, Seq)],
        max_records: u32,
    ) -> Result<Vec<(PodKey, Vec<RawRecord>)>, StoreError>;
}

/// The tasks that go on while a store is open; they end when it is dropped.
#[derive(Debug)]
pub(crate) struct Loops(pub(crate) Vec<AbortHandle>);

impl Drop for Loops {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// An engine that was just opened and has become the newest host of its database.
pub(crate) struct Opened {
    pub(crate) readers: Readers,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) pen: Box<dyn Pen>,
    pub(crate) store_id: String,
    pub(crate) host_epoch: i64,
    /// Present when other hosts may serve it, too.
    pub(crate) cluster: Option<(Arc<dyn Cluster>, Loops)>,
}

/// New values of one Pod's row. All updates of one Pod in a group come as one line, the later value winning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateLine<'a> {
    pub(crate) pod: PodKey,
    pub(crate) name: Option<&'a PodName>,
    pub(crate) spec: Option<&'a str>,
    pub(crate) checkpoint: Option<&'a Checkpoint>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) unread: Option<u32>,
}

/// One Pod's new parent. All changes of one child in a group come as one line, the later one winning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkLine<'a> {
    pub(crate) child: PodKey,
    pub(crate) link: &'a ParentLink,
    pub(crate) is_lent: bool,
}

/// One text for the search index; `text` is bounded and free of NUL.
#[derive(Debug)]
pub(crate) struct SearchLine<'a> {
    pub(crate) pod: PodKey,
    pub(crate) seq: Seq,
    pub(crate) kind: &'static str,
    pub(crate) text: std::borrow::Cow<'a, str>,
}
