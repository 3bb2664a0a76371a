//! What the Pod changes while its changes are on screen: it is told once the Pod comes to rest, and read again when you
//! ask, so that nothing moves under what you read or write.

use leptos::{prelude::*, task::spawn_local};
use protocol::{PodState, PodSummary, Seq};

use super::page::Review;
use crate::{redrawn::redrawn, server_fns::pod_changes};

/// Says that other files are changed by now. A page without files is simply read again.
#[component]
pub(super) fn Meanwhile(review: Review, pod: PodSummary) -> impl IntoView {
    let is_old = RwSignal::new(false);
    let name = pod.name.to_string();
    let now = review.console.follow(pod);
    // A short run may never be seen running.
    let rests_at = Memo::new(move |_| now.with(|pod| (pod.state != PodState::Running).then_some(pod.head_seq)));
    Effect::new(move |before: Option<Option<Seq>>| {
        let rests_at = rests_at.get();
        if rests_at.is_some() && before.is_some_and(|before| before != rests_at) {
            spawn_local(compare(review, is_old));
        }
        rests_at
    });
    redrawn(move || {
        let name = name.clone();
        is_old.get().then(|| {
            view! {
                <p class="changes-meanwhile" role="status">
                    {name}
                    " has changed files meanwhile. "
                    <button type="button" class="button" on:click=move |_| review.again.run(())>
                        "Look again"
                    </button>
                </p>
            }
            .into_any()
        })
    })
}

async fn compare(review: Review, is_old: RwSignal<bool>) {
    let Some(address) = review.pod.try_with_value(ToString::to_string) else { return };
    // Without an answer what is shown stays; the page shows when the connection is lost.
    let Ok(data) = pod_changes(address, review.since).await else { return };
    let is_same = review.files.try_with_value(|shown| (**shown == *data.changes.files, shown.is_empty()));
    match is_same {
        Some((false, true)) => drop(review.again.try_run(())),
        Some((is_same, _)) => drop(is_old.try_set(!is_same)),
        None => (),
    }
}
