//! A Pod's peers, its open requests, and the messages between two Pods.

use jiff::Timestamp;
use pod_store::{PodRow, RequestRow};
use protocol::{
    ApiError, ErrorCode, ExchangeMessage, Listing, OpenRequest, PAGE_BYTES_MAX, PeerLink, PeerView, PodRef, WorkerId,
    open_cursor, seal_cursor,
};

use crate::{clock, peers::Peers, view};

/// Peers first, then requests, each oldest first.
pub(super) async fn of_pod(peers: &Peers, row: &PodRow) -> Result<Vec<PeerView>, ApiError> {
    let links = peers.store.peers().links(row.key).await?;
    let requests = peers.store.peers().requests(row.key).await?;
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
    Ok(links.chain(requests.map(|request| pending(row, request))).collect())
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

/// Every open request between Pods of this store.
pub(super) async fn open_requests(peers: &Peers) -> Result<Vec<OpenRequest>, ApiError> {
    let now = clock::now();
    // All of them: a request to a Pod stays open when the Pod's policy changes.
    let requests = peers.store.peers().requests_expired(Timestamp::MAX).await?;
    Ok(requests.into_iter().filter(|request| request.expires_at > now).map(told).collect())
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

/// The messages between two Pods, newest first.
pub(crate) async fn exchange(
    peers: &Peers,
    own: &WorkerId,
    other: &WorkerId,
    before: Option<&str>,
    limit: u32,
) -> Result<Listing<ExchangeMessage>, ApiError> {
    let (own, other) = (peers.existing_row(own).await?, peers.existing_row(other).await?);
    let before = before.map(read_cursor).transpose()?;
    let rows = peers.store.messages().of_pair(own.key, other.key, before, limit).await?;
    let pod = |key| -> PodRef { view::pod_ref(if key == own.key { &own } else { &other }) };
    let messages = rows.into_iter().map(|row| ExchangeMessage {
        from: pod(row.sender),
        to: pod(row.receiver),
        message_id: row.id,
        text: row.text,
        hops: row.hops,
        state: row.state,
        turn: row.turn,
        at: row.at,
    });
    Ok(page(messages, limit))
}

/// A page of messages between two Pods, wherever the other one lives.
pub(super) fn page(messages: impl Iterator<Item = ExchangeMessage>, limit: u32) -> Listing<ExchangeMessage> {
    let mut items: Vec<_> = messages.collect();
    let has_more = end_page(&mut items, limit, |message| message.text.len());
    let last = items.last().filter(|_| has_more);
    let next = last.map(|last| seal_cursor(&format!("{}.{}", last.at.as_microsecond(), last.message_id)));
    Listing { items, next }
}

/// Truncates to what fits into a page, at least one row. Returns whether there may be more.
fn end_page<T>(rows: &mut Vec<T>, limit: u32, bytes: impl Fn(&T) -> usize) -> bool {
    let is_full = rows.len() == limit as usize;
    let mut room = PAGE_BYTES_MAX;
    let fits = rows.iter().position(|row| match room.checked_sub(bytes(row)) {
        Some(rest) => {
            room = rest;
            false
        }
        None => true,
    });
    match fits {
        Some(count) => {
            rows.truncate(count.max(1));
            true
        }
        None => is_full,
    }
}

/// The position right after a message of such a page.
pub(super) fn read_cursor(text: &str) -> Result<(Timestamp, String), ApiError> {
    let read = || {
        let (at, id) = open_cursor(text)?.split_once('.')?;
        Some((Timestamp::from_microsecond(at.parse().ok()?).ok()?, id.to_owned()))
    };
    read()
        .ok_or_else(|| ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_where_its_bytes_do_and_one_message_always_fits() {
        let page = |sizes: &[usize], limit| {
            let mut rows = sizes.to_vec();
            let has_more = end_page(&mut rows, limit, |bytes| *bytes);
            (rows.len(), has_more)
        };
        let half = PAGE_BYTES_MAX / 2;
        assert_eq!(page(&[half, half], 3), (2, false));
        assert_eq!(page(&[half, half], 2), (2, true), "there may be a next one");
        assert_eq!(page(&[half, half, 1], 9), (2, true));
        assert_eq!(page(&[PAGE_BYTES_MAX + 1, 1], 9), (1, true));
        assert_eq!(page(&[], 9), (0, false));
    }
}
