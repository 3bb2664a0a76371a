use leptos::prelude::*;
use transcript::unseen;

use super::output::folded;

/// A unified diff: added and removed lines are marked by their sign and by their background.
#[component]
pub(crate) fn DiffView(diff: String) -> impl IntoView {
    folded("output diff", "Change", diff.lines().count(), diff_lines(&diff))
}

/// All lines, without a frame.
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
