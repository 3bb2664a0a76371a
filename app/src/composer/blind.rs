//! Says before a picture is sent that the model cannot see it.

use commands::{making::facts_of, said::blind_words};
use leptos::prelude::*;
use protocol::Segment;

use super::sending::Outgoing;
use crate::server_fns::list_providers;

/// Nothing while no picture is attached, and nothing where it is not known.
#[component]
pub(super) fn BlindNote(outgoing: Outgoing) -> impl IntoView {
    let is_picture = |segment: &Segment| matches!(segment, Segment::Image { .. });
    let has_picture = Memo::new(move |_| outgoing.draft.with(|draft| draft.attached.iter().any(is_picture)));
    let found = LocalResource::new(move || {
        let is_asked = has_picture.get();
        async move { if is_asked { list_providers().await.ok() } else { None } }
    });
    let words = move || {
        let found = found.get().flatten().filter(|_| has_picture.get())?;
        outgoing.pod.summary.with(|pod| {
            let facts = facts_of(&found.found, &pod.provider, &pod.model)?;
            let words = blind_words(&pod.model, facts)?;
            Some(view! { <p class="refusal">{words}</p> }.into_any())
        })
    };
    view! { <div role="status">{words}</div> }
}
