//! Open peer requests between Pods of one store.

use pod_store::{Committed, PeerChange, PodKey, RequestRow};
use protocol::{ApiError, ControlEvent, ErrorCode, Event, PeerAnswer, PeerLink, Record, RequestDecision, WorkerId};

use super::{
    handshake::{News, Step, decide},
    link::{Kind, Tell, commit_both, standing},
};
use crate::{asked::Asked, clock, error, hold::Together, peers::Peers, view};

/// The note of a request that nobody answered in time.
pub(crate) const EXPIRED: &str = "expired";

/// Accepts or declines a request that a Pod of this store made to this Pod.
pub(super) async fn decide_request(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    request_id: &str,
    decision: RequestDecision,
) -> Result<PeerAnswer, ApiError> {
    let own = peers.existing_row(worker_id).await?;
    let request = find(peers, &own, request_id).await?;
    let (asker, own) = (request.from, request.to);
    let holding = peers.pods.hold(&[&own.worker_id, &asker.worker_id]).await?;
    // Somebody else may have answered while these two were being held.
    let still = peers.store.peers().request(request_id).await?;
    let (kind, change, state) = match decide(standing(own.key, None, still.as_ref()), News::of(decision)) {
        Step::Link => {
            let link = PeerChange::Link { a: own.key, b: asker.key, by: asked.origin.by.clone(), at: clock::now() };
            (Kind::Linked, link, PeerLink::Linked)
        }
        Step::End(_) => (Kind::Declined, PeerChange::RequestDone { id: request_id.to_owned() }, PeerLink::Declined),
        _ => return Err(error::request_answered(request_id)),
    };
    let answer = PeerAnswer {
        source: view::pod_ref(&own),
        peer: view::pod_ref(&asker),
        state,
        request_id: Some(request_id.to_owned()),
    };
    let target = format!("{} {}", answer.source, answer.peer);
    let together = Together { peers: vec![change], ..asked.together("peer_decide", target, &answer) };
    let by = asked.origin.by.clone();
    let tell = Tell { kind, by, request_id: Some(request_id.to_owned()), note: None };
    match commit_both(peers, holding, (&own, &asker), Some(tell), together).await? {
        Committed::Done { .. } => Ok(answer),
        Committed::Repeated(row) => asked.repeated(row),
    }
}

/// The open request to this Pod. The error tells a request that was once open from one that never existed.
async fn find(peers: &Peers, own: &pod_store::PodRow, request_id: &str) -> Result<RequestRow, ApiError> {
    let request = peers.store.peers().request(request_id).await?;
    match request.filter(|request| request.expires_at > clock::now()) {
        Some(request) if request.to.key == own.key => Ok(request),
        Some(request) if request.from.key == own.key => Err(error::asked_itself()),
        _ if was_made(peers, own, request_id).await? => Err(error::request_answered(request_id)),
        _ => Err(ApiError::new(ErrorCode::NotFound, format!("no request has the id \"{request_id}\" here"))),
    }
}

/// The journal knows every request that was ever made.
async fn was_made(peers: &Peers, own: &pod_store::PodRow, request_id: &str) -> Result<bool, ApiError> {
    let rows = peers.store.journals().questions(own.key).await?;
    Ok(rows.iter().any(|row| match serde_json::from_slice::<Record>(&row.body) {
        Ok(Record { event: Event::Control(ControlEvent::PeerRequested { request_id: id, .. }), .. }) => {
            id.as_deref() == Some(request_id)
        }
        _ => false,
    }))
}

/// How a request that made no peers ended, according to the journal of one of the two. `None` if that does not say.
pub(crate) async fn how_it_ended(peers: &Peers, pod: PodKey, request_id: &str) -> Result<Option<PeerLink>, ApiError> {
    let rows = peers.store.journals().questions(pod).await?;
    let ended = |row: &pod_store::StoredRecord| match serde_json::from_slice::<Record>(&row.body) {
        Ok(Record { event: Event::Control(ControlEvent::PeerDeclined { request_id: Some(id), note, .. }), .. })
            if id == request_id =>
        {
            let is_over = note.as_deref() == Some(EXPIRED);
            Some(if is_over { PeerLink::Expired } else { PeerLink::Declined })
        }
        _ => None,
    };
    Ok(rows.iter().rev().find_map(ended))
}

/// Ends the expired requests between Pods of this store; both sides are told.
pub(super) async fn expire(peers: &Peers) {
    let rows = match peers.store.peers().requests_expired(clock::now()).await {
        Ok(rows) => rows,
        Err(error) => return tracing::warn!(%error, "requests that are over could not be looked for"),
    };
    for request in rows {
        if let Err(error) = end(peers, &request).await {
            tracing::warn!(%error, request = request.id, "a request that is over could not be ended");
        }
    }
}

/// Ends exactly this request. If the two have become something else to each other meanwhile, that stays.
async fn end(peers: &Peers, request: &RequestRow) -> Result<(), ApiError> {
    let (from, to) = (&request.from, &request.to);
    // A Pod whose record cannot be read cannot be told.
    let readable: Vec<_> = [from, to].into_iter().filter(|row| view::open(row).is_ok()).collect();
    let holding = peers.pods.hold(&readable.iter().map(|row| &row.worker_id).collect::<Vec<_>>()).await?;
    if peers.store.peers().request(&request.id).await?.is_none() {
        return Ok(());
    }
    let note = Some(EXPIRED.to_owned());
    let tell = Tell { kind: Kind::Declined, by: "yoi".to_owned(), request_id: Some(request.id.clone()), note };
    let together = Together { peers: vec![PeerChange::RequestDone { id: request.id.clone() }], ..Together::default() };
    commit_both(peers, holding, (from, to), Some(tell), together).await.map(drop)
}
