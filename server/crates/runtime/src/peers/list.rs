//! Whom a Pod knows, what is asked, and what two Pods wrote to each other.

use jiff::Timestamp;
use pod_store::{PodRow, RequestRow};
use protocol::{
    ApiError, ErrorCode, ExchangeMessage, Listing, OpenRequest, PeerLink, PeerView, PodRef, WorkerId, open_cursor,
    seal_cursor,
};

use crate::{clock, error, far, host::Inner, view};

/// Links first, then requests, each oldest first.
pub(crate) async fn of_pod(inner: &Inner, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let links = inner.store.peer_links(row.key).await.map_err(error::store_failed)?;
    let requests = inner.store.peer_requests(row.key).await.map_err(error::store_failed)?;
    let links = links.into_iter().map(|link| {
        let summary = view::summary(&link.pod);
        PeerView {
            pod: summary.pod,
            name: summary.name,
            state: summary.state,
            link: PeerLink::Linked,
            request_id: None,
            is_asked: false,
            note: None,
            since: link.since,
            by: link.by,
        }
    });
    let now = clock::now();
    let requests = requests.into_iter().filter(|request| request.expires_at > now);
    let far = far::peer_views(inner, row.key).await?;
    Ok(links.chain(requests.map(|request| pending(&row, request))).chain(far).collect())
}

fn pending(own: &PodRow, request: RequestRow) -> PeerView {
    let is_asked = request.to.key == own.key;
    let summary = view::summary(if is_asked { &request.from } else { &request.to });
    PeerView {
        pod: summary.pod,
        name: summary.name,
        state: summary.state,
        link: PeerLink::Pending,
        request_id: Some(request.id),
        is_asked,
        note: request.note,
        since: request.at,
        by: request.by,
    }
}

/// Every request that waits for an answer, oldest first.
pub(crate) async fn open_requests(inner: &Inner) -> Result<Vec<OpenRequest>, ApiError> {
    let now = clock::now();
    // All there are: what a Pod was asked stays open when its policy becomes another one.
    let requests = inner.store.requests_expired(Timestamp::MAX).await.map_err(error::store_failed)?;
    let mut open: Vec<_> = requests.into_iter().filter(|request| request.expires_at > now).map(told).collect();
    open.extend(far::open_requests(inner).await?);
    open.sort_by_key(|request| request.at);
    Ok(open)
}

fn told(request: RequestRow) -> OpenRequest {
    OpenRequest {
        request_id: request.id,
        from: view::pod_ref(&request.from),
        from_name: request.from.name,
        to: view::pod_ref(&request.to),
        to_name: request.to.name,
        note: request.note,
        at: request.at,
        expires_at: request.expires_at,
    }
}

/// What two Pods wrote to each other, newest first.
pub(crate) async fn exchange(
    inner: &Inner,
    own: &WorkerId,
    other: &WorkerId,
    before: Option<&str>,
    limit: u32,
) -> Result<Listing<ExchangeMessage>, ApiError> {
    let (own, other) = (inner.existing_row(own).await?, inner.existing_row(other).await?);
    let before = before.map(read_cursor).transpose()?;
    let rows = inner.store.messages_of_pair(own.key, other.key, before, limit).await.map_err(error::store_failed)?;
    let next = rows.last().filter(|_| rows.len() == limit as usize);
    let next = next.map(|row| write_cursor(row.at, &row.id));
    let pod = |key| -> PodRef { view::pod_ref(if key == own.key { &own } else { &other }) };
    let items = rows.into_iter().map(|row| ExchangeMessage {
        from: pod(row.sender),
        to: pod(row.receiver),
        message_id: row.id,
        text: row.text,
        hops: row.hops,
        state: row.state,
        turn: row.turn,
        at: row.at,
    });
    Ok(Listing { items: items.collect(), next })
}

/// Right behind a message of the exchange between two Pods, wherever the other one lives.
pub(crate) fn write_cursor(at: Timestamp, message_id: &str) -> String {
    seal_cursor(&format!("{}.{message_id}", at.as_microsecond()))
}

pub(crate) fn read_cursor(text: &str) -> Result<(Timestamp, String), ApiError> {
    let read = || {
        let (at, id) = open_cursor(text)?.split_once('.')?;
        Some((Timestamp::from_microsecond(at.parse().ok()?).ok()?, id.to_owned()))
    };
    read()
        .ok_or_else(|| ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without it"))
}
