//! A person's answer to a peer request from another store.

use pod_store::{Committed, FarState};
use protocol::{ApiError, PeerAnswer, PeerLink, PodRef, RequestDecision, WorkerId};

use super::{
    super::handshake::{News, Refusal, Step, decide},
    begin::accept,
    known_label,
    own::hold,
    parting::ended,
    standing,
};
use crate::{
    asked::Asked,
    clock, error,
    hold::{Together, Wanted},
    peers::Peers,
    view,
};

/// Accepts or declines a far Pod's request to this one. `None` if there is no such request from a far Pod.
pub(crate) async fn decide_request(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    request_id: &str,
    decision: RequestDecision,
) -> Result<Option<PeerAnswer>, ApiError> {
    let own = peers.existing_row(worker_id).await?;
    let find = async || {
        let rows = peers.store.far().peers(own.key).await?;
        Ok::<_, ApiError>(rows.into_iter().find(|row| row.handshake == request_id && row.state != FarState::Linked))
    };
    let Some(row) = find().await? else { return Ok(None) };
    if decide(standing(Some(&row)), News::of(decision)) == Step::Refuse(Refusal::OwnRequest) {
        return Err(error::asked_itself());
    }
    let held = hold(peers, &own).await?;
    // Somebody else may have answered while the Pod was being held.
    let Some(row) = find().await?.filter(|row| row.expires_at.is_none_or(|at| at > clock::now())) else {
        return Err(error::request_answered(request_id));
    };
    let peer = known_label(peers, &row.store, &row.worker).await?;
    let answer = |state| PeerAnswer {
        source: view::pod_ref(&own),
        peer: PodRef::new(peer.runtime_id.clone(), peer.worker_id.clone()),
        state,
        request_id: Some(request_id.to_owned()),
    };
    let by = &asked.origin.by;
    let (answer, far, event) = match decide(standing(Some(&row)), News::of(decision)) {
        Step::Link => {
            let (far, event) = accept(&own, row, peer.clone(), by);
            (answer(PeerLink::Linked), far, Some(event))
        }
        Step::End(_) => {
            let (far, event) = ended(&row, peer.clone(), by, None);
            (answer(PeerLink::Declined), far, event)
        }
        _ => return Err(error::request_answered(request_id)),
    };
    let address = format!("{} {}", answer.source, answer.peer);
    let together = Together { far, ..asked.together("peer_decide", address, &answer) };
    let orders = vec![(held, Wanted { events: event.into_iter().collect(), ..Wanted::default() })];
    let committed = peers.pods.commit_together(orders, together).await?;
    peers.list.tell_changed(worker_id);
    match committed {
        Committed::Done { .. } => Ok(Some(answer)),
        Committed::Repeated(row) => asked.repeated(row).map(Some),
    }
}
