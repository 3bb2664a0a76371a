use leptos::prelude::*;
use protocol::{PodState, PodSummary};

use crate::{
    acting::stopping::{has_run, stop_run},
    redrawn::redrawn,
};

use super::{
    attaching::AttachButton,
    mode::{ModeChoice, ModeSwitch},
    sending::{Outgoing, Place, send},
    sending_key::is_swapped,
};

/// The line below the message field: what the keys do, whether the message is being sent, and buttons for touch.
#[component]
pub(super) fn Bar(outgoing: Outgoing, switch: ModeSwitch) -> impl IntoView {
    let pod = outgoing.pod;
    // Only the browser knows the setting; until then, show the default.
    let swapped = RwSignal::new(false);
    Effect::new(move |_| swapped.set(is_swapped()));
    let works = move || is_working(pod.state.get());
    let words = move || match (outgoing.is_sending.get(), works()) {
        (true, _) => "saving…",
        (false, true) => "Queue",
        (false, false) => "Send",
    };
    let is_attaching = move || outgoing.attaching.with(|names| !names.is_empty());
    let is_blocked =
        move || outgoing.is_sending.get() || is_attaching() || outgoing.draft.with(|draft| draft.is_blank());
    let steer = move || {
        works().then(|| {
            view! {
                <button
                    type="button"
                    class="button"
                    title="Add to the current run, at its next model call (Alt Enter)"
                    aria-disabled=move || is_blocked().to_string()
                    on:click=move |_| send(outgoing, Place::PresentRun)
                >
                    "Steer"
                </button>
            }
            .into_any()
        })
    };
    let stop = move || {
        has_run(pod.state.get()).then(|| {
            view! {
                <button
                    type="button"
                    class="button stop-run"
                    title="Stop the run at once (Esc); queued messages come back here"
                    on:click=move |_| stop_run(outgoing.console, pod.pod.get_value(), pod.state.get_untracked())
                >
                    "Stop"
                    <kbd>"Esc"</kbd>
                </button>
            }
            .into_any()
        })
    };
    view! {
        <div class="composer-bar">
            <AttachButton outgoing=outgoing />
            <ModeChoice switch=switch />
            <span class="key-hints">
                <kbd>":"</kbd>
                " commands "
                <kbd>"@"</kbd>
                " files "
                <kbd>{redrawn(move || if swapped.get() { "Ctrl Enter" } else { "Shift Enter" })}</kbd>
                {redrawn(move || if swapped.get() { " send" } else { " new line" })}
            </span>
            <span class="share">{redrawn(move || pod.summary.with(context_words))}</span>
            {redrawn(stop)}
            {redrawn(steer)}
            <button
                type="button"
                class="button primary"
                title=move || works().then_some("Runs after the current run")
                aria-disabled=move || is_blocked().to_string()
                on:click=move |_| send(outgoing, Place::OwnRun)
            >
                {redrawn(words)}
            </button>
        </div>
    }
}

fn context_words(summary: &PodSummary) -> Option<String> {
    let share = crate::format::percent(summary.usage.context_used, summary.usage.context_limit)?;
    Some(format!("{share} % of context"))
}

/// Whether a run is in progress that a message could steer.
pub(super) fn is_working(state: PodState) -> bool {
    matches!(state, PodState::Running | PodState::Waiting)
}
