use ::commands::audited::target_words;
use anyhow::Result;
use jiff::Timestamp;
use protocol::{
    AuditRow, PodSummary, RuntimeId, Target,
    operation::{Filled, Loose},
    operations::{self, Pods},
};
use transcript::words::actor_words;

use super::{Caller, ago, note_absent, pods_of};
use crate::{cli::AuditOptions, output};

/// Prints the audit, newest first. Pods are named as they are called now; those that are gone keep their addresses.
pub(super) async fn audit(caller: &Caller, options: AuditOptions) -> Result<()> {
    let target = match &options.target {
        Some(target) => Some(address(caller, target).await?),
        None => None,
    };
    let runtime = options.runtime.as_deref().map(RuntimeId::parse).transpose()?;
    let filter = operations::Audit {
        action: Filled(options.action),
        result: Filled(options.result),
        target: Filled(target),
        runtime: Filled(runtime),
        after: Loose(options.after),
        ..operations::Audit::default()
    };
    let listing = caller.client.read(&filter).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    note_absent(&listing.absent);
    if listing.items.is_empty() {
        output::note("no matching audit entries");
        return Ok(());
    }
    let pods = pods_of(caller, Pods::default()).await?.items;
    let now = Timestamp::now();
    output::headed(
        ["WHEN", "BY", "FROM", "ACTION", "RESULT", "TARGET", "ABOUT"],
        listing.items.iter().map(|listed| row(listed, &pods, now)),
    )?;
    if let Some(next) = &listing.next {
        output::note(&format!("more: --after {next}"));
    }
    Ok(())
}

/// The address of a Pod, if a Pod is meant. Anything else is passed on unchanged: a deleted Pod may still be in the
/// audit.
async fn address(caller: &Caller, target: &str) -> Result<String> {
    if target.parse::<Target>().is_err() {
        return Ok(target.to_owned());
    }
    match caller.client.read(&operations::Resolve { target: Some(target.to_owned()) }).await {
        Ok(pod) => Ok(pod.to_string()),
        Err(client::ClientError::Api(_)) => Ok(target.to_owned()),
        Err(error) => Err(error.into()),
    }
}

fn row(AuditRow { entry, runtime_id, .. }: &AuditRow, pods: &[PodSummary], now: Timestamp) -> [String; 7] {
    let result = match &entry.code {
        Some(code) => format!("{} ({code})", entry.result),
        None => entry.result.clone(),
    };
    let target = target_words(pods, entry);
    let from = match *runtime_id == RuntimeId::local() {
        true => entry.client.clone(),
        false => format!("{}@{runtime_id}", entry.client),
    };
    let about = entry.about.as_ref().map(ToString::to_string).unwrap_or_default();
    [ago(entry.at, now), actor_words(&entry.by).to_owned(), from, entry.action.clone(), result, target, about]
}
