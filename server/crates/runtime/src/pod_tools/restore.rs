//! RestorePod: a stopped Pod that this one sees comes back.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, Visibility};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, origin_of, outcome, sight};
use crate::{
    family::{self, Restored},
    hold::bounded,
};

#[derive(Debug)]
pub(super) struct RestorePod(pub(super) Reach);

#[async_trait]
impl Tool for RestorePod {
    fn name(&self) -> &'static str {
        "RestorePod"
    }

    fn description(&self) -> &'static str {
        "Brings back a stopped Pod that you see. A child gets back what was lent to it, and no more; if that is lent to \
         somebody else by now, it stays stopped and you are told. A Pod that is live is left as it is."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Named>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("restoring the Pod", Box::pin(self.restore(place, arguments))).await)
    }
}

impl RestorePod {
    async fn restore(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Named { name } = arguments::read(arguments)?;
        let kin = self.0.kin()?;
        let seen = sight::find_here(&kin, &place.worker_id, &name).await?;
        let name = &seen.row.name;
        if seen.is(Visibility::Itself) {
            return Ok(ToolOutcome::done(format!("{name} is you, and live; nothing was started")));
        }
        let own = kin.existing_row(&place.worker_id).await?;
        let restored = family::restore(&kin.family, &seen.row.worker_id, &origin_of(&own.name)).await?;
        Ok(ToolOutcome::done(match restored {
            Restored::Now(state) => format!("{name} is back, and {}", state.as_str()),
            Restored::WasLive(state) => format!("{name} is live already ({}); nothing was started", state.as_str()),
        }))
    }
}
