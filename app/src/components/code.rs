use std::sync::Arc;

use leptos::{html::Pre, prelude::*};
use transcript::unseen;

use crate::{
    components::copy_button::CopyButton,
    live,
    server_fns::{CodeText, KINDS, Run},
};

/// Code with its language and a copy button. Colours appear once it has been in view; nothing else changes.
#[component]
pub(crate) fn CodeBlock(language: Option<String>, text: String) -> impl IntoView {
    let shown = unseen::shown(&text).into_owned();
    let place = NodeRef::<Pre>::new();
    let runs = colours(place, language.clone(), &shown);
    let body = move || coloured(&shown, runs.get().as_deref().unwrap_or_default());
    let copy = view! { <CopyButton label="copy" text=move || text.clone() /> }.into_any();
    figure(language, Some(place), copy, body)
}

/// The frame of a code block.
pub(crate) fn figure(
    language: Option<String>,
    place: Option<NodeRef<Pre>>,
    copy: AnyView,
    body: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let label = language.clone().map_or_else(|| "Code".to_owned(), |language| format!("Code, {language}"));
    let place = place.unwrap_or_default();
    view! {
        <figure class="code">
            <figcaption>
                <span>{language}</span>
                {copy}
            </figcaption>
            <pre tabindex="0" role="group" aria-label=label node_ref=place>
                <code>{body}</code>
            </pre>
        </figure>
    }
    .into_any()
}

/// The colours, once they have been fetched. A block that is drawn again after it was scrolled out of view has them
/// at once.
fn colours(place: NodeRef<Pre>, language: Option<String>, shown: &str) -> RwSignal<Option<Arc<[Run]>>> {
    let runs = RwSignal::new(None);
    let Some(code) = language.map(|language| CodeText { language, text: shown.to_owned() }).filter(CodeText::is_fit)
    else {
        return runs;
    };
    if let Some(known) = live::colours_known(&code) {
        runs.set(Some(known));
        return runs;
    }
    let asked = StoredValue::new(None::<u64>);
    Effect::new(move |_| {
        let Some(element) = place.get() else { return };
        let told = move |found| {
            runs.try_set(Some(found));
        };
        asked.set_value(Some(live::colours_when_seen(&element, code.clone(), told)));
    });
    on_cleanup(move || {
        if let Some(number) = asked.try_get_value().flatten() {
            live::colours_forget(number);
        }
    });
    runs
}

/// The text split into coloured runs. Without colours if the runs do not match this text.
pub(crate) fn coloured(text: &str, runs: &[Run]) -> AnyView {
    pieces(text, runs)
        .unwrap_or_else(|| vec![("", text)])
        .into_iter()
        .map(|(class, piece)| {
            let piece = piece.to_owned();
            match class {
                "" => piece.into_any(),
                class => view! { <span class=class>{piece}</span> }.into_any(),
            }
        })
        .collect_view()
        .into_any()
}

/// `None` when the runs do not cover exactly this text.
fn pieces<'a>(text: &'a str, runs: &[Run]) -> Option<Vec<(&'static str, &'a str)>> {
    let mut at = 0usize;
    let mut pieces = Vec::with_capacity(runs.len());
    for Run(kind, bytes) in runs {
        let piece = text.get(at..at.checked_add(*bytes as usize)?)?;
        pieces.push((*KINDS.get(*kind as usize)?, piece));
        at += piece.len();
    }
    (at == text.len()).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cut_a_text_and_lose_nothing_of_it() {
        let text = "fn é() {}";
        let cut = pieces(text, &[Run(1, 3), Run(5, 2), Run(0, 5)]).unwrap();
        assert_eq!(cut, [("code-keyword", "fn "), ("code-function", "é"), ("", "() {}")]);
    }

    #[test]
    fn runs_of_another_text_are_no_colours() {
        for runs in [vec![], vec![Run(1, 3)], vec![Run(1, 4), Run(0, 6)], vec![Run(1, 99)], vec![Run(9, 10)]] {
            assert_eq!(pieces("fn é() {}", &runs), None, "{runs:?}");
        }
    }
}
