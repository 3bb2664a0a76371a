use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;
use protocol::{ErrorCode, PodName, PodSummary};

use crate::{
    UiError,
    components::{dialog::Modal, new_pod_dialog::TextField, problem::Problem},
    console::{fresh_command, use_console},
    live,
    server_fns::{delete_pod, rename_pod},
};

#[component]
pub(crate) fn RenameDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let name = RwSignal::new(pod.name.to_string());
    let error = RwSignal::new(None::<UiError>);
    let title = format!("Rename {}", pod.name);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let name = match PodName::parse(name.get_untracked().trim()) {
            Ok(name) => name,
            Err(refusal) => return error.set(Some(UiError::new(ErrorCode::InvalidInput, refusal.to_string()))),
        };
        let pod = pod.pod.clone();
        spawn_local(async move {
            match rename_pod(pod, fresh_command(), name.clone()).await {
                Ok(_) => {
                    live::close_dialog("rename");
                    console.note(format!("It is called {name} now."));
                }
                Err(refusal) => {
                    error.try_set(Some(refusal));
                }
            }
        });
    };
    view! {
        <Modal id="rename" title=title>
            <form on:submit=submit autocomplete="off">
                <div class="fields">
                    <TextField id="rename-name" label="Name" value=name hint="Its address and its records stay." />
                    <Problem error=error />
                </div>
                <div class="acts">
                    <button class="button" type="button" on:click=|_| live::close_dialog("rename")>
                        "Cancel"
                    </button>
                    <button class="button primary" type="submit">
                        "Rename"
                    </button>
                </div>
            </form>
        </Modal>
    }
    .into_any()
}

/// Asks for the name: what is deleted cannot be brought back.
#[component]
pub(crate) fn DeleteDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let navigate = use_navigate();
    let typed = RwSignal::new(String::new());
    let error = RwSignal::new(None::<UiError>);
    let title = format!("Delete {}", pod.name);
    let submit = {
        let pod = pod.clone();
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            let (pod, navigate) = (pod.clone(), navigate.clone());
            let confirm = typed.get_untracked();
            spawn_local(async move {
                match delete_pod(pod.pod, fresh_command(), confirm).await {
                    Ok(()) => {
                        live::close_dialog("delete");
                        console.note(format!("{} is deleted.", pod.name));
                        navigate("/", Default::default());
                    }
                    Err(refusal) => {
                        error.try_set(Some(refusal));
                    }
                }
            });
        }
    };
    view! {
        <Modal id="delete" title=title>
            <form on:submit=submit autocomplete="off">
                <div class="fields">
                    <p>
                        "This stops " <b>{pod.name.to_string()}</b>
                        " and removes it with all its records. It cannot be undone. Files that it has written stay."
                    </p>
                    <TextField id="delete-name" label="Type its name" value=typed />
                    <Problem error=error />
                </div>
                <div class="acts">
                    <button class="button" type="button" on:click=|_| live::close_dialog("delete")>
                        "Keep it"
                    </button>
                    <button class="button danger" type="submit">
                        "Delete"
                    </button>
                </div>
            </form>
        </Modal>
    }
    .into_any()
}
