//! The settings of a server: profiles, tools, walls, rules.

use anyhow::Result;
use protocol::{PermissionRule, ProfileView, WallItem, operation::Page, operations};

use super::{Caller, word};
use crate::output;

/// Prints the templates for new Pods.
pub(super) async fn profiles(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&operations::Profiles { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    if listing.items.is_empty() {
        output::note("no profiles configured; add [profiles.NAME] to config.toml");
        return Ok(());
    }
    output::headed(["NAME", "PROVIDER", "MODEL", "TOOLS", "INSTRUCTIONS"], listing.items.iter().map(profile))
}

fn profile(profile: &ProfileView) -> [String; 5] {
    let tools = profile.tools.as_ref().map_or_else(|| "all".to_owned(), |tools| tools.join(", "));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [profile.name.clone(), text(&profile.provider), text(&profile.model), tools, text(&profile.instructions)]
}

/// Prints the tools, and the decision for calls that no rule covers.
pub(super) async fn tools(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&operations::Tools { page: Page::default() }).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => {
            let rows = listing.items.iter().map(|tool| [tool.tool.clone(), word(&tool.decision)]);
            output::headed(["NAME", "BY DEFAULT"], rows)
        }
    }
}

/// Prints the walls around the commands of the server's own Pods.
pub(super) async fn walls(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&operations::Walls { page: Page::default() }).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => output::headed(["WALL", "STATE", "DETAIL"], listing.items.iter().map(wall)),
    }
}

fn wall(item: &WallItem) -> [String; 3] {
    [item.wall.as_str().to_owned(), item.state.as_str().to_owned(), item.detail.clone().unwrap_or_default()]
}

/// Warns about rules that allow more than they seem to.
pub(super) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| output::note(&output::printable(&format!("warning: {warning}"))));
}

/// A rule in the syntax of `yoi permissions`.
pub(super) fn said(rule: &PermissionRule) -> String {
    let pattern = rule.pattern.as_deref().map(|pattern| format!(" {pattern}")).unwrap_or_default();
    let folder = rule.folder.as_deref().map(|folder| format!("@{folder}")).unwrap_or_default();
    format!("{} {}{folder}{pattern}", word(&rule.decision), rule.tool)
}
