//! What the forms beside the files share: a text field and a submit button.

use leptos::prelude::*;

use crate::components::{deed::Deed, problem::Problem};

/// A field for a few lines.
#[component]
pub(super) fn Saying(
    id: &'static str,
    /// Its name for screen readers.
    label: &'static str,
    rows: &'static str,
    placeholder: &'static str,
    text: RwSignal<String>,
) -> impl IntoView {
    view! {
        <label for=id class="visually-hidden">
            {label}
        </label>
        <textarea
            id=id
            rows=rows
            placeholder=placeholder
            prop:value=move || text.get()
            on:input=move |event| text.set(event_target_value(&event))
        ></textarea>
    }
}

/// The button that sends the form, what it does in a sentence, and what went wrong. It is dimmed and does nothing while
/// there is nothing to send.
#[component]
pub(super) fn Submit(
    #[prop(optional)] id: &'static str,
    class: &'static str,
    deed: Deed,
    #[prop(into)] is_idle: Signal<bool>,
    hint: String,
    children: Children,
) -> impl IntoView {
    let is_off = move || is_idle.get() || deed.is_busy.get();
    view! {
        <button
            id=(!id.is_empty()).then_some(id)
            type="submit"
            class=class
            aria-disabled=move || is_off().to_string()
            // With the focus on it, it stays reachable while it works.
            disabled=move || is_idle.get()
        >
            {children()}
        </button>
        <p class="hint">{hint}</p>
        <Problem error=deed.error />
    }
}
