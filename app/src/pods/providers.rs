use leptos::prelude::*;
use protocol::{ModelFacts, ProviderTest, ProviderView, Thinking, UnconfiguredProvider};
use transcript::words::model_words;

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
        text_field::TextField,
    },
    console::{Dialog, use_console},
    format::{counted, sentence_case},
    server_fns::{ProvidersFound, list_providers, test_provider},
};

/// Which model a person chooses, and how hard it thinks. What is empty is not chosen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ModelChoice {
    provider: RwSignal<String>,
    model: RwSignal<String>,
    thinking: RwSignal<String>,
    /// What a Pod has now, when it has one.
    pub(crate) instead_of: StoredValue<Option<(String, String)>>,
}

impl ModelChoice {
    /// Provider, model, thinking.
    pub(crate) fn read(self) -> (Option<String>, Option<String>, Option<Thinking>) {
        let given =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        (given(self.provider), given(self.model), given(self.thinking).and_then(|level| level.parse().ok()))
    }

    /// The provider that the model would be asked from.
    fn is_of(self, provider: &ProviderView) -> bool {
        match (self.provider.get().as_str(), self.instead_of.get_value()) {
            ("", Some((present, _))) => provider.name == present,
            ("", None) => provider.default,
            (chosen, _) => provider.name == chosen,
        }
    }

    /// What is known of the model that is chosen.
    fn facts(self, providers: &[ProviderView]) -> ModelFacts {
        let (typed, present) = (self.model.get(), self.instead_of.get_value());
        let of = providers.iter().find(|provider| self.is_of(provider));
        let named = match (typed.trim(), present) {
            ("", Some((_, model))) if self.provider.get().is_empty() => Some(model),
            ("", _) => of.and_then(|provider| provider.models.first()).map(|model| model.name.clone()),
            (typed, _) => Some(typed.to_owned()),
        };
        let models = of.into_iter().flat_map(|provider| &provider.models);
        models
            .filter(|model| Some(&model.name) == named.as_ref())
            .map(|model| model.facts.clone())
            .next()
            .unwrap_or_default()
    }
}

/// Provider, model and thinking. Any model name may be typed; the list is a help, and says what is known of each.
#[component]
pub(crate) fn ModelFields(
    id: &'static str,
    choice: ModelChoice,
    /// What an empty choice means.
    unchanged: &'static str,
) -> impl IntoView {
    let found = LocalResource::new(list_providers);
    let providers = move || found.get().and_then(Result::ok).map(|found| found.found).unwrap_or_default();
    let options = move || {
        providers()
            .into_iter()
            .map(|provider| {
                let words = match (provider.default, provider.missing.is_some()) {
                    (_, true) => format!("{} (not ready)", provider.name),
                    (true, _) => format!("{} (default)", provider.name),
                    (false, _) => provider.name.clone(),
                };
                view! { <option value=provider.name.clone()>{words}</option> }.into_any()
            })
            .collect_view()
    };
    let models = move || {
        providers()
            .into_iter()
            .filter(|provider| choice.is_of(provider))
            .flat_map(|provider| provider.models)
            .map(|model| {
                let words = model_words(&model.facts);
                view! { <option value=model.name>{words}</option> }.into_any()
            })
            .collect_view()
    };
    let facts = Memo::new(move |_| choice.facts(&providers()));
    let is_change = choice.instead_of.with_value(Option::is_some);
    let (model_hint, no_level) = match is_change {
        true => ("Any name that the provider knows. Empty: as it is, or another provider's first one.", unchanged),
        false => ("Any name that the provider knows. Empty: its first one.", "as the model does by itself"),
    };
    // Of a model of which nothing is known, each may be tried.
    let levels = move || facts.with(|facts| facts.thinking.clone()).unwrap_or_else(|| Thinking::ALL.to_vec());
    let (provider_id, thinking_id) = (format!("{id}-provider"), format!("{id}-thinking"));
    let (model_id, list_id) = match id {
        "new-pod" => ("new-pod-model", "new-pod-models"),
        _ => ("model-name", "model-names"),
    };
    view! {
        <div class="field">
            <label for=provider_id.clone()>"Provider"</label>
            <select id=provider_id on:change=move |event| choice.provider.set(event_target_value(&event))>
                <option value="">{unchanged}</option>
                {options}
            </select>
        </div>
        <TextField
            id=model_id
            label="Model"
            value=choice.model
            hint=model_hint
            list=list_id
        />
        <datalist id=list_id>{models}</datalist>
        <small class="hint" role="status">
            {move || facts.with(model_words)}
        </small>
        <div class="field">
            <label for=thinking_id.clone()>"Thinking"</label>
            <select id=thinking_id on:change=move |event| choice.thinking.set(event_target_value(&event))>
                <option value="">{no_level}</option>
                {move || {
                    levels()
                        .into_iter()
                        .map(|level| view! { <option value=level.as_str()>{level.as_str()}</option> }.into_any())
                        .collect_view()
                }}
            </select>
        </div>
    }
}

/// What was detected on this machine, and how to add what is missing. Open on a fresh start, one line later.
#[component]
pub(crate) fn ProvidersSection(found: ProvidersFound, #[prop(into)] is_open: Signal<bool>) -> impl IntoView {
    let ready = found.found.iter().filter(|provider| provider.missing.is_none());
    let names = ready.map(|provider| provider.name.clone()).collect::<Vec<_>>().join(", ");
    let used = found.found.iter().find(|provider| provider.default && provider.kind != "rehearsal");
    let lead = match used.filter(|provider| provider.missing.is_none()) {
        Some(provider) => format!("New Pods use {}.", provider.name),
        None => "No real model yet: no model server runs here, and there is no key.".to_owned(),
    };
    view! {
        <details class="providers" open=move || is_open.get()>
            <summary>
                <h2>"Models on this machine"</h2>
                <span>{names}</span>
            </summary>
            <p class="hint provider-lead">{lead} " " <AddKey /></p>
            <ProvidersList found=found />
        </details>
    }
}

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

/// What can be done with a provider beyond testing it.
pub(crate) type Acts = fn(&ProviderView) -> AnyView;

/// What was found, each with a live test, and what would make more appear.
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

#[component]
fn Found(provider: ProviderView, acts: Option<Acts>) -> impl IntoView {
    let acts = acts.map(|acts| acts(&provider));
    let models = match provider.models.as_slice() {
        [] => "any model name".to_owned(),
        [one] => one.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
    };
    let (mark, words, class) = match &provider.missing {
        // Present but unusable is its own state: never to be read as "not configured".
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

/// Asks the provider now. What comes back is said beside the button, and never that it is not configured when it is
/// only away.
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
            <span role="status">{answer}</span>
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
