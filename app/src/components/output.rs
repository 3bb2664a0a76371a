use leptos::prelude::*;
use transcript::{
    ansi::{self, Span, Style},
    unseen,
};

use crate::{format::counted, live, rows::window::LINES_MAX};

/// The last lines of a program's output, with its colours. The earlier ones are already in the page and open in place,
/// even without a script, and the browser's own search finds them.
#[component]
pub(crate) fn OutputView(
    text: String,
    /// How many lines are shown at first.
    last: usize,
) -> impl IntoView {
    if text.trim().is_empty() {
        return view! { <p class="no-output">"no output"</p> }.into_any();
    }
    let (before, end) = split_output(&text, last);
    let above = before.iter().map(|span| span.text.matches('\n').count()).sum::<usize>();
    let before = (above > 0).then(|| {
        view! {
            <details class="above">
                <summary on:click=|_| live::log_stop_following()>{counted(above as u64, "line")} " above"</summary>
                <pre>{spans_view(before)}</pre>
            </details>
        }
        .into_any()
    });
    view! {
        <div class="output" tabindex="0" role="group" aria-label="Output">
            {before}
            <pre>{spans_view(end)}</pre>
        </div>
    }
    .into_any()
}

/// The lines before the last ones, and these. One line more is shown rather than hidden alone.
fn split_output(text: &str, last: usize) -> (Vec<Span>, Vec<Span>) {
    let spans = ansi::parse(&unseen::shown(text.trim_end()));
    let lines = 1 + spans.iter().map(|span| span.text.matches('\n').count()).sum::<usize>();
    ansi::split_end(spans, if lines == last + 1 { lines } else { last })
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
    spans_view(ansi::parse(&unseen::shown(text.trim_end())))
}

fn spans_view(spans: Vec<Span>) -> AnyView {
    spans.into_iter().map(span_view).collect_view().into_any()
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
