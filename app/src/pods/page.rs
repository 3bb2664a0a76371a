use leptos::prelude::*;

use crate::{
    components::{read_first::Unreadable, with_pods::PodsResource},
    console::{Console, Dialog, use_console},
    pods::{first_minute::FirstMinute, pods_table::PodsTable},
};

/// `/`: all Pods; on a fresh start, the first screen.
#[component]
pub(crate) fn PodsPage() -> impl IntoView {
    let console = use_console();
    let pods = expect_context::<PodsResource>();
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
        </main>
    }
}

/// Whether there is no Pod yet.
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
                <p class="hint">
                    <a href="/settings#models">"Models and keys"</a>
                </p>
            </section>
        }
        .into_any(),
    }
    }
}
