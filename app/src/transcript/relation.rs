use leptos::prelude::*;
use protocol::PeerLabel;
use transcript::{
    RelationStep,
    words::{actor_words, relation_words},
};

use super::peer::peer_link;

/// A relation with a peer that began or ended. Metadata: no model reads it.
#[component]
pub(crate) fn RelationView(
    what: RelationStep,
    peer: PeerLabel,
    by: String,
    #[prop(optional_no_strip)] note: Option<String>,
) -> impl IntoView {
    let note = note.map(|note| view! { <q>{note}</q> }.into_any());
    view! {
        <p class="note-line">
            {peer_link(&peer)} <span>{relation_words(what)}</span> {note} <span class="figure">"by " {actor_words(&by).to_owned()}</span>
        </p>
    }
    .into_any()
}
