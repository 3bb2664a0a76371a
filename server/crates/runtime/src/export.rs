//! Exporting a journal page by page: only one page is in memory, however long the journal is.

use bytes::Bytes;
use futures_util::{StreamExt, stream, stream::BoxStream};
use pod_store::{PodKey, Store};
use protocol::{ApiError, PodName, ReasoningPolicy, Seq, WorkerId};

use crate::{encode, ground::Ground, heavy, view};

/// The most records of one page.
const PAGE_RECORDS_MAX: u32 = 1_000;
/// The approximate most bytes of one page.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// A whole journal.
pub struct Export {
    pub name: PodName,
    /// Records as JSON, oldest first, one page at a time. Ends with the record that was newest at the beginning, or a
    /// few later.
    pub pages: BoxStream<'static, Result<Vec<Bytes>, ApiError>>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Export").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All records of a Pod, as its viewers may see them.
pub(crate) async fn export(ground: &Ground, worker_id: &WorkerId) -> Result<Export, ApiError> {
    let row = ground.existing_row(worker_id).await?;
    let head = ground.store.journals().head(row.key).await?;
    let policy = view::open(&row).map(|opened| opened.spec.reasoning).unwrap_or_default();
    let reader = Reader { store: ground.store.clone(), key: row.key, policy, after: Seq(0), head };
    let pages = stream::try_unfold(reader, Reader::next).boxed();
    Ok(Export { name: row.name, pages })
}

struct Reader {
    store: Store,
    key: PodKey,
    policy: ReasoningPolicy,
    after: Seq,
    head: Seq,
}

impl Reader {
    /// The next page. A page that goes past the head is returned whole: chunks before the head may have been folded
    /// meanwhile into the record that follows.
    async fn next(mut self) -> Result<Option<(Vec<Bytes>, Self)>, ApiError> {
        if self.after >= self.head {
            return Ok(None);
        }
        let rows = self.store.journals().after(self.key, self.after, PAGE_RECORDS_MAX, PAGE_BYTES_MAX).await;
        let rows = rows?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.after = last.seq;
        let policy = self.policy;
        let page = match policy {
            // Nothing is hidden, so the bytes go out unchanged.
            ReasoningPolicy::Full => rows.into_iter().map(|row| row.body).collect(),
            _ => {
                let bytes = rows.iter().map(|row| row.body.len()).sum();
                heavy::work(bytes, move || rows.into_iter().map(|row| encode::visible(policy, row.body)).collect())
                    .await
            }
        };
        Ok(Some((page, self)))
    }
}
