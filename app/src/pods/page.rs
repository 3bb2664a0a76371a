use leptos::prelude::*;

use crate::{
    UiError,
    codec::fetched,
    components::{problem::Problem, with_pods::PodsResource},
    console::{Console, Dialog, use_console},
    pods::{first_minute::FirstMinute, pods_table::PodsTable, providers::ProvidersSection},
    server_fns::list_providers,
};

/// `/`: all Pods; on a fresh start what to do first.
#[component]
pub(crate) fn PodsPage() -> impl IntoView {
    let console = use_console();
    let pods = expect_context::<PodsResource>();
    let is_fresh = is_fresh(console);
    let providers = fetched(|| (), |()| list_providers());
    view! {
        <main id="main" class="page" tabindex="-1">
            <Suspense fallback=|| view! { <p class="hint">"Loading Pods…"</p> }.into_any()>
                {move || {
                    pods.get()
                        .map(|list| match list {
                            Ok(list) => {
                                console.seed(list);
                                view! { <Dashboard console=console /> }.into_any()
                            }
                            Err(error) => view! { <Unreadable error=error pods=pods /> }.into_any(),
                        })
                }}
            </Suspense>
            <Suspense fallback=|| ()>
                {move || {
                    providers
                        .get()
                        .and_then(Result::ok)
                        .map(|found| view! { <ProvidersSection found=found is_open=is_fresh /> }.into_any())
                }}
            </Suspense>
        </main>
    }
    .into_any()
}

/// There is no Pod yet.
fn is_fresh(console: Console) -> Memo<bool> {
    Memo::new(move |_| console.book.with(|book| book.as_ref().is_none_or(|book| book.pods().is_empty())))
}

#[component]
fn Dashboard(console: Console) -> impl IntoView {
    let is_fresh =
        Memo::new(move |_| console.book.with(|book| book.as_ref().is_none_or(|book| book.pods().is_empty())));
    move || match is_fresh.get() {
        true => view! { <FirstMinute /> }.into_any(),
        false => view! {
            <section class="dashboard" aria-labelledby="pods-title">
                <header class="page-head">
                    <h1 id="pods-title">"Pods"</h1>
                    <button
                        class="button primary"
                        type="button"
                        on:click=move |_| console.dialog.set(Some(Dialog::NewPod { name: String::new() }))
                    >
                        "New Pod"
                        <kbd>"n"</kbd>
                    </button>
                </header>
                <PodsTable />
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Unreadable(error: UiError, pods: PodsResource) -> impl IntoView {
    view! {
        <section class="dashboard">
            <h1>"Pods"</h1>
            <Problem error=Signal::stored(Some(error)) />
            <p>
                <button class="button" type="button" on:click=move |_| pods.refetch()>
                    "Try again"
                </button>
            </p>
        </section>
    }
    .into_any()
}
