use leptos::prelude::*;
use protocol::Segment;

use super::sending::Outgoing;
use crate::{console::blob_href, format::paste_words, live, redrawn::redrawn};

/// What goes with the text: files that it names, long pastes and attachments, each as a chip.
#[component]
pub(super) fn Chips(outgoing: Outgoing) -> impl IntoView {
    let draft = outgoing.draft;
    let files = Memo::new(move |_| draft.with(|draft| draft.named_files()));
    let pastes =
        Memo::new(move |_| draft.with(|draft| draft.pastes.iter().map(|text| paste_words(text)).collect::<Vec<_>>()));
    let file = move |path: String| {
        let name = path.clone();
        let remove = move || draft.update(|draft| draft.drop_file(&path));
        chip(format!("file {name}"), "Remove this file", remove)
    };
    let paste = move |(index, words): (usize, String)| {
        let remove = move || {
            draft.update(|draft| {
                draft.pastes.remove(index);
            });
        };
        chip(format!("pasted {words}"), "Remove this paste", remove)
    };
    let attached = Memo::new(move |_| draft.with(|draft| draft.attached.clone()));
    let kept = move |(index, segment): (usize, Segment)| {
        let remove = move || {
            draft.update(|draft| {
                draft.attached.remove(index);
            });
        };
        let label = format!("Remove {}", segment.as_text().trim_matches(['[', ']']));
        kept_chip(&segment, label, remove)
    };
    let under_way = move |name: String| view! { <li aria-live="polite">{name} " is being saved…"</li> }.into_any();
    let has_kept = move || attached.with(|kept| !kept.is_empty()) || outgoing.attaching.with(|names| !names.is_empty());
    let is_shown =
        move || has_kept() || files.with(|files| !files.is_empty()) || pastes.with(|pastes| !pastes.is_empty());
    view! {
        <Show when=is_shown>
            <ul class="chips" aria-label="With this message">
                {redrawn(move || files.get().into_iter().map(file).collect_view())}
                {redrawn(move || attached.get().into_iter().enumerate().map(kept).collect_view())}
                {redrawn(move || outgoing.attaching.get().into_iter().map(under_way).collect_view())}
                {redrawn(move || pastes.get().into_iter().enumerate().map(paste).collect_view())}
            </ul>
        </Show>
    }
}

/// An attachment: a picture as a thumbnail, a file by its name.
fn kept_chip(segment: &Segment, label: String, remove: impl Fn() + 'static) -> AnyView {
    let (picture, name) = match segment {
        Segment::Image { blob, name } => {
            let src = blob_href(blob);
            (Some(view! { <img src=src alt="" /> }.into_any()), name.clone().unwrap_or_else(|| "image".to_owned()))
        }
        other => (None, other.as_text().into_owned()),
    };
    chip(view! { {picture} {name} }.into_any(), label, remove)
}

fn chip(words: impl IntoView + 'static, label: impl Into<String>, remove: impl Fn() + 'static) -> AnyView {
    let label = label.into();
    let words = words.into_any();
    let remove = move |_| {
        remove();
        live::focus("message");
    };
    view! {
        <li>
            <span>{words}</span>
            <button type="button" class="quiet" aria-label=label on:click=remove>
                "×"
            </button>
        </li>
    }
    .into_any()
}
