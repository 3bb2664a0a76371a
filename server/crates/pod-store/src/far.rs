//! Peers in other stores: changes to them, and what is known of them.
//!
//! Between two stores there is a line in each direction: an outbox whose items are numbered from 1, and the number of
//! the last item that was taken in. An item is put out in the transaction that makes it true, and applied in the one
//! that advances that number, so each is applied once, however often it arrives.

use jiff::Timestamp;
use protocol::{ReceiptState, WorkerId};
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// Changes that concern other stores, applied in the order in which they are listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarChange {
    /// Puts an item into a store's outbox; `body` is JSON.
    Send { store: String, body: String },
    /// The item with this number was taken in. [`crate::StoreError::Conflict`] unless it follows the last one.
    Took { store: String, seq: i64 },
    /// The other store has all items up to this one; they are deleted.
    Acked { store: String, seq: i64 },
    /// Sets what the other store is called here.
    Named { store: String, name: String },
    /// Sets what a Pod is to a far one. [`crate::StoreError::Conflict`] if the Pod is gone, or the handshake belongs to
    /// another pair.
    Put(FarPeerRow),
    /// Removes the relation between the two, if there is one.
    Remove { pod: PodKey, store: String, worker: WorkerId },
    /// The pace of their messages, as in [`crate::PeerChange::Pace`].
    Pace { pod: PodKey, store: String, worker: WorkerId, level: u32, at: Timestamp },
    /// What the other store was last told about this Pod.
    Told { pod: PodKey, store: String, worker: WorkerId, told: String },
    /// Another store's description of one of its Pods. Ignored if that Pod has no relation to a Pod here.
    Card { store: String, worker: WorkerId, body: String, at: Timestamp },
    /// A new message. [`crate::StoreError::Conflict`] if its id or its call already exists, or its Pod is gone.
    Message(FarMessageRow),
    /// The new state of a message. Ignored if it was deleted with its Pod.
    MessageState(FarReceipt),
}

/// What a Pod here is to a Pod of another store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarPeerRow {
    pub pod: PodKey,
    pub store: String,
    pub worker: WorkerId,
    /// The same on both sides.
    pub handshake: String,
    pub state: FarState,
    pub note: Option<String>,
    pub by: String,
    pub since: Timestamp,
    /// `None` once they are peers.
    pub expires_at: Option<Timestamp>,
    /// As in [`crate::PairRow`].
    pub pace_level: u32,
    pub pace_at: Timestamp,
    /// What the other store was last told about this Pod.
    pub told: String,
}

/// The state of a peer request or pair, seen from this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FarState {
    /// Sent; no answer yet.
    Proposed,
    /// It waits for a person there.
    Waiting,
    /// It waits for a person here.
    Asked,
    Linked,
}

/// A message to or from a far Pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarMessageRow {
    /// The Pod here.
    pub pod: PodKey,
    /// Unique for that Pod.
    pub id: String,
    pub store: String,
    pub worker: WorkerId,
    /// Sent by the Pod here.
    pub is_outgoing: bool,
    /// For outgoing messages: unique for the Pod, so that a repeated call does not send it again.
    pub call_id: Option<String>,
    pub text: String,
    pub hops: u32,
    pub state: ReceiptState,
    /// The receiver's run that read it.
    pub turn: Option<u64>,
    /// Why it is in this state; JSON of the runtime's own type.
    pub reason: Option<String>,
    pub at: Timestamp,
    pub changed_at: Timestamp,
    /// It began a run of its receiver, which is here.
    pub woke: bool,
}

/// The new state of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarReceipt {
    pub pod: PodKey,
    pub id: String,
    pub state: ReceiptState,
    /// `None` keeps the current value.
    pub turn: Option<u64>,
    pub reason: Option<String>,
    /// Once true, it stays true.
    pub woke: bool,
    pub at: Timestamp,
}

/// The positions of the lines to and from another store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FarPosition {
    /// The last item put out for it.
    pub put_out: i64,
    /// The last of those that it has confirmed.
    pub acked: i64,
    /// The last of its items taken in here.
    pub taken: i64,
}

/// The last description of a Pod by its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarCardRow {
    pub store: String,
    pub worker: WorkerId,
    pub body: String,
    pub at: Timestamp,
}

impl FarState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Waiting => "waiting",
            Self::Asked => "asked",
            Self::Linked => "linked",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Proposed, Self::Waiting, Self::Asked, Self::Linked].into_iter().find(|state| state.word() == word)
    }
}
