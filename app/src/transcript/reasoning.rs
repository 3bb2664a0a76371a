use leptos::prelude::*;
use transcript::{Block, BlockKind, Status, unseen, words::duration_words};

use crate::{format::ms_between, live, redrawn::redrawn};

/// One line with its duration; expands in place.
#[component]
pub(crate) fn ReasoningView(block: RwSignal<Block>) -> impl IntoView {
    let text = move || {
        block.with(|block| match &block.kind {
            BlockKind::Reasoning { text, .. } => unseen::shown(text.trim_end()).into_owned(),
            _ => String::new(),
        })
    };
    let title = Memo::new(move |_| block.with(|block| title(&block.kind)));
    view! {
        <details class="think">
            <summary on:click=|_| live::log_stop_following()>{title}</summary>
            <p>{redrawn(text)}</p>
        </details>
    }
}

fn title(kind: &BlockKind) -> String {
    let BlockKind::Reasoning { status, started_at, ended_at, .. } = kind else { return String::new() };
    let took = started_at.zip(*ended_at).map(|(start, end)| duration_words(ms_between(start, end)));
    match (status, took) {
        (Status::Streaming, _) => "Thinking…".to_owned(),
        (Status::Interrupted, _) => "Thought (interrupted)".to_owned(),
        (Status::Finished, Some(took)) => format!("Thought for {took}"),
        (Status::Finished, None) => "Thought".to_owned(),
    }
}
