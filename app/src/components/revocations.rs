use leptos::prelude::*;

use crate::{
    console::{Dialog, use_console},
    revoking::{Revocation, finish_on_leave, keep},
};

/// Links that end in a moment, each with the way back. A dialog has its own.
#[component]
pub(crate) fn Revocations() -> impl IntoView {
    let console = use_console();
    Effect::new(move |before: Option<()>| {
        if before.is_none() {
            finish_on_leave(console);
        }
    });
    let is_elsewhere = Memo::new(move |_| console.dialog.with(|dialog| matches!(dialog, Some(Dialog::Peer(_)))));
    let shown = move || if is_elsewhere.get() { Vec::new() } else { console.revocations.get() };
    view! {
        <For each=shown key=|revocation| revocation.command_id.clone() let:revocation>
            <Ending revocation=revocation />
        </For>
    }
    .into_any()
}

#[component]
fn Ending(revocation: Revocation) -> impl IntoView {
    let console = use_console();
    let Revocation { pod, peer, names, .. } = revocation;
    view! {
        <p class="notice">
            <span>"The link of " {names} " ends in 5 seconds."</span>
            <button class="button" type="button" on:click=move |_| keep(console, &pod, &peer)>
                "Undo"
            </button>
        </p>
    }
    .into_any()
}
