//! The commands that the Pod runs in the background.

use leptos::prelude::*;
use protocol::{BackgroundCommand, CommandState};

use crate::{
    console::use_pod,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::list_commands,
    transcript::background::BackgroundCard,
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 2_000;

/// Those that run, newest first. Shows nothing if there are none.
#[component]
pub(super) fn Commands() -> impl IntoView {
    let pod = use_pod();
    let all = RwSignal::new(Vec::<BackgroundCommand>::new());
    // The journal tells of each that begins or ends.
    let head = move || pod.summary.with(|summary| (summary.head_seq, summary.state));
    Reading::follow(READING_MS_MIN, First::IsRead, head, move || async move {
        if let Ok(found) = list_commands(pod.pod.get_value()).await {
            all.try_set(found);
        }
    });
    let ids = Memo::new(move |_| {
        all.with(|all| {
            let running = all.iter().rev().filter(|command| command.state == CommandState::Running);
            running.map(|command| command.id.clone()).collect::<Vec<_>>()
        })
    });
    view! {
        <Show when=move || ids.with(|ids| !ids.is_empty())>
            <section class="background" aria-label="Background commands">
                <h2>"Commands " <small>{redrawn(move || ids.with(Vec::len))} " running"</small></h2>
                <For each=move || ids.get() key=|id| id.clone() let:id>
                    <BackgroundCard id=id />
                </For>
            </section>
        </Show>
    }
}
