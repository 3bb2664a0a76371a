use leptos::{prelude::*, task::spawn_local};
use protocol::Seq;

use crate::{
    components::link::taken,
    console::{PodContext, pod_href, use_pod},
    format::counted,
    live,
    redrawn::redrawn,
    rows::Rows,
    server_fns::older_records,
    transcript::{finished, linked::linked_block, markup, reads::EntryView},
};

/// At most this many older pages are fetched to return to a scroll position.
const PAGES_BACK_MAX: usize = 25;

/// The maximum number of blocks on one page. Beyond that, older ones have a page of their own, and a page that
/// follows the end starts over with the newest ones.
pub(crate) const KEPT_BLOCKS_MAX: usize = 20_000;

/// The scrolling part of a Pod's page. Its blocks are in the initial HTML; a link leads to older ones without a
/// script. In a long transcript only the blocks around the view are drawn; two empty spacers stand in for the others.
#[component]
pub(crate) fn TranscriptPane() -> impl IntoView {
    let pod = use_pod();
    let address = pod.pod.with_value(ToString::to_string);
    let older = Older { pod, is_loading: RwSignal::new(false), has_failed: RwSignal::new(false) };
    attach(older, address.clone());
    // In a long transcript blocks are drawn again as they come into view.
    if !pod.rows.window.is_whole() {
        live::fetch_first(Box::pin(ready()));
    }
    let label = move || pod.summary.with(|summary| format!("Transcript of {}", summary.name));
    view! {
        <section
            id="log"
            class="log"
            tabindex="0"
            aria-label=label
            data-pod=address
            data-blocks=move || pod.rows.window.entries.with(Vec::len)
            data-drawn=move || pod.rows.window.drawn.with(ExactSizeIterator::len)
            on:keydown=|event| live::log_key(&event)
        >
            <div id="log-blocks">
                <div id="log-earlier">
                    <Earlier older=older />
                </div>
                <div id="log-above"></div>
                <div id="log-drawn">
                    <For each=move || pod.rows.window.shown() key=|entry| entry.key() let:entry>
                        <EntryView entry=entry />
                    </For>
                </div>
                <div id="log-below"></div>
                <Emptiness />
            </div>
        </section>
        <NewBelow />
    }
}

/// Fetches the code that draws blocks, so that those that are drawn from now on have their height at once.
pub(crate) async fn ready() {
    futures_util::future::join(markup::ready(), finished::ready()).await;
}

/// Takes over the scrolling once the page is hydrated.
fn attach(older: Older, address: String) {
    let pod = older.pod;
    let number = StoredValue::new(None);
    let linked = linked_block();
    Effect::new(move |before: Option<()>| {
        if before.is_some() {
            return;
        }
        // Whoever is here will scroll, or send something that is answered.
        live::once_touched(|| {
            spawn_local(ready());
        });
        let told = move |following| {
            pod.is_following.try_set(following);
            if following {
                pod.unseen.try_set(0);
            }
        };
        let attached = live::log_attach(format!("yoi:scroll:{address}"), pod.rows, told, move || older.fetch_if_due());
        number.set_value(Some(attached));
        if !live::log_restore(linked.as_deref()) {
            spawn_local(async move {
                for _ in 0..PAGES_BACK_MAX {
                    if !load_older(pod).await {
                        break;
                    }
                    live::painted().await;
                    // Another page may be on screen by now.
                    if !pod.presence.is_here() || live::log_restore(None) {
                        return;
                    }
                }
                if pod.presence.is_here() {
                    live::log_to_end();
                }
            });
        }
    });
    pod.presence.on_turn(move |is_here| match (number.get_value(), is_here) {
        (Some(number), true) => live::log_take_back(number),
        (Some(number), false) => {
            live::log_put_aside(number);
            live::once_painted(move || live::log_fold(number));
        }
        (None, _) => (),
    });
    on_cleanup(move || {
        if let Some(number) = number.try_get_value().flatten() {
            live::log_detach(number);
        }
    });
}

/// Loading older records, one page at a time.
#[derive(Debug, Clone, Copy)]
struct Older {
    pod: PodContext,
    is_loading: RwSignal<bool>,
    /// Loading has failed; only the user retries.
    has_failed: RwSignal<bool>,
}

