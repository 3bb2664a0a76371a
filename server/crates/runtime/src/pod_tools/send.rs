//! SendToPod: the next piece of work for a child.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, CommandId, ErrorCode, InputCommand, Segment};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, origin_of, outcome, sight};
use crate::{CommandKey, actor::PodCommand, hold::bounded};

#[derive(Debug)]
pub(super) struct SendToPod(pub(super) Reach);

#[async_trait]
impl Tool for SendToPod {
    fn name(&self) -> &'static str {
        "SendToPod"
    }

    fn description(&self) -> &'static str {
        "Gives a child of yours its next piece of work. Returns when the child has accepted it, not when it is done; \
         you are told when its turn has ended. A child that is still at work refuses: try again when its turn has ended."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Message>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("sending to the Pod", self.send(place, arguments)).await)
    }
}

impl SendToPod {
    async fn send(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Message { name, message } = arguments::read(arguments)?;
        if message.len() > protocol::MESSAGE_BYTES_MAX {
            let sentence = format!("the message is too large; at most {} bytes fit", protocol::MESSAGE_BYTES_MAX);
            return Err(ApiError::new(ErrorCode::PayloadTooLarge, sentence));
        }
        let kin = self.0.kin()?;
        let child = sight::child(&kin, &place.worker_id, &name).await?;
        let own = kin.existing_row(&place.worker_id).await?;
        // The call's own id: another client's run is no evidence for this one.
        let id = CommandId::parse(&format!("{}:{}", place.worker_id, place.call_id))
            .map_err(|error| ApiError::invalid(error.to_string()))?;
        let key = CommandKey { id, fingerprint: [0; 32] };
        let input = InputCommand { segments: vec![Segment::text(message)], queue: false, steer: false };
        let command = PodCommand::Input(input);
        let accepted: Result<protocol::Receipt, ApiError> =
            kin.cluster.command(key, &origin_of(&own.name), &child.row.worker_id, command).await;
        let child = &child.row.name;
        match accepted {
            Ok(_) => Ok(ToolOutcome::done(format!("{child} has accepted it and works on it"))),
            Err(error) if error.code == ErrorCode::Busy => {
                let sentence = format!("{child} is still at work; try again when its turn has ended");
                Err(ApiError::new(ErrorCode::Busy, sentence))
            }
            Err(error) if error.code == ErrorCode::NotLive => {
                let sentence = format!("{child} is stopped; bring it back with RestorePod first");
                Err(ApiError::new(ErrorCode::NotLive, sentence))
            }
            Err(error) => Err(error),
        }
    }
}
