use leptos::prelude::*;
use protocol::ControlVerb;
use transcript::words::{about_cost, tokens_words};

use crate::{
    acting::control,
    console::{use_console, use_pod},
    format::percent,
    redrawn::redrawn,
};

/// From this share on, in percent, the meter warns that the context is nearly full.
const FULL_PERCENT: u64 = 80;

/// How full the model's context is. A `meter` element, so that assistive technology announces it.
#[component]
pub(crate) fn ContextMeter() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let context =
        Memo::new(move |_| pod.summary.with(|summary| (summary.usage.context_used, summary.usage.context_limit)));
    let words = move || match context.get() {
        (0, 0) => "nothing sent yet".to_owned(),
        (used, 0) => format!("{} used; the model's limit is unknown", tokens_words(used)),
        (used, limit) => format!("{} of {}", tokens_words(used), tokens_words(limit)),
    };
    let share = Memo::new(move |_| {
        let (used, limit) = context.get();
        percent(used, limit)
    });
    let meter = move || {
        share.get().map(|share| {
            view! {
                <meter min="0" max="100" high=FULL_PERCENT.to_string() value=share.to_string() aria-label="Context used">
                    {share}
                    " %"
                </meter>
            }.into_any()
        })
    };
    let has_agent = Memo::new(move |_| pod.summary.with(|summary| summary.agent.is_some()));
    let compact = move || {
        if has_agent.get() {
            return view! { "Nearly full. Its agent keeps its context itself; some compact it when they are sent /compact." }
                .into_any();
        }
        view! {
            "Nearly full: it is compacted automatically before the next model call."
            <button
                type="button"
                class="button"
                on:click=move |_| control(console, &untrack(|| pod.as_it_is()), ControlVerb::Compact)
            >
                "Compact…"
            </button>
        }
        .into_any()
    };
    let warning = move || {
        share
            .get()
            .filter(|share| *share >= FULL_PERCENT)
            .map(|_| view! { <p class="nearly-full">{redrawn(compact)}</p> }.into_any())
    };
    let cost = move || {
        pod.summary.with(|summary| about_cost(summary.usage.cost, summary.usage.currency, summary.usage.estimated))
    };
    view! {
        <section>
            <h2>"Context " <small>{redrawn(cost)}</small></h2>
            {redrawn(meter)}
            <small>{redrawn(words)}</small>
            <div role="status">{redrawn(warning)}</div>
        </section>
    }
}
