use leptos::prelude::*;
use protocol::PodRef;

use crate::console::{
    undoing::{Ending, Stage, is_at, revoke, undo_ending},
    use_console,
};

use crate::redrawn::redrawn;

/// Ends the relation between two peers.
#[component]
pub(crate) fn RevokeButton(
    pod: PodRef,
    peer: PodRef,
    /// `ada and bob`.
    names: String,
) -> impl IntoView {
    let console = use_console();
    let is_ending = {
        let link = Ending::Link(pod.clone(), peer.clone());
        Memo::new(move |_| is_at(console, &link, Stage::UnderWay))
    };
    let label = format!("Unpeer {names}");
    view! {
        <button
            type="button"
            class="button"
            title=move || (!is_ending.get()).then(|| label.clone())
            aria-disabled=move || is_ending.get().to_string()
            on:click=move |_| {
                if !is_ending.get_untracked() {
                    revoke(console, pod.clone(), peer.clone(), names.clone());
                }
            }
        >
            {redrawn(move || if is_ending.get() { "Unpeering…" } else { "Unpeer" })}
        </button>
    }
}

/// Undoes the end of a relation while that is possible, in a dialog, where the notices cannot be reached.
#[component]
pub(crate) fn UndoRevokeButton(pod: PodRef, peer: PodRef) -> impl IntoView {
    let console = use_console();
    let link = StoredValue::new(Ending::Link(pod, peer));
    let can_undo = Memo::new(move |_| link.with_value(|link| is_at(console, link, Stage::Done)));
    redrawn(move || {
        can_undo.get().then(|| {
            view! {
                <button
                    type="button"
                    class="button"
                    on:click=move |_| link.with_value(|link| undo_ending(console, link))
                >
                    "Undo"
                </button>
            }
            .into_any()
        })
    })
}
