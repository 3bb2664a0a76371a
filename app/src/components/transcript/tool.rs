use leptos::prelude::*;
use protocol::ToolBy;
use transcript::{Block, BlockKind, ToolResult, words::duration_words};

use super::{
    diff::DiffView,
    output::OutputView,
    tool_line::{diff_counts, last_lines, summary},
};
use crate::{components::copy_button::CopyButton, live};

/// So many lines of a running tool's output are shown.
const LIVE_LINES: usize = 12;

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Running,
    Done,
    Failed,
    Interrupted,
}

impl Standing {
    fn of(result: Option<&ToolResult>, interrupted: bool) -> Self {
        match result {
            Some(result) if result.is_error => Self::Failed,
            Some(_) => Self::Done,
            None if interrupted => Self::Interrupted,
            None => Self::Running,
        }
    }
}

/// A call: its name, what it is about, how long it took, what it gave.
#[component]
pub(crate) fn ToolView(block: RwSignal<Block>) -> impl IntoView {
    let name = Memo::new(move |_| with_tool(block, |tool| tool.name.unwrap_or("…").to_owned()));
    let line = Memo::new(move |_| with_tool(block, |tool| summary(tool.arguments, tool.arguments_text)));
    let standing = Memo::new(move |_| with_tool(block, |tool| Standing::of(tool.result, tool.interrupted)));
    let by_person = move || {
        with_tool(block, |tool| tool.by == Some(ToolBy::Operator)).then(|| view! { <span class="tag">"by you"</span> })
    };
    view! {
        <article class="tool" class:tool-failed=move || standing.get() == Standing::Failed>
            <header>
                <b>{name}</b>
                {by_person}
                <code title=line>{line}</code>
                <Outcome block=block standing=standing />
            </header>
            {move || match standing.get() {
                Standing::Running | Standing::Interrupted => view! { <LiveOutput block=block /> }.into_any(),
                Standing::Done | Standing::Failed => view! { <ResultView block=block /> }.into_any(),
            }}
        </article>
    }
    .into_any()
}

/// Borrowed from the block, so that a growing output is not copied to read a name.
struct Tool<'a> {
    name: Option<&'a str>,
    arguments: Option<&'a serde_json::Value>,
    arguments_text: &'a str,
    output: &'a str,
    result: Option<&'a ToolResult>,
    by: Option<ToolBy>,
    interrupted: bool,
}

fn with_tool<T>(block: RwSignal<Block>, read: impl FnOnce(Tool<'_>) -> T) -> T {
    block.with(|block| match &block.kind {
        BlockKind::Tool { name, arguments, arguments_text, output, result, by, interrupted, .. } => read(Tool {
            name: name.as_deref(),
            arguments: arguments.as_ref(),
            arguments_text,
            output,
            result: result.as_ref(),
            by: *by,
            interrupted: *interrupted,
        }),
        _ => unreachable!("a block keeps its kind"),
    })
}

/// At the right of the head: time and mark, and what an edit added and took.
#[component]
fn Outcome(block: RwSignal<Block>, standing: Memo<Standing>) -> impl IntoView {
    let facts = Memo::new(move |_| {
        with_tool(block, |tool| {
            tool.result.map(|result| (result.duration_ms, result.code.clone(), result.diff.as_deref().map(diff_counts)))
        })
    });
    let words = move || {
        let (duration, code, counts) = facts.get().unwrap_or_default();
        let counts = counts.map(|(added, removed)| format!("+{added} −{removed} · ")).unwrap_or_default();
        match standing.get() {
            Standing::Running => "running".to_owned(),
            Standing::Interrupted => "interrupted".to_owned(),
            Standing::Done => format!("{counts}{}", duration_words(duration)),
            Standing::Failed => format!("{} · {}", code.as_deref().unwrap_or("failed"), duration_words(duration)),
        }
    };
    let mark = move || match standing.get() {
        Standing::Done => view! { <span class="ok">"✓"</span> }.into_any(),
        Standing::Failed => view! { <span class="bad">"✗"</span> }.into_any(),
        Standing::Running => view! { <i class="pulse" aria-hidden="true"></i> }.into_any(),
        Standing::Interrupted => ().into_any(),
    };
    view! { <span class="figure">{words} " " {mark}</span> }.into_any()
}

/// The newest lines while it runs, or what there was when it was cut off.
#[component]
fn LiveOutput(block: RwSignal<Block>) -> impl IntoView {
    let tail =
        Memo::new(move |_| with_tool(block, |tool| transcript::ansi::strip(last_lines(tool.output, LIVE_LINES))));
    move || (!tail.with(String::is_empty)).then(|| view! { <pre class="live-output">{tail}</pre> })
}

/// The result does not change any more, so it is drawn once.
#[component]
fn ResultView(block: RwSignal<Block>) -> impl IntoView {
    let (result, arguments) = block.with_untracked(|block| match &block.kind {
        BlockKind::Tool { result, arguments, .. } => (result.clone(), arguments.clone()),
        _ => (None, None),
    });
    let result = result?;
    let command = arguments.as_ref().and_then(|arguments| arguments.get("command")?.as_str().map(str::to_owned));
    let raw = arguments.and_then(|arguments| serde_json::to_string_pretty(&arguments).ok());
    let output = result.content.clone().filter(|content| !content.is_empty()).unwrap_or_else(|| result.summary.clone());
    let copied = output.clone();
    let body = match result.diff {
        Some(diff) => view! { <DiffView diff=diff /> }.into_any(),
        None => view! { <OutputView text=output /> }.into_any(),
    };
    Some(view! {
        {body}
        <footer class="tools">
            {command.map(|command| view! { <CopyButton label="copy command" text=move || command.clone() /> })}
            <CopyButton label="copy output" text=move || copied.clone() />
            {raw
                .map(|raw| {
                    view! {
                        <details class="raw">
                            <summary on:click=|_| live::log_stop_following()>"arguments"</summary>
                            <pre>{raw}</pre>
                        </details>
                    }
                })}
        </footer>
    })
}
