//! Delivering a message into both journals while both Pods are held.

use pod::Input;
use pod_store::PodRow;
use protocol::{ApiError, ControlEvent, ErrorCode, PeerLabel, PodState, ReceiptState, TurnEvent};

use super::label_of_row;
use crate::{
    actor::Held,
    error,
    hold::{Holding, Wanted},
    view::peer_label,
};

/// The sender and the receiver, held.
pub(super) struct Pair<'a> {
    sender: &'a PodRow,
    receiver: &'a PodRow,
    from: Held,
    to: Held,
}

/// A message to deliver, hold or drop.
pub(super) struct Delivery<'a> {
    pub(super) message_id: &'a str,
    pub(super) text: &'a str,
    pub(super) hops: u32,
    pub(super) state: ReceiptState,
    /// Why it is held; both sides are told.
    pub(super) reason: Option<String>,
}

impl<'a> Pair<'a> {
    pub(super) fn of(mut holding: Holding, sender: &'a PodRow, receiver: &'a PodRow) -> Result<Self, ApiError> {
        let mut take = |row: &PodRow| holding.remove(&row.worker_id).ok_or_else(|| error::no_such_pod(&row.worker_id));
        Ok(Self { sender, receiver, from: take(sender)?, to: take(receiver)? })
    }

    /// The sender's state now.
    pub(super) fn sender(&self) -> &pod::Pod {
        &self.from.pod
    }

    pub(super) fn check_sender(&self) -> Result<(), ApiError> {
        match self.from.pod.state.is_live() {
            true => Ok(()),
            false => {
                let sentence = format!("pod \"{}\" is stopped; restore it first", self.sender.name);
                Err(ApiError::new(ErrorCode::NotLive, sentence))
            }
        }
    }

    pub(super) fn check_receiver(&self) -> Result<(), ApiError> {
        match self.to.pod.state.is_live() {
            true => Ok(()),
            false => {
                let name = &self.receiver.name;
                let sentence = format!("{name} is stopped, so nothing was sent; bring it back with RestorePod first");
                Err(ApiError::new(ErrorCode::NotLive, sentence))
            }
        }
    }

    /// Whether storing the message begins a run of the receiver.
    pub(super) fn wakes(&self, state: ReceiptState) -> bool {
        state == ReceiptState::Stored && self.to.spec.wake_on_peer && self.to.pod.state == PodState::Idle
    }

    /// What each of the two writes: the receiver gets the message once it is stored, and both get the receipt.
    pub(super) fn orders(self, delivery: &Delivery<'_>) -> Vec<(Held, Wanted)> {
        let Delivery { message_id, text, hops, state, ref reason } = *delivery;
        let receipt = |peer: PeerLabel| ControlEvent::MessageReceipt {
            message_id: message_id.to_owned(),
            peer,
            state,
            turn: None,
            reason: reason.clone(),
        };
        let input = match state {
            ReceiptState::Stored => {
                let event = TurnEvent::PeerMessage {
                    message_id: message_id.to_owned(),
                    text: text.to_owned(),
                    from: label_of_row(self.sender),
                    hops,
                };
                Input::Mail { events: vec![event], wakes: self.to.spec.wake_on_peer }
            }
            _ => Input::Note(vec![receipt(peer_label(&self.from.label))]),
        };
        let told = receipt(peer_label(&self.to.label));
        vec![
            (self.to, Wanted { inputs: vec![input], ..Wanted::default() }),
            (self.from, Wanted { events: vec![told], ..Wanted::default() }),
        ]
    }
}
