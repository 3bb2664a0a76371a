//! What a host tells of all its Pods (what was said where, what was used), and whole journals on their way out and in.

use pod_store::SearchFilter;
use protocol::{
    ApiError, ErrorCode, ImportCommand, Listing, PodRef, PodSummary, RuntimeId, SearchHit, UsageReport, WorkerId,
    open_cursor, seal_cursor,
};

use super::Host;
use crate::{CommandKey, Export, Origin, SearchQuery, error, export, import, usage};

impl Host {
    /// Tokens over all, per Pod, day, tree and pair.
    pub async fn usage(&self) -> Result<UsageReport, ApiError> {
        Ok(usage::report(&self.inner.store.usage().await.map_err(error::store_failed)?))
    }

    /// Where all the words were said, newest first.
    pub async fn search(&self, query: &SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        let after = query.after.as_deref().map(read_cursor).transpose()?;
        let pod = match &query.pod {
            Some(worker_id) => Some(self.inner.existing_row(worker_id).await?.key),
            None => None,
        };
        let found = self.inner.store.search_page(&query.words, SearchFilter { pod, after }, query.limit).await;
        let found = found.map_err(error::store_failed)?;
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
}

impl Host {
    /// The whole journal of a Pod.
    pub async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        export::export(&self.inner, worker_id).await
    }

    /// A stopped Pod with the journal of another one.
    pub async fn import(
        &self,
        key: CommandKey,
        origin: &Origin,
        command: ImportCommand,
    ) -> Result<PodSummary, ApiError> {
        self.inner.count_command();
        import::import(&self.inner, &self.inner.family.recipes, key, origin, command).await
    }
}

/// The letter is this list's: a cursor of another one is no place here.
fn write_cursor(id: i64) -> String {
    seal_cursor(&format!("s{id}"))
}

fn read_cursor(text: &str) -> Result<i64, ApiError> {
    let id = open_cursor(text).and_then(|place| place.strip_prefix('s')?.parse().ok());
    id.filter(|id| *id > 0).ok_or_else(|| {
        ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
    })
}
