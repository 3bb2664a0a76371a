use leptos::prelude::*;

use crate::{
    components::{deed::Deed, problem::Problem},
    console::use_console,
    live,
    redrawn::redrawn,
};

/// A modal dialog over the page. The focus stays in it; Escape closes it, and the focus returns to where it was.
#[component]
pub(crate) fn Modal(
    /// The element's id, one per kind of dialog.
    id: &'static str,
    title: String,
    /// Called once the dialog is closed and the focus is back: another dialog, another page.
    #[prop(optional)]
    after: Option<Callback<()>>,
    children: Children,
) -> impl IntoView {
    let console = use_console();
    Effect::new(move |_| live::show_dialog(id));
    let close = move |_| {
        console.dialog.set(None);
        live::refocus_soon();
        if let Some(after) = after {
            after.run(());
        }
    };
    let (title_id, labelled_by) = (format!("{id}-title"), format!("{id}-title"));
    view! {
        <dialog id=id class="dialog" aria-modal="true" aria-labelledby=labelled_by on:close=close>
            <h2 id=title_id>{title}</h2>
            {children()}
        </dialog>
    }
}

/// A dialog with a form and a submit button. If it has no field, the focus starts on the cancel button.
#[component]
pub(crate) fn FormDialog(
    id: &'static str,
    #[prop(into)] title: String,
    /// The words on the submit button.
    submit: &'static str,
    #[prop(default = "Cancel")] cancel: &'static str,
    #[prop(optional)] is_danger: bool,
    deed: Deed,
    /// True when there is nothing to confirm, or nothing any more.
    #[prop(optional, into)]
    is_over: Signal<bool>,
    on_submit: Callback<()>,
    children: Children,
) -> impl IntoView {
    let class = if is_danger { "button danger" } else { "button primary" };
    view! {
        <Modal id=id title=title>
            <form
                autocomplete="off"
                on:submit=move |event| {
                    event.prevent_default();
                    if !is_over.get_untracked() {
                        on_submit.run(());
                    }
                }
            >
                <div class="fields">{children()} <Problem error=deed.error /></div>
                <div class="acts">
                    <button class="button" type="button" id=format!("{id}-cancel") on:click=move |_| live::close_dialog(id)>
                        {redrawn(move || if is_over.get() { "Close" } else { cancel })}
                    </button>
                    <button
                        class=class
                        class:is-hidden=move || is_over.get()
                        type="submit"
                        id=format!("{id}-submit")
                        aria-disabled=move || deed.is_busy.get().to_string()
                    >
                        {submit}
                    </button>
                </div>
            </form>
        </Modal>
    }
}
