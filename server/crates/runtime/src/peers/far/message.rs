//! Messages between Pods of two stores. "Sent" means in the outbox of the sender's store, with its record, in one
//! transaction. The guards are the receiver's: it checks hops, the pair's pace and its own budget, and holds what is
//! too much.

use pod::Input;
use pod_store::{Committed, FarChange, FarMessageRow, FarPeerRow, FarReceipt, FarState, MailPut, PairRow, PodRow};
use protocol::{
    ApiError, ControlEvent, ErrorCode, LinkNews, MessageAnswer, PeerLabel, PodState, ReceiptState, TurnEvent, WorkerId,
};

use super::{Reason, WAITING_ITEMS_MAX, known_label, own, put_out, receive::Taken, settle};
use crate::{
    actor::{Extras, Held},
    clock,
    hold::{Together, Wanted},
    mail::Letter,
    peers::{
        Peers, guard,
        message::{self, Cause},
    },
    view,
};

/// The state of a message by the time its sender hears of it.
pub(crate) struct Sent {
    pub(crate) answer: MessageAnswer,
    /// Why it is held.
    pub(crate) why: Option<String>,
}

/// Sends a message, or returns the state of one that was sent before. An immediate refusal by the other side is an
/// error.
pub(crate) async fn send(
    peers: &Peers,
    sender: &WorkerId,
    peer: &FarPeerRow,
    text: &str,
    cause: Cause<'_>,
) -> Result<Sent, ApiError> {
    let own = peers.existing_row(sender).await?;
    let known = peers.store.far().message_of_call(own.key, &cause.id()).await?;
    if let Cause::Person(asked) = &cause
        && let Some(MessageAnswer { message_id, .. }) = asked.first_answer(peers).await?
    {
        return sent(peers, &own, &message_id).await;
    }
    if let Some(known) = known {
        return sent(peers, &own, &known.id).await;
    }
    message::check(text)?;
    let held = own::hold(peers, &own).await?;
    let peer = known_label(peers, &peer.store, &peer.worker).await?;
    let rows = peers.store.far().peers(own.key).await?;
    let is_meant = |row: &&FarPeerRow| row.worker == peer.worker_id && peers.far_runtime(&row.store) == peer.runtime_id;
    let row = rows.iter().find(is_meant).filter(|row| row.state == FarState::Linked).ok_or_else(|| {
        let sentence = format!("pod \"{}\" is not a peer of \"{}\"; make them peers first", peer.name, own.name);
        ApiError::new(ErrorCode::NotVisible, sentence)
    })?;
    check_line(peers, row, &peer).await?;
    if !held.pod.state.is_live() {
        let sentence = format!("pod \"{}\" is stopped; restore it first", own.name);
        return Err(ApiError::new(ErrorCode::NotLive, sentence));
    }
    let hops = cause.hops(&held.pod);
    let id = format!("message-{}", uuid::Uuid::now_v7());
    let far = sending(&own, row, &id, text, hops, &cause.id());
    let answer = MessageAnswer { message_id: id.clone(), state: ReceiptState::Sent };
    let address = format!("{} {}/{}", view::pod_ref(&own), peer.runtime_id, peer.worker_id);
    let together = Together { far, ..cause.together(address, &answer) };
    let state = ReceiptState::Sent;
    let told = ControlEvent::MessageReceipt { message_id: id.clone(), peer, state, turn: None, reason: None };
    let orders = vec![(held, Wanted { events: vec![told], ..Wanted::default() })];
    match (peers.pods.commit_together(orders, together).await?, &cause) {
        // The same command was carried out at the same time by somebody else.
        (Committed::Repeated(row), Cause::Person(asked)) => {
            let MessageAnswer { message_id, .. } = asked.repeated(row)?;
            sent(peers, &own, &message_id).await
        }
        _ => sent(peers, &own, &id).await,
    }
}

/// Refuses messages to a runtime that was removed from the registry, and limits how many wait for one that does not
/// answer.
async fn check_line(peers: &Peers, row: &FarPeerRow, peer: &PeerLabel) -> Result<(), ApiError> {
    let unavailable = |sentence| Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence));
    if !peers.far_is_known(&row.store) {
        return unavailable(format!(
            "the runtime of pod \"{}\" is not connected with this server any more, so nothing was sent; add it again",
            peer.name
        ));
    }
    let position = peers.store.far().position(&row.store).await?;
    if position.put_out - position.acked >= WAITING_ITEMS_MAX {
        return unavailable(format!(
            "too much waits for the runtime \"{}\", which does not answer; nothing was sent",
            peer.runtime_id
        ));
    }
    Ok(())
}

