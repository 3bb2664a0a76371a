//! Pods that know a Pod of another store: introductions and messages over the line between two stores.
//!
//! Neither store can write into the other, so each writes its own side, in one transaction with the item that tells the
//! other one. Who proposed holds nothing before the other side holds it and has said so; who ends or withdraws tells it
//! behind all that was told before. So both hold a link or neither, once the line has been emptied.

mod begin;
mod cards;
mod decision;
mod greet;
mod held;
mod invited;
mod line;
mod list;
mod message;
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

/// How long an introduction waits for its answer.
const HANDSHAKE_HOURS_MAX: i64 = 24;
/// Pods of other stores that one Pod may know, or be asked by.
const FAR_PEERS_MAX: usize = 1_000;
/// Items that may wait for another store; beyond it no message is taken for it.
const WAITING_ITEMS_MAX: i64 = 10_000;
/// Refusals that are remembered for those who wait for them.
const REFUSALS_MAX: usize = 256;

/// A Pod of another store that somebody wants to be known, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarPod {
    pub store: String,
    pub card: LinkCard,
}

/// What a host keeps in memory about other stores; nothing of it has to outlive the process.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// How this server calls other stores, and whether they answer.
    pub(crate) names: watch::Sender<FarNames>,
    /// Items of one store are taken one after the other.
    taking: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Why introductions were refused lately, by handshake.
    refusals: Mutex<VecDeque<(String, ApiError)>>,
}

impl Far {
    fn turn(&self, store: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut taking = self.taking.lock().expect("no holder of the turns panics");
        // One that nobody holds says nothing.
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

/// The names of far Pods, by store and id.
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

/// What a Pod is called of which nothing else is known: an id is a name, too.
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

/// As [`label`], of one of which nothing newer is told than what is known.
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

/// An introduction of a Pod here and a far one.
struct Proposal {
    handshake: String,
    /// The far one.
    from: LinkCard,
    to: WorkerId,
    by: String,
    note: Option<String>,
}

impl Proposal {
    /// The row of one that begins now.
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

    /// What the own journal says of one that is open.
    fn requested(&self, peer: PeerLabel) -> ControlEvent {
        let Self { handshake, by, note, .. } = self;
        let (by, request_id, note) = (by.clone(), Some(handshake.clone()), note.clone());
        ControlEvent::PeerRequested { peer, by, request_id, note }
    }
}

/// What a Pod is to a far one of which it has this row.
fn standing(row: Option<&FarPeerRow>) -> Standing {
    match row.map(|row| row.state) {
        None => Standing::Strangers,
        Some(FarState::Proposed | FarState::Waiting) => Standing::Asking,
        Some(FarState::Asked) => Standing::Asked,
        Some(FarState::Linked) => Standing::Linked,
    }
}

/// As [`standing`], of a Pod that has so many rows.
fn standing_among(rows: usize, row: Option<&FarPeerRow>) -> Standing {
    match standing(row) {
        Standing::Strangers if rows >= FAR_PEERS_MAX => Standing::Full,
        standing => standing,
    }
}

/// The row between a Pod and the far Pod of this address, if there is one.
pub(crate) async fn row_at(peers: &Peers, pod: PodKey, peer: &PodRef) -> Result<Option<FarPeerRow>, ApiError> {
    let rows = peers.store.far().peers(pod).await?;
    Ok(rows.into_iter().find(|row| pod_ref(peers, row) == *peer))
}

/// The sender of a message that this Pod has got from elsewhere. One that comes in the transaction that is being made is
/// told by its label. None for what this Pod sent itself.
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

/// Why a message is where it is, as it is stored.
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
