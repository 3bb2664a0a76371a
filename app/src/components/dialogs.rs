use leptos::prelude::*;

use crate::{
    components::{
        help_dialog::HelpDialog,
        new_pod_dialog::NewPodDialog,
        pod_dialogs::{DeleteDialog, RenameDialog},
    },
    console::{Dialog, use_console},
};

/// The dialog that is open, if one is.
#[component]
pub(crate) fn Dialogs() -> impl IntoView {
    let console = use_console();
    move || {
        console.dialog.get().map(|dialog| match dialog {
            Dialog::NewPod { name } => view! { <NewPodDialog name=name /> }.into_any(),
            Dialog::Rename(pod) => view! { <RenameDialog pod=*pod /> }.into_any(),
            Dialog::Delete(pod) => view! { <DeleteDialog pod=*pod /> }.into_any(),
            Dialog::Help => view! { <HelpDialog /> }.into_any(),
        })
    }
}
