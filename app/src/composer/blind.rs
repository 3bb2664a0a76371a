//! Warns before sending that the model cannot see pictures.

use commands::{making::facts_of, said::blind_words};
use leptos::{prelude::*, task::spawn_local};
use protocol::Segment;

use super::sending::Outgoing;
use crate::server_fns::list_providers;

/// Empty while no picture is attached, or if the model's abilities are unknown.
#[component]
pub(super) fn BlindNote(outgoing: Outgoing) -> impl IntoView {
    let is_picture = |segment: &Segment| matches!(segment, Segment::Image { .. });
    let has_picture = Memo::new(move |_| outgoing.draft.with(|draft| draft.attached.iter().any(is_picture)));
    // Not a resource: the enclosing page would suspend on it and be drawn again.
    let found = RwSignal::new(None);
    Effect::new(move |_| {
        if has_picture.get() {
            spawn_local(async move {
                if let Ok(providers) = list_providers().await {
                    found.try_set(Some(providers));
                }
            });
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
