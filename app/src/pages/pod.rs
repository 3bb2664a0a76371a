use leptos::{prelude::*, task::spawn_local};
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::{ControlEvent, ErrorCode, Event, Outcome, Record, Seq, TurnEvent};

use crate::{
    UiError,
    components::{
        child_questions::ChildQuestions,
        composer::Composer,
        inspector::Inspector,
        pod_head::PodHead,
        transcript::{
            Arrivals, KEPT_BLOCKS_MAX, PodContext, Returned, Rows, TranscriptPane, complete_beginning, find::FindBar,
            provide_linked,
        },
    },
    console::{pod_href, use_console},
    format::sentence_case,
    live::{self, PodFeed},
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
    let name = move || pod.summary.with(|summary| summary.name.to_string());
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

/// Goes on exactly after the records that the page came with.
fn follow(pod: PodContext, cursor: String, applied: Seq) {
    let stream =
        Stream { pod, arrivals: Arrivals::new(), number: StoredValue::new(None), is_renewing: StoredValue::new(false) };
    Effect::new(move |before: Option<()>| {
        if before.is_none() {
            stream.watch(cursor.clone(), applied);
        }
    });
    on_cleanup(move || {
        if let Some(number) = stream.number.try_get_value().flatten() {
            live::unwatch(number);
        }
    });
}

/// What comes for the Pod that is viewed.
#[derive(Debug, Clone, Copy)]
struct Stream {
    pod: PodContext,
    arrivals: Arrivals,
    number: StoredValue<Option<u64>>,
    is_renewing: StoredValue<bool>,
}

impl Stream {
    fn watch(self, cursor: String, applied: Seq) {
        let target = self.pod.pod.get_value();
        let number = live::watch(target, cursor, applied, move |feed| self.take(feed));
        self.number.set_value(Some(number));
    }

    fn take(self, feed: PodFeed) {
        let pod = self.pod;
        match feed {
            PodFeed::Records(records) => self.arrivals.add(records, move |records| self.apply(&records)),
            PodFeed::Snapshot { summary, records, has_more } => {
                // All that waits is in the snapshot.
                self.arrivals.now();
                pod.rows.reset(&records, has_more);
                complete_beginning(pod);
                pod.detail.update(|detail| detail.summary = *summary);
                pod.refresh();
                pod.refresh_peers();
            }
            PodFeed::Closed(reason) => {
                self.apply(&self.arrivals.now());
                pod.closed.set(Some(reason));
            }
        }
    }

    fn apply(self, records: &[Record]) {
        let pod = self.pod;
        let added = pod.rows.apply(records);
        if !pod.is_following.get_untracked() {
            // A block that only grew is something new to see as well.
            pod.unseen.update(|unseen| *unseen = (*unseen + added).max(1));
        }
        if records.iter().any(moves_the_detail) {
            pod.refresh();
        }
        if records.iter().any(moves_the_peers) {
            pod.refresh_peers();
        }
        if records.iter().any(gives_back)
            && let Some(segments) = pod.rows.newest_returned()
        {
            pod.returned.set(Some(Returned { segments, is_asked_for: false }));
        }
        if pod.rows.len() > KEPT_BLOCKS_MAX && pod.is_following.get_untracked() {
            self.renew();
        }
    }

    /// The page has become too long, and its reader is at the end: goes on with the newest records alone.
    fn renew(self) {
        if self.is_renewing.try_update_value(|renewing| std::mem::replace(renewing, true)) != Some(false) {
            return;
        }
        let address = self.pod.pod.with_value(ToString::to_string);
        spawn_local(async move {
            let loaded = load_pod(address, None, None).await;
            // The answer may be late: the page was left, or its reader reads older blocks.
            if self.is_renewing.try_set_value(false).is_some() || !self.pod.is_following.get_untracked() {
                return;
            }
            let Ok(PodPageData { records, has_more, head, cursor: Some(cursor), .. }) = loaded else { return };
            if let Some(number) = self.number.get_value() {
                live::unwatch(number);
            }
            self.arrivals.now();
            self.pod.rows.reset(&records, has_more);
            self.watch(cursor, head);
        });
    }
}

/// An answer of nothing took the message back.
fn gives_back(record: &Record) -> bool {
    matches!(&record.event, Event::Control(ControlEvent::RunFinished { outcome: Outcome::RolledBack, .. }))
}

/// Who knows whom has changed.
fn moves_the_peers(record: &Record) -> bool {
    matches!(
        &record.event,
        Event::Control(
            ControlEvent::PeerLinked { .. }
                | ControlEvent::PeerUnlinked { .. }
                | ControlEvent::PeerRequested { .. }
                | ControlEvent::PeerDeclined { .. }
        )
    )
}

/// The queue, the children, the rules: no stream carries them.
fn moves_the_detail(record: &Record) -> bool {
    matches!(
        &record.event,
        Event::Turn(TurnEvent::UserMessage { .. })
            | Event::Control(
                ControlEvent::RunStarted { .. }
                    | ControlEvent::RunFinished { .. }
                    | ControlEvent::ChildSpawned { .. }
                    | ControlEvent::ChildStopped { .. }
                    | ControlEvent::ScopeChanged { .. }
                    | ControlEvent::ApprovalAnswered { .. }
            )
    )
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
