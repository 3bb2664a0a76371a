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
    let asked = Memo::new(move |_| {
        has_picture.get().then(|| outgoing.pod.summary.with(|pod| (pod.provider.clone(), pod.model.clone())))
    });
    // Not a resource: the enclosing page would suspend on it and be drawn again.
    let found = RwSignal::new(None::<String>);
    Effect::new(move |_| {
        let about = asked.get();
        found.set(None);
        let Some((provider, model)) = about.clone() else { return };
        spawn_local(async move {
            let words = blindness(provider, model).await;
            if asked.try_get_untracked() == Some(about) {
                found.try_set(words);
            }
        });
    });
    let words = move || found.get().map(|words| view! { <p class="refusal">{words}</p> }.into_any());
    view! { <div role="status">{words}</div> }
}

act! {
    /// The warning, if this model is known to see no pictures.
    async fn blindness(provider: String, model: String) -> Option<String> = words_of;
}

async fn words_of(provider: String, model: String) -> Option<String> {
    let providers = list_providers().await.ok()?;
    blind_words(&model, facts_of(&providers.found, &provider, &model)?)
}
