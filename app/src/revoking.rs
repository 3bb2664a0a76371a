//! A link that is revoked ends after a moment, so that it can be taken back. Who leaves the page does not wait.

use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, PodRef};
use serde_json::json;

use crate::{
    console::{Console, fresh_command},
    live,
    server_fns::unlink_pods,
};

/// How long it can be taken back, in milliseconds.
const UNDO_MS: u32 = 5_000;

/// A link that is about to end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Revocation {
    pub(crate) command_id: CommandId,
    pub(crate) pod: PodRef,
    pub(crate) peer: PodRef,
    /// `ada and bob`.
    pub(crate) names: String,
}

impl Revocation {
    /// A link has no direction.
    fn is_of(&self, pod: &PodRef, peer: &PodRef) -> bool {
        (&self.pod, &self.peer) == (pod, peer) || (&self.pod, &self.peer) == (peer, pod)
    }
}

/// Ends the link in a moment.
pub(crate) fn revoke(console: Console, pod: PodRef, peer: PodRef, names: String) {
    if is_revoked(console, &pod, &peer) {
        return;
    }
    let command_id = fresh_command();
    let revocation = Revocation { command_id: command_id.clone(), pod, peer, names };
    console.revocations.update(|revocations| revocations.push(revocation));
    live::after(UNDO_MS, move || finish(console, &command_id));
}

/// This link is about to end.
pub(crate) fn is_revoked(console: Console, pod: &PodRef, peer: &PodRef) -> bool {
    console.revocations.with(|revocations| revocations.iter().any(|revocation| revocation.is_of(pod, peer)))
}

/// Takes it back.
pub(crate) fn keep(console: Console, pod: &PodRef, peer: &PodRef) {
    console.revocations.update(|revocations| revocations.retain(|revocation| !revocation.is_of(pod, peer)));
}

fn finish(console: Console, command_id: &CommandId) {
    let due = console.revocations.with_untracked(|revocations| {
        revocations.iter().find(|revocation| revocation.command_id == *command_id).cloned()
    });
    let Some(Revocation { command_id, pod, peer, names }) = due else { return };
    spawn_local(async move {
        match unlink_pods(pod.clone(), command_id, peer.clone()).await {
            Ok(()) => console.note(format!("{names} do not know each other any more.")),
            Err(refusal) => console.fail(&refusal),
        }
        keep(console, &pod, &peer);
    });
}

/// Whoever leaves the page has made up their mind.
pub(crate) fn finish_on_leave(console: Console) {
    live::on_leave(move || {
        for Revocation { command_id, pod, peer, .. } in console.revocations.get_untracked() {
            let arguments = json!({ "pod": pod, "command_id": command_id, "peer": peer });
            live::send_last("/fn/unlink_pods", &arguments.to_string());
        }
        console.revocations.set(Vec::new());
    });
}
