//! Which agent answers in a new Pod, where there are some on the server's PATH or in its configuration.

use leptos::prelude::*;
use protocol::{AgentItem, AgentState};

use crate::server_fns::list_agents;

/// Nothing where there is no agent: then a provider's model answers.
#[component]
pub(crate) fn AgentField(chosen: RwSignal<String>) -> impl IntoView {
    let found = LocalResource::new(list_agents);
    let agents = move || {
        let found = found.get().and_then(Result::ok).unwrap_or_default();
        found.into_iter().filter(|agent| agent.state != AgentState::Missing).collect::<Vec<_>>()
    };
    let option = |agent: AgentItem| {
        let words = match (&agent.state, &agent.detail) {
            (AgentState::Failed, _) => format!("{} (failed)", agent.name),
            (_, Some(version)) => format!("{} ({version})", agent.name),
            (_, None) => agent.name.clone(),
        };
        view! { <option value=agent.name>{words}</option> }.into_any()
    };
    move || {
        let agents = agents();
        (!agents.is_empty()).then(|| {
            view! {
                <label class="field" for="new-pod-agent">
                    <span>"Agent"</span>
                    <select
                        id="new-pod-agent"
                        prop:value=move || chosen.get()
                        on:change=move |event| chosen.set(event_target_value(&event))
                    >
                        <option value="">"none: a model answers"</option>
                        {agents.into_iter().map(option).collect_view()}
                    </select>
                    <small>"A program of its own, which runs as you and chooses its model by itself."</small>
                </label>
            }
            .into_any()
        })
    }
}
