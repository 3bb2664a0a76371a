use leptos::prelude::*;
use transcript::{
    Block, BlockKind,
    words::{actor_words, relation_words},
};

use super::peer::peer_link;

/// A link that came or went. Metadata: no model reads it.
#[component]
pub(crate) fn RelationView(block: RwSignal<Block>) -> impl IntoView {
    let kind = block.with_untracked(|block| block.kind.clone());
    let BlockKind::Relation { what, peer, by, note, .. } = kind else { return ().into_any() };
    let note = note.map(|note| view! { <q>{note}</q> }.into_any());
    view! {
        <p class="note-line">
            {peer_link(&peer)} <span>{relation_words(what)}</span> {note} <span class="figure">"by " {actor_words(&by).to_owned()}</span>
        </p>
    }
    .into_any()
}
