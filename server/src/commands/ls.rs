use anyhow::Result;
use client::PodsFilter;
use protocol::{Listing, PodSummary};

use super::Caller;
use crate::output;

/// Prints all Pods, as the API lists them.
pub(super) async fn ls(caller: &Caller) -> Result<()> {
    let listing = all_pods(caller).await?;
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

pub(super) async fn all_pods(caller: &Caller) -> Result<Listing<PodSummary>> {
    let mut filter = PodsFilter::default();
    let mut listing = caller.client.pods(&filter).await?;
    while let Some(next) = listing.next.take() {
        filter.after = Some(next);
        let page = caller.client.pods(&filter).await?;
        listing.items.extend(page.items);
        listing.next = page.next;
    }
    Ok(listing)
}

fn row(pod: &PodSummary) -> Vec<String> {
    let name = match pod.pod.runtime_id.as_str() {
        "local" => pod.name.to_string(),
        runtime => format!("{}@{runtime}", pod.name),
    };
    let state = if pod.needs_you { format!("{} (needs you)", pod.state.as_str()) } else { pod.state.as_str().into() };
    let activity = pod.activity.clone().or_else(|| pod.state_reason.clone()).unwrap_or_default();
    vec![name, state, pod.model.clone(), pod.cwd.clone(), activity.replace('\n', " ")]
}
