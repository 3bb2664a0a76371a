//! The rules of Pods, of folders and of the server.

use anyhow::Result;
use protocol::{
    CommandId, RuleItem, RuleScope,
    operation::{Filled, Page},
    operations::{RemoveRule, Rules},
};

use super::{Caller, name_of, note_absent, settings::warn, word};
use crate::{
    cli::{RulesOptions, RulesVerb},
    output,
};

/// Prints the rules, or takes one back.
pub(super) async fn rules(caller: &Caller, options: RulesOptions) -> Result<()> {
    match options.verb {
        None => list(caller).await,
        Some(RulesVerb::Rm { id }) => {
            caller.client.carry_out(&CommandId::random(), &RemoveRule { id: id.clone() }).await?;
            match caller.config.json {
                true => Ok(()),
                false => output::line(&output::printable(&format!("{id} is gone"))),
            }
        }
    }
}

async fn list(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&Rules { runtime: Filled(None), page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    note_absent(&listing.absent);
    if listing.items.is_empty() {
        output::note(
            "there are no rules; `yoi approve NAME ID --always` makes one, and `yoi permissions NAME RULE…` sets a Pod's",
        );
        return Ok(());
    }
    let mut warnings: Vec<String> = listing.items.iter().filter_map(|rule| rule.warning.clone()).collect();
    warnings.dedup();
    warn(&warnings);
    output::headed(["ID", "WHERE", "RULE"], listing.items.iter().map(row))
}

fn row(rule: &RuleItem) -> [String; 3] {
    let place = match (rule.scope, &rule.pod, &rule.name) {
        (_, Some(pod), Some(name)) => name_of(name, pod),
        (RuleScope::Folder, ..) => rule.folder.clone().unwrap_or_default(),
        (scope, ..) => scope.as_str().to_owned(),
    };
    let folder = rule.folder.as_deref().filter(|_| rule.scope == RuleScope::Pod);
    let folder = folder.map(|folder| format!("@{folder}")).unwrap_or_default();
    [rule.id.clone(), place, format!("{} {}{folder} {}", word(&rule.decision), rule.tool, rule.pattern)]
}
