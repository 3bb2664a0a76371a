use leptos::prelude::*;
use protocol::Segment;
use transcript::{Block, BlockKind, PersonState};

use crate::{draft::paste_words, live};

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
        </article>
    }
    .into_any()
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
