//! The agents that Pods can be created with.

use anyhow::Result;
use protocol::{AgentItem, operation::Page, operations};

use super::Caller;
use crate::output;

/// Prints the agents.
pub(super) async fn agents(caller: &Caller) -> Result<()> {
    let page = caller.client.read(&operations::Agents { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&page);
    }
    output::headed(["NAME", "STATE", "CONFINED", "DETAIL"], page.items.iter().map(row))?;
    output::note("`yoi new NAME --agent AGENT` makes a Pod in which that agent answers");
    Ok(())
}

fn row(item: &AgentItem) -> [String; 4] {
    let confined = if item.confined { "yes" } else { "no" };
    let detail = item.detail.as_deref().map(output::printable).unwrap_or_default();
    [item.name.clone(), item.state.as_str().to_owned(), confined.to_owned(), detail]
}
