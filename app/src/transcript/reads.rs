use leptos::prelude::*;
use transcript::{Block, BlockKind, group::reads_words, words::duration_words};

use crate::{
    console::use_pod,
    live,
    redrawn::redrawn,
    rows::{Entry, Reads, Row, Shape, reads_dom_id},
    transcript::{block::BlockView, tool_line::summary},
};

/// An entry of the list: a block, or a group of consecutive read-only calls.
#[component]
pub(crate) fn EntryView(entry: Entry) -> impl IntoView {
    match entry.shape {
        Shape::One(row) => view! { <BlockView block=row.block.into() /> }.into_any(),
        Shape::Reads(reads) => view! { <ReadsView reads=reads /> }.into_any(),
    }
}

/// Consecutive read-only calls as one line that expands in place.
#[component]
fn ReadsView(reads: Reads) -> impl IntoView {
    let Reads { id, rows } = reads;
    let rows = RwSignal::from(rows);
    let rewinds = use_pod().rows.rewinds;
    let gist = Memo::new(move |_| rows.with(|rows| gist_of(rows)));
    let is_gone = Memo::new(move |_| {
        rewinds.with(|rewinds| {
            rows.with(|rows| rows.iter().all(|row| row.block.with_untracked(|block| block.is_rewound(rewinds))))
        })
    });
    // A failure opens by itself.
    let has_failed = Memo::new(move |_| gist.with(|gist| gist.has_failed));
    let words = move || gist.with(|gist| gist.words.clone());
    let paths = move || gist.with(|gist| gist.paths.clone());
    let mark = move || match gist.with(|gist| gist.took.clone()) {
        Some(took) => view! { <span class="figure">{took}</span> }.into_any(),
        None => view! { <span class="figure">"running " <i class="pulse" aria-hidden="true"></i></span> }.into_any(),
    };
    view! {
        <div class="block block-tool" class:is-rewound=move || is_gone.get() data-block="" data-reads="" id=reads_dom_id(&id)>
            <details class="tool tool-looked tool-reads" open=move || has_failed.get()>
                <summary on:click=|_| live::log_stop_following()>
                    <header>
                        <b>{redrawn(words)}</b>
                        <code title=paths>{redrawn(paths)}</code>
                        {redrawn(mark)}
                    </header>
                </summary>
                <For each=move || rows.get() key=|row| row.id.clone() let:row>
                    <BlockView block=row.block.into() />
                </For>
            </details>
        </div>
    }
}

/// Reactive: the line changes when a call ends.
fn gist_of(rows: &[Row]) -> Gist {
    let blocks: Vec<_> = rows.iter().map(|row| row.block.read()).collect();
    Gist::of(blocks.iter().map(|block| &**block))
}

/// The text of a group's line.
#[derive(Debug, Clone, PartialEq)]
struct Gist {
    words: String,
    /// The paths that were read, in order.
    paths: String,
    /// The total duration; `None` while one is still running.
    took: Option<String>,
    has_failed: bool,
}

impl Gist {
    fn of<'a>(blocks: impl Iterator<Item = &'a Block> + Clone) -> Self {
        let calls = blocks.clone().filter_map(|block| match &block.kind {
            BlockKind::Tool { arguments, arguments_text, result, interrupted, .. } => {
                let took = match result {
                    Some(result) => Some(result.duration_ms),
                    None => interrupted.then_some(0),
                };
                Some((summary(arguments.as_ref(), arguments_text), took))
            }
            _ => None,
        });
        let (paths, took): (Vec<_>, Vec<_>) = calls.unzip();
        let took = took.into_iter().sum::<Option<u64>>().map(duration_words);
        let has_failed = blocks
            .clone()
            .any(|block| matches!(&block.kind, BlockKind::Tool { result: Some(result), .. } if result.is_error));
        Self { words: reads_words(blocks), paths: paths.join(", "), took, has_failed }
    }
}

#[cfg(test)]
mod tests {
    use transcript::Transcript;

    use crate::{rows::tests::record, transcript::reads::*};

    #[test]
    fn the_line_of_a_group_names_what_was_read_and_how_long_it_took() {
        let called = |seq: i64, path: &str| {
            let call = serde_json::json!({
                "kind": "tool_called", "block": path, "call_id": path, "name": "Read", "by": "model",
                "arguments": { "path": path },
            });
            record(seq, call)
        };
        let done = |seq: i64, path: &str| {
            let done = serde_json::json!({
                "kind": "tool_finished", "block": path, "call_id": path, "by": "model", "is_error": false,
                "duration_ms": 700, "summary": "12 lines",
            });
            record(seq, done)
        };
        let mut transcript = Transcript::from_records(&[called(1, "a.rs"), done(2, "a.rs"), called(3, "b.rs")]);
        let gist = Gist::of(transcript.blocks().iter());
        assert_eq!((gist.words.as_str(), gist.paths.as_str(), gist.took), ("read 2 files", "a.rs, b.rs", None));
        transcript.apply(&done(4, "b.rs"));
        assert_eq!(Gist::of(transcript.blocks().iter()).took.as_deref(), Some("1 s"));
    }
}
