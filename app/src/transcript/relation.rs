use leptos::prelude::*;
use protocol::PeerLabel;
use transcript::{RelationStep, words::relation_words};

use super::peer::peer_link;

/// A relation with a peer that began or ended. Metadata: no model reads it.
#[component]
pub(crate) fn RelationView(
    what: RelationStep,
    peer: PeerLabel,
    by: String,
    #[prop(optional_no_strip)] note: Option<String>,
) -> impl IntoView {
    let (before, after) = relation_words(what, &by);
    let note = note.map(|note| view! { ": " <q>{note}</q> }.into_any());
    view! {
        <p class="note-line">
            <span>{before} " " {peer_link(&peer)} " " {after} {note}</span>
        </p>
    }
    .into_any()
}
