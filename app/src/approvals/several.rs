//! Answering several questions at once.

use leptos::prelude::*;
use protocol::{AnsweredQuestion, Decision, PodRef, QuestionId};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::{fresh_command, use_console},
    redrawn::redrawn,
    server_fns::answer_approvals,
};

/// The questions that are selected: each by its Pod and its id. None is at first.
pub(super) type Selected = RwSignal<Vec<(PodRef, String)>>;

/// The box that selects one question.
#[component]
pub(super) fn SelectBox(key: (PodRef, String), label: String, selected: Selected) -> impl IntoView {
    let is_on = {
        let key = key.clone();
        move || selected.with(|selected| selected.contains(&key))
    };
    let toggle = move |_| {
        selected.update(|selected| match selected.iter().position(|known| *known == key) {
            Some(at) => drop(selected.remove(at)),
            None => selected.push(key.clone()),
        });
    };
    view! {
        <label class="select-question">
            <input type="checkbox" aria-label=label prop:checked=is_on on:change=toggle />
            "Select"
        </label>
    }
}

/// The answers to all selected questions; there is nothing to press while none is selected.
#[component]
pub(super) fn SeveralBar(selected: Selected) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let answer = move |decision: Decision| {
        let ids: Vec<QuestionId> =
            selected.get_untracked().into_iter().map(|(pod, id)| QuestionId { pod, id }).collect();
        deed.begin(Box::pin(async move {
            let answered = answer_approvals(fresh_command(), ids, decision).await?;
            selected.try_set(Vec::new());
            console.note(words(&answered, decision));
            Ok(())
        }));
    };
    let count = move || match selected.with(Vec::len) {
        1 => "1 selected".to_owned(),
        count => format!("{count} selected"),
    };
    view! {
        <Show when=move || selected.with(|selected| !selected.is_empty())>
            <div class="several" role="group" aria-label="Answer the selected approvals">
                <span>{redrawn(count)}</span>
                <DeedButton deed=deed words="Allow once" press=move || answer(Decision::Allow) />
                <DeedButton deed=deed words="Deny" class="button danger" press=move || answer(Decision::Deny) />
                <DeedButton deed=deed words="Select none" press=move || selected.set(Vec::new()) />
            </div>
        </Show>
        <Problem error=deed.error />
    }
}

/// `3 allowed.`, `2 denied, 1 not: it has been answered already`.
fn words(answered: &[AnsweredQuestion], decision: Decision) -> String {
    let verb = if decision == Decision::Allow { "allowed" } else { "denied" };
    let failed: Vec<_> = answered.iter().filter_map(|answered| answered.error.as_ref()).collect();
    let done = answered.len() - failed.len();
    match failed.first() {
        None => format!("{done} {verb}."),
        Some(first) => format!("{done} {verb}, {} not: {}", failed.len(), first.detail),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ApiError, ErrorCode};

    use super::*;

    #[test]
    fn what_became_of_several_answers_is_one_sentence() {
        let one = |error: Option<&str>| AnsweredQuestion {
            pod: "local/w".parse().unwrap(),
            id: "q".to_owned(),
            approval: None,
            error: error.map(|detail| ApiError::new(ErrorCode::AlreadyAnswered, detail)),
        };
        assert_eq!(words(&[one(None), one(None)], Decision::Allow), "2 allowed.");
        assert_eq!(words(&[one(None), one(Some("too late"))], Decision::Deny), "1 denied, 1 not: too late");
    }
}
