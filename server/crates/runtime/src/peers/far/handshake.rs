//! Introductions as they begin on this side: one transaction over the own Pod, what it is to the far one, and the item
//! that tells the other store.

use jiff::Timestamp;
use pod_store::{Committed, FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, LinkNews, PeerAnswer, PeerLabel, PeerLink, PodRef, WorkerId};

use super::{FAR_PEERS_MAX, FarPod, card_change, cards::card_of, expires_at, label, put_out, settle};
use crate::{
    asked::Asked,
    clock, error,
    hold::{Together, Wanted},
    peers::{Introduced, Peers, link, requests},
    view,
};

/// Introduces a Pod to one of another store: proposes it there, or accepts what the other side proposed.
pub(crate) async fn introduce(
    inner: &Peers,
    asked: &Asked<'_>,
    source: &WorkerId,
    target: &FarPod,
    note: Option<String>,
) -> Result<Introduced, ApiError> {
    let introduced = begin(inner, asked, source, target, note, Way::Out).await?;
    settle::introduced(inner, &target.store, introduced).await
}

/// Introduces a Pod of another store to one here that is asked first: whoever answers for the own Pod has the request at
/// once, and the other side is told that it waits.
pub(crate) async fn invite(
    inner: &Peers,
    asked: &Asked<'_>,
    own: &WorkerId,
    source: &FarPod,
    note: Option<String>,
) -> Result<Introduced, ApiError> {
    begin(inner, asked, own, source, note, Way::In).await
}

/// Which of the two wants to know the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The own Pod: the other side is asked.
    Out,
    /// The far Pod: this side is asked.
    In,
}

async fn begin(
    inner: &Peers,
    asked: &Asked<'_>,
    source: &WorkerId,
    target: &FarPod,
    note: Option<String>,
    way: Way,
) -> Result<Introduced, ApiError> {
    if let Some(introduced) = asked.first_answer(inner).await? {
        return Ok(introduced);
    }
    link::check_note(note.as_deref())?;
    if target.store == inner.store.epoch() {
        return Err(ApiError::invalid("this runtime is this server's own; name the Pod without its runtime"));
    }
    let own = link::readable(inner, source).await?;
    let mut holding = inner.pods.hold(&[source]).await?;
    let rows = inner.store.far_peers(own.key).await.map_err(error::store_failed)?;
    let is_pair = |row: &&FarPeerRow| row.store == target.store && row.worker == target.card.worker_id;
    let known = rows.iter().find(is_pair);
    let now = clock::now();
    let step = match known {
        Some(row) if row.state == FarState::Linked => Step::Stands,
        Some(row) if row.state == FarState::Asked && way == Way::Out => Step::Accept(row.clone()),
        Some(row) if row.expires_at.is_none_or(|at| at > now) => Step::Waits(row.handshake.clone()),
        stale if stale.is_some() || rows.len() < FAR_PEERS_MAX => Step::Begin { way, stale: stale.cloned() },
        _ => return Err(too_many(&own)),
    };
    let begun = Begun { own: &own, target, by: &asked.origin.by, note, now };
    let (introduced, far, events) = begun.carry_out(inner, step);
    let address = format!("{} {}", introduced.answer.source, introduced.answer.peer);
    let together = Together { far, ..asked.together("peer", address, &introduced) };
    let held = holding.remove(source).ok_or_else(|| error::no_such_pod(source))?;
    let orders = vec![(held, Wanted { events, ..Wanted::default() })];
    let introduced = match inner.pods.commit_together(orders, together).await? {
        Committed::Done { .. } => introduced,
        Committed::Repeated(row) => asked.repeated(row)?,
    };
    inner.list.tell_changed(source);
    Ok(introduced)
}

enum Step {
    Stands,
    Waits(String),
    Accept(FarPeerRow),
    /// One of before whose time is over makes room.
    Begin {
        way: Way,
        stale: Option<FarPeerRow>,
    },
}

pub(super) fn too_many(own: &PodRow) -> ApiError {
    let sentence = format!("pod \"{}\" knows {FAR_PEERS_MAX} Pods of other runtimes; end one of these first", own.name);
    ApiError::new(ErrorCode::PeerRefused, sentence)
}

