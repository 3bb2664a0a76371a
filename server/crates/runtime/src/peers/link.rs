//! Making two Pods of one store peers.

use jiff::SignedDuration;
use pod_store::{Committed, NewRequest, PairRow, PeerChange, PodKey, PodRow, RequestRow};
use protocol::{ApiError, ControlEvent, ErrorCode, PeerAnswer, PeerLabel, PeerLink, WorkerId};

pub use protocol::Introduced;

use super::{
    handshake::{News, Standing, Step, Which, decide},
    label_of_row,
};
use crate::{
    asked::Asked,
    clock,
    hold::{Holding, Together, Wanted},
    peers::Peers,
    view,
};

/// How long a peer request waits for its answer.
const REQUEST_HOURS_MAX: i64 = 24;
pub(crate) const NOTE_CHARS_MAX: usize = 1_000;

/// Makes two Pods peers, or sends a request to the target, according to its policy.
pub(crate) async fn introduce(
    peers: &Peers,
    asked: &Asked<'_>,
    source: &WorkerId,
    target: &WorkerId,
    note: Option<String>,
) -> Result<Introduced, ApiError> {
    if let Some(introduced) = asked.first_answer(peers).await? {
        return Ok(introduced);
    }
    check_note(note.as_deref())?;
    if source == target {
        return Err(ApiError::new(ErrorCode::PeerSelf, "a Pod cannot be its own peer; choose another one"));
    }
    let (own, other) = (readable(peers, source).await?, readable(peers, target).await?);
    let holding = peers.pods.hold(&[source, target]).await?;
    let pair = peers.store.peers().link(own.key, other.key).await?;
    let request = peers.store.peers().request_of(own.key, other.key).await?;
    let (request, stale) = match request {
        // Expired, but not yet cleaned up.
        Some(request) if request.expires_at <= clock::now() => (None, Some(request.id)),
        request => (request, None),
    };
    let policy = holding.get(target).map(|held| held.spec.peer_policy).unwrap_or_default();
    let step = match decide(standing(own.key, pair.as_ref(), request.as_ref()), News::Introduce) {
        // The target is in this store, so its answer is known at once.
        Step::Propose => decide(Standing::Strangers, News::Proposed(policy, Which::Earlier)),
        step => step,
    };
    let request_id = request.map(|request| request.id);
    let introduction = Introduction { own: &own, other: &other, request_id, stale, note };
    introduction.carry_out(peers, asked, holding, step).await
}

/// What two Pods of one store are to each other, as one of them has it.
pub(super) fn standing(own: PodKey, link: Option<&PairRow>, request: Option<&RequestRow>) -> Standing {
    match (link, request) {
        (Some(_), _) => Standing::Linked,
        (None, Some(request)) if request.from.key == own => Standing::Asking,
        (None, Some(_)) => Standing::Asked,
        (None, None) => Standing::Strangers,
    }
}

