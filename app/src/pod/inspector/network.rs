//! The choice of how much of the network a Pod's commands can reach.

use leptos::prelude::*;
use protocol::{NetworkPolicy, PatchPod};

use crate::{
    components::{deed::Deed, problem::Problem},
    console::{fresh_command, use_pod},
    server_fns::change_pod,
    settings::permissions::network_words,
};

#[component]
pub(super) fn NetworkChoice() -> impl IntoView {
    let (deed, detail) = (Deed::default(), use_pod().detail);
    let choose = move |event: leptos::ev::Event| {
        let chosen = event_target_value(&event);
        let Some(network) = NetworkPolicy::ALL.into_iter().find(|policy| policy.as_str() == chosen) else { return };
        let pod = detail.with_untracked(|detail| detail.summary.pod.clone());
        deed.begin(Box::pin(async move {
            let patch = PatchPod { network: Some(network), ..PatchPod::default() };
            let now = change_pod(pod, fresh_command(), patch).await?;
            detail.try_update(|detail| detail.network = now.network);
            Ok(())
        }));
    };
    let option = move |policy: NetworkPolicy| {
        let is_chosen = move || detail.with(|detail| detail.network == policy);
        view! { <option value=policy.as_str() selected=is_chosen prop:selected=is_chosen>{network_words(policy)}</option> }.into_any()
    };
    view! {
        <select
            aria-label="Network access of its commands"
            prop:value=move || detail.with(|detail| detail.network.as_str())
            on:change=choose
        >
            {NetworkPolicy::ALL.map(option)}
        </select>
        <Problem error=deed.error />
    }
}
