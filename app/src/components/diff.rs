use leptos::prelude::*;
use transcript::unseen;

use crate::{format::counted, live, rows::window::LINES_MAX};

/// A unified diff: added and removed lines are told by their sign and by their ground.
#[component]
pub(crate) fn DiffView(diff: String) -> impl IntoView {
    let lines = diff.lines().count();
    let body = diff_lines(&diff);
    let toggle = (lines > LINES_MAX).then(|| {
        view! {
            <label class="show-all">
                <input type="checkbox" class="visually-hidden" on:change=|_| live::log_stop_following() />
                <span class="when-closed">"show all " {counted(lines as u64, "line")}</span>
                <span class="when-open">"show the first " {LINES_MAX}</span>
            </label>
        }
        .into_any()
    });
    view! {
        <div class="output diff">
            <pre tabindex="0" role="group" aria-label="Change">
                {body}
            </pre>
            {toggle}
        </div>
    }
    .into_any()
}

/// All of it, without a frame.
pub(crate) fn diff_lines(diff: &str) -> AnyView {
    let line =
        |line: &str| view! { <span class=class_of(line)>{format!("{}\n", unseen::shown(line))}</span> }.into_any();
    diff.lines().map(line).collect_view().into_any()
}

fn class_of(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "line line-file",
        [b'+', ..] => "line line-added",
        [b'-', ..] => "line line-removed",
        [b'@', b'@', ..] => "line line-hunk",
        _ => "line",
    }
}
