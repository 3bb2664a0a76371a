//! SendToPeerPod: a message to a Pod that was introduced to this one.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, ErrorCode, Visibility};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, outcome, sight};
use crate::hold::bounded;

#[derive(Debug)]
pub(super) struct SendToPeerPod(pub(super) Reach);

#[async_trait]
impl Tool for SendToPeerPod {
    fn name(&self) -> &'static str {
        "SendToPeerPod"
    }

    fn description(&self) -> &'static str {
        "Sends a message to a peer: a Pod that was introduced to you. For a child of yours use SendToPod."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Message>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("sending to the peer", self.send(place, arguments)).await)
    }
}

impl SendToPeerPod {
    /// No Pod has a peer yet, so every Pod that is seen is one that this tool is not for.
    async fn send(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Message { name, .. } = arguments::read(arguments)?;
        let inner = self.0.inner()?;
        let seen = sight::find(&inner, &place.worker_id, &name).await?;
        match seen.is(Visibility::Itself) {
            true => Err(ApiError::new(ErrorCode::PeerSelf, "you are this Pod yourself")),
            false => {
                let sentence = format!("{} is your child and no peer; use SendToPod", seen.row.name);
                Err(ApiError::new(ErrorCode::PermissionDenied, sentence))
            }
        }
    }
}
