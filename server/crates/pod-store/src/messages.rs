//! Messages between peers, from when they are durable until they are answered.

use jiff::Timestamp;
use protocol::ReceiptState;
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// A change to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageChange {
    /// A new message. [`crate::StoreError::Conflict`] if its id, or its sender's `call_id`, already exists;
    /// [`crate::StoreError::PodGone`] if one of its Pods is gone.
    Put(NewMessage),
    /// Its new state. Ignored if it was deleted with one of its Pods.
    State {
        id: String,
        state: ReceiptState,
        /// The receiver's run that reads it; `None` keeps the current value.
        turn: Option<u64>,
        /// It began a run of its receiver. Once true, it stays true.
        woke: bool,
        at: Timestamp,
    },
}

/// A new message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMessage {
    /// Unique in the database.
    pub id: String,
    pub sender: PodKey,
    pub receiver: PodKey,
    /// Unique for its sender, so that a repeated call does not send it again.
    pub call_id: String,
    pub text: String,
    /// The number of messages from the last person to this one.
    pub hops: u32,
    pub state: ReceiptState,
    /// It began a run of its receiver.
    pub woke: bool,
    pub at: Timestamp,
}

/// A message as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    pub id: String,
    pub sender: PodKey,
    pub receiver: PodKey,
    pub call_id: String,
    pub text: String,
    pub hops: u32,
    pub state: ReceiptState,
    /// The receiver's run that read it.
    pub turn: Option<u64>,
    /// When it was stored.
    pub at: Timestamp,
    /// When `state` last changed.
    pub changed_at: Timestamp,
    pub woke: bool,
}

impl MessageChange {
    /// The Pods that must exist.
    pub(crate) fn pods(&self) -> Option<[PodKey; 2]> {
        match self {
            Self::Put(message) => Some([message.sender, message.receiver]),
            Self::State { .. } => None,
        }
    }
}
