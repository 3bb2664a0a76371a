//! A new Pod: a name and Enter are enough; everything else has a default, which is shown where it can be changed.

mod folders;
mod scope;

use commands::making::{Defaults, template};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{
    Access, CommandId, CreatePod, ErrorCode, PodName, PodRef, ProfileView, RuntimeId, RuntimeKind, RuntimeView,
    ScopeRule, WorktreeOptions, WorktreeWish,
};

use self::{
    folders::FolderField,
    scope::{ScopeField, ScopeRows},
};
use crate::{
    UiError,
    components::{deed::Deed, dialog::Modal, problem::Problem, text_field::TextField},
    console::{fresh_command, pod_href, use_console},
    live,
    pods::{
        agent_field::AgentField,
        model_fields::{ModelChoice, ModelFields},
    },
    redrawn::redrawn,
    server_fns::{Choices, create_pod, find_folders, new_pod_choices},
};

/// The id of the field for a file with a history.
const HISTORY: &str = "new-pod-history";

/// The dialog's fields. They stay when the server refuses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NewPodForm {
    name: RwSignal<String>,
    profile: RwSignal<String>,
    choice: ModelChoice,
    cwd: RwSignal<String>,
    /// Whether it gets a git work tree of its own, and the name of the branch; empty for the Pod's name.
    has_tree: RwSignal<bool>,
    branch: RwSignal<String>,
    scope: ScopeRows,
    runtime: RwSignal<String>,
    agent: RwSignal<String>,
    instructions: RwSignal<String>,
    deed: Deed,
    /// One id per set of inputs: pressing twice, or retrying after a lost answer, makes one Pod and not two.
    command: StoredValue<Option<(CreatePod, CommandId)>>,
}

