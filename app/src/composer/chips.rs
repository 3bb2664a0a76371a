use leptos::prelude::*;

use super::sending::Outgoing;
use crate::{format::paste_words, live};

/// What goes with the text: files that it names, and long pastes, each as one thing.
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
    let is_shown = move || files.with(|files| !files.is_empty()) || pastes.with(|pastes| !pastes.is_empty());
    view! {
        <Show when=is_shown>
            <ul class="chips" aria-label="With this message">
                {move || files.get().into_iter().map(file).collect_view()}
                {move || pastes.get().into_iter().enumerate().map(paste).collect_view()}
            </ul>
        </Show>
    }
}

fn chip(words: String, label: &'static str, remove: impl Fn() + 'static) -> AnyView {
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
