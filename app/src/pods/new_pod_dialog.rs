use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;
use protocol::{CreatePod, ErrorCode, PodName};

use crate::{
    UiError,
    components::{dialog::Modal, problem::Problem, text_field::TextField},
    console::{fresh_command, pod_href, use_console},
    live,
    pods::providers::ProviderFields,
    server_fns::create_pod,
};

/// What is typed into the dialog. It stays when the server refuses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewPodForm {
    name: RwSignal<String>,
    pub(crate) provider: RwSignal<String>,
    pub(crate) model: RwSignal<String>,
    cwd: RwSignal<String>,
    instructions: RwSignal<String>,
}

impl NewPodForm {
    fn read(self) -> Result<CreatePod, UiError> {
        let name = PodName::parse(self.name.get_untracked().trim())
            .map_err(|error| UiError::new(ErrorCode::InvalidInput, error.to_string()))?;
        let given =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        Ok(CreatePod {
            provider: given(self.provider),
            model: given(self.model),
            cwd: given(self.cwd),
            instructions: given(self.instructions),
            ..CreatePod::named(name)
        })
    }
}

#[component]
pub(crate) fn NewPodDialog(name: String) -> impl IntoView {
    let console = use_console();
    let field = || RwSignal::new(String::new());
    let form = NewPodForm {
        name: RwSignal::new(name),
        provider: field(),
        model: field(),
        cwd: field(),
        instructions: field(),
    };
    let error = RwSignal::new(None::<UiError>);
    let is_sending = RwSignal::new(false);
    // One id for what is typed now: a second press, or a try after a lost answer, makes one Pod and not two.
    let command = StoredValue::new(None::<(CreatePod, protocol::CommandId)>);
    let navigate = use_navigate();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if is_sending.get_untracked() {
            return;
        }
        let create = match form.read() {
            Ok(create) => create,
            Err(refusal) => return error.set(Some(refusal)),
        };
        let id = match command.get_value() {
            Some((same, id)) if same == create => id,
            _ => fresh_command(),
        };
        command.set_value(Some((create.clone(), id.clone())));
        is_sending.set(true);
        let navigate = navigate.clone();
        spawn_local(async move {
            let made = create_pod(id, create).await;
            is_sending.try_set(false);
            match made {
                Ok(pod) => {
                    live::close_dialog("new-pod");
                    console.dialog.set(None);
                    console.is_writing.set_value(true);
                    navigate(&pod_href(&pod.pod), Default::default());
                }
                Err(refusal) => {
                    if refusal.code() != ErrorCode::RuntimeUnavailable {
                        command.try_set_value(None);
                    }
                    error.try_set(Some(refusal));
                    live::focus("new-pod-name");
                }
            }
        });
    };
    view! {
        <Modal id="new-pod" title="New Pod".to_owned()>
            <form on:submit=submit autocomplete="off">
                <div class="fields">
                    <TextField
                        id="new-pod-name"
                        label="Name"
                        value=form.name
                        hint="Letters, digits, dot, underscore and hyphen. You can change it later."
                    />
                    <Problem error=error />
                    <details class="more">
                        <summary>"More"</summary>
                        <ProviderFields form=form />
                        <TextField
                            id="new-pod-cwd"
                            label="Working directory"
                            value=form.cwd
                            hint="Absolute path; if empty, the folder that yoi was started in. The Pod may write here."
                        />
                        <label class="field" for="new-pod-instructions">
                            <span>"Instructions"</span>
                            <textarea
                                id="new-pod-instructions"
                                rows="3"
                                prop:value=move || form.instructions.get()
                                on:input=move |event| form.instructions.set(event_target_value(&event))
                            ></textarea>
                        </label>
                    </details>
                </div>
                <div class="acts">
                    <button class="button" type="button" on:click=|_| live::close_dialog("new-pod")>
                        "Cancel"
                    </button>
                    <button class="button primary" type="submit" aria-disabled=move || is_sending.get().to_string()>
                        {move || if is_sending.get() { "Creating…" } else { "Create" }}
                    </button>
                </div>
            </form>
        </Modal>
    }
    .into_any()
}