impl NewPodForm {
    fn read(self) -> Result<CreatePod, UiError> {
        let name = PodName::parse(self.name.get_untracked().trim())
            .map_err(|error| UiError::new(ErrorCode::InvalidInput, error.to_string()))?;
        let given =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        let agent = given(self.agent);
        // An agent chooses its model itself.
        let (provider, model, thinking) = if agent.is_some() { Default::default() } else { self.choice.read() };
        Ok(CreatePod {
            runtime_id: given(self.runtime).and_then(|id| RuntimeId::parse(&id).ok()),
            profile: given(self.profile),
            agent,
            provider,
            model,
            thinking,
            cwd: given(self.cwd),
            worktree: self
                .has_tree
                .get_untracked()
                .then(|| WorktreeWish::Of(WorktreeOptions { branch: given(self.branch), from: None })),
            scope: self.scope.read(),
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
        let history = live::held_file(HISTORY);
        let taken = CreatePod { cwd: create.cwd.clone(), ..CreatePod::named(create.name.clone()) };
        if history.is_some() && create != taken {
            let sentence = "a Pod with a history takes only its name and its folder from here: clear the other fields, \
                            or remove the file";
            return self.deed.refuse(UiError::new(ErrorCode::InvalidInput, sentence));
        }
        self.command.set_value(Some((create.clone(), id.clone())));
        self.deed.begin(Box::pin(async move {
            let answer = match history {
                Some(file) => live::import_file(file, id, &create.name, create.cwd).await,
                None => create_pod(id, create).await,
            };
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
                        <More form=form />
                    </details>
                </div>
                <div class="acts">
                    <button class="button" type="button" on:click=|_| live::close_dialog("new-pod")>
                        "Cancel"
                    </button>
                    <button class="button primary" type="submit" aria-disabled=move || form.deed.is_busy.get().to_string()>
                        {redrawn(move || if form.deed.is_busy.get() { "Creating…" } else { "Create" })}
                    </button>
                </div>
            </form>
        </Modal>
    }
}

/// The fields that have defaults.
#[component]
fn More(form: NewPodForm) -> impl IntoView {
    let found = LocalResource::new(new_pod_choices);
    let choices = Memo::new(move |_| found.get().and_then(Result::ok).unwrap_or_default());
    let runtime = Signal::derive(move || form.runtime.with(|id| RuntimeId::parse(id).ok()));
    let is_here = Signal::derive(move || runtime.with(Option::is_none));
    let usual = LocalResource::new(move || find_folders(None, runtime.get()));
    let usual = Memo::new(move |_| usual.get().and_then(Result::ok).map(|list| list.default).unwrap_or_default());
    let folder = Memo::new(move |_| match form.cwd.with(|typed| typed.trim().trim_end_matches('/').to_owned()) {
        typed if typed.is_empty() => usual.get(),
        typed => typed,
    });
    let profile = Memo::new(move |_| {
        let name = form.profile.get();
        choices.with(|choices| choices.profiles.iter().find(|profile| profile.name == name).cloned())
    });
    let asks_model = move || {
        form.agent.with(String::is_empty)
            && profile.with(|profile| profile.as_ref().is_none_or(|profile| profile.agent.is_none()))
    };
    let scope = Signal::derive(move || usual_scope(profile.get().as_ref(), folder.get()));
    let providers = Signal::derive(move || choices.with(|choices| choices.providers.clone()));
    let usual_words =
        move || usual.with(|usual| if usual.is_empty() { String::new() } else { format!("default: {usual}") });
    view! {
        <RuntimeField form=form choices=choices />
        <FolderField
            id="new-pod-cwd"
            label="Folder"
            value=form.cwd
            placeholder=Signal::derive(usual_words)
            hint="The Pod works here. Type / for folders on the machine, or a word for folders that Pods work in."
            runtime=runtime
        />
        <WorktreeField form=form />
        <HistoryField />
        <ProfileField form=form choices=choices is_here=is_here />
        <AgentField chosen=form.agent is_here=is_here />
        <Show when=asks_model>
            <ModelFields id="new-pod" choice=form.choice found=providers profile=profile is_known=is_here />
        </Show>
        <ScopeField rows=form.scope usual=scope runtime=runtime />
        <label class="field" for="new-pod-instructions">
            <span>"Instructions"</span>
            <textarea
                id="new-pod-instructions"
                rows="3"
                placeholder=move || profile.get().and_then(|profile| profile.instructions).map(|text| format!("default: {text}"))
                prop:value=move || form.instructions.get()
                on:input=move |event| form.instructions.set(event_target_value(&event))
            ></textarea>
        </label>
    }
}

/// A file with a history to begin with.
#[component]
fn HistoryField() -> impl IntoView {
    view! {
        <label class="field" for=HISTORY>
            <span>"History"</span>
            <input id=HISTORY type="file" accept=".jsonl,.json" />
            <small>
                "A session of Claude Code, Codex or opencode, or a Pod's export as JSONL. The Pod begins with that history, has the name and the folder of this form, and is stopped until you restore it."
            </small>
        </label>
    }
}

/// Whether the Pod works in the folder itself, or in a git work tree that is made from it.
#[component]
fn WorktreeField(form: NewPodForm) -> impl IntoView {
    view! {
        <label class="choice" for="new-pod-worktree">
            <input
                id="new-pod-worktree"
                type="checkbox"
                prop:checked=move || form.has_tree.get()
                on:change=move |event| form.has_tree.set(event_target_checked(&event))
            />
            <span>"In a git work tree of its own, with a new branch"</span>
        </label>
        <Show when=move || form.has_tree.get()>
            <TextField
                id="new-pod-branch"
                label="Branch"
                value=form.branch
                hint="It starts from what is checked out in the folder. Leave it empty to name it after the Pod."
            />
        </Show>
    }
}

/// The scope of a Pod for which none is given.
fn usual_scope(profile: Option<&ProfileView>, folder: String) -> Vec<ScopeRule> {
    let by_profile = profile.and_then(|profile| template(profile, &folder));
    by_profile.unwrap_or_else(|| vec![ScopeRule { path: folder, access: Access::Write, recursive: true }])
}

/// Shown only if there are several runtimes.
#[component]
fn RuntimeField(form: NewPodForm, choices: Memo<Choices>) -> impl IntoView {
    let others = move || {
        let takes = |runtime: &RuntimeView| runtime.kind == RuntimeKind::Remote;
        choices.with(|choices| choices.runtimes.iter().filter(|runtime| takes(runtime)).cloned().collect::<Vec<_>>())
    };
    let option = |runtime: RuntimeView| {
        let id = runtime.runtime_id.to_string();
        let words = match runtime.state.as_str() {
            "live" => id.clone(),
            state => format!("{id} ({state})"),
        };
        view! { <option value=id>{words}</option> }.into_any()
    };
    // Choices made for one server mean nothing on another.
    let choose = move |event| {
        form.runtime.set(event_target_value(&event));
        form.profile.set(String::new());
        form.agent.set(String::new());
        form.choice.clear();
    };
    redrawn(move || {
        let others = others();
        (!others.is_empty()).then(|| {
            view! {
                <div class="field">
                    <label for="new-pod-runtime">"Runtime"</label>
                    <select id="new-pod-runtime" on:change=choose>
                        <option value="">"default: this server"</option>
                        {others.into_iter().map(option).collect_view()}
                    </select>
                </div>
            }
            .into_any()
        })
    })
}

/// A list of this server's profiles; for another server, a text field.
#[component]
fn ProfileField(form: NewPodForm, choices: Memo<Choices>, is_here: Signal<bool>) -> impl IntoView {
    redrawn(move || {
        let profiles = choices.with(|choices| choices.profiles.clone());
        if !is_here.get() {
            return view! { <TextField id="new-pod-profile" label="Profile" value=form.profile hint="A profile of that server. Leave it empty for none." /> }
                .into_any();
        }
        if profiles.is_empty() {
            return ().into_any();
        }
        let chosen = form.profile.get_untracked();
        let choose = move |event| {
            let name = event_target_value(&event);
            // If the profile has an agent, no model is chosen.
            let has_agent = |profile: &ProfileView| profile.name == name && profile.agent.is_some();
            if choices.with_untracked(|choices| choices.profiles.iter().any(has_agent)) {
                form.choice.clear();
            }
            form.profile.set(name);
        };
        let option = |profile: ProfileView| {
            let model =
                || choices.with_untracked(|choices| Defaults::of(&choices.providers, Some(&profile), None).words());
            let words = profile.agent.clone().unwrap_or_else(model);
            let is_it = profile.name == chosen;
            view! { <option value=profile.name.clone() selected=is_it>{format!("{} ({words})", profile.name)}</option> }
                .into_any()
        };
        view! {
            <div class="field">
                <label for="new-pod-profile">"Profile"</label>
                <select id="new-pod-profile" on:change=choose>
                    <option value="">"default: none"</option>
                    {profiles.into_iter().map(option).collect_view()}
                </select>
            </div>
        }
        .into_any()
    })
}
