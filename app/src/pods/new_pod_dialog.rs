use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{CommandId, CreatePod, ErrorCode, PodName, PodRef};

use crate::{
    UiError,
    components::{deed::Deed, dialog::Modal, problem::Problem, text_field::TextField},
    console::{fresh_command, pod_href, use_console},
    live,
    pods::{
        agent_field::AgentField,
        providers::{ModelChoice, ModelFields},
    },
    server_fns::create_pod,
};

/// What is typed into the dialog. It stays when the server refuses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NewPodForm {
    name: RwSignal<String>,
    choice: ModelChoice,
    cwd: RwSignal<String>,
    agent: RwSignal<String>,
    instructions: RwSignal<String>,
    deed: Deed,
    /// One id for what is typed now: a second press, or a try after a lost answer, makes one Pod and not two.
    command: StoredValue<Option<(CreatePod, CommandId)>>,
}

impl NewPodForm {
    fn read(self) -> Result<CreatePod, UiError> {
        let name = PodName::parse(self.name.get_untracked().trim())
            .map_err(|error| UiError::new(ErrorCode::InvalidInput, error.to_string()))?;
        let given =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        let agent = given(self.agent);
        // An agent chooses its model by itself.
        let (provider, model, thinking) = if agent.is_some() { Default::default() } else { self.choice.read() };
        Ok(CreatePod {
            agent,
            provider,
            model,
            thinking,
            cwd: given(self.cwd),
            instructions: given(self.instructions),
            ..CreatePod::named(name)
        })
    }

    fn submit(self, made: impl FnOnce(&PodRef) + 'static) {
        if self.deed.is_busy.get_untracked() {
            return;
        }
        let create = match self.read() {
            Ok(create) => create,
            Err(refusal) => return self.deed.refuse(refusal),
        };
        let id = match self.command.get_value() {
            Some((same, id)) if same == create => id,
            _ => fresh_command(),
        };
        self.command.set_value(Some((create.clone(), id.clone())));
        self.deed.begin(Box::pin(async move {
            let answer = create_pod(id, create).await;
            match &answer {
                Ok(pod) => made(&pod.pod),
                Err(refusal) => {
                    if refusal.code() != ErrorCode::RuntimeUnavailable {
                        self.command.try_set_value(None);
                    }
                    live::focus("new-pod-name");
                }
            }
            answer.map(drop)
        }));
    }
}

#[component]
pub(crate) fn NewPodDialog() -> impl IntoView {
    let console = use_console();
    let form = NewPodForm::default();
    let navigate = use_navigate();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let navigate = navigate.clone();
        form.submit(move |pod| {
            live::close_dialog("new-pod");
            console.dialog.set(None);
            console.is_writing.set_value(true);
            navigate(&pod_href(pod), Default::default());
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
                    <Problem error=form.deed.error />
                    <details class="more">
                        <summary>"More"</summary>
                        <AgentField chosen=form.agent />
                        <ModelFields id="new-pod" choice=form.choice unchanged="the default" />
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
                    <button class="button primary" type="submit" aria-disabled=move || form.deed.is_busy.get().to_string()>
                        {move || if form.deed.is_busy.get() { "Creating…" } else { "Create" }}
                    </button>
                </div>
            </form>
        </Modal>
    }
}
