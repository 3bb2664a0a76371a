//! One Pod: its state and settings.

use ::commands::{Sign, sharing::also_here_words};
use anyhow::Result;
use protocol::{AgentChoice, AgentView, GitView, PodDetail, PodSummary, ScopeRule, Segment};
use protocol::{
    operation::Loose,
    operations::{self, Pods},
};
use transcript::words::{ESTIMATED, auto_resume_words, fallback_words, tokens_in_full};

use super::{Caller, name_of, pods_of, settings, word};
use crate::output;

/// Prints a Pod's state and settings.
pub(super) async fn show(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let detail = caller.client.read(&operations::Pod { pod: pod.clone() }).await?;
    if caller.config.json {
        return output::json(&detail);
    }
    let nearby = pods_of(caller, Pods { q: Loose(Some(detail.summary.cwd.clone())), ..Pods::default() }).await?;
    let mut rows = rows(&detail);
    let shared = also_here_words(&nearby.items, &detail.summary);
    rows.extend(shared.map(|words| vec!["shared".to_owned(), words]));
    output::table(&rows)
}

/// Prints the address of a Pod.
pub(super) async fn resolve(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    match caller.config.json {
        true => output::json(&pod),
        false => output::line(&pod.to_string()),
    }
}

fn rows(detail: &PodDetail) -> Vec<Vec<String>> {
    let pod = &detail.summary;
    let sign = Sign::of(pod).word();
    let reason = pod.state_reason.as_deref().or(pod.activity.as_deref());
    let state =
        reason.map_or_else(|| sign.to_owned(), |reason| format!("{sign}: {}", reason.trim_start_matches("failed: ")));
    let relations = format!("{} peers, {} children", pod.relations.peers, pod.relations.children);
    let estimated = if pod.usage.estimated { format!(" ({ESTIMATED})") } else { String::new() };
    let used = format!("{}{estimated}", tokens_in_full(&pod.usage));
    let peers = match detail.wake_on_peer {
        true => format!("{}; their messages start a run", word(&detail.peer_policy)),
        false => format!("{}; their messages wait for its next run", word(&detail.peer_policy)),
    };
    let mut rows = vec![
        ("name", name_of(&pod.name, &pod.pod)),
        ("address", pod.pod.to_string()),
        ("state", state),
        ("model", model(detail)),
        ("folder", pod.cwd.clone()),
        ("git", detail.summary.git.as_ref().map_or_else(|| "no repository".to_owned(), GitView::words)),
        ("created", pod.created_at.to_string()),
        ("head", pod.head_seq.to_string()),
        ("usage", used),
        ("relations", relations),
        ("peer policy", peers),
        ("mode", detail.mode.words().to_owned()),
        ("network", word(&detail.network)),
        ("reasoning", word(&detail.reasoning)),
        ("limits", auto_resume_words(detail.auto_resume).to_owned()),
    ];
    rows.extend(detail.session.iter().flat_map(agent));
    let own = detail.summary.git.as_ref().and_then(|git| Some((git.worktree.clone()?, git.from.clone())));
    rows.extend(own.map(|(path, from)| {
        let from = from.map(|from| format!(", from {from}")).unwrap_or_default();
        ("work tree", format!("{path}{from}"))
    }));
    rows.extend((!detail.fallback.is_empty()).then(|| ("fallback", fallback_words(&detail.fallback))));
    rows.extend(detail.profile.clone().map(|profile| ("profile", profile)));
    rows.extend(detail.instructions.clone().map(|instructions| ("instructions", instructions)));
    rows.extend(detail.scope.iter().map(|rule| ("scope", scope(rule))));
    rows.extend(detail.permissions.iter().map(|rule| ("rule", settings::said(rule))));
    rows.extend(detail.warnings.iter().map(|warning| ("warning", warning.clone())));
    rows.extend(detail.children.iter().map(|child| ("child", name_of(&child.name, &child.pod))));
    rows.extend(detail.tasks.iter().map(|task| ("task", task.line())));
    rows.extend(detail.queued.iter().map(|queued| ("queued", Segment::join(&queued.segments))));
    rows.into_iter().map(|(what, text)| vec![what.to_owned(), text]).collect()
}

/// `gpt-5.4 of openai`, or `small, of the agent codex`.
fn model(detail: &PodDetail) -> String {
    let PodSummary { model, provider, agent, .. } = &detail.summary;
    match agent {
        Some(agent) if agent == model => format!("the agent {agent}"),
        Some(agent) => format!("{model}, of the agent {agent}"),
        None => format!("{model} of {provider}"),
    }
}

/// What is known of its agent: what it is, its mode, its plan, its commands, and what yoi cannot control.
fn agent(session: &AgentView) -> Vec<(&'static str, String)> {
    let AgentView { title, version, confined, beyond, mode, offers, plan } = session;
    let called = [title.as_deref(), version.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let held = if *confined { "confined to the scope" } else { "not confined" };
    let about = if called.is_empty() { held.to_owned() } else { format!("{called}, {held}") };
    let ids = |choices: &[AgentChoice]| choices.iter().map(|choice| choice.id.clone()).collect::<Vec<_>>().join(", ");
    let mode = mode.as_ref().map(|mode| match offers.modes.is_empty() {
        true => mode.clone(),
        false => format!("{mode} of {}", ids(&offers.modes)),
    });
    let mut rows = vec![("agent", about)];
    rows.extend(mode.map(|mode| ("mode", mode)));
    rows.extend((!offers.models.is_empty()).then(|| ("models", ids(&offers.models))));
    rows.extend(plan.iter().map(|entry| ("plan", format!("{}: {}", entry.status.replace('_', " "), entry.content))));
    let command = |choice: &AgentChoice| {
        let what = choice.description.as_deref().map(|what| format!(": {what}")).unwrap_or_default();
        ("command", format!("/{}{what}", choice.name))
    };
    rows.extend(offers.commands.iter().map(command));
    rows.extend(beyond.iter().map(|sentence| ("not in control", sentence.clone())));
    rows
}

/// `write /work and below`.
pub(super) fn scope(rule: &ScopeRule) -> String {
    let depth = if rule.recursive { " and below" } else { "" };
    format!("{} {}{depth}", word(&rule.access), rule.path)
}
