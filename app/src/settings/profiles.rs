//! The templates for new Pods. They are configured in a file and shown here read-only.

use leptos::prelude::*;
use protocol::{ProfileView, ScopeRule};
use transcript::words::{auto_resume_words, fallback_words};

use super::{
    Section,
    permissions::{message_words, network_words, peer_words, reasoning_words, rule_words, warned},
};
use crate::transcript::rule_words as scope_words;

const EXAMPLE: &str = r#"[profiles.reviewer]
provider = "openai"
model = "gpt-5.1"
instructions = "Review; change nothing."
tools = ["Read", "Grep", "ListPods"]
reasoning = "summary"
permissions = [{ tool = "Bash", match = "cargo *", decision = "allow" }]"#;

#[component]
pub(crate) fn ProfilesSection(profiles: Vec<ProfileView>) -> impl IntoView {
    let none = profiles.is_empty().then(|| view! { <p>"No profile is configured."</p> }.into_any());
    view! {
        <Section id="profiles" title="Profiles">
            <p class="hint">"A template for new Pods. A Pod keeps the copy it was created with."</p>
            {none}
            {profiles.into_iter().map(|profile| view! { <Profile profile=profile /> }.into_any()).collect_view()}
            <details class="how">
                <summary>"How to add one"</summary>
                <p>"Add this to the configuration file (config.toml, or the one given with --config) and restart yoi:"</p>
                <pre tabindex="0">{EXAMPLE}</pre>
            </details>
        </Section>
    }
}

#[component]
fn Profile(profile: ProfileView) -> impl IntoView {
    let model = match (profile.provider, profile.model) {
        (Some(provider), Some(model)) => format!("{provider} / {model}"),
        (Some(provider), None) => format!("{provider}, its default model"),
        (None, Some(model)) => format!("{model} of the default provider"),
        (None, None) => "the default".to_owned(),
    };
    let (who, model) = match profile.agent {
        Some(agent) => ("agent", agent),
        None => ("model", model),
    };
    let tools = match profile.tools {
        Some(names) if names.is_empty() => "none".to_owned(),
        Some(names) => names.join(", "),
        None => "all".to_owned(),
    };
    let rules = match profile.permissions.as_slice() {
        [] => "the defaults".to_owned(),
        rules => rules.iter().map(rule_words).collect::<Vec<_>>().join("; "),
    };
    let reasoning = reasoning_words(profile.reasoning.unwrap_or_default());
    let peers = peer_words(profile.peer_policy.unwrap_or_default());
    let wakes = message_words(profile.wake_on_peer.unwrap_or(true));
    let network = network_words(profile.network.unwrap_or_default());
    let limits = auto_resume_words(profile.auto_resume.unwrap_or_default());
    let fallback = fallback_words(&profile.fallback);
    let fallback = (!fallback.is_empty()).then(|| view! { <dt>"fallback"</dt><dd>{fallback}</dd> }.into_any());
    let scope = profile.scope.map(|rules| {
        let rule = |rule: &ScopeRule| format!("{} {}", scope_words(rule).0, rule.path);
        view! { <dt>"scope"</dt><dd>{rules.iter().map(rule).collect::<Vec<_>>().join("; ")}</dd> }.into_any()
    });
    let instructions = profile
        .instructions
        .map(|text| view! { <dt>"instructions"</dt><dd class="instructions">{text}</dd> }.into_any());
    view! {
        <article class="profile">
            <h3>{profile.name}</h3>
            <dl>
                <dt>{who}</dt>
                <dd>{model}</dd>
                <dt>"tools"</dt>
                <dd>{tools}</dd>
                <dt>"rules"</dt>
                <dd>{rules} {warned(profile.warnings)}</dd>
                <dt>"reasoning"</dt>
                <dd>{reasoning}</dd>
                <dt>"peers"</dt>
                <dd>{peers}</dd>
                <dt>"network"</dt>
                <dd>{network}</dd>
                <dt>"a message"</dt>
                <dd>{wakes}</dd>
                <dt>"usage limit"</dt>
                <dd>{limits}</dd>
                {fallback}
                {scope}
                {instructions}
            </dl>
        </article>
    }
}
