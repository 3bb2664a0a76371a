//! A command that keeps running after its call: what it writes, its state, and a button that stops it.

use leptos::prelude::*;
use protocol::{BackgroundOutput, CommandState};
use transcript::{unseen, words::duration_words};

use crate::{
    components::{
        deed::Deed,
        output::output_lines,
        part::{Draw, Part},
        problem::Problem,
    },
    console::{fresh_command, use_console, use_pod},
    format::ms_between,
    live,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{command_output, stop_command},
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 1_500;
/// The most bytes of output that a card shows.
const SHOWN_BYTES_MAX: u64 = 8 * 1024;

static CARD: Part<(String, bool)> = Part::new(|| Box::pin(background_card(())), |_| ().into_any());

#[lazy]
fn background_card(_: ()) -> Draw<(String, bool)> {
    |(id, is_below_it)| view! { <Shown id=id is_below_it=is_below_it /> }.into_any()
}

/// Reads the command while it runs. One that is not known any more says so.
#[component]
pub(crate) fn BackgroundCard(
    id: String,
    /// Whether the command itself already stands above it.
    #[prop(optional)]
    is_below_it: bool,
) -> impl IntoView {
    CARD.view((id, is_below_it), false)
}

#[component]
fn Shown(id: String, is_below_it: bool) -> impl IntoView {
    let (pod, clock, deed) = (use_pod(), use_console().clock, Deed::default());
    let id = StoredValue::new(id);
    let read = RwSignal::new(None::<BackgroundOutput>);
    let is_gone = RwSignal::new(false);
    // Counts up while it runs, so that it is read again.
    let beat = RwSignal::new(0_u32);
    let next = move || {
        let _ = beat.try_update(|beat| *beat = beat.wrapping_add(1));
    };
    let seen = move || (beat.get(), pod.summary.with(|summary| summary.state));
    Reading::follow(READING_MS_MIN, First::IsRead, seen, move || async move {
        let known = read.try_with_untracked(|read| read.as_ref().map_or(0, |read| read.command.bytes));
        let after = known.unwrap_or_default().saturating_sub(SHOWN_BYTES_MAX);
        match command_output(pod.pod.get_value(), id.get_value(), after).await {
            Ok(found) => {
                if found.command.state == CommandState::Running {
                    live::after(READING_MS_MIN, next);
                }
                read.try_set(Some(found));
            }
            Err(_) => drop(is_gone.try_set(true)),
        }
    });
    let state = move || match read.get() {
        None if is_gone.get() => "no longer known: it ended with yoi, or long ago".to_owned(),
        None => "…".to_owned(),
        Some(BackgroundOutput { command, .. }) => match command.detail {
            Some(detail) => unseen::shown(&detail).into_owned(),
            None => format!("running · {}", duration_words(ms_between(command.started_at, clock.now()))),
        },
    };
    let is_running = Memo::new(move |_| {
        read.with(|read| read.as_ref().is_some_and(|read| read.command.state == CommandState::Running))
    });
    let line = move || {
        read.with(|read| read.as_ref().map(|read| unseen::shown(&read.command.command).into_owned()))
            .unwrap_or_default()
    };
    let output = move || {
        let text = read.with(|read| read.as_ref().map(|read| read.output.clone()));
        // Its room is kept until it is known.
        (!is_gone.get() && text.as_ref().is_none_or(|text| !text.is_empty())).then(|| {
            let lines = output_lines(&text.unwrap_or_default());
            view! { <pre class="live-output" tabindex="0" role="group" aria-label="Output"><span>{lines}</span></pre> }
                .into_any()
        })
    };
    let named = (!is_below_it).then(|| view! { <code title=line>{redrawn(line)}</code> " " }.into_any());
    let stop = move |_| {
        let (target, id) = (pod.pod.get_value(), id.get_value());
        deed.begin(Box::pin(async move {
            stop_command(target, fresh_command(), id).await?;
            next();
            Ok(())
        }));
    };
    view! {
        <div class="background-card">
            <p>
                {named}
                <small role="status">{redrawn(state)}</small>
            </p>
            <Show when=move || is_running.get()>
                <button type="button" class="button" disabled=move || deed.is_busy.get() on:click=stop>
                    "Stop"
                </button>
            </Show>
            {redrawn(output)}
            <Problem error=deed.error />
        </div>
    }
}
