//! Messages between Pods of one store: put into the receiver's mailbox in the transaction that makes them true, and
//! taken out in the one that writes them into its journal. So each arrives exactly once, whatever crashes in between.

use protocol::{ChildChange, ControlEvent, Event, Outcome, PeerLabel, PodLabel, ReceiptState, TurnEvent};
use serde::{Deserialize, Serialize};

/// One message in a mailbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum Letter {
    /// News of a child.
    Child { what: ChildChange, child: PodLabel, detail: Option<String> },
    /// The state of a message that this Pod sent has advanced.
    Receipt {
        message_id: String,
        peer: PeerLabel,
        state: ReceiptState,
        turn: Option<u64>,
        /// Why it is in that state; only for messages to another store.
        #[serde(default)]
        reason: Option<String>,
    },
}

impl Letter {
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("a letter always encodes")
    }

    /// The record that it becomes.
    pub(crate) fn event(self) -> Event {
        match self {
            Self::Child { what, child, detail } => TurnEvent::ChildEvent { what, child, detail }.into(),
            Self::Receipt { message_id, peer, state, turn, reason } => {
                ControlEvent::MessageReceipt { message_id, peer, state, turn, reason }.into()
            }
        }
    }
}

/// What a parent is told about the end of a child's run. A run that a person paused will continue, so it is no news
/// yet.
pub(crate) fn of_run(child: PodLabel, outcome: Outcome, detail: Option<&str>) -> Option<Letter> {
    let (what, detail) = match outcome {
        Outcome::Completed => (ChildChange::TurnEnded, None),
        Outcome::Cancelled => (ChildChange::TurnEnded, Some("a person cancelled it".to_owned())),
        Outcome::Limit | Outcome::RolledBack => (ChildChange::TurnEnded, detail.map(str::to_owned)),
        Outcome::Error => (ChildChange::Errored, detail.map(str::to_owned)),
        Outcome::Interrupted => {
            let detail = "interrupted when yoi stopped; it is paused, and continues when it gets a message";
            (ChildChange::Errored, Some(detail.to_owned()))
        }
        Outcome::Paused => return None,
    };
    Some(Letter::Child { what, child, detail })
}
