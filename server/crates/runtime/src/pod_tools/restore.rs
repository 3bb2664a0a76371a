//! RestorePod: restores a stopped Pod that this one sees.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, Visibility};

use super::{Caller, PodTool, arguments::Named, sight};
use crate::family::{self, Restored};

#[derive(Debug)]
pub(super) struct RestorePod;

#[async_trait]
impl PodTool for RestorePod {
    const NAME: &'static str = "RestorePod";
    const DESCRIPTION: &'static str = "Restores a stopped Pod that you see. A child gets back what was lent to it, and no more; if that is now lent to \
         another Pod, the child stays stopped and you are told. A live Pod is left as it is.";
    const DOING: &'static str = "restoring the Pod";
    type Arguments = Named;

    async fn act(&self, caller: &Caller<'_>, Named { name }: Named) -> Result<ToolOutcome, ApiError> {
        let seen = sight::find_here(&caller.kin, caller.worker_id(), &name).await?;
        let name = &seen.row.name;
        if seen.is(Visibility::Itself) {
            return Ok(ToolOutcome::done(format!("{name} is you, and live; nothing was started")));
        }
        let origin = caller.origin().await?;
        let restored = family::restore(&caller.kin.family, &seen.row.worker_id, &origin).await?;
        Ok(ToolOutcome::done(match restored {
            Restored::Now(state) => format!("{name} is back, and {}", state.as_str()),
            Restored::WasLive(state) => format!("{name} is live already ({}); nothing was started", state.as_str()),
        }))
    }
}
