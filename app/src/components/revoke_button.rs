use leptos::prelude::*;
use protocol::PodRef;

use crate::{
    console::use_console,
    undoing::{Ending, is_ending, keep, revoke},
};

/// Ends a link. In a dialog it is also where this is taken back: the notices cannot be reached from there.
#[component]
pub(crate) fn RevokeButton(
    pod: PodRef,
    peer: PodRef,
    /// `ada and bob`.
    names: String,
    #[prop(optional)] has_undo: bool,
) -> impl IntoView {
    let console = use_console();
    let is_ending = {
        let link = Ending::Link(pod.clone(), peer.clone());
        Memo::new(move |_| is_ending(console, &link))
    };
    let words = move || match (is_ending.get(), has_undo) {
        (false, _) => "Revoke",
        (true, false) => "Revoking…",
        (true, true) => "Undo",
    };
    let label = format!("Revoke the link of {names}");
    view! {
        <button
            type="button"
            class="button"
            title=move || (!is_ending.get()).then(|| label.clone())
            aria-disabled=move || (is_ending.get() && !has_undo).to_string()
            on:click=move |_| match is_ending.get_untracked() {
                false => revoke(console, pod.clone(), peer.clone(), names.clone()),
                true if has_undo => keep(console, &Ending::Link(pod.clone(), peer.clone())),
                true => (),
            }
        >
            {words}
        </button>
        {move || {
            (is_ending.get() && has_undo).then(|| view! { <span class="hint">"It ends in 5 seconds."</span> }.into_any())
        }}
    }
    .into_any()
}