pub(crate) fn check_note(note: Option<&str>) -> Result<(), ApiError> {
    match note {
        Some(note) if note.chars().count() > NOTE_CHARS_MAX => {
            Err(ApiError::invalid(format!("the note is too long; at most {NOTE_CHARS_MAX} characters fit")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn refused(other: &PodRow) -> ApiError {
    let sentence =
        format!("pod \"{}\" accepts no new peers (its peer policy is closed); nothing was changed", other.name);
    ApiError::new(ErrorCode::PeerRefused, sentence)
}

/// The Pod's row if its record can be read. Otherwise the caller is told, and nothing is written.
pub(crate) async fn readable(peers: &Peers, worker_id: &WorkerId) -> Result<PodRow, ApiError> {
    let row = peers.existing_row(worker_id).await?;
    match view::open(&row) {
        Ok(_) => Ok(row),
        Err(reason) => {
            let sentence = format!("the record of pod \"{}\" cannot be read ({reason}); nothing was changed", row.name);
            Err(ApiError::new(ErrorCode::NotRestorable, sentence))
        }
    }
}

/// Two Pods that are to become peers.
struct Introduction<'a> {
    own: &'a PodRow,
    other: &'a PodRow,
    /// The open request between them.
    request_id: Option<String>,
    /// An expired request that is removed to make room.
    stale: Option<String>,
    note: Option<String>,
}

impl Introduction<'_> {
    async fn carry_out(
        self,
        peers: &Peers,
        asked: &Asked<'_>,
        holding: Holding,
        step: Step,
    ) -> Result<Introduced, ApiError> {
        let Self { own, other, request_id, stale, note } = self;
        let now = clock::now();
        let by = asked.origin.by.clone();
        let introduced = |state, request_id, stood| {
            let answer = PeerAnswer { source: view::pod_ref(own), peer: view::pod_ref(other), state, request_id };
            Introduced { answer, stood }
        };
        let (introduced, written, tell) = match step {
            Step::Refuse(_) => return Err(refused(other)),
            Step::Link => {
                let link = PeerChange::Link { a: own.key, b: other.key, by: by.clone(), at: now };
                let tell = Tell { kind: Kind::Linked, by, request_id, note };
                (introduced(PeerLink::Linked, None, false), vec![link], Some(tell))
            }
            Step::Ask => {
                let id = format!("request-{}", uuid::Uuid::now_v7());
                let request = NewRequest {
                    id: id.clone(),
                    from: own.key,
                    to: other.key,
                    note: note.clone(),
                    by: by.clone(),
                    at: now,
                    expires_at: now + SignedDuration::from_hours(REQUEST_HOURS_MAX),
                };
                let over = stale.map(|id| PeerChange::RequestDone { id });
                let changes = over.into_iter().chain([PeerChange::Request(request)]).collect();
                let tell = Tell { kind: Kind::Requested, by, request_id: Some(id.clone()), note };
                (introduced(PeerLink::Pending, Some(id), false), changes, Some(tell))
            }
            // Nothing changes: they are peers already, or a request is pending.
            _ => match request_id {
                Some(id) => (introduced(PeerLink::Pending, Some(id), false), Vec::new(), None),
                None => (introduced(PeerLink::Linked, None, true), Vec::new(), None),
            },
        };
        let target = format!("{} {}", view::pod_ref(own), view::pod_ref(other));
        let together = Together { peers: written, ..asked.together("peer", target, &introduced) };
        match commit_both(peers, holding, (own, other), tell, together).await? {
            Committed::Done { .. } => Ok(introduced),
            Committed::Repeated(row) => asked.repeated(row),
        }
    }
}

/// What both journals record.
#[derive(Debug, Clone)]
pub(super) struct Tell {
    pub(super) kind: Kind,
    pub(super) by: String,
    pub(super) request_id: Option<String>,
    pub(super) note: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Linked,
    Unlinked,
    Requested,
    Declined,
}

impl Tell {
    fn event(&self, peer: PeerLabel) -> ControlEvent {
        let Self { kind, by, request_id, note } = self.clone();
        match kind {
            Kind::Linked => ControlEvent::PeerLinked { peer, by, request_id, note },
            Kind::Unlinked => ControlEvent::PeerUnlinked { peer, by, request_id, note },
            Kind::Requested => ControlEvent::PeerRequested { peer, by, request_id, note },
            Kind::Declined => ControlEvent::PeerDeclined { peer, by, request_id, note },
        }
    }
}

/// One transaction over the pair; each journal names the other Pod.
pub(super) async fn commit_both(
    peers: &Peers,
    mut holding: Holding,
    (own, other): (&PodRow, &PodRow),
    tell: Option<Tell>,
    together: Together,
) -> Result<Committed, ApiError> {
    let mut orders = Vec::new();
    for (row, peer) in [(own, other), (other, own)] {
        if let Some(held) = holding.remove(&row.worker_id) {
            let events = tell.iter().map(|tell| tell.event(label_of_row(peer))).collect();
            orders.push((held, Wanted { events, ..Wanted::default() }));
        }
    }
    let committed = peers.pods.commit_together(orders, together).await?;
    for row in [own, other] {
        peers.list.tell_changed(&row.worker_id);
    }
    Ok(committed)
}
