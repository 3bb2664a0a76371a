use commands::{Attention, family::indented, grouped};
use leptos::prelude::*;
use protocol::PodRef;

use crate::{
    components::with_pods::PodsResource,
    console::{Console, Dialog, use_console},
    format::sentence_case,
    pods::{pod_row::PodRow, selection_bar::SelectionBar},
    redrawn::redrawn,
};

/// All Pods, grouped by what they need from you. Always visible on a wide screen.
#[component]
pub(crate) fn PodsPane() -> impl IntoView {
    let console = use_console();
    let resource = expect_context::<PodsResource>();
    let open_new = move |_| console.dialog.set(Some(Dialog::NewPod));
    view! {
        <aside class="pods" aria-label="Pods">
            <div class="find">
                <input
                    id="filter"
                    type="search"
                    placeholder="Filter Pods"
                    aria-label="Filter Pods"
                    autocomplete="off"
                    prop:value=move || console.filter.get()
                    on:input=move |event| console.filter.set(event_target_value(&event))
                />
                <button class="button" type="button" title="New Pod (n)" on:click=open_new>
                    "New Pod"
                </button>
            </div>
            <Suspense fallback=|| view! { <p class="hint">"Loading Pods…"</p> }.into_any()>
                {redrawn(move || {
                    resource
                        .get()
                        .map(|list| {
                            let problem = match list {
                                Ok(pods) => {
                                    console.seed(pods);
                                    None
                                }
                                Err(error) => Some(sentence_case(error.sentence())),
                            };
                            view! {
                                {problem.map(|words| view! { <p class="hint">{words}</p> }.into_any())}
                                <Groups console=console />
                            }.into_any()
                        })
                })}
            </Suspense>
            <SelectionBar />
        </aside>
    }
}

/// The Pods of this list, in the order shown.
pub(crate) fn shown(console: Console) -> Vec<PodRef> {
    let groups = untrack(|| groups(console));
    groups.iter().flat_map(|(_, pods)| indented(pods)).map(|(pod, _)| pod.pod).collect()
}

fn groups(console: Console) -> Vec<(Attention, Vec<protocol::PodSummary>)> {
    console.filter.with(|filter| grouped(&console.pods(), filter, &console.requested()))
}

#[component]
fn Groups(console: Console) -> impl IntoView {
    let groups = Memo::new(move |_| groups(console));
    let empty = move || match (groups.with(Vec::is_empty), console.filter.with(String::is_empty)) {
        (true, true) => Some("No Pods yet."),
        (true, false) => Some("No Pods match this filter."),
        (false, _) => None,
    };
    view! {
        <nav class="groups" aria-label="All Pods" data-rows="">
            <For each=move || groups.get() key=|(attention, _)| *attention let((attention, _))>
                <Group attention=attention groups=groups />
            </For>
        </nav>
        {redrawn(move || empty().map(|words| view! { <p class="hint">{words}</p> }.into_any()))}
    }
}

#[component]
fn Group(attention: Attention, groups: Memo<Vec<(Attention, Vec<protocol::PodSummary>)>>) -> impl IntoView {
    let console = use_console();
    let pods = Memo::new(move |_| {
        groups.with(|groups| {
            groups.iter().find(|(other, _)| *other == attention).map(|(_, pods)| pods.clone()).unwrap_or_default()
        })
    });
    view! {
        <section class="group">
            <h2>
                {attention.title()} " " <span class="total">{redrawn(move || pods.with(Vec::len))}</span>
            </h2>
            <For each=move || indented(&pods.get()) key=|(pod, depth)| (pod.pod.clone(), *depth) let((pod, depth))>
                <PodRow pod=console.follow(pod) depth=depth />
            </For>
        </section>
    }
}
