//! What Pods may do without asking: the defaults, and the rules of individual Pods.

use leptos::prelude::*;
use protocol::{
    Gathered, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, ReasoningPolicy, RuleItem, RuleScope,
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
    redrawn::redrawn,
    server_fns::remove_rule,
};

#[component]
pub(crate) fn PermissionsSection(tools: Vec<ToolDefault>, rules: Gathered<RuleItem>) -> impl IntoView {
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
        .then(|| view! { <p>"There are no rules yet. “Always” on a question adds one."</p> }.into_any());
    view! {
        <Section id="permissions" title="Permissions">
            <h3>"Default permissions"</h3>
            <dl>{defaults}</dl>
            <h3>"Rules"</h3>
            <p class="hint">
                "From the profile, or added by “Always”. In a Pod the first match decides; a deny counts wherever it stands; a child must also obey its parent's rules."
            </p>
            {absent(&missing)}
            {none}
            {groups(rules).into_iter().map(|rules| view! { <Group rules=rules /> }.into_any()).collect_view()}
        </Section>
    }
}

/// Rules with the same place, in order.
fn groups(rules: Vec<RuleItem>) -> Vec<Vec<RuleItem>> {
    let place = |rule: &RuleItem| (rule.scope, rule.pod.clone(), shared_folder(rule));
    let mut groups: Vec<Vec<RuleItem>> = Vec::new();
    for rule in rules {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| place(first) == place(&rule))) {
            Some(group) => group.push(rule),
            None => groups.push(vec![rule]),
        }
    }
    groups
}

fn shared_folder(rule: &RuleItem) -> Option<String> {
    rule.folder.clone().filter(|_| rule.scope == RuleScope::Folder)
}

#[component]
fn Group(rules: Vec<RuleItem>) -> impl IntoView {
    let Some(first) = rules.first().cloned() else { return ().into_any() };
    let (title, name) = match (&first.pod, &first.name, shared_folder(&first)) {
        (Some(pod), Some(name), _) => (far_pod_link(pod, name).into_any(), name.to_string()),
        (_, _, Some(folder)) => (view! { <code>{folder.clone()}</code> }.into_any(), format!("every Pod in {folder}")),
        _ => ("Everywhere".into_any(), "every Pod".to_owned()),
    };
    let mut warnings: Vec<String> = rules.iter().filter_map(|rule| rule.warning.clone()).collect();
    warnings.dedup();
    let left = RwSignal::new(rules);
    let deed = Deed::default();
    let lines = move || {
        let line = |rule| view! { <RuleLine name=name.clone() rule=rule left=left deed=deed /> }.into_any();
        left.get().into_iter().map(line).collect_view()
    };
    view! {
        <article class="rules-of-pod">
            <h4>{title}</h4>
            <ul class="lines">{redrawn(lines)}</ul>
            {warned(warnings)}
            <p class="hint" role="status">
                {redrawn(move || left.with(Vec::is_empty).then_some("No rules left; the defaults apply."))}
            </p>
            <Problem error=deed.error />
        </article>
    }
    .into_any()
}

#[component]
fn RuleLine(name: String, rule: RuleItem, left: RwSignal<Vec<RuleItem>>, deed: Deed) -> impl IntoView {
    let folder = rule.folder.as_deref().filter(|_| rule.scope == RuleScope::Pod);
    let folder = folder.map(|folder| format!(" in {folder}")).unwrap_or_default();
    let words = match rule.pattern.as_str() {
        "*" => format!("{} {}{folder}", verb(rule.decision), rule.tool),
        pattern => format!("{} {}{folder}: {pattern}", verb(rule.decision), rule.tool),
    };
    let label = format!("Forget for {name}: {words}");
    let forget = move || {
        let id = rule.id.clone();
        deed.begin(Box::pin(async move {
            remove_rule(fresh_command(), id.clone()).await?;
            left.try_update(|left| left.retain(|rule| rule.id != id));
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
