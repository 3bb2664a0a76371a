use leptos::prelude::*;
use protocol::ToolBy;
use transcript::{Block, BlockKind, ToolResult, words::duration_words};

use crate::{
    components::{
        copy_button::CopyButton,
        diff::DiffView,
        output::{OutputView, output_lines},
    },
    console::use_console,
    format::ms_between,
    live,
    redrawn::redrawn,
    rows::window::{end_lines, only_looks},
    transcript::{
        attached::pictures,
        background::BackgroundCard,
        sent::{SentText, SentView, is_sent},
        tool_line::{diff_counts, failure_words, last_lines, running_words, said_beside, succeeded_words, summary},
    },
};

/// How many lines of a running tool's output are shown.
const LIVE_LINES: usize = 8;

/// The state of a call.
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

/// Whether the call goes on, or something about it does: what became of a message, and what a command writes.
pub(super) fn goes_on(block: RwSignal<Block>) -> bool {
    let has_ended = with_tool(block, |tool| Standing::of(tool.result, tool.interrupted) != Standing::Running);
    !has_ended || background_of(block).is_some() || block.with_untracked(|block| is_sent(&block.kind))
}

/// A call: one line with its name, its subject and how it ended, and below it the end of its output. A read-only call is
/// one line, which expands.
#[component]
pub(crate) fn ToolView(block: RwSignal<Block>) -> impl IntoView {
    let name = Memo::new(move |_| with_tool(block, |tool| tool.name.unwrap_or("…").to_owned()));
    let standing = Memo::new(move |_| with_tool(block, |tool| Standing::of(tool.result, tool.interrupted)));
    let has_picture = Memo::new(move |_| with_tool(block, |tool| tool.result.is_some_and(|it| !it.blobs.is_empty())));
    let is_folded = Memo::new(move |_| {
        standing.get() == Standing::Done && !has_picture.get() && name.with(|name| only_looks(name))
    });
    let head = move || view! { <ToolHead block=block name=name standing=standing /> }.into_any();
    let body = move || match standing.get() {
        Standing::Running | Standing::Interrupted => view! { <LiveOutput block=block /> }.into_any(),
        Standing::Done if block.with_untracked(|block| is_sent(&block.kind)) => {
            view! { <SentText block=block /> }.into_any()
        }
        Standing::Done | Standing::Failed => match background_of(block) {
            Some(id) => view! { <BackgroundCard id=id is_below_it=true /> }.into_any(),
            None => view! { <ResultView block=block /> }.into_any(),
        },
    };
    redrawn(move || match is_folded.get() {
        true => view! {
            <details class="tool tool-looked">
                <summary on:click=|_| live::log_stop_following()>{head()}</summary>
                {redrawn(body)}
                <ToolFoot block=block />
            </details>
        }
        .into_any(),
        false => view! {
            <article
                class="tool"
                tabindex="-1"
                class:tool-failed=move || standing.get() == Standing::Failed
                class:tool-cut=move || standing.get() == Standing::Interrupted
            >
                {head()}
                {redrawn(body)}
                <SentView block=block />
                <ToolFoot block=block />
            </article>
        }
        .into_any(),
    })
}

/// The id of the command that the call left running.
fn background_of(block: RwSignal<Block>) -> Option<String> {
    block.with_untracked(|block| match &block.kind {
        BlockKind::Tool { call_id, name: Some(name), arguments: Some(arguments), result: Some(result), .. }
            if name == "Bash" && arguments["background"] == true && !result.is_error =>
        {
            call_id.clone()
        }
        _ => None,
    })
}

#[component]
fn ToolHead(block: RwSignal<Block>, name: Memo<String>, standing: Memo<Standing>) -> impl IntoView {
    let line = Memo::new(move |_| with_tool(block, |tool| summary(tool.arguments, tool.arguments_text)));
    let by_person = move || {
        with_tool(block, |tool| tool.by == Some(ToolBy::Operator))
            .then(|| view! { <span class="tag">"you ran this"</span> }.into_any())
    };
    view! {
        <header>
            <b>{name}</b>
            {redrawn(by_person)}
            <code title=line>{line}</code>
            <Counts block=block />
            <Outcome block=block standing=standing />
        </header>
    }
}

/// Borrowed from the block, so that reading a name does not copy a growing output.
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

/// The numbers of lines that an edit added and removed.
#[component]
fn Counts(block: RwSignal<Block>) -> impl IntoView {
    let counts = Memo::new(move |_| with_tool(block, |tool| tool.result?.diff.as_deref().map(diff_counts)));
    redrawn(move || {
        counts.get().map(|(added, removed)| {
            let added = (added > 0).then(|| view! { <span class="ok">{format!("+{added}")}</span> }.into_any());
            let removed = (removed > 0).then(|| view! { <span class="bad">{format!("−{removed}")}</span> }.into_any());
            view! { <span class="counts">{added} " " {removed}</span> }.into_any()
        })
    })
}

