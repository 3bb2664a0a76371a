use leptos::prelude::*;

use crate::redrawn::redrawn;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The text that choosing it puts into the message field.
    pub(crate) text: String,
    /// A placeholder for the argument that is still to be typed.
    pub(crate) argument: &'static str,
    /// What it is, or why it is unavailable now.
    pub(crate) what: String,
    pub(crate) is_refused: bool,
}

/// The list of completions above the composer. What is unavailable stays in the list with its reason.
#[component]
pub(crate) fn Completion(
    /// The list's accessible name.
    #[prop(into)]
    label: Signal<&'static str>,
    choices: Memo<Vec<Choice>>,
    /// `None` until an arrow key has chosen a line.
    chosen: Memo<Option<usize>>,
    choose: impl Fn(usize) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let option = move |(index, choice): (usize, Choice)| {
        let Choice { text, argument, what, is_refused } = choice;
        let is_chosen = move || chosen.get() == Some(index);
        view! {
            <li
                id=format!("command-{index}")
                role="option"
                aria-selected=move || is_chosen().to_string()
                aria-disabled=is_refused.to_string()
                on:mousedown=move |event| {
                    // Keep the focus in the message field.
                    event.prevent_default();
                    choose(index);
                }
            >
                <code>{text} " " <i>{argument}</i></code>
                <span>{what}</span>
            </li>
        }
        .into_any()
    };
    view! {
        <ul
            id="commands"
            role="listbox"
            // It scrolls, so it must be reachable with the keyboard.
            tabindex="0"
            aria-label=move || label.get()
            class="completion"
            class:is-hidden=move || choices.with(Vec::is_empty)
        >
            {redrawn(move || choices.get().into_iter().enumerate().map(option).collect_view())}
        </ul>
    }
}
