//! Changes of a Pod's settings.

use anyhow::Result;
use protocol::operations;
use protocol::{CommandId, PatchPod, PodDetail, PodName};

use super::{Caller, settings, word};
use crate::{
    cli::{NetworkOptions, PermissionsOptions, PolicyOptions, RenameOptions, WakeOptions},
    config::BadConfig,
    output,
};

/// Gives a Pod another name.
pub(super) async fn rename(caller: &Caller, options: RenameOptions) -> Result<()> {
    let name = PodName::parse(&options.name).map_err(|error| BadConfig(error.to_string()))?;
    let patch = PatchPod { name: Some(name), ..PatchPod::default() };
    change(caller, &options.target, &patch, |detail| format!("renamed to {}", detail.summary.name)).await
}

/// Says who may introduce itself.
pub(super) async fn policy(caller: &Caller, options: PolicyOptions) -> Result<()> {
    let patch = PatchPod { peer_policy: Some(options.policy), ..PatchPod::default() };
    let said = |detail: &PodDetail| format!("{}: peer policy is {}", detail.summary.name, word(&detail.peer_policy));
    change(caller, &options.target, &patch, said).await
}

/// Says what commands reach.
pub(super) async fn network(caller: &Caller, options: NetworkOptions) -> Result<()> {
    let patch = PatchPod { network: Some(options.network), ..PatchPod::default() };
    let said = |detail: &PodDetail| format!("{}: network is {}", detail.summary.name, word(&detail.network));
    change(caller, &options.target, &patch, said).await
}

/// Says whether a peer's message begins a run.
pub(super) async fn wake(caller: &Caller, options: WakeOptions) -> Result<()> {
    let patch = PatchPod { wake_on_peer: Some(options.wakes), ..PatchPod::default() };
    let said = |detail: &PodDetail| match detail.wake_on_peer {
        true => format!("messages from peers start a run of {}", detail.summary.name),
        false => format!("messages from peers wait until {} runs", detail.summary.name),
    };
    change(caller, &options.target, &patch, said).await
}

/// Prints the rules of a Pod, or sets them.
pub(super) async fn permissions(caller: &Caller, options: PermissionsOptions) -> Result<()> {
    if options.rules.is_empty() && !options.clear {
        return rules(caller, &options.target).await;
    }
    let patch = PatchPod { permissions: Some(options.rules), ..PatchPod::default() };
    let said = |detail: &PodDetail| {
        settings::warn(&detail.warnings);
        count(detail)
    };
    change(caller, &options.target, &patch, said).await
}

fn count(detail: &PodDetail) -> String {
    match detail.permissions.len() {
        0 => format!("{} has no rules of its own", detail.summary.name),
        count => format!("{} has {count} rules; the first match decides", detail.summary.name),
    }
}

async fn rules(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let detail = caller.client.read(&operations::Pod { pod }).await?;
    if caller.config.json {
        return output::json(&detail.permissions);
    }
    if detail.permissions.is_empty() {
        output::note(&format!("{target} has no rules of its own; `yoi tools` lists the defaults"));
    }
    settings::warn(&detail.warnings);
    detail.permissions.iter().try_for_each(|rule| output::line(&output::printable(&settings::said(rule))))
}

async fn change(
    caller: &Caller,
    target: &str,
    patch: &PatchPod,
    said: impl FnOnce(&PodDetail) -> String,
) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let detail = caller.client.carry_out(&CommandId::random(), &operations::Patch { pod, body: patch.clone() }).await?;
    match caller.config.json {
        true => output::json(&detail),
        false => output::line(&said(&detail)),
    }
}