/// At the right of the line: how the call ended and how long it took.
#[component]
fn Outcome(block: RwSignal<Block>, standing: Memo<Standing>) -> impl IntoView {
    let clock = use_console().clock;
    let began = block.with_untracked(|block| block.at);
    let facts = Memo::new(move |_| {
        with_tool(block, |tool| {
            tool.result.map(|result| (result.duration_ms, failure_words(result), succeeded_words(result)))
        })
    });
    let words = move || match standing.get() {
        Standing::Running => running_words(ms_between(began, clock.now())),
        Standing::Interrupted => "interrupted".to_owned(),
        Standing::Done | Standing::Failed => facts.get().map_or_else(String::new, |(took, ..)| duration_words(took)),
    };
    let mark = move || {
        let (_, failure, success) = facts.get().unwrap_or_default();
        match standing.get() {
            Standing::Done => view! { <span class="ok">{format!("✓ {success}")}</span> }.into_any(),
            Standing::Failed => view! { <span class="bad">{format!("✗ {failure}")}</span> }.into_any(),
            Standing::Running => view! { <i class="pulse" aria-hidden="true"></i> }.into_any(),
            Standing::Interrupted => ().into_any(),
        }
    };
    view! { <span class="figure">{redrawn(mark)} " " {redrawn(words)}</span> }
}

/// The newest lines while the call runs, or the output so far if it was interrupted.
#[component]
fn LiveOutput(block: RwSignal<Block>) -> impl IntoView {
    let tail = Memo::new(move |_| with_tool(block, |tool| last_lines(tool.output, LIVE_LINES).to_owned()));
    redrawn(move || {
        tail.with(|tail| {
            (!tail.is_empty()).then(|| view! { <pre class="live-output">{output_lines(tail)}</pre> }.into_any())
        })
    })
}

/// A result never changes, so it is drawn once.
#[component]
fn ResultView(block: RwSignal<Block>) -> impl IntoView {
    let result = block.with_untracked(|block| match &block.kind {
        BlockKind::Tool { result, .. } => result.clone(),
        _ => None,
    })?;
    let said = said_beside(&result).map(|said| view! { <p class="no-output">{said}</p> }.into_any());
    let body = match result.diff {
        Some(diff) => view! { <DiffView diff=diff /> }.into_any(),
        None => {
            let last = end_lines(result.is_error);
            view! { <OutputView text=output_of(result.content, result.summary) last=last /> }.into_any()
        }
    };
    let shown = pictures(&result.blobs);
    Some(
        view! {
            {said}
            {body}
            {shown}
        }
        .into_any(),
    )
}

/// What can be copied from a call: its command, its output, its raw record.
#[component]
fn ToolFoot(block: RwSignal<Block>) -> impl IntoView {
    let raw = Memo::new(move |_| {
        with_tool(block, |tool| tool.arguments.and_then(|arguments| serde_json::to_string_pretty(arguments).ok()))
    });
    let has_output = Memo::new(move |_| with_tool(block, |tool| tool.result.is_some() || !tool.output.is_empty()));
    let command = move || {
        with_tool(block, |tool| tool.arguments?.get("command")?.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let output = move || {
        block.with_untracked(|block| match &block.kind {
            BlockKind::Tool { result: Some(result), .. } => output_of(result.content.clone(), result.summary.clone()),
            BlockKind::Tool { output, .. } => output.clone(),
            _ => String::new(),
        })
    };
    let is_open = RwSignal::new(false);
    // The output is in the page already, so the raw result is rendered only on request.
    let raw_result = move || {
        let result = is_open.get().then(|| with_tool(block, |tool| serde_json::to_string_pretty(tool.result?).ok()));
        result.flatten().map(|result| view! { <pre>{result}</pre> }.into_any())
    };
    let copy_output =
        move || has_output.get().then(|| view! { <CopyButton label="copy output" text=output /> }.into_any());
    redrawn(move || {
        raw.get().map(|raw| {
            let has_command = untrack(|| !command().is_empty());
            view! {
                <footer class="tools">
                    {has_command.then(|| view! { <CopyButton label="copy command" text=move || untrack(command) /> }.into_any())}
                    {redrawn(copy_output)}
                    <details class="raw" on:toggle=move |_| is_open.set(true)>
                        <summary on:click=|_| live::log_stop_following()>"raw"</summary>
                        <pre>{raw}</pre>
                        {redrawn(raw_result)}
                    </details>
                </footer>
            }.into_any()
        })
    })
}

fn output_of(content: Option<String>, summary: String) -> String {
    content.filter(|content| !content.is_empty()).unwrap_or(summary)
}
