//! What the Pod does without asking, shown and changed where one types.

use leptos::prelude::*;
use protocol::{Mode, PatchPod};

use crate::{
    components::deed::Deed,
    console::{Console, PodContext, fresh_command},
    live,
    server_fns::change_pod,
};

/// How long a mode that was walked to is only shown before it holds, in milliseconds.
const REST_MS: u32 = 1_000;

/// The mode of the Pod, as a list to choose from.
#[component]
pub(super) fn ModeChoice(switch: ModeSwitch) -> impl IntoView {
    let mode = move || switch.shown();
    let option = move |each: Mode| {
        view! { <option value=each.as_str() prop:selected=move || mode() == each>{each.words()}</option> }.into_any()
    };
    let title = move || match switch.walked.get() {
        Some(mode) => format!("{} (in a moment; Enter: now)", mode.about()),
        None => format!("{} (Shift Tab)", mode().about()),
    };
    view! {
        <select
            class="mode"
            class:is-usual=move || mode() == Mode::Ask
            aria-label="Mode"
            title=title
            on:change=move |event| {
                if let Ok(chosen) = event_target_value(&event).parse() {
                    switch.walked.set(None);
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
    /// The mode that was walked to and does not hold yet.
    walked: RwSignal<Option<Mode>>,
    /// Counts the steps, so that only the newest one's rest ends.
    steps: StoredValue<u64>,
}

impl ModeSwitch {
    pub(super) fn new(console: Console, pod: PodContext) -> Self {
        let (walked, steps) = (RwSignal::new(None), StoredValue::new(0));
        let switch = Self { console, pod, deed: Deed::default(), walked, steps };
        pod.presence.on_turn(move |is_here| {
            if !is_here {
                switch.apply();
            }
        });
        switch
    }

    fn shown(self) -> Mode {
        self.walked.get().unwrap_or_else(|| self.pod.detail.with(|detail| detail.mode))
    }

    /// Shows the next mode. It holds after a moment: a mode that is only passed on the way to another one answers no
    /// question.
    pub(super) fn walk(self) {
        self.walked.set(Some(untrack(|| self.shown()).next()));
        self.apply_soon();
    }

    fn apply_soon(self) {
        self.steps.update_value(|steps| *steps += 1);
        let mine = self.steps.get_value();
        live::after(REST_MS, move || {
            if self.steps.try_get_value() == Some(mine) {
                self.apply();
            }
        });
    }

    /// Makes the mode hold that was walked to. Returns false if none was.
    pub(super) fn apply(self) -> bool {
        let Some(mode) = self.walked.try_get_untracked().flatten() else { return false };
        match self.deed.is_busy.get_untracked() {
            true => self.apply_soon(),
            false => self.choose(mode),
        }
        true
    }

    fn choose(self, mode: Mode) {
        let Self { console, pod, deed, walked, .. } = self;
        let (at, before) = pod.detail.with_untracked(|detail| (detail.summary.pod.clone(), detail.mode));
        // It is shown as walked to until it holds.
        let arrive = move || walked.try_update(|walked| *walked = walked.filter(|walked| *walked != mode));
        if before == mode {
            arrive();
        }
        if before == mode || deed.is_busy.get_untracked() {
            return;
        }
        deed.begin(Box::pin(async move {
            let patch = PatchPod { mode: Some(mode), ..PatchPod::default() };
            let done = change_pod(at, fresh_command(), patch).await;
            let told = match &done {
                Ok(now) => {
                    pod.detail.try_update(|detail| detail.mode = now.mode);
                    format!("{}: mode is {}. {}", now.summary.name, now.mode.words(), now.mode.about())
                }
                Err(refusal) => {
                    // The list shows what holds.
                    pod.detail.try_update(|detail| detail.mode = before);
                    format!("The mode was not changed: {}", refusal.sentence())
                }
            };
            arrive();
            console.note_about("mode", told);
            done.map(|_| ())
        }));
    }
}
