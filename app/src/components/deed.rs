use std::{future::Future, pin::Pin};

use leptos::{prelude::*, task::spawn_local};

use crate::UiError;

/// The action of a button or a dialog: at most one at a time, with its last error.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Deed {
    pub(crate) error: RwSignal<Option<UiError>>,
    pub(crate) is_busy: RwSignal<bool>,
}

/// Boxed, so that the code around it is compiled once and not for every action.
type Work = Pin<Box<dyn Future<Output = Result<(), UiError>>>>;

impl Deed {
    /// Starts it unless one is already running: a second Enter does nothing.
    pub(crate) fn begin(self, work: Work) {
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        self.error.set(None);
        spawn_local(async move {
            let done = work.await;
            // The component may have been removed in the meantime.
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

/// A button that starts the action, disabled while it runs.
#[component]
pub(crate) fn DeedButton(
    deed: Deed,
    words: &'static str,
    press: impl Fn() + 'static,
    #[prop(default = "button")] class: &'static str,
    #[prop(optional)] title: Option<&'static str>,
    /// The accessible name, where the words alone do not say what the button is about.
    #[prop(optional, into)]
    label: Option<String>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=class
            title=title
            aria-label=label
            aria-disabled=move || deed.is_busy.get().to_string()
            on:click=move |_| press()
        >
            {words}
        </button>
    }
}
