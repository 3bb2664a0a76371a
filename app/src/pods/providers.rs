//! Model providers: which were found on this machine, and how to add more.

use leptos::prelude::*;
use protocol::{ProviderTest, ProviderView, UnconfiguredProvider};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::{Dialog, use_console},
    format::{counted, sentence_case},
    redrawn::redrawn,
    server_fns::{ProvidersFound, test_provider},
};

/// Opens the dialog that takes a key.
#[component]
pub(crate) fn AddKey() -> impl IntoView {
    let console = use_console();
    view! {
        <button class="button" type="button" on:click=move |_| console.dialog.set(Some(Dialog::Key(None)))>
            "Add a key"
        </button>
    }
}

/// Actions on a provider besides testing it.
pub(crate) type Acts = fn(&ProviderView) -> AnyView;

/// The providers found, each with a live test, and how to add more.
#[component]
pub(crate) fn ProvidersList(found: ProvidersFound, #[prop(optional)] acts: Option<Acts>) -> impl IntoView {
    let line = move |provider| view! { <Found provider=provider acts=acts /> }.into_any();
    view! {
        <ul>
            {found.found.into_iter().map(line).collect_view()}
            {found.missing.into_iter().map(|provider| view! { <Missing provider=provider /> }.into_any()).collect_view()}
        </ul>
    }
}

/// Its first model, and how many more it has.
pub(crate) fn models_words(provider: &ProviderView) -> String {
    match provider.models.as_slice() {
        [] => "any model name".to_owned(),
        [one] => one.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
    }
}

#[component]
fn Found(provider: ProviderView, acts: Option<Acts>) -> impl IntoView {
    let acts = acts.map(|acts| acts(&provider));
    let models = models_words(&provider);
    let (mark, words, class) = match &provider.missing {
        // Present but unusable is a state of its own, and must never read as "not configured".
        Some(missing) => ("!", missing.clone(), "provider provider-unready"),
        None => ("✓", format!("{models} · {}", provider.source), "provider provider-ready"),
    };
    view! {
        <li class=class>
            <span class="provider-mark" aria-hidden="true">
                {mark}
            </span>
            <b>{provider.name.clone()}</b>
            {provider.default.then(|| view! { <span class="tag">"default"</span> }.into_any())}
            <span class="provider-words">{words}</span>
            <LiveTest name=provider.name />
            {acts}
        </li>
    }
}

/// Tests the provider now. The result is shown beside the button; an unreachable provider is never called "not
/// configured".
#[component]
fn LiveTest(name: String) -> impl IntoView {
    let told = RwSignal::new(None::<ProviderTest>);
    let deed = Deed::default();
    let label = format!("Test {name}");
    let test = move || {
        let name = name.clone();
        deed.begin(Box::pin(async move {
            told.try_set(Some(test_provider(name).await?));
            Ok(())
        }));
    };
    let answer = move || match (deed.is_busy.get(), told.get()) {
        (true, _) => view! { <span class="hint">"testing, up to 10 s…"</span> }.into_any(),
        (false, Some(test)) => {
            let class = if test.is_ok { "verdict is-good" } else { "verdict is-bad" };
            view! { <span class=class>{test_words(&test)}</span> }.into_any()
        }
        (false, None) => ().into_any(),
    };
    view! {
        <span class="provider-test">
            <DeedButton deed=deed label=label words="Test" press=test />
            <span role="status">{redrawn(answer)}</span>
            <Problem error=deed.error />
        </span>
    }
}

fn test_words(test: &ProviderTest) -> String {
    let code = test.code.as_deref().unwrap_or("failed").replace('_', " ");
    match (test.is_ok, &test.detail) {
        (true, _) => {
            format!("✓ works: answered in {} ms with {}", test.took_ms, counted(test.models.into(), "model"))
        }
        (false, Some(detail)) => format!("✕ {code}: {}", sentence_case(detail)),
        (false, None) => format!("✕ {code}"),
    }
}

#[component]
fn Missing(provider: UnconfiguredProvider) -> impl IntoView {
    view! {
        <li class="provider provider-missing">
            <span class="provider-mark" aria-hidden="true">
                "–"
            </span>
            <b>{provider.kind}</b>
            <span class="provider-words">"not configured: " {provider.missing}</span>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_away_is_told_from_one_that_is_not_configured() {
        let test = |is_ok, code: &str, detail: &str| ProviderTest {
            provider: "lab".to_owned(),
            is_ok,
            took_ms: 12,
            models: 3,
            detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
            code: Some(code.to_owned()),
        };
        assert_eq!(test_words(&test(true, "", "")), "✓ works: answered in 12 ms with 3 models");
        let away = test_words(&test(false, "unreachable", "lab: cannot be reached"));
        assert_eq!(away, "✕ unreachable: Lab: cannot be reached.");
        assert_eq!(test_words(&test(false, "not_configured", "no key")), "✕ not configured: No key.");
    }
}
