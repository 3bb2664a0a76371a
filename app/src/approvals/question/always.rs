//! What "always" is to mean: which calls, and where. Nothing is chosen at first.

use leptos::prelude::*;
use protocol::{Approval, ApprovalCommand, Decision, PatternOffer, RuleScope};

use super::{Card, dom_id, send};
use crate::{live, redrawn::redrawn};

/// The first of the choices, which gets the focus.
pub(super) const FIRST: &str = "always-0";

/// The choice of a pattern and of where it applies, and the button that allows it.
#[component]
pub(super) fn AlwaysChoice(card: Card, found: RwSignal<Option<Approval>>) -> impl IntoView {
    let picked = RwSignal::new(None::<PatternOffer>);
    let scope = RwSignal::new(RuleScope::Pod);
    let offers = move || found.get().map(offers);
    let patterns = move || match offers() {
        None => view! { <p class="hint">"Looking for patterns…"</p> }.into_any(),
        Some(offers) => {
            let line = |(at, offer)| pattern(card, at, offer, picked);
            offers.into_iter().enumerate().map(line).collect_view().into_any()
        }
    };
    let place = move |at: usize, each: RuleScope| {
        view! {
            <label class="pick">
                <input
                    id=dom_id(card, &format!("reach-{at}"))
                    type="radio"
                    name=dom_id(card, "reach")
                    prop:checked=move || scope.get() == each
                    on:change=move |_| scope.set(each)
                />
                {place_words(each)}
            </label>
        }
        .into_any()
    };
    let words = move || match picked.with(Option::is_some) {
        true => "Always allow",
        false => "Choose what “always” means",
    };
    let allow = move |_| {
        let Some(offer) = picked.get_untracked() else { return };
        let pattern = Some(offer.pattern).filter(|pattern| !pattern.is_empty());
        let scope = Some(scope.get_untracked());
        send(card, ApprovalCommand { remember: true, pattern, scope, ..ApprovalCommand::once(Decision::Allow) });
    };
    view! {
        <div
            class="always"
            role="group"
            aria-label="Always allow"
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    event.prevent_default();
                    card.is_choosing.set(false);
                    live::focus_soon(&dom_id(card, "question"));
                }
            }
        >
            <fieldset>
                <legend>"Always allow"</legend>
                {redrawn(patterns)}
            </fieldset>
            <fieldset class="places">
                <legend>"For"</legend>
                {RuleScope::ALL.into_iter().enumerate().map(|(at, each)| place(at, each)).collect_view()}
            </fieldset>
            <button
                type="button"
                class="button"
                aria-disabled=move || (card.deed.is_busy.get() || picked.with(Option::is_none)).to_string()
                on:click=allow
            >
                {redrawn(words)}
            </button>
        </div>
    }
}

fn place_words(scope: RuleScope) -> &'static str {
    match scope {
        RuleScope::Pod => "this Pod",
        RuleScope::Folder => "every Pod in this folder",
        RuleScope::Everywhere => "every Pod",
    }
}

/// The question's patterns; without any, only exactly this call can be meant.
fn offers(found: Approval) -> Vec<PatternOffer> {
    let exactly = || PatternOffer {
        pattern: String::new(),
        label: Some("exactly this call".to_owned()),
        would_have_allowed: 0,
        warning: None,
    };
    if found.patterns.is_empty() { vec![exactly()] } else { found.patterns }
}

fn pattern(card: Card, at: usize, offer: PatternOffer, picked: RwSignal<Option<PatternOffer>>) -> AnyView {
    let PatternOffer { pattern, label, would_have_allowed, warning } = offer.clone();
    let tool = card.question.with_value(|question| question.tool.clone());
    let warning = warning.map(|warning| warning_words(&tool, &pattern, &warning).to_owned());
    let lately = lately_words(would_have_allowed);
    let code = (!pattern.is_empty()).then(|| view! { <code>{pattern.clone()}</code> }.into_any());
    let is_picked = move || picked.with(|picked| picked.as_ref().is_some_and(|picked| picked.pattern == pattern));
    view! {
        <label class="pick">
            <input
                id=dom_id(card, &format!("always-{at}"))
                type="radio"
                name=dom_id(card, "always")
                prop:checked=is_picked
                on:change=move |_| picked.set(Some(offer.clone()))
            />
            <span>
                {code}
                <small>{label} {lately}</small>
                {warning.map(|warning| view! { <small class="warning">{warning}</small> }.into_any())}
            </span>
        </label>
    }
    .into_any()
}

/// The warning alone: the pattern that it begins with is shown above it.
fn warning_words<'a>(tool: &str, pattern: &str, warning: &'a str) -> &'a str {
    warning.strip_prefix(&format!("{tool} {pattern}: ")).unwrap_or(warning)
}

fn lately_words(count: u32) -> String {
    match count {
        0 => String::new(),
        1 => "; would have allowed 1 recent call".to_owned(),
        count => format!("; would have allowed {count} recent calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_patterns_offers_exactly_its_call() {
        let asked = Approval::open("q".into(), "Bash".into(), serde_json::Value::Null, protocol::Timestamp::UNIX_EPOCH);
        let offers = offers(asked);
        assert_eq!((offers.len(), offers[0].pattern.as_str()), (1, ""));
        assert_eq!(lately_words(2), "; would have allowed 2 recent calls");
    }

    #[test]
    fn a_warning_does_not_repeat_its_pattern() {
        assert_eq!(warning_words("Bash", "*", "Bash *: it runs any command"), "it runs any command");
        assert_eq!(warning_words("Bash", "ls *", "something else"), "something else");
    }
}
