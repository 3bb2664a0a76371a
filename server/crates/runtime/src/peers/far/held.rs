//! Messages held at a receiver in another store: whoever decides, the receiver's side carries it out.

use std::time::Duration;

use pod_store::{Committed, FarChange, FarMessageRow, FarReceipt, PodRow};
use protocol::{ApiError, ErrorCode, HeldDecision, LinkNews, MessageAnswer, ReceiptState, WorkerId};

use super::{
    known_label,
    message::{delivered, noted, receipt, wakes},
    own, put_out,
    receive::Taken,
    settle,
};
use crate::{
    actor::Held,
    asked::Asked,
    clock, error,
    hold::{Together, Wanted},
    peers::Peers,
};

/// Releases or drops a message from or to a far Pod. `None` if there is no such message.
pub(crate) async fn decide_held(
    peers: &Peers,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    message_id: &str,
    decision: HeldDecision,
) -> Result<Option<MessageAnswer>, ApiError> {
    let own = peers.existing_row(worker_id).await?;
    let find = async || peers.store.far().message(own.key, message_id).await;
    let Some(row) = find().await? else { return Ok(None) };
    let held = own::hold(peers, &own).await?;
    // Somebody else may have decided while the Pod was being held.
    let row = find().await?.unwrap_or(row);
    if row.state != ReceiptState::Held {
        return Err(error::not_held());
    }
    match row.is_outgoing {
        true => ask_there(peers, asked, &own, row, decision).await.map(Some),
        false => decide_here(peers, asked, &own, held, row, decision).await.map(Some),
    }
}

fn state_of(decision: HeldDecision) -> ReceiptState {
    match decision {
        HeldDecision::Release => ReceiptState::Stored,
        HeldDecision::Drop => ReceiptState::Refused,
    }
}

async fn decide_here(
    peers: &Peers,
    asked: &Asked<'_>,
    own: &PodRow,
    held: Held,
    row: FarMessageRow,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    if decision == HeldDecision::Release {
        check_live(own, &held)?;
    }
    let answer = MessageAnswer { message_id: row.id.clone(), state: state_of(decision) };
    let together = asked.together("message_decide", row.id.clone(), &answer);
    match carry_out(peers, own, held, row, decision, together).await? {
        Committed::Done { .. } => Ok(answer),
        Committed::Repeated(row) => asked.repeated(row),
    }
}

fn check_live(own: &PodRow, held: &Held) -> Result<(), ApiError> {
    match held.pod.state.is_live() {
        true => Ok(()),
        false => {
            let sentence = format!("{} is stopped, so nothing was released; restore it first", own.name);
            Err(ApiError::new(ErrorCode::NotLive, sentence))
        }
    }
}

async fn carry_out(
    peers: &Peers,
    own: &PodRow,
    held: Held,
    row: FarMessageRow,
    decision: HeldDecision,
    together: Together,
) -> Result<Committed, ApiError> {
    let state = state_of(decision);
    let FarMessageRow { id, store, worker, text, hops, .. } = row;
    let (code, reason) = match decision {
        HeldDecision::Release => (None, None),
        HeldDecision::Drop => (Some(ErrorCode::PeerRefused), Some("somebody there dropped it".to_owned())),
    };
    let receipt = receipt(&id, (&own.worker_id, &worker), state, code, reason);
    let woke = wakes(&held, state);
    let change = FarReceipt { pod: own.key, id: id.clone(), state, turn: None, reason: None, woke, at: clock::now() };
    let mut far = together.far;
    far.extend([FarChange::MessageState(change), put_out(&store, &receipt)]);
    let peer = known_label(peers, &store, &worker).await?;
    let input = match decision {
        HeldDecision::Release => delivered(&held, id, text, peer, hops),
        HeldDecision::Drop => noted(id, peer, state, None),
    };
    let orders = vec![(held, Wanted { inputs: vec![input], ..Wanted::default() })];
    peers.pods.commit_together(orders, Together { far, ..together }).await
}

/// The other side holds the message, so it is asked, and its answer is awaited.
async fn ask_there(
    peers: &Peers,
    asked: &Asked<'_>,
    own: &PodRow,
    row: FarMessageRow,
    decision: HeldDecision,
) -> Result<MessageAnswer, ApiError> {
    let news = LinkNews::Decision {
        message_id: row.id.clone(),
        from: own.worker_id.clone(),
        to: row.worker.clone(),
        decision,
    };
    let answer = MessageAnswer { message_id: row.id.clone(), state: ReceiptState::Held };
    let far = vec![put_out(&row.store, &news)];
    let together = Together { far, ..asked.together("message_decide", row.id.clone(), &answer) };
    peers.pods.commit_together(Vec::new(), together).await?;
    let limit = if peers.far_is_reachable(&row.store) { settle::MESSAGE_WAIT_MAX } else { Duration::ZERO };
    let is_over = |now: &FarMessageRow| now.state != ReceiptState::Held || now.changed_at != row.changed_at;
    let told = settle::message(peers, own.key, &row.id, limit, is_over).await;
    let state = match (told, decision) {
        // A refusal is what was asked for.
        (Err(_), HeldDecision::Drop) => ReceiptState::Refused,
        (Err(error), HeldDecision::Release) => return Err(error),
        (Ok((ReceiptState::Held, _)), _) => ReceiptState::Held,
        (Ok(_), _) => ReceiptState::Stored,
    };
    Ok(MessageAnswer { state, ..answer })
}

/// Somebody on the sender's side decided about a message that is held here.
pub(super) async fn decided_there(
    peers: &Peers,
    taken: Taken<'_>,
    message_id: &str,
    from: &WorkerId,
    to: &WorkerId,
    decision: HeldDecision,
) -> Result<(), ApiError> {
    let Ok((own, held)) = own::meant(peers, to).await? else { return taken.commit(peers, Vec::new()).await };
    let row = peers.store.far().message(own.key, message_id).await?;
    let is_meant = |row: &FarMessageRow| {
        !row.is_outgoing && row.store == taken.store && row.worker == *from && row.state == ReceiptState::Held
    };
    let Some(row) = row.filter(is_meant) else { return taken.commit(peers, Vec::new()).await };
    if decision == HeldDecision::Release
        && let Err(error) = check_live(&own, &held)
    {
        let receipt = receipt(message_id, (to, from), ReceiptState::Held, Some(error.code), Some(error.detail));
        return taken.commit(peers, vec![put_out(taken.store, &receipt)]).await;
    }
    let together = Together { far: vec![taken.change()], ..Together::default() };
    carry_out(peers, &own, held, row, decision, together).await.map(drop)
}
