use leptos::prelude::*;

use super::Section;
use crate::{
    frame::outside::{keep_wanted, wanted},
    live,
    notify::{Kind, Means, Wanted},
    redrawn::redrawn,
};

/// Which notifications this browser shows, or why it shows none.
#[component]
pub(crate) fn NoticesSettings() -> impl IntoView {
    let chosen = RwSignal::new(Wanted::default());
    // Only the browser knows; until then nothing is shown.
    let means = RwSignal::new(None::<Means>);
    Effect::new(move |_| {
        chosen.set(wanted());
        means.set(Some(live::notice_means()));
    });
    let obstacle = move || means.get().and_then(Means::obstacle);
    view! {
        <Section id="notices" title="Desktop notifications">
            <p class="hint">
                "Shown without a sound while you are not looking at the page. The number in the title always counts what needs you."
            </p>
            <fieldset class="choices">
                <legend>"Notify me when"</legend>
                {Kind::ALL
                    .into_iter()
                    .map(|kind| view! { <KindBox kind=kind chosen=chosen means=means /> }.into_any())
                    .collect_view()}
            </fieldset>
            <p role="status" class="hint">{redrawn(obstacle)}</p>
            {redrawn(move || (means.get() == Some(Means::Granted)).then(|| view! { <TryOut means=means /> }.into_any()))}
        </Section>
    }
}

#[component]
fn KindBox(kind: Kind, chosen: RwSignal<Wanted>, means: RwSignal<Option<Means>>) -> impl IntoView {
    let cannot = move || means.get().is_none_or(|means| means.obstacle().is_some());
    let change = move |event| {
        let is_wanted = event_target_checked(&event);
        chosen.update(|chosen| chosen.set(kind, is_wanted));
        chosen.with_untracked(keep_wanted);
        if is_wanted && means.get_untracked() == Some(Means::Askable) {
            live::ask_for_notices(move |now| {
                means.try_set(Some(now));
            });
        }
    };
    view! {
        <label>
            <input
                type="checkbox"
                prop:checked=move || chosen.with(|chosen| chosen.has(kind))
                disabled=cannot
                on:change=change
            />
            {kind.title()}
        </label>
    }
}

#[component]
fn TryOut(means: RwSignal<Option<Means>>) -> impl IntoView {
    let show = move |_| {
        if !live::notify("This is what a notification looks like", "yoi example", || ()) {
            means.set(Some(Means::Missing));
        }
    };
    view! {
        <button class="button" type="button" on:click=show>
            "Show an example"
        </button>
    }
}
