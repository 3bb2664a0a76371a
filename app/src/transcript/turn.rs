use leptos::prelude::*;
use protocol::Trigger;
use transcript::{Block, BlockKind, words::trigger_words};

use crate::{
    components::{copy_button::CopyButton, link::taken, when::TimeOfDay},
    console::{pod_href, use_pod},
    live,
    redrawn::redrawn,
};

/// The heading of a turn: its number, what began it, when. The number is a permanent link to this turn; it works
/// without a script, and with one it does not reload the page.
#[component]
pub(crate) fn TurnView(block: RwSignal<Block>) -> impl IntoView {
    let (seq, at) = block.with_untracked(|block| (block.seq, block.at));
    let pod = use_pod();
    // Its parent may have written the message, which says so itself.
    let is_led = pod.summary.with_untracked(|summary| summary.relations.parent.is_some());
    let href = pod.pod.with_value(|pod| format!("{}?at={seq}#seq-{seq}", pod_href(pod)));
    let facts = Memo::new(move |_| {
        block.with(|block| match &block.kind {
            BlockKind::Turn { number, trigger: Trigger::Input } if is_led => (*number, "a message"),
            BlockKind::Turn { number, trigger } => (*number, trigger_words(*trigger)),
            _ => (None, ""),
        })
    });
    let number = move || facts.get().0;
    let name = move || number().map_or_else(|| "turn".to_owned(), |number| format!("turn {number}"));
    let anchor = move || number().map(|number| format!("turn-{number}"));
    let go = {
        let href = href.clone();
        move |event: leptos::ev::MouseEvent| {
            taken(&event);
            live::keep_url(&href);
            live::log_show(&format!("seq-{seq}"));
        }
    };
    let link = href.clone();
    view! {
        <h2 class="turn" data-turn="" id=anchor>
            <a href=href title="Link to this turn" on:click=go>
                {redrawn(name)}
            </a>
            " "
            <TimeOfDay at=at />
            " "
            <span>{redrawn(move || facts.get().1)}</span>
            <CopyButton label="copy link" text=move || live::keep_url(&link) />
        </h2>
    }
}
