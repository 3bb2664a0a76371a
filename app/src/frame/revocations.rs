use leptos::prelude::*;

use crate::console::{
    Dialog,
    undoing::{Ended, Stage, undo},
    use_console,
};

/// What has just been ended, each with an undo button. The peers dialog shows its own.
#[component]
pub(crate) fn Revocations() -> impl IntoView {
    let console = use_console();
    let is_elsewhere = Memo::new(move |_| console.dialog.with(|dialog| matches!(dialog, Some(Dialog::Peer(_)))));
    let shown = move || match is_elsewhere.get() {
        true => Vec::new(),
        false => console.ended.with(|ended| ended.list().to_vec()),
    };
    view! {
        <For each=shown key=|ended| (ended.number, ended.stage) let:ended>
            <Ending ended=ended />
        </For>
    }
}

#[component]
fn Ending(ended: Ended) -> impl IntoView {
    let console = use_console();
    let number = ended.number;
    view! {
        <p class="notice">
            <span>{ended.words()}</span>
            {(ended.stage == Stage::Done)
                .then(|| {
                    view! {
                        <button class="button" type="button" title="Undo (u)" on:click=move |_| undo(console, number)>
                            "Undo"
                        </button>
                    }.into_any()
                })}
        </p>
    }
}