fn sending(own: &PodRow, row: &FarPeerRow, id: &str, text: &str, hops: u32, call_id: &str) -> Vec<FarChange> {
    let now = clock::now();
    let message = FarMessageRow {
        pod: own.key,
        id: id.to_owned(),
        store: row.store.clone(),
        worker: row.worker.clone(),
        is_outgoing: true,
        call_id: Some(call_id.to_owned()),
        text: text.to_owned(),
        hops,
        state: ReceiptState::Sent,
        turn: None,
        reason: None,
        at: now,
        changed_at: now,
        woke: false,
    };
    let news = LinkNews::Message {
        message_id: id.to_owned(),
        from: own.worker_id.clone(),
        to: row.worker.clone(),
        text: text.to_owned(),
        hops,
    };
    let level = guard::refilled(&pair_of(row), now).saturating_sub(guard::WHOLE);
    vec![FarChange::Message(message), pace(row, level, now), put_out(&row.store, &news)]
}

fn pair_of(row: &FarPeerRow) -> PairRow {
    PairRow { by: String::new(), since: row.since, pace_level: row.pace_level, pace_at: row.pace_at }
}

fn pace(row: &FarPeerRow, level: u32, at: jiff::Timestamp) -> FarChange {
    FarChange::Pace { pod: row.pod, store: row.store.clone(), worker: row.worker.clone(), level, at }
}

async fn sent(peers: &Peers, own: &PodRow, id: &str) -> Result<Sent, ApiError> {
    let row = peers.store.far().message(own.key, id).await?;
    let limit = match row {
        Some(row) if peers.far_is_reachable(&row.store) => settle::MESSAGE_WAIT_MAX,
        _ => std::time::Duration::ZERO,
    };
    let (state, why) = settle::message(peers, own.key, id, limit, settle::is_told).await?;
    // Later states are reported by receipts.
    let state = match state {
        ReceiptState::Sent | ReceiptState::Held => state,
        _ => ReceiptState::Stored,
    };
    Ok(Sent { answer: MessageAnswer { message_id: id.to_owned(), state }, why })
}

/// A message from another store.
pub(super) struct Incoming {
    pub(super) message_id: String,
    pub(super) from: WorkerId,
    pub(super) to: WorkerId,
    pub(super) text: String,
    pub(super) hops: u32,
}

/// The state of a message received here, for the store that sent it; `from` is the Pod here.
pub(super) fn receipt(
    message_id: &str,
    (from, to): (&WorkerId, &WorkerId),
    state: ReceiptState,
    code: Option<ErrorCode>,
    reason: Option<String>,
) -> LinkNews {
    let (message_id, from, to) = (message_id.to_owned(), from.clone(), to.clone());
    LinkNews::Receipt { message_id, from, to, state, turn: None, code, reason }
}

pub(super) async fn receive(peers: &Peers, taken: Taken<'_>, incoming: Incoming) -> Result<(), ApiError> {
    let (own, held) = match own::meant(peers, &incoming.to).await? {
        Ok(meant) => meant,
        Err(error) => return refuse(peers, taken, &incoming, error).await,
    };
    let rows = peers.store.far().peers(own.key).await?;
    let is_pair = |row: &&FarPeerRow| row.store == taken.store && row.worker == incoming.from;
    let Some(row) = rows.iter().find(is_pair).filter(|row| row.state == FarState::Linked) else {
        let sentence = format!("pod \"{}\" is no longer a peer of this one; make them peers first", own.name);
        return refuse(peers, taken, &incoming, ApiError::new(ErrorCode::NotVisible, sentence)).await;
    };
    if peers.store.far().message(own.key, &incoming.message_id).await?.is_some() {
        let error = ApiError::invalid("a message of this id came before");
        return refuse(peers, taken, &incoming, error).await;
    }
    if !held.pod.state.is_live() {
        let sentence = format!("{} is stopped, so it did not get the message; its own server restores it", own.name);
        return refuse(peers, taken, &incoming, ApiError::new(ErrorCode::NotLive, sentence)).await;
    }
    let now = clock::now();
    let verdict = guard::verdict(peers, &pair_of(row), own.key, incoming.hops, now).await?;
    let state = if verdict.held.is_some() { ReceiptState::Held } else { ReceiptState::Stored };
    let message = FarMessageRow {
        pod: own.key,
        id: incoming.message_id.clone(),
        store: row.store.clone(),
        worker: row.worker.clone(),
        is_outgoing: false,
        call_id: None,
        text: incoming.text.clone(),
        hops: incoming.hops,
        state,
        turn: None,
        reason: verdict.held.as_deref().map(|why| Reason::encode(None, why)),
        at: now,
        changed_at: now,
        woke: wakes(&held, state),
    };
    let receipt = receipt(&incoming.message_id, (&incoming.to, &incoming.from), state, None, verdict.held.clone());
    let far = vec![
        taken.change(),
        FarChange::Message(message),
        pace(row, verdict.pace_level, now),
        put_out(taken.store, &receipt),
    ];
    let from = known_label(peers, &row.store, &row.worker).await?;
    let Incoming { message_id, text, hops, .. } = incoming;
    let input = match verdict.held {
        None => delivered(&held, message_id, text, from, hops),
        Some(reason) => noted(message_id, from, ReceiptState::Held, Some(reason)),
    };
    own::write(peers, Some(held), Wanted { inputs: vec![input], ..Wanted::default() }, far).await
}

