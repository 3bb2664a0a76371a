use leptos::prelude::*;
use protocol::PodState;
use transcript::words::state_words;

/// A state's shape. It has its colour by its class and is always beside the word.
#[component]
pub(crate) fn StateShape(#[prop(into)] state: Signal<PodState>) -> impl IntoView {
    view! {
        <svg class=move || format!("mark mark-{}", state.get().as_str()) viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <path d=move || outline(state.get()) />
        </svg>
    }
    .into_any()
}

/// Shape and word.
#[component]
pub(crate) fn StateWord(#[prop(into)] state: Signal<PodState>) -> impl IntoView {
    view! {
        <span class=move || format!("state state-{}", state.get().as_str())>
            <StateShape state=state />
            {move || state_words(state.get())}
        </span>
    }
    .into_any()
}

/// Seven shapes that can be told apart without colour.
pub(crate) fn outline(state: PodState) -> &'static str {
    match state {
        PodState::Idle => "M6 2.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z",
        PodState::Running => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
        PodState::Paused => "M3 2.5h2v7H3zM7 2.5h2v7H7z",
        PodState::Waiting => "M6 1l5 5-5 5-5-5z",
        PodState::Stopped => "M2.5 5.2h7v1.6h-7z",
        PodState::Unreachable => "M2.5 2.5l7 7M9.5 2.5l-7 7",
        PodState::Broken => "M6 1.5l5 9H1z",
    }
}
