//! Peer requests begun on this side: one transaction over this side's Pod, its row for the far Pod, and the item that
//! tells the other store.

use pod_store::{Committed, FarChange, FarPeerRow, FarState, PodRow};
use protocol::{ApiError, ControlEvent, ErrorCode, LinkNews, PeerAnswer, PeerLabel, PeerLink, PodRef, WorkerId};

use super::{
    super::handshake::{News, Standing, Step, decide},
    FAR_PEERS_MAX, FarPod, Proposal, card_change,
    cards::{card_of, told},
    label, put_out, settle, standing_among,
};
use crate::{
    asked::Asked,
    clock, error,
    hold::{Together, Wanted},
    peers::{Introduced, Peers, link, requests},
    view,
};

/// Makes a Pod a peer of one in another store: proposes it there, or accepts what the other side proposed.
pub(crate) async fn introduce(
    peers: &Peers,
    asked: &Asked<'_>,
    source: &WorkerId,
    target: &FarPod,
    note: Option<String>,
) -> Result<Introduced, ApiError> {
    let introduced = begin(peers, asked, source, target, note, News::Introduce).await?;
    settle::introduced(peers, &target.store, introduced).await
}

/// Asks a Pod here to become a peer of one in another store: whoever answers for the Pod here gets the request at once,
/// and the other side is told that it waits.
pub(crate) async fn invite(
    peers: &Peers,
    asked: &Asked<'_>,
    own: &WorkerId,
    source: &FarPod,
    note: Option<String>,
) -> Result<Introduced, ApiError> {
    begin(peers, asked, own, source, note, News::Invite).await
}

async fn begin(
    peers: &Peers,
    asked: &Asked<'_>,
    source: &WorkerId,
    target: &FarPod,
    note: Option<String>,
    news: News,
) -> Result<Introduced, ApiError> {
    if let Some(introduced) = asked.first_answer(peers).await? {
        return Ok(introduced);
    }
    link::check_note(note.as_deref())?;
    if target.store == peers.store.epoch() {
        return Err(ApiError::invalid("this runtime is this server's own; name the Pod without its runtime"));
    }
    let own = link::readable(peers, source).await?;
    let mut holding = peers.pods.hold(&[source]).await?;
    let rows = peers.store.far().peers(own.key).await?;
    let is_pair = |row: &&FarPeerRow| row.store == target.store && row.worker == target.card.worker_id;
    let known = rows.iter().find(is_pair).cloned();
    let peer = label(peers, &target.store, &target.card.worker_id, target.card.name.clone());
    let handshake = format!("request-{}", uuid::Uuid::now_v7());
    let begun = Begun { own: &own, target, peer, by: &asked.origin.by, note, handshake };
    let (introduced, far, events) = begun.follow(news, rows.len(), known)?;
    let address = format!("{} {}", introduced.answer.source, introduced.answer.peer);
    let together = Together { far, ..asked.together("peer", address, &introduced) };
    let held = holding.remove(source).ok_or_else(|| error::no_such_pod(source))?;
    let orders = vec![(held, Wanted { events, ..Wanted::default() })];
    let introduced = match peers.pods.commit_together(orders, together).await? {
        Committed::Done { .. } => introduced,
        Committed::Repeated(row) => asked.repeated(row)?,
    };
    peers.list.tell_changed(source);
    Ok(introduced)
}

pub(super) fn too_many(own: &PodRow) -> ApiError {
    let sentence = format!("pod \"{}\" has {FAR_PEERS_MAX} peers in other runtimes; remove one first", own.name);
    ApiError::new(ErrorCode::PeerRefused, sentence)
}

/// What somebody here wants for a Pod here and a far one.
pub(super) struct Begun<'a> {
    pub(super) own: &'a PodRow,
    pub(super) target: &'a FarPod,
    /// How records name the far Pod.
    pub(super) peer: PeerLabel,
    pub(super) by: &'a str,
    pub(super) note: Option<String>,
    /// For a new request.
    pub(super) handshake: String,
}

/// The answer, the changes outside the Pod, and the events for its journal.
pub(super) type Changes = (Introduced, Vec<FarChange>, Vec<ControlEvent>);

