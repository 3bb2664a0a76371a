//! The commands that the Pod runs in the background, each with what it writes and a button that stops it.

use leptos::prelude::*;
use protocol::{BackgroundCommand, CommandState};
use transcript::{unseen, words::duration_words};

use crate::{
    components::{deed::Deed, output::output_lines, problem::Problem},
    console::{fresh_command, use_console, use_pod},
    format::ms_between,
    live,
    reading::{First, Reading},
    server_fns::{command_output, list_commands, stop_command},
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 1_500;
/// The most bytes of output that a card shows.
const SHOWN_BYTES_MAX: u64 = 8 * 1024;

/// Shows nothing if the Pod has none.
#[component]
pub(super) fn Commands() -> impl IntoView {
    let pod = use_pod();
    let all = RwSignal::new(Vec::<BackgroundCommand>::new());
    // Counts up while something runs, so that the list is read again.
    let beat = RwSignal::new(0_u32);
    let head = move || (pod.summary.with(|summary| (summary.head_seq, summary.state)), beat.get());
    Reading::follow(READING_MS_MIN, First::IsRead, head, move || async move {
        let Ok(found) = list_commands(pod.pod.get_value()).await else { return };
        let runs = found.iter().any(|command| command.state == CommandState::Running);
        all.try_set(found);
        if runs {
            live::after(READING_MS_MIN, move || {
                let _ = beat.try_update(|beat| *beat = beat.wrapping_add(1));
            });
        }
    });
    let ids = move || all.with(|all| all.iter().rev().map(|command| command.id.clone()).collect::<Vec<_>>());
    let running = move || all.with(|all| all.iter().filter(|command| command.state == CommandState::Running).count());
    view! {
        <Show when=move || all.with(|all| !all.is_empty())>
            <section class="background" aria-label="Background commands">
                <h2>"Commands " <small>{running} " running"</small></h2>
                <For each=ids key=|id| id.clone() let:id>
                    <Card id=id all=all beat=beat />
                </For>
            </section>
        </Show>
    }
}

#[component]
fn Card(id: String, all: RwSignal<Vec<BackgroundCommand>>, beat: RwSignal<u32>) -> impl IntoView {
    let (pod, clock, deed) = (use_pod(), use_console().clock, Deed::default());
    let id = StoredValue::new(id);
    let command =
        Memo::new(move |_| all.with(|all| id.with_value(|id| all.iter().find(|command| command.id == *id).cloned())));
    let text = RwSignal::new(String::new());
    let is_open = RwSignal::new(false);
    let seen = move || (is_open.get(), command.with(|command| command.as_ref().map(|it| (it.bytes, it.state))));
    Reading::follow(READING_MS_MIN, First::IsRead, seen, move || async move {
        if !is_open.get_untracked() {
            return;
        }
        let bytes = command.with_untracked(|command| command.as_ref().map_or(0, |command| command.bytes));
        let after = bytes.saturating_sub(SHOWN_BYTES_MAX);
        if let Ok(read) = command_output(pod.pod.get_value(), id.get_value(), after).await {
            text.try_set(read.output);
        }
    });
    let line = move || {
        command.with(|command| command.as_ref().map(|it| unseen::shown(&it.command).into_owned())).unwrap_or_default()
    };
    let state = move || {
        command.with(|command| {
            let command = command.as_ref()?;
            Some(match (&command.detail, command.state) {
                (Some(detail), _) => detail.clone(),
                (None, _) => format!("running · {}", duration_words(ms_between(command.started_at, clock.now()))),
            })
        })
    };
    let is_running = Memo::new(move |_| {
        command.with(|command| command.as_ref().is_some_and(|command| command.state == CommandState::Running))
    });
    let stop = move |_| {
        let (target, id) = (pod.pod.get_value(), id.get_value());
        deed.begin(Box::pin(async move {
            stop_command(target, fresh_command(), id).await?;
            beat.try_update(|beat| *beat = beat.wrapping_add(1));
            Ok(())
        }));
    };
    view! {
        <article class="background-card">
            <details on:toggle=move |_| is_open.update(|is_open| *is_open = !*is_open)>
                <summary>
                    <code title=line>{line}</code>
                    <small>{state}</small>
                </summary>
                <pre class="live-output" tabindex="0" role="group" aria-label="Output">{move || output_lines(&text.get())}</pre>
            </details>
            <Show when=move || is_running.get()>
                <button type="button" class="button" disabled=move || deed.is_busy.get() on:click=stop>
                    "Stop"
                </button>
            </Show>
            <Problem error=deed.error />
        </article>
    }
}
