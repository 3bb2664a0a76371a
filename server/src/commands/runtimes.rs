use anyhow::Result;
use jiff::Timestamp;
use protocol::RuntimeView;

use super::{Caller, ago, word};
use crate::output;

/// Prints where Pods live, and whether it answers.
pub(super) async fn runtimes(caller: &Caller) -> Result<()> {
    let listing = caller.client.runtimes().await?;
    if caller.config.json {
        return output::json(&listing);
    }
    output::headed(["ID", "KIND", "STATE", "SINCE", "DETAIL"], listing.items.iter().map(row))
}

fn row(runtime: &RuntimeView) -> [String; 5] {
    [
        runtime.runtime_id.to_string(),
        word(&runtime.kind),
        word(&runtime.state),
        ago(runtime.since, Timestamp::now()),
        runtime.detail.clone().unwrap_or_default(),
    ]
}
