use leptos::prelude::*;

use commands::Offer;

/// The commands that fit what has been typed, above the composer. What is unavailable stays in the list with its reason.
#[component]
pub(crate) fn Completion(
    offers: Memo<Vec<Offer>>,
    chosen: Memo<usize>,
    choose: impl Fn(&str) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let option = move |index: usize, offer: Offer| {
        let is_chosen = move || chosen.get() == index;
        let line = offer.line.clone();
        view! {
            <li
                id=format!("command-{index}")
                role="option"
                aria-selected=move || is_chosen().to_string()
                aria-disabled=offer.refusal.is_some().to_string()
                on:mousedown=move |event| {
                    // The focus stays in the text box.
                    event.prevent_default();
                    choose(&line);
                }
            >
                <code>":" {offer.line} " " <i>{offer.argument}</i></code>
                <span>{offer.refusal.map_or(offer.what, str::to_owned)}</span>
            </li>
        }
    };
    view! {
        <ul id="commands" role="listbox" aria-label="Commands" class="completion" class:is-hidden=move || offers.with(Vec::is_empty)>
            {move || offers.get().into_iter().enumerate().map(|(index, offer)| option(index, offer)).collect_view()}
        </ul>
    }
    .into_any()
}
