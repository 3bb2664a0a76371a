//! The reading half, one line for each question; the SQL lies with its table.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};
use sqlx::SqlitePool;

use super::{Watch, journal, ledger, mail, messages, peers, pods, relations, search, sessions, usage};
use crate::{
    AuditFilter, ChildRow, CommandRow, InboxRow, MailRow, MessageRow, PairRow, PeerLinkRow, PodGroup, PodKey, PodRow,
    Portion, RequestRow, SessionRow, StoreError,
    checksum::RawRecord,
    engine::Engine,
    far::FarEngine,
    peer_plan::Pair,
    search::{Hit, SearchFilter, Word},
    usage::UsageRows,
};

#[derive(Debug)]
pub(super) struct Sqlite {
    pub(super) readers: SqlitePool,
    pub(super) watch: Arc<Watch>,
}

#[async_trait]
impl Engine for Sqlite {
    fn find(&self) -> Result<(), String> {
        self.watch.check()
    }

    async fn pod_find(&self, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError> {
        pods::find(&self.readers, worker_id).await
    }

    async fn pod_find_by_name(&self, name: &PodName) -> Result<Option<PodRow>, StoreError> {
        pods::find_by_name(&self.readers, name).await
    }

    async fn pod_find_by_key(&self, key: PodKey) -> Result<Option<PodRow>, StoreError> {
        pods::find_by_key(&self.readers, key).await
    }

    async fn pods_page(&self, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError> {
        pods::page(&self.readers, after, limit).await
    }

    async fn pods_page_of(&self, group: PodGroup, after: PodKey, limit: u32) -> Result<Vec<PodRow>, StoreError> {
        pods::page_of(&self.readers, group, after, limit).await
    }

    async fn pods_living_count(&self, limit: i64) -> Result<i64, StoreError> {
        pods::living_count(&self.readers, limit).await
    }

    async fn pod_names(&self) -> Result<String, StoreError> {
        pods::names(&self.readers).await
    }

    async fn pods_open(&self) -> Result<Vec<PodRow>, StoreError> {
        pods::open(&self.readers).await
    }

    async fn children(&self, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
        relations::children(&self.readers, parent).await
    }

    async fn child(&self, child: PodKey) -> Result<Option<ChildRow>, StoreError> {
        relations::child(&self.readers, child).await
    }

    async fn peer_links(&self, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError> {
        peers::links(&self.readers, pod).await
    }

    async fn peer_link(&self, pair: Pair) -> Result<Option<PairRow>, StoreError> {
        peers::link(&self.readers, pair).await
    }

    async fn peer_requests(&self, pod: PodKey) -> Result<Vec<RequestRow>, StoreError> {
        peers::requests(&self.readers, pod).await
    }

    async fn peer_request(&self, id: &str) -> Result<Option<RequestRow>, StoreError> {
        peers::request(&self.readers, id).await
    }

    async fn peer_request_of(&self, pair: Pair) -> Result<Option<RequestRow>, StoreError> {
        peers::request_of(&self.readers, pair).await
    }

    async fn requests_expired(&self, now: Timestamp) -> Result<Vec<RequestRow>, StoreError> {
        peers::requests_expired(&self.readers, now).await
    }

    async fn message(&self, id: &str) -> Result<Option<MessageRow>, StoreError> {
        messages::find(&self.readers, id).await
    }

    async fn message_of_call(&self, sender: PodKey, call_id: &str) -> Result<Option<MessageRow>, StoreError> {
        messages::find_by_call(&self.readers, sender, call_id).await
    }

    async fn messages_of_pair(
        &self,
        pair: Pair,
        before: (Timestamp, String),
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        messages::of_pair(&self.readers, pair, before, limit).await
    }

    async fn messages_held(&self, pod: PodKey) -> Result<Vec<MessageRow>, StoreError> {
        messages::held(&self.readers, pod).await
    }

    async fn messages_woke_count(&self, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError> {
        messages::woke_count(&self.readers, receiver, since).await
    }

    async fn records_after(
        &self,
        pod: PodKey,
        after: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<RawRecord>, StoreError> {
        journal::after(&self.readers, pod, after, max_records, max_bytes).await
    }

    async fn records_before(
        &self,
        pod: PodKey,
        before: Seq,
        portion: Portion,
    ) -> Result<Vec<(Seq, Option<RawRecord>)>, StoreError> {
        journal::before(&self.readers, pod, before, portion).await
    }

    async fn turn_records(&self, pod: PodKey, from: Seq) -> Result<Vec<RawRecord>, StoreError> {
        journal::turns(&self.readers, pod, from).await
    }

    async fn turn_records_back(
        &self,
        pod: PodKey,
        before: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<RawRecord>, StoreError> {
        journal::turns_back(&self.readers, pod, before, max_records, max_bytes).await
    }

    async fn question_records(&self, pod: PodKey) -> Result<Vec<RawRecord>, StoreError> {
        journal::questions(&self.readers, pod).await
    }

    async fn head(&self, pod: PodKey) -> Result<Option<Seq>, StoreError> {
        journal::head(&self.readers, pod).await
    }

    async fn quarantined_count(&self) -> Result<i64, StoreError> {
        journal::quarantined_count(&self.readers).await
    }

    async fn quarantined_at(&self, pod: PodKey, seq: Seq) -> Result<Option<Timestamp>, StoreError> {
        journal::quarantined_at(&self.readers, pod, seq).await
    }

    async fn inbox(&self, pod: PodKey) -> Result<Vec<InboxRow>, StoreError> {
        ledger::inbox(&self.readers, pod).await
    }

    async fn mail(&self, pod: PodKey) -> Result<Vec<MailRow>, StoreError> {
        mail::waiting(&self.readers, pod).await
    }

    async fn command_find(&self, id: &CommandId) -> Result<Option<CommandRow>, StoreError> {
        ledger::command_find(&self.readers, id).await
    }

    async fn commands_open(&self) -> Result<Vec<CommandRow>, StoreError> {
        ledger::commands_open(&self.readers).await
    }

    async fn audit_page(
        &self,
        filter: &AuditFilter,
        before: i64,
        limit: u32,
    ) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        ledger::audit_page(&self.readers, filter, before, limit).await
    }

    async fn session_find(&self, hash: &[u8; 32], now: Timestamp) -> Result<Option<SessionRow>, StoreError> {
        sessions::find(&self.readers, hash, now).await
    }

    async fn sessions(&self, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
        sessions::list(&self.readers, now).await
    }

    async fn search(&self, words: &[Word], filter: SearchFilter, limit: u32) -> Result<Vec<Hit>, StoreError> {
        search::find(&self.readers, words, filter, limit).await
    }

    async fn usage(&self) -> Result<UsageRows, StoreError> {
        usage::all(&self.readers).await
    }

    fn far(&self) -> &dyn FarEngine {
        self
    }

    async fn close(&self) {
        self.readers.close().await;
    }
}
