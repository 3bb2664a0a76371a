//! The initial content of a Pod's page, and older pages.

use leptos::prelude::*;
use protocol::{PeerView, PodDetail, PodRef, Record, Seq};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// The initial content of a Pod's page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodPageData {
    pub detail: PodDetail,
    /// Its peers, and the peer requests from and to it.
    pub peers: Vec<PeerView>,
    pub records: Vec<Record>,
    /// Where the live stream continues; absent on a page of older records, which never grows.
    pub cursor: Option<String>,
    /// The newest seq in `records`, counting chunks that were joined.
    pub head: Seq,
    /// Whether there are records before these.
    pub has_more: bool,
}

/// The Pod at `address` (`runtime_id/worker_id`) with its newest records, or with those before `before`. `at` is the
/// seq of a linked turn: if the newest records do not reach back to it, returns the page around it.
#[server(prefix = "/fn", endpoint = "load_pod", input = Json, output = Json)]
pub async fn load_pod(address: String, before: Option<Seq>, at: Option<Seq>) -> Result<PodPageData, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(reader::load(&backend, &address, before, at).await)
}

#[cfg(feature = "ssr")]
mod reader {
    use backend::{Backend, FeedItem};
    use futures_util::StreamExt;
    use protocol::{ApiError, ErrorCode, PodRef, Seq, operations};

    use super::PodPageData;
    use crate::server_fns::{
        TAIL_RECORDS,
        read_back::{Gathering, Past, complete, page_before},
    };

    pub(super) async fn load(
        backend: &Backend,
        address: &str,
        before: Option<Seq>,
        at: Option<Seq>,
    ) -> Result<PodPageData, ApiError> {
        let pod: PodRef =
            address.parse().map_err(|error| ApiError::new(ErrorCode::PodNotFound, format!("no such Pod: {error}")))?;
        if let Some(before) = before {
            return page_of_old(backend, &pod, before).await;
        }
        let newest = newest(backend, &pod).await?;
        let first = newest.records.first().map(|record| record.seq);
        match (at, first) {
            (Some(at), Some(first)) if newest.has_more && at < first => {
                page_of_old(backend, &pod, Seq(at.0 + i64::from(TAIL_RECORDS) / 2)).await
            }
            _ => Ok(newest),
        }
    }

    /// The snapshot's cursor belongs to exactly these records, so later ones arrive exactly once.
    async fn newest(backend: &Backend, pod: &PodRef) -> Result<PodPageData, ApiError> {
        let mut detail = backend.pod(pod).await?;
        let peers = backend.read(operations::Peers { pod: pod.clone(), page: Default::default() }).await?.items;
        let mut feed = backend.journals().observe(pod, None, TAIL_RECORDS).await?;
        while let Some(item) = feed.next().await {
            match item {
                FeedItem::Snapshot { cursor, summary, records, has_more } => {
                    detail.summary = *summary;
                    // Chunks of a block may have been joined, so the last record's seq can be lower than the head.
                    let head = detail.summary.head_seq;
                    let gathered = Gathering::of(&records, has_more)?;
                    let Past { records, has_more } = complete(backend, pod, gathered).await?;
                    return Ok(PodPageData { detail, peers, records, cursor: Some(cursor), head, has_more });
                }
                FeedItem::Closed { reason } => return Err(ApiError::new(ErrorCode::PodNotFound, reason)),
                FeedItem::Records { .. } | FeedItem::Diagnostic { .. } => (),
            }
        }
        Err(ApiError::new(ErrorCode::RuntimeUnavailable, "the Pod's runtime sent no snapshot; try again"))
    }

    async fn page_of_old(backend: &Backend, pod: &PodRef, before: Seq) -> Result<PodPageData, ApiError> {
        let detail = backend.pod(pod).await?;
        let peers = backend.read(operations::Peers { pod: pod.clone(), page: Default::default() }).await?.items;
        let Past { records, has_more } = page_before(backend, pod, before).await?;
        let head = records.last().map_or(Seq(0), |record| record.seq);
        Ok(PodPageData { detail, peers, records, cursor: None, head, has_more })
    }
}

/// A page of older records, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OlderPage {
    pub records: Vec<Record>,
    pub has_more: bool,
}

/// The page before `before`; with `is_whole` only the one record before it, not truncated.
#[server(prefix = "/fn", endpoint = "older_records", input = Json, output = Json)]
pub async fn older_records(pod: PodRef, before: Seq, is_whole: bool) -> Result<OlderPage, UiError> {
    let (backend, _) = door::caller()?;
    let past = match is_whole {
        true => super::read_back::whole_before(&backend, &pod, before).await,
        false => super::read_back::page_before(&backend, &pod, before).await,
    };
    door::answer(past.map(|past| OlderPage { records: past.records, has_more: past.has_more }))
}
