//! Changes the model of an existing Pod.

use leptos::prelude::*;
use protocol::{AgentChoice, ErrorCode, PatchPod, PodSummary};

use crate::{
    UiError,
    components::{
        combobox::{Combobox, Item},
        deed::Deed,
        dialog::FormDialog,
    },
    console::{fresh_command, use_console},
    live,
    pods::model_fields::{ModelChoice, ModelFields},
    server_fns::{change_pod, list_providers, pod_detail},
};

/// Chooses among an agent's models, or among those of providers.
#[component]
pub(crate) fn ModelDialog(pod: PodSummary) -> impl IntoView {
    match pod.agent.clone() {
        Some(agent) => view! { <OfAgent pod=pod agent=agent /> }.into_any(),
        None => view! { <OfProvider pod=pod /> }.into_any(),
    }
}

/// Chooses one of the models that the agent offers.
#[component]
fn OfAgent(pod: PodSummary, agent: String) -> impl IntoView {
    let console = use_console();
    let (deed, value) = (Deed::default(), RwSignal::new(String::new()));
    let title = format!("Model of {}", pod.name);
    let now = format!("Currently {} of {agent}. A change takes effect from its next turn on.", pod.model);
    let (address, target) = (pod.pod.clone(), pod.pod);
    let found = LocalResource::new(move || pod_detail(address.clone()));
    let items = Memo::new(move |_| {
        let typed = value.get().trim().to_lowercase();
        let session = found.get().and_then(Result::ok).and_then(|detail| detail.session);
        let models = session.map(|session| session.offers.models).unwrap_or_default();
        let item = |choice: AgentChoice| Item { text: choice.id, what: choice.name };
        models.into_iter().map(item).filter(|item| item.text.to_lowercase().contains(&typed)).collect::<Vec<_>>()
    });
    let submit = Callback::new(move |()| {
        let model = value.get_untracked().trim().to_owned();
        if model.is_empty() {
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, "choose a model".to_owned()));
        }
        let pod = target.clone();
        deed.begin(Box::pin(async move {
            let patch = PatchPod { model: Some(model), ..PatchPod::default() };
            let now = change_pod(pod, fresh_command(), patch).await?;
            live::close_dialog("model");
            console.note(format!("{} now uses {}.", now.summary.name, now.summary.model));
            Ok(())
        }));
    });
    view! {
        <FormDialog id="model" title=title submit="Change" deed=deed on_submit=submit>
            <p>{now}</p>
            <Combobox
                id="model-model"
                label="Model"
                value=value
                placeholder=Signal::stored("as it is".to_owned())
                hint="One that the agent offers; before its first turn it has offered none."
                items=items
            />
        </FormDialog>
    }
}

/// `Currently gpt-5 of openai`; the provider is not repeated where the model is called like it.
fn now_words(model: &str, provider: &str) -> String {
    match model == provider {
        true => format!("Currently {model}"),
        false => format!("Currently {model} of {provider}"),
    }
}

/// Fields left empty keep their value.
#[component]
fn OfProvider(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let choice = ModelChoice::default();
    let deed = Deed::default();
    let title = format!("Model of {}", pod.name);
    let now = format!("{}. A change takes effect from the next model call on.", now_words(&pod.model, &pod.provider));
    let found = LocalResource::new(list_providers);
    let providers = Memo::new(move |_| found.get().and_then(Result::ok).map(|found| found.found).unwrap_or_default());
    choice.instead_of.set_value(Some((pod.provider.clone(), pod.model.clone())));
    let submit = Callback::new(move |()| {
        let (provider, model, thinking) = choice.read();
        let patch = PatchPod { provider, model, thinking, ..PatchPod::default() };
        if patch == PatchPod::default() {
            let sentence = "choose a model, a provider or a thinking level".to_owned();
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, sentence));
        }
        let pod = pod.pod.clone();
        deed.begin(Box::pin(async move {
            let now = change_pod(pod, fresh_command(), patch).await?;
            live::close_dialog("model");
            console.note(format!("{} now uses {}.", now.summary.name, now.summary.model));
            Ok(())
        }));
    });
    view! {
        <FormDialog id="model" title=title submit="Change" deed=deed on_submit=submit>
            <p>{now}</p>
            <ModelFields id="model" choice=choice found=providers />
        </FormDialog>
    }
}
