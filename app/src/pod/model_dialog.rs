//! Changes the model of an existing Pod.

use leptos::prelude::*;
use protocol::{ErrorCode, PatchPod, PodSummary};

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog},
    console::{fresh_command, use_console},
    live,
    pods::model_fields::{ModelChoice, ModelFields},
    server_fns::{change_pod, list_providers},
};

/// Fields left empty keep their value.
#[component]
pub(crate) fn ModelDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let choice = ModelChoice::default();
    let deed = Deed::default();
    let title = format!("Model of {}", pod.name);
    let now = format!("Now {} of {}. A change counts from the next model call on.", pod.model, pod.provider);
    let found = LocalResource::new(list_providers);
    let providers = Memo::new(move |_| found.get().and_then(Result::ok).map(|found| found.found).unwrap_or_default());
    choice.instead_of.set_value(Some((pod.provider.clone(), pod.model.clone())));
    let submit = Callback::new(move |()| {
        let (provider, model, thinking) = choice.read();
        let patch = PatchPod { provider, model, thinking, ..PatchPod::default() };
        if patch == PatchPod::default() {
            let sentence = "choose a model, a provider or how hard it thinks".to_owned();
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, sentence));
        }
        let pod = pod.pod.clone();
        deed.begin(Box::pin(async move {
            let now = change_pod(pod, fresh_command(), patch).await?;
            live::close_dialog("model");
            console.note(format!("{} answers with {} now.", now.summary.name, now.summary.model));
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
