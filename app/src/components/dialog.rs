use leptos::prelude::*;

use crate::{console::use_console, live};

/// A modal dialog over the page. The focus stays in it, Escape closes it, and the focus goes back where it was.
#[component]
pub(crate) fn Modal(
    /// Its element's id, one per kind of dialog.
    id: &'static str,
    title: String,
    children: Children,
) -> impl IntoView {
    let console = use_console();
    Effect::new(move |_| live::show_dialog(id));
    let (title_id, labelled_by) = (format!("{id}-title"), format!("{id}-title"));
    view! {
        <dialog id=id class="dialog" aria-labelledby=labelled_by on:close=move |_| console.dialog.set(None)>
            <h2 id=title_id>{title}</h2>
            {children()}
        </dialog>
    }
    .into_any()
}
