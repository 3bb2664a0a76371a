//! Where Pods run, and whether it answers.

use leptos::prelude::*;
use protocol::{RuntimeKind, RuntimeState, RuntimeView};

use super::Section;
use crate::components::when::Since;

#[component]
pub(crate) fn RuntimesSection(runtimes: Vec<RuntimeView>) -> impl IntoView {
    view! {
        <Section id="runtimes" title="Runtimes">
            <ul class="lines">
                {runtimes.into_iter().map(|runtime| view! { <Runtime runtime=runtime /> }).collect_view()}
            </ul>
        </Section>
    }
    .into_any()
}

#[component]
fn Runtime(runtime: RuntimeView) -> impl IntoView {
    let kind = match runtime.kind {
        RuntimeKind::Embedded => "in this server",
        RuntimeKind::Remote => "another server",
        RuntimeKind::Compat => "over the older sockets",
    };
    let (mark, class, state) = match runtime.state {
        RuntimeState::Live => ("✓", "is-good", "live"),
        RuntimeState::Connecting => ("…", "is-wait", "connecting"),
        RuntimeState::Unreachable => ("✕", "is-bad", "unreachable"),
        RuntimeState::Unauthorized => ("✕", "is-bad", "refuses our login"),
        RuntimeState::Incompatible => ("✕", "is-bad", "speaks another protocol"),
    };
    view! {
        <li class="line">
            <span class=format!("verdict {class}") aria-hidden="true">
                {mark}
            </span>
            <p>
                <b>{runtime.runtime_id.to_string()}</b>
                " "
                <span class="tag">{kind}</span>
                <small>
                    {state} ", since " <Since at=runtime.since /> {runtime.detail.map(|detail| format!(": {detail}"))}
                </small>
            </p>
        </li>
    }
    .into_any()
}
