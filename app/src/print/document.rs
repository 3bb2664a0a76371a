//! The page around the blocks: which Pod's transcript it is, which part of it, and the links back.

use std::time::Duration;

use leptos::prelude::*;
use leptos_meta::Title;
use protocol::{PodDetail, Seq, Timestamp, Usage};
use transcript::{
    Transcript,
    words::{ESTIMATED, about_tokens},
};

use super::blocks::block_view;
use crate::{
    UiError,
    components::state_mark::Sign,
    console::{export_href, pod_href},
    format::{counted, full_time, sentence_case},
    server_fns::{Budget, PrintPart, print_part},
};

/// How long colouring all code of a page may take. Whatever is left over is not coloured.
const COLOURS_MAX: Duration = Duration::from_secs(3);

/// Fetched while rendering, and not embedded for a browser that would not use it.
pub(super) fn drawn(address: String, from: Option<Seq>, to: Option<Seq>) -> AnyView {
    view! {
        <Suspense>
            {move || {
                let address = address.clone();
                Suspend::new(async move {
                    match print_part(address, from, to).await {
                        Ok(part) => printed(part, from, to),
                        Err(error) => missing(&error),
                    }
                })
            }}
        </Suspense>
    }
    .into_any()
}

fn missing(error: &UiError) -> AnyView {
    view! {
        <Title text="No transcript · yoi" />
        <main id="main" class="print-page">
            <h1>"Transcript unavailable"</h1>
            <p>{sentence_case(error.sentence())}</p>
            <p>
                <a href="/">"All Pods"</a>
            </p>
        </main>
    }
    .into_any()
}

fn printed(part: PrintPart, from: Option<Seq>, to: Option<Seq>) -> AnyView {
    provide_context(Budget::of(COLOURS_MAX));
    let PrintPart { detail, records, is_cut } = part;
    let pod = pod_href(&detail.summary.pod);
    let ends = records.first().zip(records.last()).map(|(first, last)| (first.seq, last.seq));
    let head = detail.summary.head_seq;
    let earlier = match ends {
        Some((first, _)) if is_cut => Some((from, first)),
        Some((first, _)) if first > Seq(1) && from.is_some() => Some((None, first)),
        _ => None,
    };
    let earlier = earlier.map(|(from, first)| {
        let from = from.map(|from| format!("from={from}&")).unwrap_or_default();
        view! {
            <p class="print-note">
                {is_cut.then_some("Too many records for one page. ")}
                <a href=format!("{pod}/print?{from}to={}", first.0 - 1)>{format!("Before record {first}")}</a>
            </p>
        }
        .into_any()
    });
    let later = ends.filter(|(_, last)| to.is_some() && *last < head).map(|(_, last)| {
        view! {
            <p class="print-note">
                <a href=format!("{pod}/print?from={}", last.0 + 1)>{format!("After record {last}")}</a>
            </p>
        }
        .into_any()
    });
    let empty = records.is_empty().then(|| view! { <p class="print-note">"Nothing here."</p> }.into_any());
    let transcript = Transcript::from_records(&records);
    let rewinds = transcript.rewinds();
    let blocks = transcript.blocks().iter().filter(|block| !block.is_empty());
    let blocks =
        blocks.map(|block| block_view(block, &detail.summary.pod, &pod, block.is_rewound(rewinds))).collect_view();
    let dates = records.first().zip(records.last()).map(|(first, last)| (first.at, last.at));
    view! {
        <Title text=format!("{} · yoi", detail.summary.name) />
        <main id="main" class="print-page">
            <header>
                <h1>{detail.summary.name.to_string()}</h1>
                {facts(&detail, ends, dates)}
                <nav aria-label="Ways back">
                    <a href=pod.clone()>"To this Pod"</a>
                    <a href=export_href(&detail.summary.pod)>"As Markdown"</a>
                    <a href="/">"All Pods"</a>
                </nav>
            </header>
            {earlier}
            {empty}
            {blocks}
            {later}
        </main>
    }
    .into_any()
}

fn tokens_of(usage: &Usage) -> String {
    let about = |count| about_tokens(count, usage.estimated);
    let estimated = if usage.estimated { format!(" ({ESTIMATED})") } else { String::new() };
    format!("{} in, {} out{estimated}", about(usage.input), about(usage.output))
}

fn facts(detail: &PodDetail, ends: Option<(Seq, Seq)>, dates: Option<(Timestamp, Timestamp)>) -> impl IntoView + use<> {
    let summary = &detail.summary;
    let mut facts = vec![
        ("State", Sign::of(summary).word().to_owned()),
        ("Model", format!("{} · {}", summary.provider, summary.model)),
        ("Works in", summary.cwd.clone()),
        ("Since", full_time(summary.created_at, None)),
        ("Tokens", tokens_of(&summary.usage)),
    ];
    if let Some((first, last)) = ends {
        let is_whole = first <= Seq(1) && last >= summary.head_seq;
        let whole = if is_whole { ", the whole transcript" } else { "" };
        let of = counted(u64::try_from(summary.head_seq.0).unwrap_or_default(), "record");
        facts.push(("Shown", format!("records {first} to {last} of {of}{whole}")));
    }
    if let Some((first, last)) = dates {
        facts.push(("Written", format!("{} to {}", full_time(first, None), full_time(last, None))));
    }
    let fact = |(name, value)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{value}</dd>
            </div>
        }
        .into_any()
    };
    view! { <dl>{facts.into_iter().map(fact).collect_view()}</dl> }.into_any()
}
