use leptos::prelude::*;

use super::output::LINES_MAX;
use crate::{format::counted, live};

/// A unified diff: added and removed lines are told by their sign and by their ground.
#[component]
pub(crate) fn DiffView(diff: String) -> impl IntoView {
    let lines = diff.lines().count();
    let body =
        diff.lines().map(|line| view! { <span class=class_of(line)>{format!("{line}\n")}</span> }).collect_view();
    let toggle = (lines > LINES_MAX).then(|| {
        view! {
            <label class="show-all">
                <input type="checkbox" class="visually-hidden" on:change=|_| live::log_stop_following() />
                <span class="when-closed">"show all " {counted(lines as u64, "line")}</span>
                <span class="when-open">"show the first " {LINES_MAX}</span>
            </label>
        }
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

fn class_of(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "line line-file",
        [b'+', ..] => "line line-added",
        [b'-', ..] => "line line-removed",
        [b'@', b'@', ..] => "line line-hunk",
        _ => "line",
    }
}
