use leptos::prelude::*;

use crate::{console::use_console, live, redrawn::redrawn};

/// Copies what `text` returns when pressed. Confirms in place, and reports a failure in a notice.
#[component]
pub(crate) fn CopyButton(
    #[prop(into)] label: String,
    /// Called only when pressed: a transcript holds many of these.
    text: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    let console = use_console();
    let is_done = RwSignal::new(false);
    let copy = move |_| {
        live::copy_text(text(), move |worked| {
            if !worked {
                console.note("This browser does not allow copying; select the text instead.");
                return;
            }
            is_done.set(true);
            live::after(1_500, move || {
                is_done.try_set(false);
            });
        });
    };
    view! {
        <button class="quiet copy" type="button" on:click=copy>
            {redrawn(move || if is_done.get() { "copied".to_owned() } else { label.clone() })}
        </button>
    }
}
