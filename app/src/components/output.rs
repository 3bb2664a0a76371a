use leptos::prelude::*;
use transcript::{
    ansi::{self, Span, Style},
    unseen,
};

use crate::{format::counted, live, rows::window::LINES_MAX};

/// A program's output with its colours. The rest of a long output is already in the page and opens in place, even
/// without a script, and the browser's own search finds it.
#[component]
pub(crate) fn OutputView(text: String) -> impl IntoView {
    if text.trim().is_empty() {
        return view! { <p class="no-output">"no output"</p> }.into_any();
    }
    folded("output", "Output", text.lines().count(), output_lines(&text))
}

/// The first lines of a text, with a toggle that shows all of it.
pub(super) fn folded(class: &'static str, label: &'static str, lines: usize, body: AnyView) -> AnyView {
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
        <div class=class>
            <pre tabindex="0" role="group" aria-label=label>
                {body}
            </pre>
            {toggle}
        </div>
    }
    .into_any()
}

/// All lines, without a frame.
pub(crate) fn output_lines(text: &str) -> AnyView {
    ansi::parse(&unseen::shown(text.trim_end())).into_iter().map(span_view).collect_view().into_any()
}

fn span_view(span: Span) -> AnyView {
    match span.style == Style::default() {
        true => span.text.into_any(),
        false => view! { <span class=classes(span.style)>{span.text}</span> }.into_any(),
    }
}

fn classes(style: Style) -> String {
    let flags = [
        (style.bold, "ansi-bold"),
        (style.dim, "ansi-dim"),
        (style.italic, "ansi-italic"),
        (style.underline, "ansi-underline"),
    ];
    let color = style.color.map(|color| format!("ansi-{color}"));
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, class)| class.to_owned());
    color.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
}
