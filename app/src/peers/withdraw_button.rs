use leptos::prelude::*;
use protocol::PodRef;

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::fresh_command,
    server_fns::unlink_pods,
};

/// Withdraws an unanswered peer request. It can be made again, so there is no confirmation.
#[component]
pub(crate) fn WithdrawButton(pod: PodRef, peer: PodRef) -> impl IntoView {
    let deed = Deed::default();
    let withdraw = move || {
        let (pod, peer) = (pod.clone(), peer.clone());
        deed.begin(Box::pin(async move { unlink_pods(pod, fresh_command(), peer).await }));
    };
    view! {
        <DeedButton deed=deed words="Withdraw" press=withdraw />
        <Problem error=deed.error />
    }
}
