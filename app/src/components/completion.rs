use leptos::prelude::*;

/// One line of what fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is typed for it.
    pub(crate) text: String,
    /// What is still to be said behind it, as a word for it.
    pub(crate) argument: &'static str,
    /// What it is, or why it does nothing now.
    pub(crate) what: String,
    pub(crate) is_refused: bool,
}

/// What fits to what has been typed, above the composer. What is unavailable stays in the list with its reason.
#[component]
pub(crate) fn Completion(
    /// What the list is a list of.
    #[prop(into)]
    label: Signal<&'static str>,
    choices: Memo<Vec<Choice>>,
    /// None: nothing before an arrow key says so.
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
                    // The focus stays in the text box.
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
            // It can be scrolled, so it can be reached.
            tabindex="0"
            aria-label=move || label.get()
            class="completion"
            class:is-hidden=move || choices.with(Vec::is_empty)
        >
            {move || choices.get().into_iter().enumerate().map(option).collect_view()}
        </ul>
    }
}
