//! The messages between two Pods, in order.

mod messages;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::{ErrorCode, PeerLink, PeerView, PodSummary};
use transcript::words::actor_words;

use self::messages::Messages;
use crate::{
    UiError,
    codec::fetched,
    components::{
        abroad::abroad,
        read_first::TryAgain,
        state_mark::{Sign, StateWord},
        when::Since,
        with_pods::WithPods,
    },
    console::{pod_href, use_console},
    format::sentence_case,
    peers::{revoke_button::RevokeButton, withdraw_button::WithdrawButton},
    redrawn::redrawn,
    server_fns::{ExchangeData, pod_exchange},
};

/// `/pods/{runtime_id}/{worker_id}/with/{runtime_id}/{worker_id}`.
#[component]
pub(crate) fn ExchangePage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let wanted = Memo::new(move |_| {
        let part = |name: &str| params.with(|params| params.get(name).unwrap_or_default());
        let address = |runtime: &str, worker: &str| format!("{}/{}", part(runtime), part(worker));
        let (pod, peer) = (address("runtime_id", "worker_id"), address("peer_runtime_id", "peer_worker_id"));
        (pod, peer, query.with(|query| query.get("before")))
    });
    let page = fetched(move || wanted.get(), |(pod, peer, before)| pod_exchange(pod, peer, before));
    view! {
        <main id="main" class="page" tabindex="-1">
            <Suspense fallback=|| view! { <p class="hint">"Loading messages…"</p> }.into_any()>
                {redrawn(move || {
                    page.get()
                        .map(|loaded| match loaded {
                            Ok(exchange) => {
                                let is_old = wanted.with_untracked(|(.., before)| before.is_some());
                                view! { <ExchangeView exchange=exchange is_old=is_old /> }.into_any()
                            }
                            Err(error) => {
                                view! { <Missing error=error again=move || page.refetch() /> }.into_any()
                            }
                        })
                })}
            </Suspense>
        </main>
    }
}

#[component]
fn Missing(error: UiError, again: impl Fn() + 'static) -> impl IntoView {
    let title = match error.code() {
        ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound => "One of the two Pods does not exist",
        _ => "Messages unavailable",
    };
    view! {
        <Title text=title />
        <section class="missing">
            <h1>{title}</h1>
            <p>{sentence_case(error.sentence())}</p>
            <p>
                <TryAgain again=again />
                " "
                <a class="button" href="/">
                    "All Pods"
                </a>
            </p>
        </section>
    }
}

#[component]
fn ExchangeView(exchange: ExchangeData, is_old: bool) -> impl IntoView {
    let title = format!("{} and {}", exchange.pod.name, exchange.peer.name);
    let link = RwSignal::new(exchange.link.clone());
    let (pod, peer) = (exchange.pod.clone(), exchange.peer.clone());
    view! {
        <Title text=title />
        <section class="exchange" aria-labelledby="exchange-title">
            <header class="page-head">
                <h1 id="exchange-title">
                    <PodName pod=pod.clone() />
                    " and "
                    <PodName pod=peer.clone() />
                </h1>
            </header>
            <LinkState pod=pod peer=peer link=link />
            <Messages exchange=exchange link=link is_old=is_old />
        </section>
    }
}

#[component]
fn PodName(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let (href, home) = (pod_href(&pod.pod), abroad(&pod.pod));
    let pod = console.follow(pod);
    view! {
        <a class="pod-link" href=href>
            {redrawn(move || pod.with(|pod| pod.name.to_string()))}
            {home}
        </a>
        <WithPods>
            <StateWord sign=Signal::derive(move || pod.with(Sign::of)) />
        </WithPods>
    }
}

/// The relation between the two, and the actions on it.
#[component]
fn LinkState(pod: PodSummary, peer: PodSummary, link: RwSignal<Option<PeerView>>) -> impl IntoView {
    let console = use_console();
    let names = format!("{} and {}", pod.name, peer.name);
    let (pod, peer) = (pod.pod, peer.pod);
    let introduce = {
        let (source, target) = (pod.clone(), peer.to_string());
        move |_| console.introduce(source.clone(), target.clone())
    };
    redrawn(move || {
        let (pod, peer, names) = (pod.clone(), peer.clone(), names.clone());
        let words = |view: &PeerView| match view.link {
            PeerLink::Linked => "Made peers",
            PeerLink::OneSided => "One-sided: no messages get through;",
            _ if view.is_asked => "Peer request pending,",
            _ => "Waiting for the other side to accept,",
        };
        let act = |view: &PeerView| match view.link {
            PeerLink::Linked | PeerLink::OneSided => {
                view! { <RevokeButton pod=pod peer=peer names=names /> }.into_any()
            }
            _ if view.is_asked => view! { <a class="button" href="/approvals">"Open Approvals"</a> }.into_any(),
            _ => view! { <WithdrawButton pod=pod peer=peer /> }.into_any(),
        };
        let body = match link.get() {
            Some(view) => view! {
                <p>{words(&view)} " " <Since at=view.since /> " by " {actor_words(&view.by).to_owned()}</p>
                {act(&view)}
            }
            .into_any(),
            None => view! {
                <p>"They are not peers."</p>
                <button type="button" class="button spawn" on:click=introduce.clone()>"Make them peers…"</button>
            }
            .into_any(),
        };
        view! { <div class="link-state">{body}</div> }.into_any()
    })
}
