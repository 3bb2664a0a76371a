use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{ErrorCode, PatchPod, PodName, PodSummary};

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog, text_field::TextField},
    console::{fresh_command, use_console},
    live,
    server_fns::{change_pod, delete_pod},
};

#[component]
pub(crate) fn RenameDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let name = RwSignal::new(pod.name.to_string());
    let deed = Deed::default();
    let title = format!("Rename {}", pod.name);
    let submit = Callback::new(move |()| {
        let name = match PodName::parse(name.get_untracked().trim()) {
            Ok(name) => name,
            Err(refusal) => return deed.refuse(UiError::new(ErrorCode::InvalidInput, refusal.to_string())),
        };
        let pod = pod.pod.clone();
        deed.begin(Box::pin(async move {
            let patch = PatchPod { name: Some(name.clone()), ..PatchPod::default() };
            change_pod(pod, fresh_command(), patch).await?;
            live::close_dialog("rename");
            console.note(format!("Renamed to {name}."));
            Ok(())
        }));
    });
    view! {
        <FormDialog id="rename" title=title submit="Rename" deed=deed on_submit=submit>
            <TextField id="rename-name" label="Name" value=name hint="Its address and records stay the same." />
        </FormDialog>
    }
}

/// Asks for the name before deleting, because deleting cannot be undone. If the name was typed already, the focus
/// starts on the cancel button instead.
#[component]
pub(crate) fn DeleteDialog(pod: PodSummary, is_named: bool) -> impl IntoView {
    let console = use_console();
    let navigate = use_navigate();
    let typed = RwSignal::new(if is_named { pod.name.to_string() } else { String::new() });
    let deed = Deed::default();
    let (title, name) = (format!("Delete {}", pod.name), pod.name.to_string());
    let family = children_words(pod.relations.children);
    let submit = Callback::new(move |()| {
        let (pod, confirm, navigate) = (pod.clone(), typed.get_untracked().trim().to_owned(), navigate.clone());
        if confirm != pod.name.as_str() {
            let sentence = format!("this Pod is called {}; type that name to delete it", pod.name);
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, sentence));
        }
        deed.begin(Box::pin(async move {
            delete_pod(pod.pod, fresh_command(), confirm).await?;
            live::close_dialog("delete");
            console.note(format!("{} is deleted.", pod.name));
            navigate("/", Default::default());
            Ok(())
        }));
    });
    view! {
        <FormDialog id="delete" title=title submit="Delete" cancel="Keep it" is_danger=true deed=deed on_submit=submit>
            <p>
                "This stops " <b>{name}</b>
                " and deletes it with its whole transcript. This cannot be undone. Files that it wrote stay"
                {family} "."
            </p>
            {(!is_named).then(|| view! { <TextField id="delete-name" label="Type its name" value=typed /> }.into_any())}
        </FormDialog>
    }
}

/// What happens to its children.
fn children_words(children: u32) -> String {
    match children {
        0 => String::new(),
        1 => ", and so does its child".to_owned(),
        more => format!(", and so do its {more} children"),
    }
}
