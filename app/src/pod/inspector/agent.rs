//! The agent of a Pod: what it is, its plan, what it offers, and what yoi cannot control.

use leptos::prelude::*;
use protocol::{AgentChoice, AgentView, PatchPod, PlanEntry};
use transcript::unseen;

use super::tasks::line;
use crate::{
    components::{deed::Deed, problem::Problem},
    console::{fresh_command, use_pod},
    redrawn::redrawn,
    server_fns::change_pod,
};

/// Shows nothing if a provider's model answers.
#[component]
pub(super) fn Agent() -> impl IntoView {
    let detail = use_pod().detail;
    let shown = Memo::new(move |_| detail.with(|detail| detail.summary.agent.clone().zip(detail.session.clone())));
    redrawn(move || shown.get().map(|(name, session)| view! { <AgentFacts name=name session=session /> }.into_any()))
}

#[component]
fn AgentFacts(name: String, session: AgentView) -> impl IntoView {
    let AgentView { title, version, confined, beyond, mode, offers, plan } = session;
    let called = [title, version].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let called = unseen::shown(&called).into_owned();
    let held = if confined { "confined to the scope" } else { "not confined" };
    let commands = (!offers.commands.is_empty()).then(|| {
        let command = |command: AgentChoice| {
            view! { <li title=command.description.unwrap_or_default()><code>{format!("/{}", command.name)}</code></li> }
                .into_any()
        };
        view! { <dt>"commands"</dt><dd><ul>{offers.commands.into_iter().map(command).collect_view()}</ul></dd> }
            .into_any()
    });
    let modes = (!offers.modes.is_empty()).then(|| {
        view! { <dt>"mode"</dt><dd><ModeChoice modes=offers.modes mode=mode.unwrap_or_default() /></dd> }.into_any()
    });
    view! {
        <section aria-label="Agent" class="agent">
            <h2>"Agent"</h2>
            <dl>
                <dt>"agent"</dt>
                <dd>{name} <small>{called}</small></dd>
                <dt>"sandbox"</dt>
                <dd>{held}</dd>
                {modes}
                {commands}
            </dl>
            {(!plan.is_empty()).then(|| view! { <Plan entries=plan /> }.into_any())}
            <details>
                <summary>"What yoi cannot control"</summary>
                <ul>{beyond.into_iter().map(|sentence| view! { <li>{sentence}</li> }.into_any()).collect_view()}</ul>
            </details>
        </section>
    }
}

#[component]
fn Plan(entries: Vec<PlanEntry>) -> impl IntoView {
    view! {
        <div class="tasks">
            <h3>"Plan"</h3>
            <ol class="plain" aria-label="Plan">
                {entries.into_iter().map(line).collect_view()}
            </ol>
        </div>
    }
}

#[component]
fn ModeChoice(modes: Vec<AgentChoice>, mode: String) -> impl IntoView {
    let (deed, detail) = (Deed::default(), use_pod().detail);
    let choose = move |event: leptos::ev::Event| {
        let chosen = event_target_value(&event);
        let pod = detail.with_untracked(|detail| detail.summary.pod.clone());
        deed.begin(Box::pin(async move {
            let patch = PatchPod { agent_mode: Some(chosen), ..PatchPod::default() };
            let now = change_pod(pod, fresh_command(), patch).await?;
            detail.try_update(|detail| detail.session = now.session);
            Ok(())
        }));
    };
    let option = |choice: AgentChoice| {
        let is_chosen = choice.id == mode;
        view! { <option value=choice.id selected=is_chosen prop:selected=is_chosen>{choice.name}</option> }.into_any()
    };
    view! {
        <select aria-label="Mode of its agent" on:change=choose>
            {modes.into_iter().map(option).collect_view()}
        </select>
        <Problem error=deed.error />
    }
}
