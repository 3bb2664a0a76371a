use leptos::prelude::*;
use protocol::{ProviderTest, ProviderView, UnconfiguredProvider};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
        text_field::TextField,
    },
    format::{counted, sentence_case},
    pods::new_pod_dialog::NewPodForm,
    server_fns::{ProvidersFound, list_providers, test_provider},
};

/// Which provider and model a new Pod uses. Any model name may be typed; the list is a help.
#[component]
pub(crate) fn ProviderFields(form: NewPodForm) -> impl IntoView {
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
        let chosen = form.provider.get();
        providers()
            .into_iter()
            .filter(|provider| provider.name == chosen || (chosen.is_empty() && provider.default))
            .flat_map(|provider| provider.models)
            .map(|model| view! { <option value=model.name></option> }.into_any())
            .collect_view()
    };
    view! {
        <div class="field">
            <label for="new-pod-provider">"Provider"</label>
            <select
                id="new-pod-provider"
                on:change=move |event| form.provider.set(event_target_value(&event))
            >
                <option value="">"the default"</option>
                {options}
            </select>
        </div>
        <TextField
            id="new-pod-model"
            label="Model"
            value=form.model
            hint="Empty: the first one configured, or the default of its kind."
            list="new-pod-models"
        />
        <datalist id="new-pod-models">{models}</datalist>
    }
}

/// What was detected on this machine, and how to add what is missing. Open on a fresh start, one line later.
#[component]
pub(crate) fn ProvidersSection(found: ProvidersFound, #[prop(into)] is_open: Signal<bool>) -> impl IntoView {
    let ready = found.found.iter().filter(|provider| provider.missing.is_none());
    let names = ready.map(|provider| provider.name.clone()).collect::<Vec<_>>().join(", ");
    view! {
        <details class="providers" open=move || is_open.get()>
            <summary>
                <h2>"Models on this machine"</h2>
                <span>{names}</span>
            </summary>
            <ProvidersList found=found />
        </details>
    }
}

/// What was found, each with a live test, and what would make more appear.
#[component]
pub(crate) fn ProvidersList(found: ProvidersFound) -> impl IntoView {
    view! {
        <ul>
            {found.found.into_iter().map(|provider| view! { <Found provider=provider /> }.into_any()).collect_view()}
            {found.missing.into_iter().map(|provider| view! { <Missing provider=provider /> }.into_any()).collect_view()}
        </ul>
    }
}

#[component]
fn Found(provider: ProviderView) -> impl IntoView {
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
