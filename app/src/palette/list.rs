use commands::{Choice, Does};
use leptos::prelude::*;

use super::{Found, Search};
use crate::{components::abroad::abroad, redrawn::redrawn};

/// The matching lines. What is unavailable stays in the list with its reason.
#[component]
pub(super) fn PaletteList(search: Search) -> impl IntoView {
    let none = move || {
        (!search.has_lines())
            .then(|| view! { <p class="hint">"No matches. A line that begins with : is a command."</p> }.into_any())
    };
    view! {
        <ul id="palette-list" class="palette-list" role="listbox" aria-label="Matches">
            {redrawn(move || search.lines.get().into_iter().enumerate().map(|(index, line)| option(search, index, line)).collect_view())}
        </ul>
        {redrawn(none)}
    }
}

fn option(search: Search, index: usize, line: Found) -> impl IntoView {
    let refusal = line.refusal();
    let (title, home, hint, what, key) = match line.clone() {
        Found::Choice(choice) => {
            let (title, home) = told(&choice);
            (title, home, "", choice.what, choice.key)
        }
        Found::Offer(offer) => (format!(":{}", offer.line), None, offer.argument, offer.what, ""),
    };
    let keys =
        key.split(' ').filter(|key| !key.is_empty()).map(|key| view! { <kbd>{key}</kbd> }.into_any()).collect_view();
    view! {
        <li
            id=format!("palette-{index}")
            role="option"
            aria-selected=move || (search.chosen.get() == Some(index)).to_string()
            aria-disabled=refusal.is_some().to_string()
            // Keep the focus in the field.
            on:mousedown=|event| event.prevent_default()
            on:click=move |_| search.take(line.clone())
        >
            <b>{title} {home} {(!hint.is_empty()).then(|| view! { " " <i>{hint}</i> }.into_any())}</b>
            <span>{refusal.map_or(what, str::to_owned)}</span>
            <span class="choice-keys">{keys}</span>
        </li>
    }
    .into_any()
}

/// A line's title, separate from the runtime of a Pod that does not live here.
fn told(choice: &Choice) -> (String, Option<AnyView>) {
    let Does::Open(pod) = &choice.does else { return (choice.title.clone(), None) };
    let name = choice.title.split_once('@').map_or(choice.title.as_str(), |(name, _)| name);
    (name.to_owned(), abroad(pod))
}
