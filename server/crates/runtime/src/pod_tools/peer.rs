//! SendToPeerPod: a message to a peer.

use async_trait::async_trait;
use pod::ToolOutcome;
use pod_store::FarPeerRow;
use protocol::{ApiError, ErrorCode, ReceiptState, Visibility};

use super::{
    Caller, PodTool,
    arguments::Message,
    sight::{self, SeenPeer},
};
use crate::peers::{self, Cause, Outgoing, far};

#[derive(Debug)]
pub(super) struct SendToPeerPod;

#[async_trait]
impl PodTool for SendToPeerPod {
    const NAME: &'static str = "SendToPeerPod";
    const DESCRIPTION: &'static str = "Sends a message to a peer: a Pod that you can see and write to. To write to one of your children, use SendToPod.";
    const DOING: &'static str = "sending to the peer";
    type Arguments = Message;

    async fn act(&self, caller: &Caller<'_>, Message { name, message }: Message) -> Result<ToolOutcome, ApiError> {
        let seen = match sight::find_peer(&caller.kin, caller.worker_id(), &name).await? {
            SeenPeer::Here(seen) => seen,
            SeenPeer::There(row, address) => return send_far(caller, &row, &address, &message).await,
        };
        if seen.is(Visibility::Itself) {
            return Err(ApiError::new(ErrorCode::PeerSelf, "you are this Pod yourself"));
        }
        let name = &seen.row.name;
        if !seen.is(Visibility::Peer) {
            let sentence = format!("{name} is your child, not a peer; use SendToPod");
            return Err(ApiError::new(ErrorCode::PermissionDenied, sentence));
        }
        let origin = caller.origin().await?;
        let outgoing = Outgoing {
            sender: caller.worker_id(),
            receiver: &seen.row.worker_id,
            text: &message,
            cause: Cause::Call { call_id: &caller.place.call_id, origin: &origin },
        };
        let (answer, held) = peers::send(&caller.kin.peers, outgoing).await?;
        let id = &answer.message_id;
        Ok(ToolOutcome::done(match held {
            None => format!("delivered to {name} ({id})"),
            Some(why) => format!("held back before {name} ({id}): {why}; a person can release it"),
        }))
    }
}

/// Sends to a Pod of another runtime. Returns what the other side answers within a moment; a later answer arrives as a
/// receipt.
async fn send_far(caller: &Caller<'_>, row: &FarPeerRow, name: &str, message: &str) -> Result<ToolOutcome, ApiError> {
    let origin = caller.origin().await?;
    let cause = Cause::Call { call_id: &caller.place.call_id, origin: &origin };
    let sent = far::send(&caller.kin.peers, caller.worker_id(), row, message, cause).await?;
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
