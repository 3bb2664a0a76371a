//! Peers in other stores: peer requests and messages over the line between two stores.
//!
//! Neither store can write to the other, so each writes its own side, in one transaction with the item that tells the
//! other. The proposing side has no peer before the other side has one and has said so; an end or a withdrawal is sent
//! behind everything sent before. So once the line is empty, both sides are peers or neither is.

mod begin;
mod cards;
mod decision;
mod greet;
mod held;
mod invited;
mod line;
mod list;
mod message;
#[cfg(test)]
mod model;
mod names;
mod own;
mod parting;
mod receive;
mod said;
mod settle;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use jiff::SignedDuration;
use pod_store::{FarChange, FarMessageRow, FarPeerRow, FarState, PodKey};
use protocol::{ApiError, ControlEvent, ErrorCode, LinkCard, PeerLabel, PodName, PodRef, WorkerId};
use tokio::sync::watch;

pub(crate) use self::{
    begin::{introduce, invite},
    cards::tell_cards,
    decision::decide_request,
    held::decide_held,
    line::{outgoing, take_in},
    list::{address, exchange, open_requests, peer_views, visible},
    message::send,
    parting::{end_all, expire, knows_anybody, unlink},
};
pub use self::{
    cards::link_card,
    names::{FarName, FarNames},
};
use super::{Peers, handshake::Standing};
use crate::{actor::FarSender, clock, encode::put_out};

/// How long a peer request waits for its answer.
const HANDSHAKE_HOURS_MAX: i64 = 24;
/// The most Pods of other stores that one Pod may have as peers or be asked by.
const FAR_PEERS_MAX: usize = 1_000;
/// The most items that may wait for another store; beyond that, messages to it are refused.
const WAITING_ITEMS_MAX: i64 = 10_000;
/// How many refusals are remembered for those who wait for them.
const REFUSALS_MAX: usize = 256;

/// A Pod of another store that is to become a peer, with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarPod {
    pub store: String,
    pub card: LinkCard,
}

/// What a host keeps in memory about other stores; none of it has to outlive the process.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// What this server calls other stores, and whether they answer.
    pub(crate) names: watch::Sender<FarNames>,
    /// A lock per store, so that its items are taken one after the other.
    taking: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Why recent peer requests were refused, by handshake.
    refusals: Mutex<VecDeque<(String, ApiError)>>,
}

impl Far {
    fn turn(&self, store: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut taking = self.taking.lock().expect("no holder of the turns panics");
        // A lock that nobody holds carries no information.
        taking.retain(|_, turn| Arc::strong_count(turn) > 1);
        taking.entry(store.to_owned()).or_default().clone()
    }

    fn note_refusal(&self, handshake: &str, error: ApiError) {
        let mut refusals = self.refusals.lock().expect("no holder of the refusals panics");
        if refusals.len() == REFUSALS_MAX {
            refusals.pop_front();
        }
        refusals.push_back((handshake.to_owned(), error));
    }

    fn refusal(&self, handshake: &str) -> Option<ApiError> {
        let refusals = self.refusals.lock().expect("no holder of the refusals panics");
        refusals.iter().rev().find(|(known, _)| known == handshake).map(|(_, error)| error.clone())
    }
}

/// What is known of far Pods, by store and id.
#[derive(Debug, Default)]
struct Cards(BTreeMap<(String, WorkerId), LinkCard>);

impl Cards {
    async fn read(peers: &Peers) -> Result<Self, ApiError> {
        let rows = peers.store.far().cards().await?;
        let read = rows.into_iter().filter_map(|row| match serde_json::from_str(&row.body) {
            Ok(card) => Some(((row.store, row.worker), card)),
            Err(error) => {
                tracing::error!(%error, worker = %row.worker, "what is known of a far Pod cannot be read");
                None
            }
        });
        Ok(Self(read.collect()))
    }

    fn get(&self, row: &FarPeerRow) -> Option<&LinkCard> {
        self.0.get(&(row.store.clone(), row.worker.clone()))
    }

    fn name(&self, row: &FarPeerRow) -> PodName {
        self.get(row).map_or_else(|| nameless(&row.worker), |card| card.name.clone())
    }
}

/// The name of a Pod of which nothing else is known: its id is a valid name.
fn nameless(worker: &WorkerId) -> PodName {
    PodName::parse(worker.as_str()).expect("every worker id is a valid name")
}

async fn name_of(peers: &Peers, store: &str, worker: &WorkerId) -> Result<PodName, ApiError> {
    let row = peers.store.far().card(store, worker).await?;
    let card = row.and_then(|row| serde_json::from_str::<LinkCard>(&row.body).ok());
    Ok(card.map_or_else(|| nameless(worker), |card| card.name))
}

