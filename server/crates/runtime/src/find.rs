//! Lists of Pods: pages, and the live list.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::{StreamExt, stream};
use pod_store::{PodKey, PodRow};
use protocol::{
    ApiError, ErrorCode, Listing, PodName, PodRef, PodSummary, RuntimeId, WorkerId, open_cursor, seal_cursor,
};
use tokio::sync::broadcast;

use crate::{
    PodQuery, PodsItem, PodsObservation,
    cluster::Cluster,
    list::{self, Stale},
    view,
};

/// Rows to read at once.
const ROWS_AT_ONCE: u32 = 1_000;
const PAGE_DEFAULT: u32 = 500;
const PAGE_MAX: u32 = 1_000;

/// One page of the Pods that a query selects, in order of creation.
pub(crate) async fn pods(cluster: &Cluster, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
    let limit = query.limit.unwrap_or(PAGE_DEFAULT).clamp(1, PAGE_MAX) as usize;
    let mut after = query.after.as_deref().map(read_cursor).transpose()?;
    if let Some(name) = &query.name {
        return named(cluster, name, query, after).await;
    }
    let mut items = Vec::new();
    loop {
        let rows = cluster.store.pods().page(after, ROWS_AT_ONCE).await?;
        let is_last_page = rows.len() < ROWS_AT_ONCE as usize;
        for row in rows {
            after = Some(row.key);
            let summary = view::summary(&row);
            if query.selects(&summary) {
                if items.len() == limit {
                    return Ok(Listing { next: Some(write_cursor(last_key(&items))), items: summaries(items) });
                }
                items.push((row.key, summary));
            }
        }
        if is_last_page {
            return Ok(Listing { items: summaries(items), next: None });
        }
    }
}

/// A name belongs to one Pod, which the store finds by name.
async fn named(
    cluster: &Cluster,
    name: &PodName,
    query: &PodQuery,
    after: Option<PodKey>,
) -> Result<Listing<PodSummary>, ApiError> {
    let row = cluster.store.pods().find_by_name(name).await?;
    let row = row.filter(|row| after.is_none_or(|after| row.key > after));
    let items = row.iter().map(view::summary).filter(|summary| query.selects(summary)).collect();
    Ok(Listing { items, next: None })
}

fn last_key(items: &[(PodKey, PodSummary)]) -> PodKey {
    items.last().map_or(PodKey(0), |(key, _)| *key)
}

fn summaries(items: Vec<(PodKey, PodSummary)>) -> Vec<PodSummary> {
    items.into_iter().map(|(_, summary)| summary).collect()
}

impl PodQuery {
    /// Whether the query selects this Pod.
    pub fn selects(&self, summary: &PodSummary) -> bool {
        let wanted = self.q.as_deref().map(str::to_lowercase);
        let holds = |text: &str| wanted.as_deref().is_none_or(|wanted| text.to_lowercase().contains(wanted));
        self.name.as_ref().is_none_or(|name| *name == summary.name)
            && self.state.is_none_or(|state| state == summary.state)
            && (wanted.is_none()
                || holds(summary.name.as_str())
                || holds(&summary.cwd)
                || holds(&summary.model)
                || summary.activity.as_deref().is_some_and(holds))
    }
}

fn write_cursor(key: PodKey) -> String {
    // The `p` marks a cursor of this list; cursors of other lists are numbers.
    seal_cursor(&format!("local.p{}", key.0))
}

fn read_cursor(text: &str) -> Result<PodKey, ApiError> {
    let key = open_cursor(text).and_then(|place| place.strip_prefix("local.p")?.parse().ok());
    key.filter(|key| *key >= 0).map(PodKey).ok_or_else(|| {
        ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
    })
}

struct Watcher {
    cluster: Arc<Cluster>,
    changes: broadcast::Receiver<Option<WorkerId>>,
    is_begun: bool,
}

/// The whole list, then its changes.
pub(crate) fn observe(cluster: Arc<Cluster>) -> PodsObservation {
    // Listening begins before the list is read, so a change in between may come twice but is never lost.
    let changes = cluster.list.listen();
    let watcher = Watcher { cluster, changes, is_begun: false };
    stream::unfold(watcher, |mut watcher| async move {
        let item = watcher.next().await?;
        Some((item, watcher))
    })
    .boxed()
}

impl Watcher {
    async fn next(&mut self) -> Option<PodsItem> {
        if !self.is_begun {
            self.is_begun = true;
            self.cluster.recovered().await;
            return self.whole().await;
        }
        match list::stale(&mut self.changes).await? {
            Stale::All => self.whole().await,
            Stale::Some(changed) => self.changed(changed).await,
        }
    }

    async fn whole(&self) -> Option<PodsItem> {
        let revision = self.cluster.list.revision();
        let mut upserts = Vec::new();
        let mut after = None;
        loop {
            let rows = self.read(self.cluster.store.pods().page(after, ROWS_AT_ONCE).await)?;
            after = rows.last().map(|row| row.key);
            upserts.extend(rows.iter().map(view::summary));
            if rows.len() < ROWS_AT_ONCE as usize {
                let upserts = self.cluster.with_places(upserts).await;
                return Some(PodsItem { revision, snapshot: true, upserts, removed: Vec::new() });
            }
        }
    }

    async fn changed(&self, changed: BTreeSet<WorkerId>) -> Option<PodsItem> {
        let revision = self.cluster.list.revision();
        let mut item = PodsItem { revision, snapshot: false, upserts: Vec::new(), removed: Vec::new() };
        for worker_id in changed {
            let row: Option<PodRow> = self.read(self.cluster.store.pods().find(&worker_id).await)?;
            match row {
                Some(row) => item.upserts.push(view::summary(&row)),
                None => item.removed.push(PodRef::new(RuntimeId::local(), worker_id)),
            }
        }
        item.upserts = self.cluster.with_places(item.upserts).await;
        Some(item)
    }

    /// A list that cannot be read ends the stream; the reader connects again.
    fn read<T>(&self, result: Result<T, pod_store::StoreError>) -> Option<T> {
        result.inspect_err(|error| tracing::warn!(%error, "the list of Pods could not be read")).ok()
    }
}
