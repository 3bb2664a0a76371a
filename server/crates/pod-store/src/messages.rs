//! Messages between Pods that know each other, from where they are durable until they are answered.

use jiff::Timestamp;
use protocol::ReceiptState;
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// What happens to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageChange {
    /// One more. [`crate::StoreError::Conflict`] when its id, or its sender's `call_id`, stands already;
    /// [`crate::StoreError::PodGone`] when one of its Pods is gone.
    Put(NewMessage),
    /// Where it is now. Nothing, if it went with one of its Pods.
    State {
        id: String,
        state: ReceiptState,
        /// The receiver's run that reads it; `None` keeps what is known.
        turn: Option<u64>,
        /// It began a run of its receiver by itself. Once true, for ever true.
        woke: bool,
        at: Timestamp,
    },
}

/// A message that comes into being.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMessage {
    /// Unique in the database.
    pub id: String,
    pub sender: PodKey,
    pub receiver: PodKey,
    /// Unique for its sender, so that what is done again is not sent again.
    pub call_id: String,
    pub text: String,
    /// How many messages it took from the last person to this one.
    pub hops: u32,
    pub state: ReceiptState,
    /// It began a run of its receiver by itself.
    pub woke: bool,
    pub at: Timestamp,
}

/// A message as the store knows it.
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
    /// When it was put in.
    pub at: Timestamp,
    /// When `state` was told last.
    pub changed_at: Timestamp,
    pub woke: bool,
}

impl MessageChange {
    /// The Pods that must be there for it.
    pub(crate) fn pods(&self) -> Option<[PodKey; 2]> {
        match self {
            Self::Put(message) => Some([message.sender, message.receiver]),
            Self::State { .. } => None,
        }
    }
}
