//! A block with truncated texts: its full size, and a way to load all of it.

use leptos::{prelude::*, task::spawn_local};
use transcript::{Block, CutRecord, words::bytes_words};

use crate::{
    UiError,
    components::link::taken,
    console::{PodContext, record_href, use_console, use_pod},
    live,
    redrawn::redrawn,
    server_fns::older_records,
};

/// A record larger than this, in bytes, is not loaded into the page; it opens by itself as plain text.
const IN_PAGE_BYTES_MAX: u64 = 8_000_000;

/// A link that works without a script; with one, it loads the text in place.
pub(super) fn cut_note(block: RwSignal<Block>) -> Option<AnyView> {
    let (cut, bytes) = block.with_untracked(|block| Some((block.cut.clone(), block.cut_bytes()?)))?;
    let (console, pod) = (use_console(), use_pod());
    let is_fetching = RwSignal::new(false);
    let href = pod.pod.with_value(|pod| cut.first().map(|first| record_href(pod, first.seq)));
    let fetch = move |event: leptos::ev::MouseEvent| {
        if bytes > IN_PAGE_BYTES_MAX {
            return;
        }
        taken(&event);
        live::log_stop_following();
        if is_fetching.get_untracked() {
            return;
        }
        is_fetching.set(true);
        let cut = cut.clone();
        spawn_local(async move {
            if let Err(error) = complete(pod, cut).await {
                console.fail(&error);
            }
            is_fetching.try_set(false);
        });
    };
    let words =
        move || if is_fetching.get() { "Fetching…".to_owned() } else { format!("Show all {}", bytes_words(bytes)) };
    Some(
        view! {
            <p class="cut-here">
                "Cut here. " <a href=href rel="external" on:click=fetch>
                    {redrawn(words)}
                </a>
            </p>
        }
        .into_any(),
    )
}

act! {
    async fn complete(pod: PodContext, cut: Vec<CutRecord>) -> Result<(), UiError> = fetch_whole;
}

async fn fetch_whole(pod: PodContext, cut: Vec<CutRecord>) -> Result<(), UiError> {
    for CutRecord { seq, .. } in cut {
        let whole = older_records(pod.pod.get_value(), seq.next(), true).await?;
        whole.records.iter().for_each(|record| pod.rows.complete(record));
    }
    Ok(())
}
