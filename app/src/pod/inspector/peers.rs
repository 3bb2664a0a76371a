use commands::allowed::peer_refusal;
use leptos::prelude::*;
use protocol::{PeerLink, PeerView};
use transcript::words::actor_words;

use crate::{
    acting::introduce,
    approvals::request::RequestActs,
    components::{
        abroad::abroad,
        state_mark::{Sign, StateShape},
        when::Since,
        with_pods::WithPods,
    },
    console::{PodContext, exchange_href, pod_href, use_console, use_pod},
    peers::{revoke_button::RevokeButton, withdraw_button::WithdrawButton},
    redrawn::redrawn,
};

/// The Pod's peers, and the peer requests from and to it.
#[component]
pub(crate) fn Peers() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    view! {
        <section>
            <h2>"Peers"</h2>
            <WithPods>
                <ul class="peers">
                    <For each=move || pod.peers.get() key=|view| (view.pod.clone(), view.link == PeerLink::Linked, view.request_id.clone()) let:view>
                        <PeerLine view=view pod=pod />
                    </For>
                </ul>
            </WithPods>
            {redrawn(move || pod.peers.with(Vec::is_empty).then(|| view! { <small>"none"</small> }.into_any()))}
            <button
                type="button"
                class="quiet spawn"
                title=move || peer_refusal(pod.state.get())
                on:click=move |_| introduce(console, &untrack(|| pod.as_it_is()), String::new())
            >
                "Add a peer…"
            </button>
        </section>
    }
}

#[component]
fn PeerLine(view: PeerView, pod: PodContext) -> impl IntoView {
    let console = use_console();
    let peer = view.pod.clone();
    let listed = Memo::new(move |_| console.pod(&peer).map(|pod| (pod.name.to_string(), Sign::of(&pod))));
    let known = (view.name.to_string(), Sign::Of(view.state));
    let now = Signal::derive(move || listed.get().unwrap_or_else(|| known.clone()));
    let own = pod.pod.get_value();
    let words = match (view.link, view.is_asked) {
        (PeerLink::Linked, _) => "added",
        (PeerLink::OneSided, _) => "one-sided: no messages get through;",
        (PeerLink::Pending, true) => "asks to be a peer",
        (PeerLink::Pending, false) => "peer request sent",
        (PeerLink::Declined, _) => "declined",
        (PeerLink::Expired, _) => "did not answer in time",
    };
    let messages = (view.link == PeerLink::Linked)
        .then(|| view! { " · " <a href=exchange_href(&own, &view.pod)>"messages"</a> }.into_any());
    let by = (view.by != "operator").then(|| format!(" by {}", actor_words(&view.by)));
    let is_asked = view.is_asked && view.link == PeerLink::Pending;
    view! {
        <li class="peer-line" class:is-asked=is_asked>
            <StateShape sign=Signal::derive(move || now.get().1) />
            <p>
                <a class="pod-link" href=pod_href(&view.pod)>
                    {redrawn(move || now.get().0)}
                    {abroad(&view.pod)}
                </a>
                <small>
                    <span class="visually-hidden">{redrawn(move || now.get().1.word())} ", "</span>
                    {words} " " <Since at=view.since /> {by} {messages}
                </small>
                {view.note.clone().map(|note| view! { <q>{note}</q> }.into_any())}
            </p>
            <div class="peer-acts">
                <PeerActs view=view pod=pod />
            </div>
        </li>
    }
}

/// The actions on this peer or request.
#[component]
fn PeerActs(view: PeerView, pod: PodContext) -> impl IntoView {
    let own = pod.pod.get_value();
    match (view.link, view.is_asked) {
        (PeerLink::Pending, true) => {
            let (decided, id) = (RwSignal::new(None), view.request_id.unwrap_or_default());
            view! { <RequestActs to=own request_id=id decided=decided /> }.into_any()
        }
        (PeerLink::Pending, false) => view! { <WithdrawButton pod=own peer=view.pod /> }.into_any(),
        _ => {
            let names = format!("{} and {}", pod.summary.with_untracked(|summary| summary.name.to_string()), view.name);
            view! { <RevokeButton pod=own peer=view.pod names=names /> }.into_any()
        }
    }
}
