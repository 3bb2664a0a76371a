//! The reading half, one line for each question; the SQL lies with its table.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};
use sqlx::PgPool;

use super::{journal, ledger, mail, pods, relations, search};
use crate::{
    ChildRow, CommandRow, InboxRow, MailRow, PodKey, PodRow, SearchRow, StoreError, StoredRecord, engine::Engine,
};

#[derive(Debug)]
pub(super) struct Postgres {
    pub(super) readers: PgPool,
}

#[async_trait]
impl Engine for Postgres {
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

    async fn pods_open(&self) -> Result<Vec<PodRow>, StoreError> {
        pods::open(&self.readers).await
    }

    async fn children(&self, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
        relations::children(&self.readers, parent).await
    }

    async fn child(&self, child: PodKey) -> Result<Option<ChildRow>, StoreError> {
        relations::child(&self.readers, child).await
    }

    async fn records_after(
        &self,
        pod: PodKey,
        after: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        journal::after(&self.readers, pod, after, max_records, max_bytes).await
    }

    async fn records_before(&self, pod: PodKey, before: Seq, limit: u32) -> Result<Vec<StoredRecord>, StoreError> {
        journal::before(&self.readers, pod, before, limit).await
    }

    async fn turn_records(&self, pod: PodKey, from: Seq) -> Result<Vec<StoredRecord>, StoreError> {
        journal::turns(&self.readers, pod, from).await
    }

    async fn question_records(&self, pod: PodKey) -> Result<Vec<StoredRecord>, StoreError> {
        journal::questions(&self.readers, pod).await
    }

    async fn head(&self, pod: PodKey) -> Result<Option<Seq>, StoreError> {
        journal::head(&self.readers, pod).await
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

    async fn audit_page(&self, before: i64, limit: u32) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        ledger::audit_page(&self.readers, before, limit).await
    }

    async fn session_find(&self, hash: &[u8; 32], now: Timestamp) -> Result<bool, StoreError> {
        ledger::session_find(&self.readers, hash, now).await
    }

    async fn search(&self, query: &str, limit: u32) -> Result<Vec<SearchRow>, StoreError> {
        search::find(&self.readers, query, limit).await
    }

    async fn close(&self) {
        self.readers.close().await;
    }
}
