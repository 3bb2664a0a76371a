use leptos::prelude::*;
use protocol::{Outcome, Usage};
use transcript::{
    Block, BlockKind,
    words::{ESTIMATED, about_cost, about_tokens, duration_words, outcome_words},
};

use crate::format::ms_between;

/// The end of a run: outcome, tokens, time, cost. A failure is shown here, so that it is still there after a reload.
#[component]
pub(crate) fn RunEndView(block: RwSignal<Block>) -> impl IntoView {
    move || block.with(|block| line(&block.kind))
}

fn line(kind: &BlockKind) -> Option<impl IntoView + use<>> {
    let BlockKind::RunEnd { outcome, code, detail, usage, started_at, ended_at, .. } = kind else { return None };
    let took = started_at.map(|start| duration_words(ms_between(start, *ended_at)));
    let failed = *outcome == Outcome::Error;
    let why = match (code, detail) {
        (Some(code), Some(detail)) => Some(format!("{detail} ({code})")),
        (code, detail) => detail.clone().or_else(|| code.clone()),
    };
    let marked = usage.estimated.then_some(ESTIMATED);
    Some(
        view! {
            <div class="end" class:end-failed=failed>
                <span class="outcome">{outcome_words(*outcome)}</span>
                {tokens(usage).map(|tokens| view! { <span title=marked>{tokens}</span> }.into_any())}
                {took.map(|took| view! { <span>{took}</span> }.into_any())}
                <span title=marked>{about_cost(usage.cost, usage.currency, usage.estimated)}</span>
                {why.map(|why| view! { <p class="why">{why}</p> }.into_any())}
            </div>
        }
        .into_any(),
    )
}

fn tokens(usage: &Usage) -> Option<String> {
    (usage.input + usage.output > 0).then(|| {
        let about = |count| about_tokens(count, usage.estimated);
        format!("{} in · {} out", about(usage.input), about(usage.output))
    })
}
