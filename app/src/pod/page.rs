mod stream;
mod visits;

use leptos::{prelude::*, task::spawn_local};
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_params_map, use_query_map};
use protocol::{ErrorCode, Seq};

use self::{
    stream::follow,
    visits::{Stop, Visit, Visits},
};
use crate::{
    UiError,
    acting::{
        self, AtHand,
        stopping::{has_run, stop_run},
    },
    codec::fetched,
    components::read_first::TryAgain,
    composer::Composer,
    console::{Console, Over, PodContext, TranscriptKeys, drawn_over, pod_href, use_console},
    format::sentence_case,
    live::{self, Answering},
    pod::{changed::Changed, child_questions::ChildQuestions, head::PodHead, inspector::Inspector},
    redrawn::redrawn,
    rows::Rows,
    server_fns::{PodPageData, load_pod},
    transcript::{self, TranscriptPane, find::FindBar, provide_linked},
};

const TRANSCRIPT_KEYS: TranscriptKeys = TranscriptKeys {
    to_end: live::log_to_end,
    to_turn: live::log_to_turn,
    to_question: live::log_to_question,
    answer,
    retry,
    end_run,
};

fn answer(key: &str) -> Answering {
    live::answer_question(key, live::log_to_question)
}

fn retry(console: Console, view: PodContext) {
    let (at, here) = untrack(|| {
        let at = AtHand::viewed(view);
        let here = acting::here(console, Some(&at));
        (at, here)
    });
    match commands::parse("retry", here) {
        Ok(command) => spawn_local(async move {
            if let Err(refusal) = acting::run(console, Some(at), command).await {
                console.fail(&refusal);
            }
        }),
        Err(sentence) => console.note(sentence_case(&sentence)),
    }
}

fn end_run(console: Console, view: PodContext) -> bool {
    let state = view.state.get_untracked();
    if has_run(state) {
        stop_run(console, view.pod.get_value(), state);
    }
    has_run(state)
}

/// `/pods/{runtime_id}/{worker_id}`: a Pod's transcript, composer and inspector.
#[component]
pub(crate) fn PodPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    // Only these parts of the address load anything: the pane of a phone is in the address too and must not reload
    // the page.
    let wanted = Memo::new(move |_| {
        let part = |name: &str| params.with(|params| params.get(name).unwrap_or_default());
        let seq = |name: &str| query.with(|query| query.get(name)?.parse().ok().map(Seq));
        (format!("{}/{}", part("runtime_id"), part("worker_id")), seq("before"), seq("at"))
    });
    let console = use_console();
    let visits = Visits::new(console);
    let hash = use_location().hash;
    let link = move || live::linked(hash);
    let finds = move || query.with_untracked(|query| query.get("find").is_some());
    let stop = Memo::new(move |before: Option<&Stop>| visits.stop(before, wanted.get(), link().as_deref(), finds()));
    let page = fetched(
        move || stop.with(|stop| stop.reading.clone()),
        |((address, before, at), number)| async move {
            // This page is drawn here, and at once: what draws it is fetched together with what it shows.
            if live::has_taken_over() {
                spawn_local(transcript::ready());
            }
            let loaded = load_pod(address, before, at).await;
            if loaded.is_ok() && live::has_taken_over() {
                transcript::ready().await;
            }
            (number, loaded)
        },
    );
    let again = Callback::new(move |()| page.refetch());
    // The number of the reading that is shown.
    let read = RwSignal::new(0);
    let is_reading = Memo::new(move |_| stop.with(|stop| !stop.is_back && stop.reading.1 != read.get()));
    let shows_details = Memo::new(move |_| query.with(|query| query.get("pane").as_deref() == Some("details")));
    let look = Look { is_reading, shows_details, again };
    // Also read once more when this page has been disposed of.
    let title = move || {
        let name = |pod: PodContext| pod.summary.try_with(|summary| summary.name.to_string());
        visits.titled.try_get().flatten().and_then(name).unwrap_or_default()
    };
    view! {
        <Title text=title />
        <Transition fallback=PodLoading>
            {
                let home = Owner::current().unwrap_or_default();
                move || {
                    let Stop { wanted, is_back, reading } = stop.get();
                    page.get()
                        .map(|(number, loaded)| match () {
                            () if is_back => Visit::back(visits, wanted, link()),
                            () if number != reading.1 => Visit::later(visits, wanted),
                            () => {
                                let at = wanted.2;
                                read.set(number);
                                let visit = Visit::fresh(visits, wanted, &home, || drawn(console, loaded, look, at));
                                visits.titled.set(visit.pod());
                                visit
                            }
                        })
                }
            }
        </Transition>
    }
}

