//! What Pods may do without asking: the defaults, and the rules of individual Pods.

use leptos::prelude::*;
use protocol::{
    Gathered, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, PodRef, PodRules, ReasoningPolicy,
    ToolDefault,
};

use super::Section;
use crate::{
    components::{
        absent::absent,
        deed::{Deed, DeedButton},
        link::far_pod_link,
        problem::Problem,
    },
    console::fresh_command,
    server_fns::forget_rule,
};

#[component]
pub(crate) fn PermissionsSection(tools: Vec<ToolDefault>, rules: Gathered<PodRules>) -> impl IntoView {
    let of = |decision: PermissionDecision| {
        let names = tools.iter().filter(|tool| tool.decision == decision).map(|tool| tool.tool.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let defaults = [PermissionDecision::Allow, PermissionDecision::Ask, PermissionDecision::Deny]
        .map(|decision| (decision_words(decision), of(decision)))
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(words, names)| view! { <dt>{words}</dt><dd>{names}</dd> }.into_any())
        .collect_view();
    let Gathered { items: rules, absent: missing, .. } = rules;
    let none = rules
        .is_empty()
        .then(|| view! { <p>"No Pod has its own rules yet. “Always allow” on an approval adds one."</p> }.into_any());
    view! {
        <Section id="permissions" title="Permissions">
            <h3>"Default permissions"</h3>
            <dl>{defaults}</dl>
            <h3>"Rules per Pod"</h3>
            <p class="hint">
                "From the profile, or added by “Always allow”. The first match decides; a child is also held to its parent's rules."
            </p>
            {absent(&missing)}
            {none}
            {rules.into_iter().map(|pod| view! { <OfPod rules=pod /> }.into_any()).collect_view()}
        </Section>
    }
}

#[component]
fn OfPod(rules: PodRules) -> impl IntoView {
    let PodRules { pod, name, permissions, warnings } = rules;
    let link = far_pod_link(&pod, &name);
    let left = RwSignal::new(permissions);
    let deed = Deed::default();
    let name = name.to_string();
    let lines = {
        let name = name.clone();
        move || {
            let line = |rule| {
                view! { <RuleLine pod=pod.clone() name=name.clone() rule=rule left=left deed=deed /> }.into_any()
            };
            left.get().into_iter().map(line).collect_view()
        }
    };
    view! {
        <article class="rules-of-pod">
            <h4>
                {link}
            </h4>
            <ul class="lines">{lines}</ul>
            {warned(warnings)}
            <p class="hint" role="status">
                {move || left.with(Vec::is_empty).then_some("No rules left; the defaults apply.")}
            </p>
            <Problem error=deed.error />
        </article>
    }
}

#[component]
fn RuleLine(
    pod: PodRef,
    name: String,
    rule: PermissionRule,
    left: RwSignal<Vec<PermissionRule>>,
    deed: Deed,
) -> impl IntoView {
    let words = rule_words(&rule);
    let label = format!("Forget for {name}: {words}");
    let forget = move || {
        let (pod, rule) = (pod.clone(), rule.clone());
        deed.begin(Box::pin(async move {
            left.try_set(forget_rule(pod, fresh_command(), rule).await?);
            Ok(())
        }));
    };
    view! {
        <li class="line">
            <code>{words}</code>
            <DeedButton deed=deed label=label words="Forget" press=forget />
        </li>
    }
}

fn decision_words(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow => "allowed",
        PermissionDecision::Ask => "asks you",
        PermissionDecision::Deny => "denied",
    }
}

/// The decision of a rule as a word.
pub(crate) fn verb(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow => "allow",
        PermissionDecision::Ask => "ask",
        PermissionDecision::Deny => "deny",
    }
}

pub(crate) fn reasoning_words(policy: ReasoningPolicy) -> &'static str {
    match policy {
        ReasoningPolicy::Full => "shown in full",
        ReasoningPolicy::Summary => "first lines only",
        ReasoningPolicy::Hidden => "hidden",
    }
}

pub(crate) fn peer_words(policy: PeerPolicy) -> &'static str {
    match policy {
        PeerPolicy::Open => "anyone can be a peer",
        PeerPolicy::Ask => "asks you",
        PeerPolicy::Closed => "no new peers",
    }
}

/// What a message from a peer does.
pub(crate) fn message_words(wakes: bool) -> &'static str {
    if wakes { "wakes it" } else { "waits for its next run" }
}

pub(crate) fn network_words(policy: NetworkPolicy) -> &'static str {
    match policy {
        NetworkPolicy::None => "none",
        NetworkPolicy::Ask => "asks for each host",
        NetworkPolicy::Open => "open",
    }
}

/// `allow Bash: cargo *`; a rule about every call is just `allow Bash`.
pub(super) fn rule_words(rule: &PermissionRule) -> String {
    let decision = verb(rule.decision);
    let folder = rule.folder.as_deref().map(|folder| format!(" in {folder}")).unwrap_or_default();
    match &rule.pattern {
        Some(pattern) => format!("{decision} {}{folder}: {pattern}", rule.tool),
        None => format!("{decision} {}{folder}", rule.tool),
    }
}

/// Warnings about rules that allow more than they seem to.
pub(crate) fn warned(warnings: Vec<String>) -> impl IntoView {
    let line = |warning| view! { <li>{warning}</li> }.into_any();
    (!warnings.is_empty())
        .then(|| view! { <ul class="hint">{warnings.into_iter().map(line).collect_view()}</ul> }.into_any())
}
