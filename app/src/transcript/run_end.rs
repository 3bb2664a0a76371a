use commands::allowed::refusal_of;
use leptos::{prelude::*, task::spawn_local};
use protocol::{ControlVerb, Outcome, Seq, Usage};
use transcript::{
    Block, BlockKind,
    words::{ESTIMATED, about_cost, about_tokens, duration_words, outcome_words},
};

use crate::{
    console::{Dialog, fresh_command, use_console, use_pod},
    format::ms_between,
    redrawn::redrawn,
    server_fns::control_pod,
};

/// The end of a run: outcome, tokens, time, cost; if all went well, only while one looks there. A failure is shown here,
/// so that it is still there after a reload.
#[component]
pub(crate) fn RunEndView(block: RwSignal<Block>) -> impl IntoView {
    redrawn(move || block.with(|block| line(block.seq, &block.kind)))
}

fn line(seq: Seq, kind: &BlockKind) -> Option<impl IntoView + use<>> {
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
            <div class="end" class:end-failed=failed class:is-quiet={*outcome == Outcome::Completed}>
                <span class="outcome">{outcome_words(*outcome)}</span>
                {tokens(usage).map(|tokens| view! { <span title=marked>{tokens}</span> }.into_any())}
                {took.map(|took| view! { <span>{took}</span> }.into_any())}
                {cost(usage).map(|cost| view! { <span title=marked>{cost}</span> }.into_any())}
                {is_cut_short(*outcome).then(|| view! { <RetryButton seq=seq /> }.into_any())}
                <ForkButton seq=seq />
                {why.map(|why| view! { <p class="why">{why}</p> }.into_any())}
            </div>
        }
        .into_any(),
    )
}

/// Whether the run ended early in a way that asking again may change.
fn is_cut_short(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Error | Outcome::Interrupted | Outcome::Cancelled | Outcome::Limit)
}

/// Asks the model again. Shown only at the end of the newest run, while nothing is running.
#[component]
fn RetryButton(seq: Seq) -> impl IntoView {
    let (console, pod) = (use_console(), use_pod());
    let is_turn = |block: &Block| {
        let kind = &block.kind;
        matches!(kind, BlockKind::RunEnd { .. } | BlockKind::Turn { .. } | BlockKind::Rewound { .. })
    };
    let is_newest = move || pod.rows.newest(1, |block| is_turn(block).then_some(block.seq)) == [seq];
    let is_offered =
        Memo::new(move |_| !pod.is_old && refusal_of(ControlVerb::Retry, &pod.as_it_is()).is_none() && is_newest());
    let retry = move |_| {
        let pod = pod.pod.get_value();
        spawn_local(async move {
            if let Err(refusal) = control_pod(pod, fresh_command(), ControlVerb::Retry).await {
                console.fail(&refusal);
            }
        });
    };
    redrawn(move || {
        is_offered.get().then(|| view! { <button type="button" class="button" on:click=retry>"Retry"</button> })
    })
}

/// Asks for the name of a Pod that begins with the whole history up to this point.
#[component]
fn ForkButton(seq: Seq) -> impl IntoView {
    let (console, pod) = (use_console(), use_pod());
    let ask = move |_| {
        let summary = Box::new(untrack(|| pod.as_it_is()));
        console.dialog.set(Some(Dialog::Fork(summary, Some(seq))));
    };
    view! {
        <button type="button" class="quiet fork" on:click=ask>
            "Fork from here…"
        </button>
    }
}

/// Nothing for a run that used nothing.
fn cost(usage: &Usage) -> Option<String> {
    let has_used = usage.input + usage.output > 0 || usage.cost.is_some();
    has_used.then(|| about_cost(usage.cost, usage.currency, usage.estimated))
}

fn tokens(usage: &Usage) -> Option<String> {
    (usage.input + usage.output > 0).then(|| {
        let about = |count| about_tokens(count, usage.estimated);
        format!("{} in · {} out", about(usage.input), about(usage.output))
    })
}