impl Begun<'_> {
    /// What follows for a Pod with this many rows, of which `known` is the one for the far Pod.
    pub(super) fn follow(self, news: News, rows: usize, known: Option<FarPeerRow>) -> Result<Changes, ApiError> {
        let now = clock::now();
        // An expired request makes room for a new one, except that the other side's request can be answered even then.
        let is_over = |row: &FarPeerRow| row.expires_at.is_some_and(|at| at <= now);
        let is_answer = |row: &FarPeerRow| news == News::Introduce && row.state == FarState::Asked;
        let is_stale = known.as_ref().is_some_and(|row| is_over(row) && !is_answer(row));
        let step = match is_stale {
            true => decide(Standing::Strangers, news),
            false => decide(standing_among(rows, known.as_ref()), news),
        };
        Ok(match (step, known) {
            (Step::Refuse(_), _) => return Err(too_many(self.own)),
            (Step::Link, Some(row)) => self.accepted(row),
            (Step::Propose, stale) => self.begun(FarState::Proposed, stale),
            (Step::Ask, stale) => self.begun(FarState::Asked, stale),
            (_, known) => (self.stays(known), Vec::new(), Vec::new()),
        })
    }

    fn introduced(&self, state: PeerLink, request_id: Option<String>) -> Introduced {
        let PeerLabel { runtime_id, worker_id, .. } = self.peer.clone();
        let (source, peer) = (view::pod_ref(self.own), PodRef::new(runtime_id, worker_id));
        Introduced { answer: PeerAnswer { source, peer, state, request_id }, stood: false }
    }

    /// Nothing changes: they are peers already, or a request is pending.
    fn stays(&self, known: Option<FarPeerRow>) -> Introduced {
        match known.filter(|row| row.state != FarState::Linked) {
            Some(row) => self.introduced(PeerLink::Pending, Some(row.handshake)),
            None => Introduced { stood: true, ..self.introduced(PeerLink::Linked, None) },
        }
    }

    fn accepted(&self, row: FarPeerRow) -> Changes {
        let (far, event) = accept(self.own, row, self.peer.clone(), self.by);
        (self.introduced(PeerLink::Linked, None), far, vec![event])
    }

    /// A new request: either the other side is asked, or this side's Pod is asked on the other's behalf.
    fn begun(self, state: FarState, stale: Option<FarPeerRow>) -> Changes {
        let introduced = self.introduced(PeerLink::Pending, Some(self.handshake.clone()));
        let Self { own, target: FarPod { store, card }, peer, by, note, handshake } = self;
        let (to, by, from) = (card.worker_id.clone(), by.to_owned(), card_of(own));
        let over = stale.map(|row| {
            let (handshake, by) = (row.handshake, by.clone());
            put_out(store, &LinkNews::Withdraw { handshake, by, note: Some(requests::EXPIRED.to_owned()) })
        });
        let proposal = Proposal { handshake, from: card.clone(), to: own.worker_id.clone(), by, note };
        let row = FarPeerRow { told: told(&from), ..proposal.row(own.key, store, state) };
        let event = proposal.requested(peer);
        let Proposal { handshake, by, note, .. } = proposal;
        let news = match state {
            FarState::Asked => LinkNews::Invite { handshake, from, to, by, note },
            _ => LinkNews::Propose { handshake, from, to, by, note },
        };
        let changes = [FarChange::Put(row), card_change(store, card), put_out(store, &news)];
        (introduced, over.into_iter().chain(changes).collect(), vec![event])
    }
}

/// This side records the pair from now on and tells the other.
pub(super) fn accept(own: &PodRow, row: FarPeerRow, peer: PeerLabel, by: &str) -> (Vec<FarChange>, ControlEvent) {
    let card = card_of(own);
    let told = told(&card);
    let (handshake, by) = (row.handshake.clone(), by.to_owned());
    let news = LinkNews::Accepted { handshake: handshake.clone(), card, by: by.clone() };
    let sent = put_out(&row.store, &news);
    let linked = FarPeerRow { by: by.clone(), told, ..linked(row) };
    let event = ControlEvent::PeerLinked { peer, by, request_id: Some(handshake), note: linked.note.clone() };
    (vec![FarChange::Put(linked), sent], event)
}

/// The row of a new pair, with its full message burst.
pub(super) fn linked(row: FarPeerRow) -> FarPeerRow {
    let now = clock::now();
    FarPeerRow { state: FarState::Linked, since: now, pace_level: 0, pace_at: now, expires_at: None, ..row }
}
