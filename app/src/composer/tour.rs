//! Leads a new person through the first minute, one line above the composer.

use leptos::prelude::*;

use super::sending::Outgoing;
use crate::{
    live::{self, Memory},
    pods::first_minute::TOUR,
};

/// What to do, and what the text box then holds.
const STEPS: [(&str, &str, &str); 3] = [
    ("hello", "1 of 3 · Say hello: press Enter.", "say hello"),
    ("stream", "2 of 3 · Press Enter and watch it stream. Then reload this page halfway through.", "stream 300 at 15"),
    (
        "done",
        "3 of 3 · It kept going while the page was gone. bob is in the list on the left; he sees only what you tell him.",
        "",
    ),
];

#[component]
pub(super) fn Tour(outgoing: Outgoing) -> impl IntoView {
    let step = RwSignal::new(None::<usize>);
    Effect::new(move |before: Option<u32>| {
        let accepted = outgoing.accepted.get();
        match before {
            None => {
                step.set(live::kept(Memory::Tab, TOUR).and_then(|name| STEPS.iter().position(|step| step.0 == name)))
            }
            Some(before) if accepted > before => advance(step),
            Some(_) => (),
        }
        accepted
    });
    Effect::new(move |_| {
        let Some((name, _, text)) = step.get().and_then(|step| STEPS.get(step)) else { return };
        live::remember(Memory::Tab, TOUR, Some(name));
        if outgoing.draft.with_untracked(|draft| draft.is_blank()) && !text.is_empty() {
            outgoing.draft.update(|draft| draft.text = (*text).to_owned());
            live::focus_soon("message");
        }
    });
    move || {
        step.get().and_then(|step| STEPS.get(step)).map(|(_, words, _)| {
            view! {
                <p class="tour" role="status">
                    <span>{*words}</span>
                    <button
                        type="button"
                        class="quiet"
                        aria-label="End the tour"
                        on:click=move |_| {
                            live::remember(Memory::Tab, TOUR, None);
                            step.set(None);
                        }
                    >
                        "×"
                    </button>
                </p>
            }
            .into_any()
        })
    }
}

fn advance(step: RwSignal<Option<usize>>) {
    step.update(|step| *step = step.map(|step| (step + 1).min(STEPS.len() - 1)));
}
