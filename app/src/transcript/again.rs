//! Has the model answer a message once more.

use commands::allowed::rewind_refusal;
use leptos::{prelude::*, task::spawn_local};
use protocol::{ControlVerb, RewindCommand, Seq};

use crate::{
    console::{Console, Dialog, PodContext, fresh_command},
    server_fns::{control_pod, rewind_pod},
};

/// What came after the message leaves the context, and the model is asked again. If that is more than one turn, the
/// rewind dialog says so first.
pub(super) fn retry_turn(console: Console, pod: PodContext, message: Seq) {
    if let Some(reason) = rewind_refusal(pod.state.get_untracked()) {
        return console.note(format!("Cannot retry now: {reason}"));
    }
    if pod.rows.newest_message() != Some(message) {
        console.note("Rewind to this message first; Retry in the menu then asks again.");
        return console.dialog.set(Some(Dialog::Rewind(Box::new(pod), message)));
    }
    let target = pod.pod.get_value();
    let head = pod.rows.status.with_untracked(|(head, _)| *head);
    let expected_head = head.max(pod.summary.with_untracked(|summary| summary.head_seq));
    spawn_local(async move {
        let rewind = RewindCommand::context(message, expected_head);
        let asked = match rewind_pod(target.clone(), fresh_command(), rewind).await {
            Ok(_) => control_pod(target, fresh_command(), ControlVerb::Retry).await.map(drop),
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = asked {
            console.fail(&refusal);
        }
        pod.refresh();
    });
}
