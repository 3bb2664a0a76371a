//! The models available, where each provider comes from, and the keys that were given here.

use leptos::{prelude::*, task::spawn_local};
use protocol::ProviderView;

use super::Section;
use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::{Dialog, use_console},
    pods::providers::{AddKey, ProvidersList},
    redrawn::redrawn,
    server_fns::{ProvidersFound, forget_key, list_providers},
};

#[component]
pub(crate) fn ModelsSection(providers: ProvidersFound) -> impl IntoView {
    let console = use_console();
    let shown = RwSignal::new(providers);
    Effect::new(move |before: Option<u32>| {
        let changed = console.keys_changed.get();
        if before.is_some_and(|before| before != changed) {
            spawn_local(async move {
                // If the list cannot be read it stays as it was; the page says elsewhere that the server is
                // unreachable.
                if let Ok(found) = list_providers().await {
                    shown.try_set(found);
                }
            });
        }
        changed
    });
    view! {
        <Section id="models" title="Models">
            <p class="hint">
                "Model providers. Keys come from here, from the environment or from files, and are never shown. A test fetches the list of models. "
                <AddKey />
            </p>
            {redrawn(move || view! { <ProvidersList found=shown.get() acts=key_acts /> }.into_any())}
        </Section>
    }
}

/// The source of a provider's key, and the actions on a key that was given here.
fn key_acts(provider: &ProviderView) -> AnyView {
    let is_here = provider.source == "data folder";
    let words = match (provider.hides_key, provider.has_key) {
        (true, _) => "A key stored here is not used: the configuration takes precedence.",
        (false, true) => "has a key",
        (false, false) => "",
    };
    let acts = (is_here || provider.hides_key)
        .then(|| view! { <KeyActs name=provider.name.clone() is_used=is_here /> }.into_any());
    view! {
        <span class="provider-key">
            {(!words.is_empty()).then(|| view! { <span class="hint">{words}</span> }.into_any())} {acts}
        </span>
    }
    .into_any()
}

#[component]
fn KeyActs(
    name: String,
    /// Whether the key is in use and can be replaced; an unused one can only be removed.
    is_used: bool,
) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let (replaced, forgotten) = (name.clone(), name.clone());
    let forget = move || {
        let name = forgotten.clone();
        deed.begin(Box::pin(async move {
            forget_key(name).await?;
            console.keys_changed.update(|count| *count += 1);
            Ok(())
        }));
    };
    let replace = is_used.then(|| {
        let label = format!("Replace the key of {name}");
        let press = move |_| console.dialog.set(Some(Dialog::Key(Some(replaced.clone()))));
        view! {
            <button class="button" type="button" aria-label=label on:click=press>
                "Replace key"
            </button>
        }
        .into_any()
    });
    view! {
        {replace}
        <DeedButton deed=deed label=format!("Forget the key of {name}") words="Forget key" press=forget />
        <Problem error=deed.error />
    }
}
