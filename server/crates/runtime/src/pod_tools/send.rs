//! SendToPod: the next piece of work for a child.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, CommandId, ErrorCode, InputCommand, Segment};

use super::{Caller, PodTool, arguments::Message};
use crate::{CommandKey, actor::PodCommand};

#[derive(Debug)]
pub(super) struct SendToPod;

#[async_trait]
impl PodTool for SendToPod {
    const NAME: &'static str = "SendToPod";
    const DESCRIPTION: &'static str = "Gives one of your children its next task. Returns when the child has accepted it, not when it is done; \
         you are told when its turn has ended. A child that is still working refuses: try again when its turn has ended.";
    const DOING: &'static str = "sending to the Pod";
    type Arguments = Message;

    async fn act(&self, caller: &Caller<'_>, Message { name, message }: Message) -> Result<ToolOutcome, ApiError> {
        if message.len() > protocol::MESSAGE_BYTES_MAX {
            let sentence = format!("the message is too large; at most {} bytes fit", protocol::MESSAGE_BYTES_MAX);
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, sentence));
        }
        let child = caller.child(&name).await?;
        let origin = caller.origin().await?;
        // An id derived from this call, so that another client's run is not mistaken for this one.
        let id = CommandId::parse(&format!("{}:{}", caller.worker_id(), caller.place.call_id))
            .map_err(|error| ApiError::invalid(error.to_string()))?;
        let key = CommandKey { id, fingerprint: [0; 32] };
        let input = InputCommand { segments: vec![Segment::text(message)], queue: false, steer: false };
        let command = PodCommand::Input(input);
        let accepted: Result<protocol::Receipt, ApiError> =
            caller.kin.cluster.command(key, &origin, &child.row.worker_id, command).await;
        let child = &child.row.name;
        match accepted {
            Ok(_) => Ok(ToolOutcome::done(format!("{child} has accepted it and works on it"))),
            Err(error) if error.code == ErrorCode::Busy => {
                let sentence = format!("{child} is still running; try again when its turn has ended");
                Err(ApiError::new(ErrorCode::Busy, sentence))
            }
            Err(error) if error.code == ErrorCode::NotLive => {
                let sentence = format!("{child} is stopped; restore it with RestorePod first");
                Err(ApiError::new(ErrorCode::NotLive, sentence))
            }
            Err(error) => Err(error),
        }
    }
}