impl Older {
    /// Called when the view comes near the first block.
    fn fetch_if_due(self) {
        if self.has_failed.try_get_untracked() == Some(false) && is_in_place(self.pod.rows) {
            self.fetch();
        }
    }

    fn fetch(self) {
        if self.is_loading.try_get_untracked() != Some(false) || !self.pod.rows.has_more.get_untracked() {
            return;
        }
        self.is_loading.set(true);
        spawn_local(async move {
            let worked = load_older(self.pod).await;
            // `try_set` returns the value if the page has been left.
            self.is_loading.try_set(false);
            self.has_failed.try_set(!worked);
        });
    }
}

/// Whether the page can hold more older blocks.
fn is_in_place(rows: Rows) -> bool {
    rows.len() < KEPT_BLOCKS_MAX
}

act! {
    /// Loads the page before the first block. Returns false if there is none or it could not be loaded.
    async fn load_older(pod: PodContext) -> bool = prepend_older;
}

async fn prepend_older(pod: PodContext) -> bool {
    let (Some(true), Some(first)) = (pod.rows.has_more.try_get_untracked(), pod.rows.first.try_get_untracked()) else {
        return false;
    };
    let Ok(page) = older_records(pod.pod.get_value(), first, false).await else { return false };
    ready().await;
    // By now another Pod may be on screen.
    if pod.rows.first.try_get_untracked() != Some(first) {
        return false;
    }
    live::log_keep_place(move || pod.rows.prepend(&page.records, page.has_more));
    true
}

/// After a snapshot in the middle of an answer, loads the answer's beginning.
pub(crate) fn complete_beginning(pod: PodContext) {
    if pod.rows.is_cut.get_value() {
        spawn_local(async move {
            load_older(pod).await;
        });
    }
}

/// A link that works without a script; with one, it loads earlier blocks in place.
#[component]
fn Earlier(older: Older) -> impl IntoView {
    let pod = older.pod;
    let href = move || format!("{}?before={}", pod.pod.with_value(pod_href), pod.rows.first.get());
    let fetch = move |event: leptos::ev::MouseEvent| {
        if is_in_place(pod.rows) {
            taken(&event);
            older.fetch();
        }
    };
    let words = move || match (older.is_loading.get(), older.has_failed.get()) {
        (true, _) => "Fetching…",
        (false, true) => "Could not load older records; try again",
        (false, false) => "Earlier",
    };
    redrawn(move || {
        let beginning = pod.rows.first.get() <= Seq(1) || !pod.rows.has_more.get();
        match beginning {
            true => ().into_any(),
            false => view! {
                <p class="earlier">
                    <a href=href rel="prev" on:click=fetch>
                        {redrawn(words)}
                    </a>
                </p>
            }
            .into_any(),
        }
    })
}

/// What to do, shown while the transcript is empty.
#[component]
fn Emptiness() -> impl IntoView {
    let pod = use_pod();
    let is_empty = Memo::new(move |_| pod.rows.window.entries.with(Vec::is_empty));
    redrawn(move || {
        is_empty.get().then(|| {
            let is_rehearsal = pod.summary.with_untracked(|summary| summary.provider == "rehearsal");
            let hint = is_rehearsal.then(|| {
                view! {
                    <p>
                        "This is the rehearsal model: it does what each line says. Try "
                        <code>"say hello"</code> ", " <code>"think hard"</code> " or "
                        <code>"stream 100 at 20"</code> "."
                    </p>
                }
                .into_any()
            });
            view! {
                <div class="emptiness">
                    <p>
                        "No messages yet. Write below; Enter sends."
                    </p>
                    {hint}
                </div>
            }
            .into_any()
        })
    })
}

/// The button that goes to the end, with the number of new blocks there.
#[component]
fn NewBelow() -> impl IntoView {
    let pod = use_pod();
    let words = move || match pod.unseen.get() {
        0 => "Jump to the end ↓".to_owned(),
        count => format!("{count} new ↓"),
    };
    let title = move || match pod.unseen.get() {
        0 => "Jump to the end (g e)".to_owned(),
        count => format!("{} below; jump to the end (g e)", counted(count as u64, "new block")),
    };
    view! {
        <div class="below" class:is-hidden=move || pod.is_following.get()>
            <button
                type="button"
                title=title
                tabindex=move || if pod.is_following.get() { "-1" } else { "0" }
                on:click=|_| live::log_to_end()
            >
                {redrawn(words)}
            </button>
        </div>
    }
}
