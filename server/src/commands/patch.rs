//! Changes a Pod's settings.

use anyhow::Result;
use protocol::operations;
use protocol::{Budget, CommandId, PatchPod, PodDetail, PodName, PodSummary};

use super::{Caller, new, settings, word};
use crate::{
    cli::{
        BudgetOptions, ModeOptions, ModelOptions, NetworkOptions, PermissionsOptions, PolicyOptions, RenameOptions,
        SetOptions, WakeOptions,
    },
    config::BadConfig,
    output,
};

/// Renames a Pod.
pub(super) async fn rename(caller: &Caller, options: RenameOptions) -> Result<()> {
    let name = PodName::parse(&options.name).map_err(|error| BadConfig(error.to_string()))?;
    let patch = PatchPod { name: Some(name), ..PatchPod::default() };
    change(caller, &options.target, &patch, |detail| format!("renamed to {}", detail.summary.name)).await
}

/// Sets who may become a peer.
pub(super) async fn policy(caller: &Caller, options: PolicyOptions) -> Result<()> {
    let patch = PatchPod { peer_policy: Some(options.policy), ..PatchPod::default() };
    let said = |detail: &PodDetail| format!("{}: peer policy is {}", detail.summary.name, word(&detail.peer_policy));
    change(caller, &options.target, &patch, said).await
}

/// Sets the network access of commands.
pub(super) async fn network(caller: &Caller, options: NetworkOptions) -> Result<()> {
    let patch = PatchPod { network: Some(options.network), ..PatchPod::default() };
    let said = |detail: &PodDetail| format!("{}: network is {}", detail.summary.name, word(&detail.network));
    change(caller, &options.target, &patch, said).await
}

/// Prints or changes the model.
pub(super) async fn model(caller: &Caller, options: ModelOptions) -> Result<()> {
    let ModelOptions { target, model, provider, thinking } = options;
    if model.is_none() && provider.is_none() && thinking.is_none() {
        let pod = caller.resolve(&target).await?;
        let detail = caller.client.read(&operations::Pod { pod }).await?;
        return match caller.config.json {
            true => output::json(&detail),
            false => output::line(&who_answers(&detail)),
        };
    }
    let patch = PatchPod { model, provider, thinking, ..PatchPod::default() };
    change(caller, &target, &patch, who_answers).await
}

/// Prints a Pod's mode and those of its agent, or sets one.
pub(super) async fn mode(caller: &Caller, options: ModeOptions) -> Result<()> {
    let ModeOptions { target, mode, agent } = options;
    if let Some(mode) = mode {
        let patch = match agent {
            true => PatchPod { agent_mode: Some(mode), ..PatchPod::default() },
            false => PatchPod::of_mode(&mode),
        };
        return change(caller, &target, &patch, modes).await;
    }
    let pod = caller.resolve(&target).await?;
    let detail = caller.client.read(&operations::Pod { pod }).await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "mode": detail.mode, "agent": detail.session })),
        false => output::line(&output::printable(&modes(&detail))),
    }
}

/// Formats the modes: `ada: plan. It reads …`, and the agent's below.
fn modes(detail: &PodDetail) -> String {
    let name = &detail.summary.name;
    let own = format!("{name}: {}. {}", detail.mode.words(), detail.mode.about());
    let Some(session) = &detail.session else { return own };
    let now = session.mode.as_deref().unwrap_or("no mode yet");
    let all: Vec<_> = session.offers.modes.iter().map(|mode| mode.id.as_str()).collect();
    match all.is_empty() {
        true => format!("{own}\nits agent: {now}; it has named no others"),
        false => format!("{own}\nits agent: {now} of {}", all.join(", ")),
    }
}

/// `ada: gpt-5.4 of openai, thinking high`.
fn who_answers(detail: &PodDetail) -> String {
    let PodSummary { name, model, provider, .. } = &detail.summary;
    let thinking = detail.thinking.map(|level| format!(", thinking {level}")).unwrap_or_default();
    format!("{name}: {model} of {provider}{thinking}")
}

/// Prints or sets a Pod's budget.
pub(super) async fn budget(caller: &Caller, options: BudgetOptions) -> Result<()> {
    let BudgetOptions { target, amount } = options;
    if amount.is_empty() {
        let pod = caller.resolve(&target).await?;
        let detail = caller.client.read(&operations::Pod { pod }).await?;
        return match caller.config.json {
            true => output::json(&detail.summary.budget),
            false => output::line(&what_it_may_use(&detail)),
        };
    }
    let budget = Budget::read(&amount.join(" ")).map_err(BadConfig)?;
    let patch = PatchPod { budget: Some(budget), ..PatchPod::default() };
    change(caller, &target, &patch, what_it_may_use).await
}

fn what_it_may_use(detail: &PodDetail) -> String {
    let name = &detail.summary.name;
    match (&detail.summary.budget, &detail.budget_used) {
        (Some(budget), Some(used)) => {
            format!("{name} has a budget of {}, including its children; {} % is used", budget.words(), used.percent)
        }
        (Some(budget), None) => format!("{name} has a budget of {}, including its children", budget.words()),
        (None, _) => format!("{name} has no budget"),
    }
}

/// Sets a Pod's instructions, scope or profile.
pub(super) async fn set(caller: &Caller, options: SetOptions) -> Result<()> {
    let SetOptions { target, instructions, scope, profile, auto_resume } = options;
    let scope = scope.into_iter().map(new::scope_rule).collect::<Result<Vec<_>>>()?;
    let scope = (!scope.is_empty()).then_some(scope);
    if instructions.is_none() && scope.is_none() && profile.is_none() && auto_resume.is_none() {
        return Err(BadConfig("say what to set: --instructions, --scope, --profile or --auto-resume".to_owned()).into());
    }
    let patch = PatchPod { instructions, scope, profile, auto_resume, ..PatchPod::default() };
    change(caller, &target, &patch, |detail| format!("{}: settings changed", detail.summary.name)).await
}

/// Sets whether a peer's message begins a run.
pub(super) async fn wake(caller: &Caller, options: WakeOptions) -> Result<()> {
    let patch = PatchPod { wake_on_peer: Some(options.wakes), ..PatchPod::default() };
    let said = |detail: &PodDetail| match detail.wake_on_peer {
        true => format!("messages from peers start a run of {}", detail.summary.name),
        false => format!("messages from peers wait until {} runs", detail.summary.name),
    };
    change(caller, &options.target, &patch, said).await
}

/// Prints or sets the rules of a Pod.
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
