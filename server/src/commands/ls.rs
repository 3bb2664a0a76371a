use anyhow::Result;
use client::PodsFilter;
use protocol::PodSummary;

use super::{Caller, name_of, pods_of};
use crate::output;

/// Prints all Pods, as the API lists them.
pub(super) async fn ls(caller: &Caller) -> Result<()> {
    let listing = pods_of(caller, PodsFilter::default()).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    if listing.items.is_empty() {
        output::note("there is no Pod yet; `yoi new NAME` makes one");
        return Ok(());
    }
    let heading = ["NAME", "STATE", "MODEL", "FOLDER", "ACTIVITY"].map(str::to_owned).to_vec();
    let rows: Vec<_> = std::iter::once(heading).chain(listing.items.iter().map(row)).collect();
    output::table(&rows)
}

fn row(pod: &PodSummary) -> Vec<String> {
    let state = if pod.needs_you { format!("{} (needs you)", pod.state.as_str()) } else { pod.state.as_str().into() };
    let activity = pod.activity.clone().or_else(|| pod.state_reason.clone()).unwrap_or_default();
    vec![name_of(&pod.name, &pod.pod), state, pod.model.clone(), pod.cwd.clone(), activity.replace('\n', " ")]
}
