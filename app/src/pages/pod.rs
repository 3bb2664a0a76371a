mod stream;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::{ErrorCode, Seq};

use self::stream::follow;
use crate::{
    UiError,
    components::{
        child_questions::ChildQuestions,
        composer::Composer,
        inspector::Inspector,
        pod_head::PodHead,
        transcript::{PodContext, Rows, TranscriptPane, find::FindBar, provide_linked},
    },
    console::{pod_href, use_console},
    format::sentence_case,
    server_fns::{PodPageData, load_pod},
};

/// `/pods/{runtime_id}/{worker_id}`: a Pod's transcript, its composer, its inspector.
#[component]
pub(crate) fn PodPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    // The pane of a phone is in the address too and must not load anything anew, hence only these.
    let wanted = Memo::new(move |_| {
        let part = |name: &str| params.with(|params| params.get(name).unwrap_or_default());
        let seq = |name: &str| query.with(|query| query.get(name)?.parse().ok().map(Seq));
        (format!("{}/{}", part("runtime_id"), part("worker_id")), seq("before"), seq("at"))
    });
    let page = Resource::new(move || wanted.get(), |(address, before, at)| load_pod(address, before, at));
    let shows_details = Memo::new(move |_| query.with(|query| query.get("pane").as_deref() == Some("details")));
    // Read, not awaited: the Pod that is shown stays whole until the next one can take its place in one step.
    view! {
        <Suspense fallback=PodLoading>
            {move || {
                page.get()
                    .map(|loaded| match loaded {
                        Ok(data) => {
                            let at = wanted.with_untracked(|(.., at)| *at);
                            view! { <PodView data=data shows_details=shows_details at=at /> }.into_any()
                        }
                        Err(error) => view! { <PodMissing error=error /> }.into_any(),
                    })
            }}
        </Suspense>
    }
    .into_any()
}

#[component]
fn PodLoading() -> impl IntoView {
    view! {
        <main id="main" class="page" aria-busy="true">
            <p class="hint">"Reading the transcript…"</p>
        </main>
    }
    .into_any()
}

#[component]
fn PodMissing(error: UiError) -> impl IntoView {
    let (title, hint) = match error.code() {
        ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound => (
            "No such Pod",
            "It may have been deleted, or the address is not complete. The list of Pods has all there are.",
        ),
        ErrorCode::RuntimeUnavailable => ("This Pod cannot be reached", "Reload this page to try again."),
        _ => ("This Pod cannot be shown", "Reload this page to try again."),
    };
    view! {
        <Title text=title />
        <main id="main" class="page">
            <section class="missing">
                <h1>{title}</h1>
                <p>{sentence_case(error.sentence())}</p>
                <p class="hint">{hint}</p>
                <p>
                    <a class="button" href="/">
                        "All Pods"
                    </a>
                </p>
            </section>
        </main>
    }
    .into_any()
}

#[component]
fn PodView(data: PodPageData, shows_details: Memo<bool>, at: Option<Seq>) -> impl IntoView {
    let console = use_console();
    let rows = Rows::new(&data.records, data.has_more);
    provide_linked(rows, at);
    let is_old = data.cursor.is_none();
    let pod = PodContext::provide(console, data.detail, data.peers, rows, is_old);
    console.view(pod);
    if let Some(cursor) = data.cursor {
        follow(pod, cursor, data.head);
    }
    // The title is drawn once more when the next Pod is there and this one is gone.
    let name = move || pod.summary.try_with(|summary| summary.name.to_string()).unwrap_or_default();
    let below = match is_old {
        true => view! { <OldPage /> }.into_any(),
        false => view! { <Composer /> }.into_any(),
    };
    view! {
        <Title text=name />
        <main id="main" class="pod-page" class:is-aside=move || shows_details.get()>
            <PodHead />
            <Closed />
            <ChildQuestions />
            <FindBar />
            <TranscriptPane />
            {below}
        </main>
        <div class="inspect-place" class:is-shown=move || shows_details.get()>
            <Inspector />
        </div>
    }
    .into_any()
}

/// Nothing will come any more: said where one looks, and not in the transcript.
#[component]
fn Closed() -> impl IntoView {
    let pod = expect_context::<PodContext>();
    move || {
        pod.closed.get().map(|reason| {
            view! {
                <p class="closed" role="alert">
                    "This transcript does not go on: "
                    {reason}
                    ". "
                    <a href="/">"All Pods"</a>
                </p>
            }
        })
    }
}

/// Below a page of old records, which grow no more.
#[component]
fn OldPage() -> impl IntoView {
    let pod = expect_context::<PodContext>();
    let newest = pod.pod.with_value(pod_href);
    view! {
        <p class="old-page">
            "These are older records. "
            <a class="button" href=newest>
                "To the newest"
            </a>
        </p>
    }
    .into_any()
}
