//! What the Pod does without asking, shown and changed where one types.

use leptos::prelude::*;
use protocol::{Mode, PatchPod};

use crate::{
    components::deed::Deed,
    console::{Console, PodContext, fresh_command},
    server_fns::change_pod,
};

/// The mode of the Pod, as a list to choose from.
#[component]
pub(super) fn ModeChoice(switch: ModeSwitch) -> impl IntoView {
    let mode = move || switch.pod.detail.with(|detail| detail.mode);
    let option = move |each: Mode| {
        view! { <option value=each.as_str() prop:selected=move || mode() == each>{each.words()}</option> }.into_any()
    };
    view! {
        <select
            class="mode"
            class:is-usual=move || mode() == Mode::Ask
            aria-label="Mode"
            title=move || format!("{} (Shift Tab)", mode().about())
            on:change=move |event| {
                if let Ok(chosen) = event_target_value(&event).parse() {
                    switch.choose(chosen);
                }
            }
        >
            {Mode::ALL.into_iter().map(option).collect_view()}
        </select>
    }
}

/// Changes the mode of the Pod whose page this is.
#[derive(Clone, Copy)]
pub(super) struct ModeSwitch {
    console: Console,
    pod: PodContext,
    deed: Deed,
}

impl ModeSwitch {
    pub(super) fn new(console: Console, pod: PodContext) -> Self {
        Self { console, pod, deed: Deed::default() }
    }

    /// Goes to the next mode.
    pub(super) fn walk(self) {
        self.choose(self.pod.detail.with_untracked(|detail| detail.mode).next());
    }

    fn choose(self, mode: Mode) {
        let Self { console, pod, deed } = self;
        let (at, before) = pod.detail.with_untracked(|detail| (detail.summary.pod.clone(), detail.mode));
        if before == mode || deed.is_busy.get_untracked() {
            return;
        }
        deed.begin(Box::pin(async move {
            let patch = PatchPod { mode: Some(mode), ..PatchPod::default() };
            match change_pod(at, fresh_command(), patch).await {
                Ok(now) => {
                    pod.detail.try_update(|detail| detail.mode = now.mode);
                    console.note(format!("{}: mode is {}. {}", now.summary.name, now.mode.words(), now.mode.about()));
                    Ok(())
                }
                Err(refusal) => {
                    // The list shows what holds.
                    pod.detail.try_update(|detail| detail.mode = before);
                    console.note(format!("The mode was not changed: {}", refusal.sentence()));
                    Err(refusal)
                }
            }
        }));
    }
}
