use commands::Topic;
use leptos::prelude::*;

use crate::{
    components::{
        compact_dialog::CompactDialog,
        help_dialog::HelpDialog,
        new_pod_dialog::NewPodDialog,
        peer_dialog::PeerDialog,
        peer_help::PeerHelp,
        pod_dialogs::{DeleteDialog, RenameDialog},
        restore_dialog::RestoreDialog,
        rewind_dialog::RewindDialog,
        spawn_dialog::SpawnDialog,
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
            Dialog::Spawn { pod, name } => view! { <SpawnDialog pod=*pod name=name /> }.into_any(),
            Dialog::Compact(pod) => view! { <CompactDialog pod=*pod /> }.into_any(),
            Dialog::Rewind(pod, to) => view! { <RewindDialog pod=*pod to=to /> }.into_any(),
            Dialog::Restore(pod) => view! { <RestoreDialog pod=*pod /> }.into_any(),
            Dialog::Peer(introduction) => view! { <PeerDialog introduction=introduction /> }.into_any(),
            Dialog::Help(Topic::Keys) => view! { <HelpDialog /> }.into_any(),
            Dialog::Help(Topic::Peers) => view! { <PeerHelp /> }.into_any(),
        })
    }
}
