//! What a database has to be able to do. Two implementations, one suite of story tests over both.

use std::collections::HashSet;

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};
use tokio::{sync::watch, task::AbortHandle};

use crate::{
    AuditFilter, Checkpoint, ChildRow, CommandRow, FarChange, Fold, ForeignPod, HostCall, HostRow, InboxRow, MailPut,
    MailRow, MessageRow, Moves, NewMessage, NewPod, NewRecord, PairRow, ParentLink, PeerLinkRow, PodGroup, PodKey,
    PodRow, Portion, RequestRow, SessionRow, StoreError, WakeUps, Whereabouts,
    checksum::RawRecord,
    chore::Chore,
    far::FarEngine,
    peer_plan::{Pair, PeerLines, ReceiptLine},
    search::{Hit, SearchFilter, Word},
    usage::{SpentLine, UsageRows},
};

/// Reads. Each call takes a connection of a small pool; all of them are safe beside the writer.
#[async_trait]
pub(crate) trait Engine: std::fmt::Debug + Send + Sync {
    /// Whether what is open is still the database that others find; if not, what has happened and what to do.
    fn find(&self) -> Result<(), String> {
        Ok(())
    }

    async fn pod_find(&self, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError>;
    async fn pod_find_by_name(&self, name: &PodName) -> Result<Option<PodRow>, StoreError>;
    async fn pod_find_by_key(&self, key: PodKey) -> Result<Option<PodRow>, StoreError>;
    async fn pods_page(&self, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError>;
    async fn pods_page_of(&self, group: PodGroup, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError>;
    async fn pods_living_count(&self, limit: i64) -> Result<i64, StoreError>;
    async fn pod_names(&self) -> Result<String, StoreError>;
    async fn pods_open(&self) -> Result<Vec<PodRow>, StoreError>;
    async fn children(&self, parent: PodKey) -> Result<Vec<ChildRow>, StoreError>;
    async fn child(&self, child: PodKey) -> Result<Option<ChildRow>, StoreError>;

    async fn peer_links(&self, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError>;
    async fn peer_link(&self, pair: Pair) -> Result<Option<PairRow>, StoreError>;
    async fn peer_requests(&self, pod: PodKey) -> Result<Vec<RequestRow>, StoreError>;
    async fn peer_request(&self, id: &str) -> Result<Option<RequestRow>, StoreError>;
    async fn peer_request_of(&self, pair: Pair) -> Result<Option<RequestRow>, StoreError>;
    async fn requests_expired(&self, now: Timestamp) -> Result<Vec<RequestRow>, StoreError>;
    async fn message(&self, id: &str) -> Result<Option<MessageRow>, StoreError>;
    async fn message_of_call(&self, sender: PodKey, call_id: &str) -> Result<Option<MessageRow>, StoreError>;
    /// Those before a time and an id, newest first.
    async fn messages_of_pair(
        &self,
        pair: Pair,
        before: (Timestamp, String),
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError>;
    async fn messages_held(&self, pod: PodKey) -> Result<Vec<MessageRow>, StoreError>;
    async fn messages_woke_count(&self, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError>;

    async fn records_after(
        &self,
        pod: PodKey,
        after: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<RawRecord>, StoreError>;
    /// Those that are larger than `portion.each` without what they say.
    async fn records_before(
        &self,
        pod: PodKey,
        before: Seq,
        portion: Portion,
    ) -> Result<Vec<(Seq, Option<RawRecord>)>, StoreError>;
    async fn turn_records(&self, pod: PodKey, from: Seq) -> Result<Vec<RawRecord>, StoreError>;
    /// Before a position, newest first.
    async fn turn_records_back(
        &self,
        pod: PodKey,
        before: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<RawRecord>, StoreError>;
    async fn question_records(&self, pod: PodKey) -> Result<Vec<RawRecord>, StoreError>;
    /// `None`: no such Pod.
    async fn head(&self, pod: PodKey) -> Result<Option<Seq>, StoreError>;
    /// How many rows of journals are set aside.
    async fn quarantined_count(&self) -> Result<i64, StoreError>;
    /// When the record was set aside; `None` while it is not.
    async fn quarantined_at(&self, pod: PodKey, seq: Seq) -> Result<Option<Timestamp>, StoreError>;

    async fn inbox(&self, pod: PodKey) -> Result<Vec<InboxRow>, StoreError>;
    async fn mail(&self, pod: PodKey) -> Result<Vec<MailRow>, StoreError>;
    async fn command_find(&self, id: &CommandId) -> Result<Option<CommandRow>, StoreError>;
    async fn commands_open(&self) -> Result<Vec<CommandRow>, StoreError>;
    async fn audit_page(
        &self,
        filter: &AuditFilter,
        before: i64,
        limit: u32,
    ) -> Result<Vec<(i64, AuditEntry)>, StoreError>;
    async fn session_find(&self, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError>;
    async fn sessions(&self, now: Timestamp) -> Result<Vec<SessionRow>, StoreError>;
    /// `words`: at least one.
    async fn search(&self, words: &[Word], filter: SearchFilter, limit: u32) -> Result<Vec<Hit>, StoreError>;

    async fn usage(&self) -> Result<UsageRows, StoreError>;

    /// What is known of other stores.
    fn far(&self) -> &dyn FarEngine;

    async fn close(&self);
}

/// The one connection that writes. Its methods are the steps of a commit, each for a whole group at once.
///
/// Between `begin` and `commit` or `rollback` there is an open transaction; every method needs one that does not say otherwise.
#[async_trait]
pub(crate) trait Pen: Send {
    /// At any time: whether what is open is still the database that others find. Asked before anything is written, so that it is
    /// not, and after the commit, so that what is lost is not said to be kept.
    fn find(&self) -> Result<(), WriteError> {
        Ok(())
    }
    /// Without an open transaction, as it opens one.
    async fn begin(&mut self) -> Result<(), WriteError>;
    /// The newest host's number; held still until the transaction ends.
    async fn host_epoch(&mut self) -> Result<i64, WriteError>;
    /// Ids that were not there and now are.
    async fn commands_insert(&mut self, rows: &[&CommandRow]) -> Result<HashSet<CommandId>, WriteError>;
    async fn commands_find(&mut self, ids: &[&CommandId]) -> Result<Vec<CommandRow>, WriteError>;
    /// Journal heads of those Pods that exist.
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError>;
    async fn pods_create(&mut self, pods: &[&NewPod]) -> Result<Vec<PodKey>, WriteError>;
    async fn pods_update(&mut self, lines: &[UpdateLine<'_>]) -> Result<(), WriteError>;
    async fn pod_delete(&mut self, pod: PodKey) -> Result<(), WriteError>;
    /// Puts each child under its parent, whoever led it before.
    async fn children_link(&mut self, lines: &[LinkLine<'_>]) -> Result<(), WriteError>;
    /// Whether the loan of each child is out. A Pod that is nobody's child has none, and that is no failure.
    async fn children_lend(&mut self, lines: &[(PodKey, bool)]) -> Result<(), WriteError>;
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError>;
    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError>;
    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError>;
    /// Adds to what stands; a Pod that is gone is left out.
    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError>;
    async fn inbox_put(&mut self, lines: &[(PodKey, &InboxRow)]) -> Result<(), WriteError>;
    async fn inbox_take(&mut self, lines: &[(PodKey, &CommandId)]) -> Result<(), WriteError>;
    /// Leaves out Pods that are gone and keys that are known.
    async fn mail_put(&mut self, lines: &[&MailPut]) -> Result<(), WriteError>;
    async fn mail_take(&mut self, lines: &[(PodKey, &String)]) -> Result<(), WriteError>;
    /// All or [`WriteError::Conflict`].
    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError>;
    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError>;
    async fn far_change(&mut self, change: &FarChange) -> Result<(), WriteError>;
    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError>;
    async fn audit_append(&mut self, entries: &[&AuditEntry]) -> Result<(), WriteError>;
    async fn chore(&mut self, chore: &Chore) -> Result<(), WriteError>;
    /// Without an open transaction: appends and commits at once, if this is the newest host. `None` where this costs as much as
    /// the steps one by one; `false`, with nothing written, when another host has come.
    async fn records_append_alone(
        &mut self,
        _host_epoch: i64,
        _lines: &[(PodKey, &NewRecord)],
    ) -> Result<Option<bool>, WriteError> {
        Ok(None)
    }
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

    /// Takes those Pods that nobody owns, or this host does, with their heads. A database that one host serves alone has
    /// no owners.
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
    /// Joins anew, outside of a transaction, after this host was declared dead. `None`: it was replaced.
    async fn rejoin(&mut self) -> Result<Option<i64>, WriteError> {
        Ok(None)
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
    pub(crate) engine: std::sync::Arc<dyn Engine>,
    pub(crate) pen: Box<dyn Pen>,
    pub(crate) store_id: String,
    pub(crate) host_epoch: i64,
    /// Present when other hosts may serve it, too.
    pub(crate) cluster: Option<(std::sync::Arc<dyn Cluster>, Loops)>,
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

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The unique name of a Pod. The database does not say which.
    NameTaken,
    /// Another unique key: a seq, a worker id.
    Conflict,
    /// What was to be written is at fault; the sentence names the operation.
    Refused(String),
    /// The database is at fault, or out of reach, and may be well again in a moment. In the commit: nobody knows whether it
    /// is on the disk.
    Failed(String),
    /// The database is gone, and may be put back. The sentence says what is left of it, and what to do.
    Lost(String),
    /// The file cannot be read in a place, whatever is tried.
    Damaged(String),
    /// It stood in another host's way; nothing was written, and it may be tried again.
    Again(String),
}
