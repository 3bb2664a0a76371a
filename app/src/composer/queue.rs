use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, ErrorCode, QueuedInput, Segment};

use crate::{
    console::{Console, PodContext, Returned, fresh_command, use_console, use_pod},
    server_fns::take_back_input,
};

/// Queued and steering messages: they wait for the current run to end or for its next model call. Until then they can
/// be taken back.
#[component]
pub(crate) fn Queue() -> impl IntoView {
    let pod = use_pod();
    let queued = Memo::new(move |_| pod.detail.with(|detail| detail.queued.clone()));
    view! {
        <Show when=move || queued.with(|queued| !queued.is_empty())>
            <ol class="queue" aria-label="Queued messages">
                <For each=move || queued.get() key=|input| input.command_id.clone() let:input>
                    <Waiting input=input />
                </For>
            </ol>
        </Show>
    }
}

#[component]
fn Waiting(input: QueuedInput) -> impl IntoView {
    let (console, pod) = (use_console(), use_pod());
    let is_leaving = RwSignal::new(false);
    let words = Segment::join(&input.segments);
    let (tag, title) = tag(input.steer);
    let act = move |id: String, and_then: Then| {
        if !is_leaving.get_untracked() {
            is_leaving.set(true);
            take_back(console, pod, id, and_then, is_leaving);
        }
    };
    let (edit, remove) = (input.command_id.clone(), input.command_id);
    view! {
        <li aria-busy=move || is_leaving.get().to_string()>
            <span class="tag" title=title>
                {tag}
            </span>
            <span class="queued-text" title=words.clone()>
                {words.clone()}
            </span>
            <button
                type="button"
                class="quiet"
                title="Move it back to the text box; when sent again, it goes to the end of the queue"
                on:click=move |_| act(edit.clone(), Then::Edit)
            >
                "Edit"
            </button>
            <button
                type="button"
                class="quiet"
                title="Remove it from the queue without sending"
                on:click=move |_| act(remove.clone(), Then::Forget)
            >
                "Remove"
            </button>
        </li>
    }
}

/// A waiting message's tag, and what it waits for.
fn tag(steers: bool) -> (&'static str, &'static str) {
    match steers {
        true => ("steers", "Stored; the model reads it at its next call, in the current run"),
        false => ("queued", "Stored; runs after the current run"),
    }
}

/// What to do with a message that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Edit,
    Forget,
}

fn take_back(console: Console, pod: PodContext, id: String, and_then: Then, is_leaving: RwSignal<bool>) {
    // Ids that come from the server always parse.
    let Ok(queued) = CommandId::parse(&id) else { return };
    let target = pod.pod.get_value();
    spawn_local(async move {
        let done = take_back_input(target, fresh_command(), queued).await;
        is_leaving.try_set(false);
        match done {
            Ok(input) => {
                pod.detail.try_update(|detail| detail.queued.retain(|waiting| waiting.command_id != id));
                match and_then {
                    Then::Edit => {
                        pod.returned.try_set(Some(Returned { segments: input.segments, is_asked_for: true }));
                        console.note("Taken out of the queue. When sent again, it goes to the end.");
                    }
                    Then::Forget => console.note("Removed from the queue without sending."),
                }
            }
            Err(refusal) if refusal.code() == ErrorCode::AlreadyAnswered => {
                console.note("Too late: the model has already read it.");
            }
            Err(refusal) => console.fail(&refusal),
        }
        pod.refresh();
    });
}
