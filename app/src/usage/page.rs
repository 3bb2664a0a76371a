use leptos::prelude::*;
use protocol::UsageReport;
use transcript::words::ESTIMATED;

use crate::{
    codec::fetched,
    components::{absent::absent, page::Page, read_first::ReadFirst},
    console::use_console,
    reading::Reading,
    redrawn::redrawn,
    server_fns::read_usage,
    usage::{DaysChart, Figures, Line, UsageTable, charts, of_days, of_links, of_models, of_pods, of_trees},
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 10_000;

/// `/usage`: tokens of all Pods, over time and by Pod.
#[component]
pub(crate) fn UsagePage() -> impl IntoView {
    let first = fetched(|| (), |()| read_usage());
    view! {
        <Page title="Usage" class="usage">
            <ReadFirst
                first=first
                wait="Loading usage…"
                draw=|report| view! { <Kept report=report /> }.into_any()
            />
        </Page>
    }
}

/// Reads the report again when Pods have used more tokens.
#[component]
fn Kept(report: UsageReport) -> impl IntoView {
    let console = use_console();
    let report = RwSignal::new(report);
    // `None` until the list of Pods has loaded: until then no newer usage is known.
    let used = Memo::new(move |_| {
        console.book.with(|book| Some(book.as_ref()?.pods().iter().map(commands::total_tokens).sum::<u64>()))
    });
    let reading = Reading::new(READING_MS_MIN);
    Effect::new(move |before: Option<Option<u64>>| {
        let used = used.get();
        if before.flatten().is_some_and(|before| Some(before) != used) {
            reading.again(move || {
                Box::pin(async move {
                    if let Ok(fresh) = read_usage().await {
                        report.try_set(fresh);
                    }
                })
            });
        }
        used
    });
    let is_unused = Memo::new(move |_| report.with(|report| charts::tokens(&report.total) == 0));
    let missing = Memo::new(move |_| report.with(|report| report.absent.clone()));
    let used = move || match is_unused.get() {
        true => view! {
            <p class="hint">
                "No tokens used yet."
            </p>
        }
        .into_any(),
        false => view! { <Report report=report /> }.into_any(),
    };
    view! {
        {redrawn(move || absent(&missing.get()))}
        {redrawn(used)}
    }
}

/// Sections stay open when the figures change.
#[component]
fn Report(report: RwSignal<UsageReport>) -> impl IntoView {
    let lines = move |read: fn(&UsageReport) -> Vec<Line>| Memo::new(move |_| report.with(read));
    let unpriced = move || {
        report.with(has_unpriced).then(|| {
            view! {
                <p class="hint">
                    "No price set: the cost of this model is unknown, so its tokens are in no cost total. [models.\"NAME\"] in config.toml sets its prices."
                </p>
            }
            .into_any()
        })
    };
    let estimated = move || {
        report.with(|report| report.total.estimated).then(|| view! { <p class="hint">{ESTIMATED} "."</p> }.into_any())
    };
    view! {
        <Figures report=report />
        <section aria-labelledby="usage-days">
            <h2 id="usage-days">"Tokens per day (UTC)"</h2>
            <DaysChart report=report />
            <details class="as-table">
                <summary>"Table of days"</summary>
                <UsageTable caption="Tokens and cost per day" first="Day" lines=lines(of_days) />
            </details>
        </section>
        <Part title="Pods" caption="Tokens and cost per Pod" first="Pod" lines=lines(of_pods) hint="" />
        <Part title="Models" caption="Tokens and cost per model" first="Model" lines=lines(of_models) hint="" />
        <Part
            title="Trees"
            caption="Tokens and cost per Pod with its children"
            first="Pod"
            lines=lines(of_trees)
            hint="A Pod together with its children and their children."
        />
        <Part
            title="Peers"
            caption="Tokens and cost per pair of peers"
            first="Pair"
            lines=lines(of_links)
            hint="Runs that a message from one started in the other; the Pods' own figures include them."
        />
        {redrawn(unpriced)}
        {estimated}
    }
}

fn has_unpriced(report: &UsageReport) -> bool {
    report
        .pods
        .iter()
        .any(|pod| pod.usage.cost.is_none() && pod.usage.currency.is_none() && charts::tokens(&pod.usage) > 0)
}

/// A table with its heading; empty when it has no rows.
#[component]
fn Part(
    title: &'static str,
    caption: &'static str,
    first: &'static str,
    lines: Memo<Vec<Line>>,
    /// Empty where the title says enough.
    hint: &'static str,
) -> impl IntoView {
    let is_empty = Memo::new(move |_| lines.with(Vec::is_empty));
    redrawn(move || match is_empty.get() {
        true => ().into_any(),
        false => view! {
            <section>
                <h2>{title}</h2>
                {(!hint.is_empty()).then(|| view! { <p class="hint">{hint}</p> }.into_any())}
                <UsageTable caption=caption first=first lines=lines />
            </section>
        }
        .into_any(),
    })
}
