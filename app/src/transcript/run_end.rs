use leptos::prelude::*;
use protocol::{Outcome, Usage};
use transcript::{
    Block, BlockKind,
    words::{cost_words, duration_words, outcome_words, tokens_words},
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
    Some(
        view! {
            <div class="end" class:end-failed=failed>
                <span class="outcome">{outcome_words(*outcome)}</span>
                {tokens(usage).map(|tokens| view! { <span>{tokens}</span> }.into_any())}
                {took.map(|took| view! { <span>{took}</span> }.into_any())}
                <span>{cost_words(usage.cost, usage.currency)}</span>
                {why.map(|why| view! { <p class="why">{why}</p> }.into_any())}
            </div>
        }
        .into_any(),
    )
}

fn tokens(usage: &Usage) -> Option<String> {
    (usage.input + usage.output > 0)
        .then(|| format!("{} in · {} out", tokens_words(usage.input), tokens_words(usage.output)))
}
