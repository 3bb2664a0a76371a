use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{CreatePod, PodName, PodSummary};

use crate::{
    UiError,
    components::{deed::Deed, problem::Problem},
    console::{Over, drawn_over, fresh_command, pod_href},
    live::{self, Memory},
    pods::new_pod_button::NewPodButton,
    redrawn::redrawn,
    server_fns::create_pod,
};

/// Set while the tour runs; the composer then shows its next step.
pub(crate) const TOUR: &str = "yoi:tour";

/// The first screen: something that works without a key, and what to do next.
#[component]
pub(crate) fn FirstMinute() -> impl IntoView {
    let deed = Deed::default();
    let navigate = use_navigate();
    let try_it = move |_| {
        let navigate = navigate.clone();
        deed.begin(Box::pin(async move {
            let ada = rehearsal_pair().await?;
            live::remember(Memory::Tab, TOUR, Some("hello"));
            navigate(&pod_href(&ada.pod), Default::default());
            Ok(())
        }));
    };
    view! {
        <section class="first" aria-labelledby="first-title">
            <h1 id="first-title">"No Pods yet"</h1>
            <p class="lead">
                "A Pod is an agent that keeps its conversation on disk. It keeps running when you close this page and survives a restart."
            </p>
            <ol class="steps">
                <li>
                    <b>"Say hello"</b>
                    " to a rehearsal Pod: no key, no network; it does what each line says."
                </li>
                <li>
                    <b>"Watch it stream."</b>
                    " Whatever is on the screen is already on disk."
                </li>
                <li>
                    <b>"Reload"</b>
                    " in the middle of an answer. Nothing is lost or repeated."
                </li>
            </ol>
            <Problem error=deed.error />
            <p class="first-acts">
                <button class="button primary" type="button" on:click=try_it aria-disabled=move || deed.is_busy.get().to_string()>
                    {redrawn(move || if deed.is_busy.get() { "Creating ada and bob…" } else { "Try it now" })}
                </button>
                <NewPodButton />
            </p>
            <WithoutScript />
            <RealModel />
        </section>
    }
}

/// Its code is fetched after hydration: without a script nothing in it would work.
#[component]
fn RealModel() -> impl IntoView {
    let is_alive = RwSignal::new(false);
    Effect::new(move |_| is_alive.set(true));
    view! {
        <Suspense fallback=|| ()>
            {redrawn(move || is_alive.get().then(|| drawn_over(Over::FirstModel)))}
        </Suspense>
    }
}

#[component]
fn WithoutScript() -> impl IntoView {
    view! {
        <noscript>
            <p class="hint">
                "Creating a Pod here needs JavaScript. Without it: "
                <code>"yoi new ada"</code>
                ", then "
                <code>"yoi send ada hello"</code>
                "; this page shows what happens. "
                <code>"yoi key set openai"</code>
                " takes a key for a real model, and "
                <a href="/settings#models">"Settings"</a>
                " lists what was found."
            </p>
        </noscript>
    }
}

/// Makes two Pods with the built-in rehearsal model: one to talk to, and one that can become its peer.
async fn rehearsal_pair() -> Result<PodSummary, UiError> {
    let ada = rehearsal("ada").await?;
    rehearsal("bob").await?;
    Ok(ada)
}

async fn rehearsal(name: &str) -> Result<PodSummary, UiError> {
    let name = PodName::parse(name).expect("a constant that is a good name");
    let create = CreatePod { provider: Some("rehearsal".to_owned()), ..CreatePod::named(name) };
    create_pod(fresh_command(), create).await
}
