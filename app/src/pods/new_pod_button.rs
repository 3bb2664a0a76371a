use leptos::prelude::*;

use crate::console::{Dialog, use_console};

/// Opens the dialog for a new Pod.
#[component]
pub(crate) fn NewPodButton() -> impl IntoView {
    let console = use_console();
    view! {
        <button class="button" type="button" data-key="n" on:click=move |_| console.dialog.set(Some(Dialog::NewPod))>
            "New Pod"
        </button>
    }
}
