//! Which agent answers in a new Pod, if there are any on the server's PATH or in its configuration.

use leptos::prelude::*;
use protocol::{AgentItem, AgentState};

use crate::{components::text_field::TextField, redrawn::redrawn, server_fns::list_agents};

/// Shows nothing if there are no agents: then a provider's model answers. The name of another server's agent is typed.
#[component]
pub(crate) fn AgentField(chosen: RwSignal<String>, is_here: Signal<bool>) -> impl IntoView {
    let found = LocalResource::new(list_agents);
    let agents = move || {
        let found = found.get().and_then(Result::ok).unwrap_or_default();
        found.into_iter().filter(|agent| agent.state != AgentState::Missing).collect::<Vec<_>>()
    };
    let option = move |agent: AgentItem| {
        let words = match (&agent.state, &agent.detail) {
            (AgentState::Failed, _) => format!("{} (failed)", agent.name),
            (_, Some(version)) => format!("{} ({version})", agent.name),
            (_, None) => agent.name.clone(),
        };
        let is_it = chosen.with_untracked(|chosen| *chosen == agent.name);
        view! { <option value=agent.name selected=is_it>{words}</option> }.into_any()
    };
    redrawn(move || {
        if !is_here.get() {
            return view! { <TextField id="new-pod-agent" label="Agent" value=chosen hint="One of that server's. Empty: a model answers." /> }
                .into_any();
        }
        let agents = agents();
        if agents.is_empty() {
            return ().into_any();
        }
        view! {
            <div class="field">
                <label for="new-pod-agent">"Agent"</label>
                <select
                    id="new-pod-agent"
                    aria-describedby="new-pod-agent-hint"
                    on:change=move |event| chosen.set(event_target_value(&event))
                >
                    <option value="">"default: none, a model answers"</option>
                    {agents.into_iter().map(option).collect_view()}
                </select>
                <small id="new-pod-agent-hint">
                    "A program of its own, which runs with your rights and chooses its model itself."
                </small>
            </div>
        }
        .into_any()
    })
}
