use commands::allowed::rewind_refusal;
use leptos::prelude::*;
use protocol::{Blobs, Segment, Seq};
use transcript::{Block, BlockKind, PersonState, unseen, words::actor_words};

use crate::{
    console::{Console, Dialog, PodContext, Returned, use_console, use_pod},
    format::paste_words,
    live,
    redrawn::redrawn,
    transcript::{
        again::retry_turn,
        attached::{file, picture},
        markup::plain,
    },
};

/// A person's message and its state: stored, read, or returned.
#[component]
pub(crate) fn PersonView(block: RwSignal<Block>, segments: Vec<Segment>, by: String) -> impl IntoView {
    let blobs = block.with_untracked(|block| match &block.kind {
        BlockKind::Person { blobs, .. } => blobs.clone(),
        _ => Blobs::default(),
    });
    let words = move || {
        block.with(|block| match &block.kind {
            BlockKind::Person { state: PersonState::Stored, .. } => Some("stored"),
            BlockKind::Person { state: PersonState::Returned, .. } => Some("given back to you"),
            _ => None,
        })
    };
    let is_read = move || block.with(|block| matches!(block.kind, BlockKind::Person { state: PersonState::Read, .. }));
    let read = move || is_read().then(|| view! { <span class="read">"read"</span> }.into_any());
    let label = if by == "operator" { "You said".to_owned() } else { format!("{} said", actor_words(&by)) };
    let by =
        (by != "operator").then(|| view! { <span class="by">"from " {actor_words(&by).to_owned()}</span> }.into_any());
    view! {
        <article class="person" aria-label=label>
            <PersonActs block=block />
            {redrawn(read)}
            {lines(segments).into_iter().map(|segments| line(segments, &blobs)).collect_view()}
            <span class="receipt">{by} " " {redrawn(words)}</span>
        </article>
    }
}

/// The button that rewinds to before it; for a returned message, the one that puts it into the composer.
#[component]
fn PersonActs(block: RwSignal<Block>) -> impl IntoView {
    let (console, pod) = (use_console(), use_pod());
    let seq = block.with_untracked(|block| block.seq);
    let is_returned = Memo::new(move |_| {
        block.with(|block| matches!(block.kind, BlockKind::Person { state: PersonState::Returned, .. }))
    });
    let is_rewound =
        Memo::new(move |_| pod.rows.rewinds.with(|rewinds| block.with_untracked(|block| block.is_rewound(rewinds))));
    let put_back = move |_| {
        let segments = block.with_untracked(|block| match &block.kind {
            BlockKind::Person { segments, .. } => segments.clone(),
            _ => Vec::new(),
        });
        pod.returned.set(Some(Returned { segments, is_asked_for: true }));
    };
    let act = move || match (is_returned.get(), is_rewound.get()) {
        (true, _) => {
            Some(view! { <button type="button" class="quiet" on:click=put_back>"Edit again"</button> }.into_any())
        }
        (false, false) => Some(
            view! { <WayBack
                seq=seq
                on_rewind=move || rewind(console, pod, seq)
                on_retry=move || retry_turn(console, pod, seq)
            /> }
            .into_any(),
        ),
        (false, true) => None,
    };
    view! { <div class="person-acts">{redrawn(move || (!pod.is_old).then(act))}</div> }
}

/// The button that rewinds to before it: beside the message while it is hovered or has the focus; on touch screens in
/// a menu. The menu is a native popover: it closes by itself and needs no code loaded in advance.
#[component]
fn WayBack(seq: Seq, on_rewind: impl Fn() + Copy + 'static, on_retry: impl Fn() + Copy + 'static) -> impl IntoView {
    let menu = format!("acts-{seq}");
    let (opens, closes) = (menu.clone(), menu.clone());
    view! {
        <button type="button" class="quiet when-near" title="Have the model answer this again" on:click=move |_| on_retry()>
            "Retry"
        </button>
        <button type="button" class="quiet when-near" on:click=move |_| on_rewind()>
            "Rewind to before this…"
        </button>
        <button type="button" class="quiet for-touch" popovertarget=opens aria-label="Message actions">
            "⋯"
        </button>
        <div class="finger-menu" id=menu popover="auto">
            <button
                type="button"
                popovertarget=closes
                popovertargetaction="hide"
                on:click=move |_| on_rewind()
            >
                "Rewind to before this…"
            </button>
        </div>
    }
}

/// Opens the dialog that removes this message, and everything after it, from the context.
pub(crate) fn rewind(console: Console, pod: PodContext, message: Seq) {
    match rewind_refusal(pod.state.get_untracked()) {
        Some(reason) => console.note(format!("Cannot rewind now: {reason}")),
        None => console.dialog.set(Some(Dialog::Rewind(Box::new(pod), Seq(message.0 - 1)))),
    }
}

/// Groups segments that share a line: a file within a sentence stays in it.
fn lines(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut lines: Vec<Vec<Segment>> = Vec::new();
    for segment in segments {
        match lines.last_mut().filter(|line| line.last().is_some_and(|last| last.runs_into(&segment))) {
            Some(line) => line.push(segment),
            None => lines.push(vec![segment]),
        }
    }
    lines
}

fn line(segments: Vec<Segment>, blobs: &Blobs) -> AnyView {
    match segments.as_slice() {
        [Segment::Paste { text }] => paste(text.clone()),
        _ => view! { <p class="said">{segments.into_iter().map(|segment| word(segment, blobs)).collect_view()}</p> }
            .into_any(),
    }
}

fn word(segment: Segment, blobs: &Blobs) -> AnyView {
    match segment {
        Segment::Text { text } | Segment::Paste { text } => plain(&text),
        Segment::Image { blob, name } => picture(&blob, name.as_deref(), blobs.find(&blob)),
        Segment::File { blob, name } => file(&blob, &name, blobs.find(&blob)),
        Segment::FileRef { path } => {
            view! { <code class="file">"@" {unseen::shown(&path).into_owned()}</code> }.into_any()
        }
        Segment::Unknown(fields) => {
            let text = serde_json::to_string(&fields).unwrap_or_default();
            view! { <code class="file">{text}</code> }.into_any()
        }
    }
}

fn paste(text: String) -> AnyView {
    let words = paste_words(&text);
    view! {
        <details class="paste">
            <summary on:click=|_| live::log_stop_following()>"pasted " {words}</summary>
            <pre>{unseen::shown(&text).into_owned()}</pre>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_sentence_stands_in_its_line_and_a_paste_in_its_own() {
        let file = |path: &str| Segment::FileRef { path: path.to_owned() };
        let paste = Segment::Paste { text: "log".to_owned() };
        let sentence = vec![Segment::text("see "), file("a.rs"), Segment::text(", then")];
        let all = sentence.iter().cloned().chain([file("b.rs"), paste.clone()]).collect();
        assert_eq!(lines(all), [sentence, vec![file("b.rs")], vec![paste]]);
    }
}
