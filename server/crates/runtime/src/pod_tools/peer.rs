//! SendToPeerPod: a message to a Pod that was introduced to this one.

use std::sync::Arc;

use async_trait::async_trait;
use pod::ToolOutcome;
use pod_store::FarPeerRow;
use protocol::{ApiError, ErrorCode, ReceiptState, Visibility};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{
    Reach, arguments, origin_of, outcome,
    sight::{self, SeenPeer},
};
use crate::{
    hold::bounded,
    peers::{self, Cause, Outgoing, far},
    pod_tools::Kin,
};

#[derive(Debug)]
pub(super) struct SendToPeerPod(pub(super) Reach);

#[async_trait]
impl Tool for SendToPeerPod {
    fn name(&self) -> &'static str {
        "SendToPeerPod"
    }

    fn description(&self) -> &'static str {
        "Sends a message to a peer: a Pod that you can see and write to. For a child of yours use SendToPod."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Message>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("sending to the peer", Box::pin(self.send(place, arguments))).await)
    }
}

impl SendToPeerPod {
    async fn send(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Message { name, message } = arguments::read(arguments)?;
        let kin = self.0.kin()?;
        let seen = match sight::find_peer(&kin, &place.worker_id, &name).await? {
            SeenPeer::Here(seen) => seen,
            SeenPeer::There(row, address) => return send_far(&kin, place, &row, &address, &message).await,
        };
        if seen.is(Visibility::Itself) {
            return Err(ApiError::new(ErrorCode::PeerSelf, "you are this Pod yourself"));
        }
        let name = &seen.row.name;
        if !seen.is(Visibility::Peer) {
            let sentence = format!("{name} is your child and no peer; use SendToPod");
            return Err(ApiError::new(ErrorCode::PermissionDenied, sentence));
        }
        let own = kin.existing_row(&place.worker_id).await?;
        let origin = origin_of(&own.name);
        let outgoing = Outgoing {
            sender: &place.worker_id,
            receiver: &seen.row.worker_id,
            text: &message,
            cause: Cause::Call { call_id: &place.call_id, origin: &origin },
        };
        let (answer, held) = peers::send(&kin.peers, outgoing).await?;
        let id = &answer.message_id;
        Ok(ToolOutcome::done(match held {
            None => format!("delivered to {name} ({id})"),
            Some(why) => format!("held back before {name} ({id}): {why}; a person can release it"),
        }))
    }
}

/// To a Pod of another runtime. What the other side says within a moment is told; what it does not, comes as a receipt.
async fn send_far(
    kin: &Arc<Kin>,
    place: &Place,
    row: &FarPeerRow,
    name: &str,
    message: &str,
) -> Result<ToolOutcome, ApiError> {
    let own = kin.existing_row(&place.worker_id).await?;
    let origin = origin_of(&own.name);
    let cause = Cause::Call { call_id: &place.call_id, origin: &origin };
    let sent = far::send(&kin.peers, &place.worker_id, row, message, cause).await?;
    let id = &sent.answer.message_id;
    Ok(ToolOutcome::done(match sent.answer.state {
        ReceiptState::Held => {
            let why = sent.why.unwrap_or_default();
            format!("held back before {name} ({id}): {why}; a person can release it")
        }
        ReceiptState::Sent => {
            format!("sent to {name} ({id}); its server has not confirmed it yet and gets it as soon as it answers")
        }
        _ => format!("delivered to {name} ({id})"),
    }))
}
