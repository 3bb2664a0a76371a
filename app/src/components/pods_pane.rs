use leptos::prelude::*;

use crate::{
    components::{frame::PodsResource, pod_row::PodRow},
    console::{Console, Dialog, use_console},
    grouping::{Attention, grouped},
};

/// All Pods, grouped by what they want of a person. Always there on a wide screen.
#[component]
pub(crate) fn PodsPane() -> impl IntoView {
    let console = use_console();
    let resource = expect_context::<PodsResource>();
    let open_new = move |_| console.dialog.set(Some(Dialog::NewPod { name: String::new() }));
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
            <Suspense fallback=|| view! { <p class="hint">"Reading the list…"</p> }>
                {move || Suspend::new(async move {
                    match resource.await {
                        Ok(pods) => {
                            console.seed(pods);
                            view! { <Groups console=console /> }.into_any()
                        }
                        Err(error) => {
                            view! {
                                <p class="hint">{error.sentence().to_owned()}</p>
                                <Groups console=console />
                            }
                                .into_any()
                        }
                    }
                })}
            </Suspense>
        </aside>
    }
}

#[component]
fn Groups(console: Console) -> impl IntoView {
    let groups = Memo::new(move |_| console.filter.with(|filter| grouped(&console.pods(), filter)));
    let empty = move || match (groups.with(Vec::is_empty), console.filter.with(String::is_empty)) {
        (true, true) => Some("No Pod yet."),
        (true, false) => Some("No Pod fits this filter."),
        (false, _) => None,
    };
    view! {
        <nav class="groups" aria-label="All Pods">
            <For each=move || groups.get() key=|(attention, _)| *attention let((attention, _))>
                <Group attention=attention groups=groups />
            </For>
        </nav>
        {move || empty().map(|words| view! { <p class="hint">{words}</p> })}
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
                {attention.title()} " " <span class="total">{move || pods.with(Vec::len)}</span>
            </h2>
            <For each=move || pods.get() key=|pod| pod.pod.clone() let:pod>
                <PodRow pod=console.follow(pod) />
            </For>
        </section>
    }
}
