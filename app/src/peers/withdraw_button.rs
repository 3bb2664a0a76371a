use leptos::prelude::*;
use protocol::PodRef;

use crate::{
    components::{dialog::Deed, problem::Problem},
    console::fresh_command,
    server_fns::unlink_pods,
};

/// Takes a request back that nobody has answered. It can be made again, so nothing is asked.
#[component]
pub(crate) fn WithdrawButton(pod: PodRef, peer: PodRef) -> impl IntoView {
    let deed = Deed::new();
    view! {
        <button
            type="button"
            class="button"
            aria-disabled=move || deed.is_busy.get().to_string()
            on:click=move |_| {
                let (pod, peer) = (pod.clone(), peer.clone());
                deed.begin(Box::pin(async move { unlink_pods(pod, fresh_command(), peer).await }));
            }
        >
            "Withdraw"
        </button>
        <Problem error=deed.error />
    }
    .into_any()
}