/// Whether storing the message begins a run of the receiver.
pub(super) fn wakes(held: &Held, state: ReceiptState) -> bool {
    state == ReceiptState::Stored && held.spec.wake_on_peer && held.pod.state == PodState::Idle
}

pub(super) fn delivered(held: &Held, message_id: String, text: String, from: PeerLabel, hops: u32) -> Input {
    let event = TurnEvent::PeerMessage { message_id, text, from, hops };
    Input::Mail { events: vec![event], wakes: held.spec.wake_on_peer }
}

pub(super) fn noted(message_id: String, peer: PeerLabel, state: ReceiptState, reason: Option<String>) -> Input {
    Input::Note(vec![ControlEvent::MessageReceipt { message_id, peer, state, turn: None, reason }])
}

async fn refuse(peers: &Peers, taken: Taken<'_>, incoming: &Incoming, error: ApiError) -> Result<(), ApiError> {
    let Incoming { message_id, from, to, .. } = incoming;
    let receipt = receipt(message_id, (to, from), ReceiptState::Refused, Some(error.code), Some(error.detail));
    taken.commit(peers, vec![put_out(taken.store, &receipt)]).await
}

/// The new state of a message that a Pod here sent.
pub(super) struct Told {
    pub(super) message_id: String,
    pub(super) from: WorkerId,
    pub(super) to: WorkerId,
    pub(super) state: ReceiptState,
    pub(super) turn: Option<u64>,
    pub(super) code: Option<ErrorCode>,
    pub(super) reason: Option<String>,
}

/// The state is put into the Pod's mailbox, so that it gets into the journal in order whatever the Pod is doing.
pub(super) async fn told(peers: &Peers, taken: Taken<'_>, told: Told) -> Result<(), ApiError> {
    let own = peers.store.pods().find(&told.to).await?;
    let row = match &own {
        Some(own) => peers.store.far().message(own.key, &told.message_id).await?,
        None => None,
    };
    let is_its = |row: &FarMessageRow| row.is_outgoing && row.store == taken.store && row.worker == told.from;
    let (Some(own), Some(row)) = (own, row.filter(is_its)) else { return taken.commit(peers, Vec::new()).await };
    if !follows(&row, told.state) {
        return taken.commit(peers, Vec::new()).await;
    }
    let Told { message_id, from, state, turn, code, reason, .. } = told;
    let at = clock::now();
    let receipt = FarReceipt {
        pod: own.key,
        id: message_id.clone(),
        state,
        turn,
        reason: reason.as_deref().map(|reason| Reason::encode(code, reason)),
        woke: false,
        at,
    };
    let peer = known_label(peers, taken.store, &from).await?;
    let key = format!("receipt:{message_id}:{state:?}:{}", taken.seq);
    let letter = Letter::Receipt { message_id, peer, state, turn, reason };
    let mail = MailPut { to: own.key, key, body: letter.encode(), at };
    let held = own::hold_readable(peers, &own).await?;
    let extras = Extras { mail_put: vec![mail], ..Extras::default() };
    let far = vec![taken.change(), FarChange::MessageState(receipt)];
    own::write(peers, held, Wanted { extras, ..Wanted::default() }, far).await
}

/// Whether this state may follow the row's. A final state stays, and nothing is recorded twice. `Sent` is set on this
/// side only.
fn follows(row: &FarMessageRow, state: ReceiptState) -> bool {
    let rank = |state| match state {
        ReceiptState::Sent => 0,
        ReceiptState::Held => 1,
        ReceiptState::Stored => 2,
        ReceiptState::Read => 3,
        ReceiptState::Answered | ReceiptState::Refused | ReceiptState::Expired => 4,
    };
    match row.state {
        ReceiptState::Answered | ReceiptState::Refused | ReceiptState::Expired => false,
        ReceiptState::Held => state != ReceiptState::Sent,
        known => rank(state) > rank(known),
    }
}
