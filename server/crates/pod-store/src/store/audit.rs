//! The audit: who asked for what, and the outcome.

use protocol::AuditEntry;

use super::Shared;
use crate::{AuditFilter, Batch, Patience, StoreError, columns, words::without_nul};

/// The audit of a store.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'s>(pub(super) &'s Shared);

impl Audit<'_> {
    pub async fn append(self, entry: AuditEntry) -> Result<(), StoreError> {
        let batch = Batch { audit: vec![entry], ..Batch::default() };
        self.0.commit(Patience::Short, batch).await.map(drop)
    }

    /// Audit entries with their numbers, newest first; `after` is the last number of the previous page.
    pub async fn page(self, after: Option<i64>, limit: u32) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        self.find(&AuditFilter::default(), after, limit).await
    }

    /// Like [`Audit::page`], with only the entries that match the filter.
    pub async fn find(
        self,
        filter: &AuditFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        // Targets have an index, which a query with an optional target would not use.
        let text = match &filter.target {
            None => {
                "select id, at, by_whom, client, action, target, result, code, about from audit
                 where id < $1 and (cast($2 as text) is null or action = $2) and (cast($3 as text) is null or result = $3)
                 order by id desc limit $4"
            }
            Some(_) => {
                "select id, at, by_whom, client, action, target, result, code, about from audit
                 where id < $1 and (cast($2 as text) is null or action = $2) and (cast($3 as text) is null or result = $3)
                     and target = $5
                 order by id desc limit $4"
            }
        };
        let page = self.0.reader.select(text).bind(after.unwrap_or(i64::MAX)).bind(filter.action.as_deref());
        let page = page.bind(filter.result.as_deref()).bind(i64::from(limit));
        let page = match &filter.target {
            None => page,
            Some(target) => page.bind(without_nul(target)),
        };
        page.all("read the audit", columns::audit).await
    }
}
