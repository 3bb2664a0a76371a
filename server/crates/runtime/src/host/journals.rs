//! Reading journals: for people, for a model, for export.

use pod_store::SearchFilter;
use protocol::{
    ApiError, CompactionPreview, ErrorCode, History, Listing, PodRef, RuntimeId, SearchHit, UsageReport, WorkerId,
    open_cursor, seal_cursor,
};

use super::Inner;
use crate::{Export, Observation, RecordForm, RecordPage, SearchQuery, actor::viewer, export, history, usage};

/// Reading journals: for people, for a model, for export.
#[derive(Debug, Clone, Copy)]
pub struct Journals<'a> {
    pub(super) inner: &'a Inner,
}

impl Journals<'_> {
    pub async fn page(
        self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        history::page(self.inner, worker_id, before, limit, form).await
    }

    pub async fn history(self, worker_id: &WorkerId) -> Result<History, ApiError> {
        history::history(self.inner, worker_id).await
    }

    /// What compacting would do now; `None` if there is nothing to drop.
    pub async fn compaction_preview(self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        history::compaction_preview(self.inner, worker_id).await
    }

    pub async fn observe(self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        viewer::observe(self.inner.actors.clone(), worker_id.clone(), after, tail).await
    }

    /// Where all the words occur together, newest first.
    pub async fn search(self, query: &SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        let after = query.after.as_deref().map(read_cursor).transpose()?;
        let pod = match &query.pod {
            Some(worker_id) => Some(self.inner.existing_row(worker_id).await?.key),
            None => None,
        };
        let found = self.inner.store.search().page(&query.words, SearchFilter { pod, after }, query.limit).await;
        let found = found?;
        let next = found.last().filter(|_| found.len() == query.limit as usize).map(|(id, _)| write_cursor(*id));
        let items = found.into_iter().map(|(id, row)| SearchHit {
            pod: PodRef::new(RuntimeId::local(), row.worker_id),
            name: row.name,
            seq: row.seq,
            kind: row.kind,
            snippet: row.snippet,
            at: row.at,
            cursor: Some(write_cursor(id)),
        });
        Ok(Listing { items: items.collect(), next })
    }

    /// The whole journal of a Pod.
    pub async fn export(self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        export::export(self.inner, worker_id).await
    }

    /// Token usage in total and per Pod, day, tree and pair.
    pub async fn usage(self) -> Result<UsageReport, ApiError> {
        Ok(usage::report(&self.inner.store.usage().rows().await?))
    }
}

/// The `s` marks a cursor of this list; cursors of other lists are refused.
fn write_cursor(id: i64) -> String {
    seal_cursor(&format!("s{id}"))
}

fn read_cursor(text: &str) -> Result<i64, ApiError> {
    let id = open_cursor(text).and_then(|place| place.strip_prefix('s')?.parse().ok());
    id.filter(|id| *id > 0).ok_or_else(|| {
        ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
    })
}
