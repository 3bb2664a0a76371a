use leptos::prelude::*;
use transcript::{Block, BlockKind, Status, plain_text};

use super::markup::Markup;
use crate::{components::copy_button::CopyButton, redrawn::redrawn};

/// The model's answer. While it streams, only its last paragraph is redrawn.
#[component]
pub(crate) fn AssistantView(block: RwSignal<Block>) -> impl IntoView {
    let text = Signal::derive(move || {
        block.with(|block| match &block.kind {
            BlockKind::Assistant { text, .. } => text.clone(),
            _ => String::new(),
        })
    });
    let status = Memo::new(move |_| {
        block.with(|block| match &block.kind {
            BlockKind::Assistant { status, .. } => *status,
            _ => Status::Finished,
        })
    });
    let interrupted = move || {
        (status.get() == Status::Interrupted).then(|| view! { <span class="cut">"interrupted here"</span> }.into_any())
    };
    let copy = move || {
        (status.get() != Status::Streaming)
            .then(|| view! { <CopyButton label="copy" text=move || block.with_untracked(plain_text) /> }.into_any())
    };
    view! {
        <article class="says" aria-label="Answer" class:is-streaming=move || status.get() == Status::Streaming>
            <Markup text=text />
            {redrawn(interrupted)}
            <div class="tools">{redrawn(copy)}</div>
        </article>
    }
}
