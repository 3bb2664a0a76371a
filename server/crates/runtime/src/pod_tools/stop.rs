//! StopPod: stops a child and takes back what was lent to it.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::ApiError;

use super::{Caller, PodTool, arguments::Named, list::scope_words};
use crate::family::{self, Stopper};

#[derive(Debug)]
pub(super) struct StopPod;

#[async_trait]
impl PodTool for StopPod {
    const NAME: &'static str = "StopPod";
    const DESCRIPTION: &'static str = "Stops one of your children and takes back what you lent to it; you can write there again, or lend it again, at \
         once. A stopped child keeps its conversation, and RestorePod restores it.";
    const DOING: &'static str = "stopping the Pod";
    type Arguments = Named;

    async fn act(&self, caller: &Caller<'_>, Named { name }: Named) -> Result<ToolOutcome, ApiError> {
        let child = caller.child(&name).await?;
        let origin = caller.origin().await?;
        let (_, returned) = family::stop(&caller.kin.family, &child.row.worker_id, &Stopper::Leader(&origin)).await?;
        Ok(ToolOutcome::done(format!("{} is stopped", child.row.name)).with_content(format!(
            "taken back from {}: {}",
            child.row.name,
            scope_words(&returned)
        )))
    }
}
