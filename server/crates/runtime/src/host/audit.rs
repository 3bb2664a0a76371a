//! The audit: who did what.

use pod_store::AuditFilter;
use protocol::{ApiError, AuditEntry, AuditRow, Listing, RuntimeId, seal_cursor};

use super::Inner;

/// The audit: who did what.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a> {
    pub(super) inner: &'a Inner,
}

impl Audit<'_> {
    pub async fn append(self, entry: AuditEntry) -> Result<(), ApiError> {
        if let Some(outage) = self.inner.store.health().outage().borrow().as_ref() {
            // A note of a refusal is not worth waiting for.
            return Err(outage.clone().refusal().into());
        }
        Ok(self.inner.store.audit().append(entry).await?)
    }

    /// A page of the audit, newest first; `after` is the `next` of the previous page.
    pub async fn page(self, after: Option<i64>, limit: u32) -> Result<Listing<AuditEntry>, ApiError> {
        let Listing { items, next } = self.find(&AuditFilter::default(), after, limit).await?;
        Ok(Listing { items: items.into_iter().map(|row| row.entry).collect(), next })
    }

    /// Like [`Audit::page`], with only the entries that match the filter.
    pub async fn find(
        self,
        filter: &AuditFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        let rows = self.inner.store.audit().find(filter, after, limit).await?;
        let cursor = |id: i64| seal_cursor(&id.to_string());
        let next = rows.last().filter(|_| rows.len() == limit as usize).map(|(id, _)| cursor(*id));
        let row = |(id, entry): (i64, _)| AuditRow { entry, runtime_id: RuntimeId::local(), cursor: Some(cursor(id)) };
        Ok(Listing { items: rows.into_iter().map(row).collect(), next })
    }
}
