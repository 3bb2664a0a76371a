use leptos::prelude::*;
use protocol::{ProviderView, UnconfiguredProvider};

use crate::{
    components::new_pod_dialog::{NewPodForm, TextField},
    server_fns::{ProvidersFound, list_providers},
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
                view! { <option value=provider.name.clone()>{words}</option> }
            })
            .collect_view()
    };
    let models = move || {
        let chosen = form.provider.get();
        providers()
            .into_iter()
            .filter(|provider| provider.name == chosen || (chosen.is_empty() && provider.default))
            .flat_map(|provider| provider.models)
            .map(|model| view! { <option value=model.name></option> })
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
            hint="Empty: the provider's first model."
            list="new-pod-models"
        />
        <datalist id="new-pod-models">{models}</datalist>
    }
    .into_any()
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
            <ul>
                {found.found.into_iter().map(|provider| view! { <Found provider=provider /> }).collect_view()}
                {found.missing.into_iter().map(|provider| view! { <Missing provider=provider /> }).collect_view()}
            </ul>
        </details>
    }
    .into_any()
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
            <b>{provider.name}</b>
            {provider.default.then(|| view! { <span class="tag">"default"</span> })}
            <span class="provider-words">{words}</span>
        </li>
    }
    .into_any()
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
    .into_any()
}
