use commands::allowed::rewind_refusal;
use leptos::prelude::*;
use protocol::{Segment, Seq};
use transcript::{Block, BlockKind, PersonState};

use super::{PodContext, Returned, use_pod};
use crate::{
    console::{Console, Dialog, use_console},
    draft::paste_words,
    live,
};

/// What a person said, and how far it is: stored, read, or given back.
#[component]
pub(crate) fn PersonView(block: RwSignal<Block>) -> impl IntoView {
    let (segments, by) = block.with_untracked(|block| match &block.kind {
        BlockKind::Person { segments, by, .. } => (segments.clone(), by.clone()),
        _ => Default::default(),
    });
    let words = move || {
        block.with(|block| match &block.kind {
            BlockKind::Person { state: PersonState::Stored, .. } => Some("stored"),
            BlockKind::Person { state: PersonState::Returned, .. } => Some("given back to you"),
            _ => None,
        })
    };
    let by = (by != "operator").then(|| view! { <span class="by">{by}</span> });
    view! {
        <article class="person" aria-label="You said">
            {segments.into_iter().map(segment).collect_view()}
            <span class="receipt">{by} {words}</span>
            <PersonActs block=block />
        </article>
    }
    .into_any()
}

/// Going back to before it; or, when it was given back, to the composer.
#[component]
fn PersonActs(block: RwSignal<Block>) -> impl IntoView {
    let (console, pod) = (use_console(), use_pod());
    let seq = block.with_untracked(|block| block.seq);
    let is_returned = Memo::new(move |_| {
        block.with(|block| matches!(block.kind, BlockKind::Person { state: PersonState::Returned, .. }))
    });
    let is_rewound =
        Memo::new(move |_| pod.rows.rewinds.with(|rewinds| block.with_untracked(|block| block.is_rewound(rewinds))));
    let put_back = move |_| {
        let segments = block.with_untracked(|block| match &block.kind {
            BlockKind::Person { segments, .. } => segments.clone(),
            _ => Vec::new(),
        });
        pod.returned.set(Some(Returned { segments, is_asked_for: true }));
    };
    let act = move || match (is_returned.get(), is_rewound.get()) {
        (true, _) => {
            Some(view! { <button type="button" class="quiet" on:click=put_back>"Put it back"</button> }.into_any())
        }
        (false, false) => Some(
            view! {
                <button type="button" class="quiet when-near" on:click=move |_| rewind(console, pod, seq)>
                    "Rewind to before this…"
                </button>
            }
            .into_any(),
        ),
        (false, true) => None,
    };
    view! { <div class="person-acts">{move || (!pod.is_old).then(act)}</div> }.into_any()
}

/// Asks before it takes this message, and what came after it, out of the context.
pub(crate) fn rewind(console: Console, pod: PodContext, message: Seq) {
    match rewind_refusal(pod.state.get_untracked()) {
        Some(reason) => console.note(format!("Rewinding does nothing now: {reason}")),
        None => console.dialog.set(Some(Dialog::Rewind(Box::new(pod), Seq(message.0 - 1)))),
    }
}

fn segment(segment: Segment) -> AnyView {
    match segment {
        Segment::Text { text } => view! { <p class="said">{text}</p> }.into_any(),
        Segment::Paste { text } => {
            let words = paste_words(&text);
            view! {
                <details class="paste">
                    <summary on:click=|_| live::log_stop_following()>"pasted " {words}</summary>
                    <pre>{text}</pre>
                </details>
            }
            .into_any()
        }
        Segment::FileRef { path } => view! { <code class="file">"@" {path}</code> }.into_any(),
        Segment::Unknown(fields) => {
            let text = serde_json::to_string(&fields).unwrap_or_default();
            view! { <code class="file">{text}</code> }.into_any()
        }
    }
}
