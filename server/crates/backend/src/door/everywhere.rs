//! Queries to all runtimes at once. No runtime delays the others: every wait is bounded, and a runtime that does not
//! answer is left out.

mod observation;

use std::future::Future;

use futures_util::future::join_all;
use protocol::{
    ApiError, ErrorCode, Listing, OpenApproval, OpenRequest, PodSummary, RuntimeId, open_cursor,
    operation::{Filled, Limit, Loose, Page},
    operations::{OpenRequests, Pods},
    seal_cursor,
};
use runtime::PodsObservation;
use tokio::time::timeout;

use super::Backend;
use crate::{Entry, port::WAIT_MAX};

/// The answer, or `timeout` if it takes too long.
pub(super) async fn within<T>(answer: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    let late = || ApiError::new(ErrorCode::Timeout, "the runtime did not answer in time; try again");
    timeout(WAIT_MAX, answer).await.unwrap_or_else(|_| Err(late()))
}

/// Queries all runtimes at once.
#[derive(Debug, Clone, Copy)]
pub struct Everywhere<'a> {
    pub(super) backend: &'a Backend,
}

impl Everywhere<'_> {
    /// One page of the Pods of all runtimes: this server's own first, then runtime by runtime.
    pub(super) async fn pods(self, query: Pods) -> Result<Listing<PodSummary>, ApiError> {
        let (first, mut after) = match query.after.0.as_deref() {
            None => (RuntimeId::local(), None),
            Some(cursor) => read_cursor(cursor)?,
        };
        let entries = self.backend.registry.entries();
        let begin = entries.iter().position(|(id, _)| *id == first).ok_or_else(stale)?;
        let mut left = query.limit.0.max(1) as usize;
        let mut items = Vec::new();
        for (id, entry) in &entries[begin..] {
            if left == 0 {
                return Ok(Listing { items, next: Some(seal_cursor(&format!("{id}."))) });
            }
            let limit = Limit(u32::try_from(left).unwrap_or(u32::MAX));
            let page = pods_of(id, entry, Pods { after: Loose(after.take()), limit, ..query.clone() }).await?;
            left = left.saturating_sub(page.items.len());
            items.extend(page.items);
            if page.next.is_some() {
                return Ok(Listing { items, next: page.next });
            }
        }
        Ok(Listing { items, next: None })
    }

    /// The list of all Pods and its changes, or that of the runtime `only`.
    pub fn observe_pods(self, only: Option<&RuntimeId>) -> Result<PodsObservation, ApiError> {
        match only {
            Some(runtime_id) => Ok(self.backend.port(runtime_id)?.observe_pods()),
            None => Ok(observation::observe(self.backend.registry.clone(), self.backend.revision.clone())),
        }
    }

    /// The open approvals of all Pods, oldest first.
    pub async fn open_approvals(self) -> Result<Listing<OpenApproval>, ApiError> {
        let mut items = self.of_all(|entry| async move { entry.port.open_approvals().await }).await?;
        items.sort_by_key(|open| open.approval.asked_at);
        Ok(Listing { items, next: None })
    }

    /// Every open peer request, oldest first.
    pub(super) async fn open_requests(self) -> Result<Listing<OpenRequest>, ApiError> {
        let all = || OpenRequests { runtime: Filled(None), page: Page::default() };
        let mut items = self.of_all(|entry| async move { Ok(entry.port.ask(all()).await?.items) }).await?;
        items.sort_by_key(|request| request.at);
        // A request between two runtimes is listed by both.
        let mut seen = std::collections::HashSet::new();
        items.retain(|request| seen.insert(request.request_id.clone()));
        Ok(Listing { items, next: None })
    }

    async fn of_all<T, F>(self, ask: impl Fn(Entry) -> F) -> Result<Vec<T>, ApiError>
    where
        F: Future<Output = Result<Vec<T>, ApiError>>,
    {
        let asked = self.backend.registry.entries().into_iter().map(|(id, entry)| {
            let answer = ask(entry);
            async move {
                match id == RuntimeId::local() {
                    true => answer.await,
                    false => Ok(within(answer).await.unwrap_or_else(|error| {
                        tracing::debug!(%error, %id, "a runtime is left out of a list");
                        Vec::new()
                    })),
                }
            }
        });
        Ok(join_all(asked).await.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

async fn pods_of(id: &RuntimeId, entry: &Entry, query: Pods) -> Result<Listing<PodSummary>, ApiError> {
    if *id == RuntimeId::local() {
        return entry.port.ask(query).await;
    }
    match within(entry.port.ask(query)).await {
        Err(error) if error.code != ErrorCode::CursorInvalid => {
            tracing::debug!(%error, %id, "the Pods there are left out of a list");
            Ok(Listing { items: Vec::new(), next: None })
        }
        page => page,
    }
}

/// Sealed: `RUNTIME.` followed by the rest of that runtime's own cursor, since each port's cursors begin with its own
/// id.
fn read_cursor(cursor: &str) -> Result<(RuntimeId, Option<String>), ApiError> {
    let (id, rest) = open_cursor(cursor).and_then(|place| place.split_once('.')).ok_or_else(stale)?;
    let id = RuntimeId::parse(id).map_err(|_| stale())?;
    // Our own Pods come first, so no page ends before them.
    if id == RuntimeId::local() && rest.is_empty() {
        return Err(stale());
    }
    Ok((id, (!rest.is_empty()).then(|| cursor.to_owned())))
}

fn stale() -> ApiError {
    ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
}
