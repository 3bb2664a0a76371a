//! Says before a picture is sent that the model cannot see it.

use commands::{making::facts_of, said::blind_words};
use leptos::{prelude::*, task::spawn_local};
use protocol::Segment;

use super::sending::Outgoing;
use crate::server_fns::list_providers;

/// Nothing while no picture is attached, and nothing where it is not known.
#[component]
pub(super) fn BlindNote(outgoing: Outgoing) -> impl IntoView {
    let is_picture = |segment: &Segment| matches!(segment, Segment::Image { .. });
    let has_picture = Memo::new(move |_| outgoing.draft.with(|draft| draft.attached.iter().any(is_picture)));
    let found = RwSignal::new(None);
    // In the browser alone: the page does not wait for it.
    Effect::new(move |_| {
        if has_picture.get() && found.with_untracked(Option::is_none) {
            spawn_local(async move { found.set(list_providers().await.ok()) });
        }
    });
    let words = move || {
        let found = found.get().filter(|_| has_picture.get())?;
        outgoing.pod.summary.with(|pod| {
            let facts = facts_of(&found.found, &pod.provider, &pod.model)?;
            let words = blind_words(&pod.model, facts)?;
            Some(view! { <p class="refusal">{words}</p> }.into_any())
        })
    };
    view! { <div role="status">{words}</div> }
}
