//! What a database has to be able to do. There are two implementations, with one suite of story tests for both.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};

use crate::{
    Checkpoint, CommandRow, Fold, ForeignPod, HostCall, HostRow, InboxRow, MailPut, Moves, NewMessage, NewPod,
    NewRecord, ParentLink, PodKey, PodRow, StoreError, Whereabouts,
    checksum::RawRecord,
    membership::{Loops, Member},
    peer_plan::{PeerLines, ReceiptLine},
    reader::{Engine, Readers},
    txn::{Txn, WriteError},
    usage::SpentLine,
};

/// The one connection that writes, with its transactions. Its methods are the steps of a commit, each for a whole group
/// at once, table by table.
///
/// Between `begin` and `commit` or `rollback` there is an open transaction; every method needs one unless it says
/// otherwise.
#[async_trait]
pub(crate) trait Pen: PodPen + JournalPen + PeerPen + LedgerPen + LeasePen {
    /// Works at any time: whether the open database is still the one at its place. Checked before a write, so that
    /// nothing is written to a lost database, and after the commit, so that nothing lost is reported as written.
    fn find(&self) -> Result<(), WriteError> {
        Ok(())
    }
    /// Needs no open transaction; it opens one.
    async fn begin(&mut self) -> Result<(), WriteError>;
    /// The newest host's number, locked until the transaction ends.
    async fn host_epoch(&mut self) -> Result<i64, WriteError>;
    /// For statements that both databases share.
    fn words(&mut self) -> Result<Txn<'_>, WriteError>;
    async fn commit(&mut self) -> Result<(), WriteError>;
    /// Called within a later transaction: whether the group whose commit failed was committed after all. `None` if only
    /// the records can tell.
    async fn landed(&mut self) -> Result<Option<bool>, WriteError> {
        Ok(None)
    }
    /// The outcome of the last group is known; what follows is another one.
    fn settle(&mut self) {}
    /// Needs no open transaction: the database could not be written, so the next attempt uses a new connection. The
    /// old one may lead to a server that takes no writes any more.
    fn part(&mut self) {}
    /// Never fails: a connection that cannot roll back is dropped, which rolls back too.
    async fn rollback(&mut self);
    async fn close(self: Box<Self>);
    /// Called when nothing has come for a while: releases what only speeds up the next transaction.
    async fn rest(&mut self) {}
    /// Joins again, outside of a transaction, after this host was declared dead. `None` if it was replaced.
    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        Ok(None)
    }
}

/// Pods and their parents.
#[async_trait]
pub(crate) trait PodPen: Send {
    /// Returns the keys in the order of `pods`.
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError>;
    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError>;
    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError>;
    /// Sets each child's parent, replacing any previous one.
    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError>;
    /// Sets whether each child's loan is out. Pods without a parent are skipped.
    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError>;
}

/// Journals, usage and the search index.
#[async_trait]
pub(crate) trait JournalPen: Send {
    /// The journal heads of those Pods that exist.
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError>;
    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError>;
    /// Needs no open transaction: appends and commits at once if this is the newest host. `None` if this engine gains
    /// nothing from it; `false`, with nothing written, if another host has taken over.
    async fn records_append_alone(
        &mut self,
        _host_epoch: i64,
        _lines: &[(PodKey, &NewRecord)],
    ) -> Result<Option<bool>, WriteError> {
        Ok(None)
    }
    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError>;
    /// Adds to the existing sums; skips deleted Pods.
    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError>;
    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError>;
}

/// Pairs and messages.
#[async_trait]
pub(crate) trait PeerPen: Send {
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError>;
    /// All, or [`WriteError::Conflict`]: a message that was not written must not be taken for one that was.
    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError>;
    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError>;
}

/// Inboxes, mail, commands and the audit.
#[async_trait]
pub(crate) trait LedgerPen: Send {
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError>;
    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError>;
    /// Skips deleted Pods and known keys.
    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError>;
    /// A key that was never put in also counts as taken from now on: its mail is already in the journal.
    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError>;
    /// Returns the ids that are new.
    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError>;
    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError>;
    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError>;
}

/// Which host owns which Pod. A database with a single host has no owners.
#[async_trait]
pub(crate) trait LeasePen: JournalPen {
    /// Claims those Pods that no host owns, or this one does. Returns their heads.
    async fn claim(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        self.heads(pods).await
    }
    /// Heads of those Pods that are owned by the given hosts, which cannot change until the transaction ends.
    async fn foreign(&mut self, _pods: &[ForeignPod]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        Ok(Vec::new())
    }
    /// The owners of these Pods; deleted ones are skipped.
    async fn owners(&mut self, _pods: &[PodKey]) -> Result<Vec<(PodKey, HostRow)>, WriteError> {
        Ok(Vec::new())
    }
}

/// This host among those that serve the database. These calls do not wait behind long reads.
#[async_trait]
pub(crate) trait Cluster: std::fmt::Debug + Send + Sync {
    fn member(&self) -> &Member;
    /// In a simulation: ends when a request has reached the database, or its answer this host. Everywhere else the
    /// connections see to that.
    async fn pass(&self) -> Result<(), String> {
        Ok(())
    }
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

    /// Every transaction below the returned position has ended, so later changes are at or above it.
    async fn moves_since(&self, position: Option<&str>) -> Result<Moves, StoreError>;
    async fn follow(
        &self,
        pods: &[(PodKey, Seq)],
        max_records: u32,
    ) -> Result<Vec<(PodKey, Vec<RawRecord>)>, StoreError>;
}

/// An engine that was just opened and has become the newest host of its database.
pub(crate) struct Opened {
    pub(crate) readers: Readers,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) pen: Box<dyn Pen>,
    pub(crate) store_id: String,
    pub(crate) host_epoch: i64,
    /// `Some` if other hosts may serve the database too.
    pub(crate) cluster: Option<(Arc<dyn Cluster>, Loops)>,
}

/// New values for one Pod's row. All updates of one Pod in a group are merged into one line; the later value wins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateLine<'a> {
    pub(crate) pod: PodKey,
    pub(crate) name: Option<&'a PodName>,
    pub(crate) spec: Option<&'a str>,
    pub(crate) checkpoint: Option<&'a Checkpoint>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) unread: Option<u32>,
    pub(crate) drafts: Option<&'a str>,
}

/// One Pod's new parent. All changes of one child in a group are merged into one line; the later one wins.
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
