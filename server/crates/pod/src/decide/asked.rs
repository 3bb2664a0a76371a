//! What a tool's server asks while its call is running. A person is asked, and the call waits.

use protocol::{AgentOptions, ControlEvent, Decision, PodState};
use serde_json::Value;

use super::{Effect, draft::Draft};
use crate::{OpenApproval, OpenCall, state::ask_id};

/// Asks the question, unless the call is over.
pub(super) fn ask(draft: &mut Draft, call_id: &str, number: u64, arguments: &Value) {
    let is_its = |call: &&OpenCall| call.call_id == call_id;
    let of_operator = draft.pod.operator_calls.iter().find(is_its).cloned();
    let is_by_hand = of_operator.is_some();
    let Some(call) = of_operator.or_else(|| draft.pod.calls.iter().find(is_its).cloned()) else { return };
    let id = ask_id(call_id, number);
    let (arguments, options) = (arguments.clone(), AgentOptions::default());
    let asked = ControlEvent::ApprovalAsked { id, tool: call.name, arguments, options };
    match is_by_hand {
        true => draft.outside(asked),
        false => {
            draft.event(asked);
            draft.status(PodState::Waiting, None);
        }
    }
}

/// Handles a person's answer: the call continues with or without it.
pub(super) fn answered(
    draft: &mut Draft,
    open: &OpenApproval,
    call_id: &str,
    decision: Decision,
    content: Option<Value>,
) {
    let content = content.filter(|_| decision == Decision::Allow);
    draft.effect(Effect::Tell { call_id: call_id.to_owned(), id: open.id.clone(), content });
    draft.wait_no_more();
}
