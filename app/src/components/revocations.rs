use leptos::prelude::*;

use crate::{
    console::{Dialog, use_console},
    undoing::{Pending, undo},
};

/// What ends in a moment, each with the way back. The dialog of peers has its own.
#[component]
pub(crate) fn Revocations() -> impl IntoView {
    let console = use_console();
    let is_elsewhere = Memo::new(move |_| console.dialog.with(|dialog| matches!(dialog, Some(Dialog::Peer(_)))));
    let shown = move || match is_elsewhere.get() {
        true => Vec::new(),
        false => console.pending.with(|pending| pending.list().to_vec()),
    };
    view! {
        <For each=shown key=|pending| (pending.number, pending.is_due) let:pending>
            <Ending pending=pending />
        </For>
    }
    .into_any()
}

#[component]
fn Ending(pending: Pending) -> impl IntoView {
    let console = use_console();
    let Pending { number, words, is_due, .. } = pending;
    let when = if is_due { " now…" } else { " in 5 seconds." };
    view! {
        <p class="notice">
            <span>{words} {when}</span>
            {(!is_due)
                .then(|| {
                    view! {
                        <button class="button" type="button" title="Undo (u)" on:click=move |_| undo(console, number)>
                            "Undo"
                        </button>
                    }.into_any()
                })}
        </p>
    }
    .into_any()
}
