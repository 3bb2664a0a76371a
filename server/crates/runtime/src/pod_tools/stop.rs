//! StopPod: a child ends, and what was lent to it comes back.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::ApiError;
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, list::scope_words, origin_of, outcome, sight};
use crate::{
    family::{self, Stopper},
    hold::bounded,
};

#[derive(Debug)]
pub(super) struct StopPod(pub(super) Reach);

#[async_trait]
impl Tool for StopPod {
    fn name(&self) -> &'static str {
        "StopPod"
    }

    fn description(&self) -> &'static str {
        "Stops a child of yours and takes back what you lent to it; you can write there again, or lend it again, at \
         once. A stopped child keeps its conversation, and RestorePod brings it back."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Named>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("stopping the Pod", self.stop(place, arguments)).await)
    }
}

impl StopPod {
    async fn stop(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Named { name } = arguments::read(arguments)?;
        let kin = self.0.kin()?;
        let child = sight::child(&kin, &place.worker_id, &name).await?;
        let own = kin.existing_row(&place.worker_id).await?;
        let origin = origin_of(&own.name);
        let (_, returned) = family::stop(&kin.family, &child.row.worker_id, &Stopper::Leader(&origin)).await?;
        Ok(ToolOutcome::done(format!("{} is stopped", child.row.name)).with_content(format!(
            "taken back from {}: {}",
            child.row.name,
            scope_words(&returned)
        )))
    }
}