/// The parts of a page's look that depend on the address and not on its Pod.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// The next Pod is being read. The one on screen stays whole until it can be replaced in one step, and accepts no
    /// more input meanwhile.
    is_reading: Memo<bool>,
    shows_details: Memo<bool>,
    /// Reads the page again.
    again: Callback<()>,
}

fn drawn(
    console: Console,
    loaded: Result<PodPageData, UiError>,
    look: Look,
    at: Option<Seq>,
) -> (AnyView, Option<PodContext>) {
    match loaded {
        Ok(data) => {
            let rows = Rows::new(&data.records, data.has_more);
            if live::has_taken_over() && at.is_none() {
                rows.window.draw_end_first();
            }
            let pod = PodContext::provide(console, data.detail, data.peers, rows, data.cursor.is_none());
            provide_linked(rows, at);
            if let Some(cursor) = data.cursor {
                follow(pod, cursor, data.head);
            }
            (view! { <PodView pod=pod look=look /> }.into_any(), Some(pod))
        }
        Err(error) => (view! { <PodMissing error=error again=look.again /> }.into_any(), None),
    }
}

#[component]
fn PodLoading() -> impl IntoView {
    view! {
        <main id="main" class="page" tabindex="-1" aria-busy="true">
            <p class="hint">"Loading the transcript…"</p>
        </main>
    }
}

#[component]
fn PodMissing(error: UiError, again: Callback<()>) -> impl IntoView {
    let title = match error.code() {
        ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound => "No such Pod",
        ErrorCode::RuntimeUnavailable => "Pod unreachable",
        _ => "Pod unavailable",
    };
    let next = match error.code() {
        ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound => {
            let hint = "It may have been deleted, or the address is incomplete. See the list of Pods.";
            view! { <p class="hint">{hint}</p> }.into_any()
        }
        _ => view! {
            <p>
                <TryAgain again=move || again.run(()) />
            </p>
        }
        .into_any(),
    };
    view! {
        <Title text=title />
        <main id="main" class="page" tabindex="-1">
            <section class="missing">
                <h1>{title}</h1>
                <p>{sentence_case(error.sentence())}</p>
                {next}
                <p>
                    <a class="button" href="/">
                        "All Pods"
                    </a>
                </p>
            </section>
        </main>
    }
}

#[component]
fn PodView(pod: PodContext, look: Look) -> impl IntoView {
    let Look { is_reading, shows_details, .. } = look;
    use_console().view(pod, TRANSCRIPT_KEYS);
    Changed::provide(pod);
    let below = match pod.is_old {
        true => view! { <OldPage /> }.into_any(),
        false => view! { <Composer /> }.into_any(),
    };
    view! {
        <main
            id="main"
            class="pod-page"
            class:is-aside=move || shows_details.get()
            inert=move || is_reading.get()
        >
            <PodHead />
            <Closed />
            <ChildQuestions />
            <FindBar />
            <TranscriptPane />
            {below}
            <TerminalPlace pod=pod />
        </main>
        <div class="inspect-place" class:is-shown=move || shows_details.get()>
            <Inspector />
        </div>
    }
}

/// The terminal, while it is open. It ends when this page is left.
#[component]
fn TerminalPlace(pod: PodContext) -> impl IntoView {
    pod.presence.on_turn(move |_| pod.shows_terminal.set(false));
    let terminal = move || pod.shows_terminal.get().then(|| drawn_over(Over::Terminal(Box::new(pod))));
    view! { <Suspense>{redrawn(terminal)}</Suspense> }
}

/// Says that no more records will come: where you look, but not in the transcript.
#[component]
fn Closed() -> impl IntoView {
    let pod = expect_context::<PodContext>();
    redrawn(move || {
        pod.closed.get().map(|reason| {
            view! {
                <p class="closed" role="alert">
                    "Live updates stopped: "
                    {reason}
                    ". "
                    <a href="/">"All Pods"</a>
                </p>
            }
            .into_any()
        })
    })
}

/// The line below a page of older records, which never grows.
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
}