/// How records name a far Pod now.
fn label(peers: &Peers, store: &str, worker: &WorkerId, name: PodName) -> PeerLabel {
    PeerLabel { runtime_id: peers.far_runtime(store), worker_id: worker.clone(), name }
}

/// Like [`label`], with the name as it was last heard.
async fn known_label(peers: &Peers, store: &str, worker: &WorkerId) -> Result<PeerLabel, ApiError> {
    Ok(label(peers, store, worker, name_of(peers, store, worker).await?))
}

fn pod_ref(peers: &Peers, row: &FarPeerRow) -> PodRef {
    PodRef::new(peers.far_runtime(&row.store), row.worker.clone())
}

fn card_change(store: &str, card: &LinkCard) -> FarChange {
    FarChange::Card {
        store: store.to_owned(),
        worker: card.worker_id.clone(),
        body: cards::told(card),
        at: clock::now(),
    }
}

fn remove(row: &FarPeerRow) -> FarChange {
    FarChange::Remove { pod: row.pod, store: row.store.clone(), worker: row.worker.clone() }
}

/// A peer request between a Pod here and a far one.
struct Proposal {
    handshake: String,
    /// The far Pod.
    from: LinkCard,
    to: WorkerId,
    by: String,
    note: Option<String>,
}

impl Proposal {
    /// The row of a request that begins now.
    fn row(&self, own: PodKey, store: &str, state: FarState) -> FarPeerRow {
        let now = clock::now();
        FarPeerRow {
            pod: own,
            store: store.to_owned(),
            worker: self.from.worker_id.clone(),
            handshake: self.handshake.clone(),
            state,
            note: self.note.clone(),
            by: self.by.clone(),
            since: now,
            expires_at: Some(now + SignedDuration::from_hours(HANDSHAKE_HOURS_MAX)),
            pace_level: 0,
            pace_at: now,
            told: String::new(),
        }
    }

    /// How this Pod's journal records the open request.
    fn requested(&self, peer: PeerLabel) -> ControlEvent {
        let Self { handshake, by, note, .. } = self;
        let (by, request_id, note) = (by.clone(), Some(handshake.clone()), note.clone());
        ControlEvent::PeerRequested { peer, by, request_id, note }
    }
}

/// What a Pod and a far one are to each other, by their row.
fn standing(row: Option<&FarPeerRow>) -> Standing {
    match row.map(|row| row.state) {
        None => Standing::Strangers,
        Some(FarState::Proposed | FarState::Waiting) => Standing::Asking,
        Some(FarState::Asked) => Standing::Asked,
        Some(FarState::Linked) => Standing::Linked,
    }
}

/// Like [`standing`], for a Pod that has this many rows.
fn standing_among(rows: usize, row: Option<&FarPeerRow>) -> Standing {
    match standing(row) {
        Standing::Strangers if rows >= FAR_PEERS_MAX => Standing::Full,
        standing => standing,
    }
}

/// The row between a Pod and the far Pod with this address, if there is one.
pub(crate) async fn row_at(peers: &Peers, pod: PodKey, peer: &PodRef) -> Result<Option<FarPeerRow>, ApiError> {
    let rows = peers.store.far().peers(pod).await?;
    Ok(rows.into_iter().find(|row| pod_ref(peers, row) == *peer))
}

/// The sender of a message that this Pod received from another store. If the message arrives in the transaction being
/// prepared, the sender is found by its label. `None` for a message that this Pod itself sent.
pub(crate) async fn sender_of(
    peers: &Peers,
    pod: PodKey,
    message_id: &str,
    peer: &PeerLabel,
) -> Result<Option<FarSender>, ApiError> {
    let message_id = message_id.to_owned();
    match peers.store.far().message(pod, &message_id).await? {
        Some(FarMessageRow { is_outgoing: true, .. }) => Ok(None),
        Some(FarMessageRow { store, worker, .. }) => Ok(Some(FarSender { message_id, store, worker })),
        None => {
            let rows = peers.store.far().peers(pod).await?;
            let is_meant =
                |row: &&FarPeerRow| row.worker == peer.worker_id && peers.far_runtime(&row.store) == peer.runtime_id;
            let row = rows.iter().find(is_meant);
            Ok(row.map(|row| FarSender { message_id, store: row.store.clone(), worker: row.worker.clone() }))
        }
    }
}

/// Why a message is in its state, as it is stored.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Reason {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    sentence: String,
}

impl Reason {
    fn encode(code: Option<ErrorCode>, sentence: &str) -> String {
        let reason = Self { code, sentence: sentence.to_owned() };
        serde_json::to_string(&reason).expect("a reason always encodes")
    }

    fn of(row: &FarMessageRow) -> Option<Self> {
        row.reason.as_deref().and_then(|reason| serde_json::from_str(reason).ok())
    }
}
