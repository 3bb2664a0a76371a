//! A real model in the first minute: start with one that was found at one press, or paste a key right here.

use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;
use protocol::{CreatePod, PodName, ProviderView};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::{fresh_command, pod_href, use_console},
    pods::{
        key_dialog::{KEPT, KeyField, KeyForm, VendorFields},
        providers::{ProvidersList, models_words},
    },
    redrawn::redrawn,
    server_fns::{ProvidersFound, create_pod, list_providers},
};

/// The name of the first Pod.
const FIRST_NAME: &str = "ada";

#[component]
pub(crate) fn FirstModel() -> impl IntoView {
    let console = use_console();
    // Not a resource: the enclosing page would suspend on it and be drawn again. The previous result stays until a new
    // one arrives.
    let found = RwSignal::new(None::<ProvidersFound>);
    Effect::new(move |_| {
        console.keys_changed.track();
        spawn_local(async move {
            if let Ok(providers) = list_providers().await {
                found.try_set(Some(providers));
            }
        });
    });
    let ready = move || found.get().into_iter().flat_map(|found| found.found).filter(is_real).collect::<Vec<_>>();
    let lead = move || match (found.with(Option::is_some), ready().is_empty()) {
        (false, _) => "Looking for models on this machine…",
        (true, true) => "No model server was found on this machine, and there is no key yet.",
        (true, false) => "These can be used at once:",
    };
    let others = move || {
        found.get().map(|found| {
            view! {
                <details class="more">
                    <summary>"All providers"</summary>
                    <ProvidersList found=found />
                </details>
            }
            .into_any()
        })
    };
    view! {
        <section class="providers" aria-labelledby="first-model">
            <h2 id="first-model">"A real model"</h2>
            <p class="hint provider-lead" role="status">{redrawn(lead)}</p>
            <ul>
                {redrawn(move || ready().into_iter().map(|provider| view! { <Ready provider=provider /> }.into_any()).collect_view())}
            </ul>
            <GiveKey />
            {redrawn(others)}
        </section>
    }
}

fn is_real(provider: &ProviderView) -> bool {
    provider.missing.is_none() && provider.kind != "rehearsal"
}

/// A provider that was found or that has a key.
#[component]
fn Ready(provider: ProviderView) -> impl IntoView {
    let (deed, navigate) = (Deed::default(), use_navigate());
    let model = provider.models.first().map_or_else(|| provider.name.clone(), |model| model.name.clone());
    let source = match provider.source.as_str() {
        "found" => "found on this machine",
        source => source,
    };
    let words = format!("{} · {source}", models_words(&provider));
    let name = provider.name.clone();
    let begin = move || {
        let (provider, navigate) = (name.clone(), navigate.clone());
        deed.begin(Box::pin(async move {
            let name = PodName::parse(FIRST_NAME).expect("a constant that is a good name");
            let create = CreatePod { provider: Some(provider), ..CreatePod::named(name) };
            let pod = create_pod(fresh_command(), create).await?;
            navigate(&pod_href(&pod.pod), Default::default());
            Ok(())
        }));
    };
    let label = format!("Begin with {model}");
    view! {
        <li class="provider provider-ready">
            <span class="provider-mark" aria-hidden="true">
                "✓"
            </span>
            <b>{provider.name}</b>
            <span class="provider-words">{words}</span>
            <DeedButton deed=deed label=label words="Begin" class="button primary" press=begin />
            <Problem error=deed.error />
        </li>
    }
}

#[component]
fn GiveKey() -> impl IntoView {
    let form = KeyForm::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        form.submit(None, || ());
    };
    view! {
        <form class="first-key" autocomplete="off" on:submit=submit aria-label="Add a key">
            <VendorFields form=form />
            <KeyField form=form />
            <button class="button" type="submit" aria-disabled=move || form.deed.is_busy.get().to_string()>
                "Test and keep"
            </button>
            <Problem error=form.deed.error />
            <p role="status">{redrawn(move || form.told())}</p>
            <p class="hint">{KEPT}</p>
        </form>
    }
}
