use std::{future::Future, pin::Pin};

use leptos::{prelude::*, task::spawn_local};

use crate::{UiError, components::problem::Problem, console::use_console, live};

/// A modal dialog over the page. The focus stays in it, Escape closes it, and the focus goes back where it was.
#[component]
pub(crate) fn Modal(
    /// Its element's id, one per kind of dialog.
    id: &'static str,
    title: String,
    /// What follows once it is closed and the focus is back: another dialog, another page.
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
    .into_any()
}

/// What a dialog does once it is confirmed: one thing at a time, and what went wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed {
    pub(crate) error: RwSignal<Option<UiError>>,
    pub(crate) is_busy: RwSignal<bool>,
}

/// Boxed, so that the code around it is compiled once and not for every dialog.
type Work = Pin<Box<dyn Future<Output = Result<(), UiError>>>>;

impl Deed {
    pub(crate) fn new() -> Self {
        Self { error: RwSignal::new(None), is_busy: RwSignal::new(false) }
    }

    /// Does it, unless it is being done: a second Enter does nothing.
    pub(crate) fn begin(self, work: Work) {
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        self.error.set(None);
        spawn_local(async move {
            let done = work.await;
            // The dialog may have been closed in the meantime.
            self.is_busy.try_set(false);
            if let Err(refusal) = done {
                self.error.try_set(Some(refusal));
            }
        });
    }

    pub(crate) fn refuse(self, refusal: UiError) {
        self.error.set(Some(refusal));
    }
}

/// A dialog that asks, and does it. Where it has no field, the focus begins on the button that changes nothing.
#[component]
pub(crate) fn FormDialog(
    id: &'static str,
    #[prop(into)] title: String,
    /// What the button says that does it.
    submit: &'static str,
    #[prop(default = "Cancel")] cancel: &'static str,
    #[prop(optional)] is_danger: bool,
    deed: Deed,
    /// There is nothing to confirm, or not any more.
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
                        {move || if is_over.get() { "Close" } else { cancel }}
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
    .into_any()
}
