//! A block as printed: in full, expanded, without controls.

use leptos::prelude::*;
use protocol::{PodRef, Segment, Trigger};
use serde_json::Value;
use transcript::{
    Block, BlockKind, Status, ToolResult, plain_text, unseen,
    words::{self, bytes_words},
};

use crate::{
    components::{code, diff::diff_lines, output::output_lines},
    console::{pod_href, record_href},
    format::{full_time, ms_between},
    server_fns::{Budget, CodeText},
    transcript::markup_whole,
};

/// A block of the Pod at `address`, whose page is `pod`: each turn links to its place there.
pub(super) fn block_view(block: &Block, address: &PodRef, pod: &str, is_rewound: bool) -> AnyView {
    let gone = is_rewound.then(|| view! { <p class="print-aside">"No longer in the context:"</p> }.into_any());
    let cut = block.cut_bytes().zip(block.cut.first()).map(|(bytes, first)| {
        let href = record_href(address, first.seq);
        let words = format!("all {} of it", bytes_words(bytes));
        view! { <p class="print-aside">"Cut here; " <a href=href>{words}</a></p> }.into_any()
    });
    let body = match &block.kind {
        BlockKind::Turn { number, trigger } => turn(block, *number, *trigger, pod),
        BlockKind::Person { segments, by, .. } => {
            let said = segments.iter().map(Segment::as_text).collect::<Vec<_>>().join("\n");
            section(words::actor_words(by).to_owned(), pre_wrapped(&said))
        }
        BlockKind::Peer { from, text, receipt, .. } => {
            let receipt = receipt.as_ref().map(|receipt| format!(" · {}", words::receipt_text(receipt)));
            section(format!("{}, a peer{}", from.name, receipt.unwrap_or_default()), markup_whole(text, code_view))
        }
        BlockKind::Assistant { text, status } => {
            let title = match status {
                Status::Finished => "Answer",
                Status::Streaming => "Answer, not finished",
                Status::Interrupted => "Answer, interrupted",
            };
            section(title.to_owned(), markup_whole(text, code_view))
        }
        BlockKind::Reasoning { text, started_at, ended_at, .. } => {
            let took = started_at.zip(*ended_at).map(|(start, end)| words::duration_words(ms_between(start, end)));
            let title = took.map_or_else(|| "Thought".to_owned(), |took| format!("Thought for {took}"));
            view! { <div class="print-thought">{section(title, pre_wrapped(text))}</div> }.into_any()
        }
        BlockKind::Tool { name, arguments, arguments_text, output, result, .. } => {
            let given = arguments.as_ref().map_or_else(|| arguments_text.clone(), pretty);
            let title = format!("{}{}", name.as_deref().unwrap_or("Tool"), outcome(result.as_ref()));
            section(title, tool(&given, output, result.as_ref()))
        }
        BlockKind::Compacted { summary, .. } => section(
            "Compacted: the model reads this instead of what came before".to_owned(),
            markup_whole(summary, code_view),
        ),
        BlockKind::ChildEvent { child, .. } | BlockKind::Child { child, .. } => {
            let href = pod_href(&child.pod);
            view! { <p class="print-aside"><a href=href>{line(block)}</a></p> }.into_any()
        }
        _ => view! { <p class="print-aside">{line(block)}</p> }.into_any(),
    };
    view! {
        <div class="print-block" id=block.id.to_string()>
            {gone}
            {body}
            {cut}
        </div>
    }
    .into_any()
}

fn turn(block: &Block, number: Option<u64>, trigger: Trigger, pod: &str) -> AnyView {
    let name = number.map_or_else(|| "Turn".to_owned(), |number| format!("Turn {number}"));
    let seq = block.seq;
    view! {
        <h2>
            <a href=format!("{pod}?at={seq}#seq-{seq}")>{name}</a>
            {format!(" · {} · ", words::trigger_words(trigger))}
            <time datetime=block.at.to_string()>{full_time(block.at, None)}</time>
        </h2>
    }
    .into_any()
}

fn section(title: String, body: AnyView) -> AnyView {
    view! {
        <section>
            <h3>{title}</h3>
            {body}
        </section>
    }
    .into_any()
}

fn pre_wrapped(text: &str) -> AnyView {
    view! { <p class="print-said">{unseen::shown(text.trim_end()).into_owned()}</p> }.into_any()
}

fn line(block: &Block) -> String {
    unseen::shown(&plain_text(block)).into_owned()
}

fn pretty(arguments: &Value) -> String {
    match arguments
        .get("command")
        .and_then(Value::as_str)
        .filter(|_| arguments.as_object().is_some_and(|all| all.len() == 1))
    {
        Some(command) => command.to_owned(),
        None => serde_json::to_string_pretty(arguments).unwrap_or_default(),
    }
}

fn outcome(result: Option<&ToolResult>) -> String {
    match result {
        None => ", no result".to_owned(),
        Some(result) => {
            let failed = if result.is_error { result.code.as_deref().unwrap_or("failed") } else { "done" };
            format!(" · {failed} · {}", words::duration_words(result.duration_ms))
        }
    }
}

/// A call's arguments and its output. The tool's summary line precedes an output that does not begin with it.
fn tool(given: &str, output: &str, result: Option<&ToolResult>) -> AnyView {
    let given = (!given.is_empty()).then(|| view! { <pre>{unseen::shown(given).into_owned()}</pre> }.into_any());
    let content = result.and_then(|result| result.content.as_deref()).unwrap_or(output);
    let summary = result.map(|result| result.summary.as_str()).filter(|summary| !content.starts_with(summary));
    let summary =
        summary.map(|summary| view! { <p class="print-aside">{unseen::shown(summary).into_owned()}</p> }.into_any());
    let gave = match result.and_then(|result| result.diff.as_deref()) {
        Some(diff) => view! { <pre class="diff">{diff_lines(diff)}</pre> }.into_any(),
        None if content.trim().is_empty() => ().into_any(),
        None => view! { <pre>{output_lines(content)}</pre> }.into_any(),
    };
    view! {
        {given}
        {summary}
        {gave}
    }
    .into_any()
}

/// Code with its colours, computed while rendering.
fn code_view(language: Option<String>, text: String) -> AnyView {
    let text = unseen::shown(&text).into_owned();
    let budget = use_context::<Budget>();
    let found = language.clone().zip(budget).map(|(language, budget)| {
        let code = CodeText { language, text: text.clone() };
        budget.paint(&code)
    });
    let body = move || code::coloured(&text, found.as_deref().unwrap_or_default());
    code::figure(language, None, ().into_any(), body)
}