struct Begun<'a> {
    own: &'a PodRow,
    target: &'a FarPod,
    by: &'a str,
    note: Option<String>,
    now: Timestamp,
}

impl Begun<'_> {
    fn carry_out(self, inner: &Peers, step: Step) -> (Introduced, Vec<FarChange>, Vec<ControlEvent>) {
        let Self { own, target: FarPod { store, card }, by, note, now } = self;
        let peer = label(inner, store, &card.worker_id, card.name.clone());
        let source = view::pod_ref(own);
        let answer = |state, request_id| PeerAnswer {
            source,
            peer: PodRef::new(peer.runtime_id.clone(), peer.worker_id.clone()),
            state,
            request_id,
        };
        let fresh = |answer| Introduced { answer, stood: false };
        match step {
            Step::Stands => {
                (Introduced { answer: answer(PeerLink::Linked, None), stood: true }, Vec::new(), Vec::new())
            }
            Step::Waits(id) => (fresh(answer(PeerLink::Pending, Some(id))), Vec::new(), Vec::new()),
            Step::Accept(row) => {
                let answer = answer(PeerLink::Linked, None);
                let (far, event) = accept(own, row, peer.clone(), by, now);
                (fresh(answer), far, vec![event])
            }
            Step::Begin { way, stale } => {
                let handshake = format!("request-{}", uuid::Uuid::now_v7());
                let own_card = card_of(own);
                let row = FarPeerRow {
                    pod: own.key,
                    store: store.clone(),
                    worker: card.worker_id.clone(),
                    handshake: handshake.clone(),
                    state: if way == Way::Out { FarState::Proposed } else { FarState::Asked },
                    note: note.clone(),
                    by: by.to_owned(),
                    since: now,
                    expires_at: Some(expires_at()),
                    pace_level: 0,
                    pace_at: now,
                    told: serde_json::to_string(&own_card).expect("a card always encodes"),
                };
                let over = stale.map(|row| {
                    let (handshake, by) = (row.handshake, by.to_owned());
                    put_out(store, &LinkNews::Withdraw { handshake, by, note: Some(requests::EXPIRED.to_owned()) })
                });
                let (from, to, said_by) = (own_card, card.worker_id.clone(), by.to_owned());
                let (id, said) = (handshake.clone(), note.clone());
                let news = match way {
                    Way::Out => LinkNews::Propose { handshake: id, from, to, by: said_by, note: said },
                    Way::In => LinkNews::Invite { handshake: id, from, to, by: said_by, note: said },
                };
                let changes = [FarChange::Put(row), card_change(store, card), put_out(store, &news)];
                let event = ControlEvent::PeerRequested {
                    peer: peer.clone(),
                    by: by.to_owned(),
                    request_id: Some(handshake.clone()),
                    note,
                };
                let far = over.into_iter().chain(changes).collect();
                (fresh(answer(PeerLink::Pending, Some(handshake))), far, vec![event])
            }
        }
    }
}

/// This side holds the link from now on, and says so.
pub(super) fn accept(
    own: &PodRow,
    row: FarPeerRow,
    peer: PeerLabel,
    by: &str,
    now: Timestamp,
) -> (Vec<FarChange>, ControlEvent) {
    let card = card_of(own);
    let told = serde_json::to_string(&card).expect("a card always encodes");
    let (handshake, by) = (row.handshake.clone(), by.to_owned());
    let news = LinkNews::Accepted { handshake: handshake.clone(), card, by: by.clone() };
    let sent = put_out(&row.store, &news);
    let linked = FarPeerRow { by: by.clone(), told, ..linked(row, now) };
    let event = ControlEvent::PeerLinked { peer, by, request_id: Some(handshake), note: linked.note.clone() };
    (vec![FarChange::Put(linked), sent], event)
}

/// A link, with all of its burst.
pub(super) fn linked(row: FarPeerRow, now: Timestamp) -> FarPeerRow {
    FarPeerRow { state: FarState::Linked, since: now, pace_level: 0, pace_at: now, expires_at: None, ..row }
}
