use leptos::prelude::*;
use transcript::{Block, BlockKind, words::trigger_words};

use super::use_pod;
use crate::{
    components::when::TimeOfDay,
    console::{pod_href, use_console},
    live,
};

/// The heading of a turn: its number, what began it, when. The number is a link to this very turn.
#[component]
pub(crate) fn TurnView(block: RwSignal<Block>) -> impl IntoView {
    let console = use_console();
    let (seq, at) = block.with_untracked(|block| (block.seq, block.at));
    let href = use_pod().pod.with_value(|pod| format!("{}?at={seq}#seq-{seq}", pod_href(pod)));
    let facts = Memo::new(move |_| {
        block.with(|block| match &block.kind {
            BlockKind::Turn { number, trigger } => (*number, trigger_words(*trigger)),
            _ => (None, ""),
        })
    });
    let number = move || facts.get().0;
    let name = move || number().map_or_else(|| "turn".to_owned(), |number| format!("turn {number}"));
    let anchor = move || number().map(|number| format!("turn-{number}"));
    let copy = {
        let href = href.clone();
        move |event: leptos::ev::MouseEvent| {
            event.prevent_default();
            event.stop_propagation();
            let link = live::keep_url(&href);
            live::copy_text(link, move |worked| {
                console.note(match worked {
                    true => "The link to this turn is copied.",
                    false => "The address bar has the link to this turn.",
                });
            });
        }
    };
    view! {
        <h2 class="turn" data-turn="" id=anchor>
            <a href=href title="Link to this turn" on:click=copy>
                {name}
            </a>
            " "
            <TimeOfDay at=at />
            " "
            <span>{move || facts.get().1}</span>
        </h2>
    }
    .into_any()
}
