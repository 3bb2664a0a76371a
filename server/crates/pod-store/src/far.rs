//! Pods that know a Pod of another store: what can happen to them, and what is known of them.
//!
//! Between two stores there is a line in each direction: an outbox whose items are numbered from 1 on, and the number of
//! the last item that was taken in. An item is put out in the transaction that makes it true, and is applied in the one
//! that moves that number; so each is applied once, however often it comes.

use jiff::Timestamp;
use protocol::{ReceiptState, WorkerId};
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// What happens on the way to other stores, in the order in which it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarChange {
    /// One more item for a store; `body` is JSON.
    Send { store: String, body: String },
    /// The item of this number was taken in. [`crate::StoreError::Conflict`] unless it follows on the last one.
    Took { store: String, seq: i64 },
    /// The other store has all items up to this one; they are forgotten.
    Acked { store: String, seq: i64 },
    /// What the other store is called here.
    Named { store: String, name: String },
    /// What a Pod is to a far one, instead of what it was. [`crate::StoreError::Conflict`] when the Pod is gone, or the
    /// handshake is another pair's.
    Put(FarPeerRow),
    /// They are nothing to each other any more. Nothing, if they were not.
    Remove { pod: PodKey, store: String, worker: WorkerId },
    /// How fast they write to each other, as [`crate::PeerChange::Pace`].
    Pace { pod: PodKey, store: String, worker: WorkerId, level: u32, at: Timestamp },
    /// What the other store was told of this Pod last.
    Told { pod: PodKey, store: String, worker: WorkerId, told: String },
    /// What another store says of one of its Pods. Nothing, if no Pod here knows that one.
    Card { store: String, worker: WorkerId, body: String, at: Timestamp },
    /// One more message. [`crate::StoreError::Conflict`] when its id, or its call, stands already or its Pod is gone.
    Message(FarMessageRow),
    /// Where a message is now. Nothing, if it went with its Pod.
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
    /// Of what is no link yet.
    pub expires_at: Option<Timestamp>,
    /// As in [`crate::PairRow`].
    pub pace_level: u32,
    pub pace_at: Timestamp,
    /// What the other store was told of this Pod last.
    pub told: String,
}

/// How far an introduction has come, seen from this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarState {
    /// Put out; no answer yet.
    Proposed,
    /// It waits for somebody there.
    Waiting,
    /// It waits for somebody here.
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
    /// The Pod here sent it.
    pub is_outgoing: bool,
    /// Of what was sent here: unique for the Pod, so that what is done again is not sent again.
    pub call_id: Option<String>,
    pub text: String,
    pub hops: u32,
    pub state: ReceiptState,
    /// The receiver's run that read it.
    pub turn: Option<u64>,
    /// Why it is where it is; JSON of the runtime's own type.
    pub reason: Option<String>,
    pub at: Timestamp,
    pub changed_at: Timestamp,
    /// It began a run of its receiver, which is here, by itself.
    pub woke: bool,
}

/// Where a message is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarReceipt {
    pub pod: PodKey,
    pub id: String,
    pub state: ReceiptState,
    /// `None` keeps what is known.
    pub turn: Option<u64>,
    pub reason: Option<String>,
    /// Once true, for ever true.
    pub woke: bool,
    pub at: Timestamp,
}

/// Where the lines to and from another store are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FarPosition {
    /// The last item that was put out for it.
    pub put_out: i64,
    /// The last one of these that it has.
    pub acked: i64,
    /// The last one of its own that was taken in.
    pub taken: i64,
}

/// What another store said of one of its Pods last.
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
