use leptos::prelude::*;

use crate::{
    codec::fetched,
    components::{read_first::Unreadable, with_pods::PodsResource},
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
    let providers = fetched(move || console.keys_changed.get(), |_| list_providers());
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
                            Err(error) => view! {
                                <section class="dashboard">
                                    <h1>"Pods"</h1>
                                    <Unreadable error=error again=move || pods.refetch() />
                                </section>
                            }.into_any(),
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
}

/// There is no Pod yet.
fn is_fresh(console: Console) -> Memo<bool> {
    Memo::new(move |_| console.with_pods(<[_]>::is_empty))
}

#[component]
fn Dashboard(console: Console) -> impl IntoView {
    let is_fresh = is_fresh(console);
    move || {
        match is_fresh.get() {
        true => view! { <FirstMinute /> }.into_any(),
        false => view! {
            <section class="dashboard" aria-labelledby="pods-title">
                <header class="page-head">
                    <h1 id="pods-title">"Pods"</h1>
                    <button class="button primary" type="button" on:click=move |_| console.dialog.set(Some(Dialog::NewPod))>
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
}
