//! Network access for running commands, and for a confined agent. A rule or a person decides, and the program waits.

use protocol::{AgentOptions, ControlEvent, Decision, PermissionDecision, PodState, tool::NETWORK};
use serde_json::{Value, json};

use super::{Effect, draft::Draft};
use crate::{AGENT_WAY, OpenApproval, PodSpec, permission, state::WAY_OUT};

/// Decides whether a running command may connect to a host, or the agent whose turn it is. Ignored for a call and for a
/// turn that has ended.
pub(super) fn way_out(draft: &mut Draft, spec: &PodSpec, call_id: String, host: String, port: u16) {
    let is_its = |call: &&crate::OpenCall| call.call_id == call_id;
    let of_operator = draft.pod.operator_calls.iter().find(is_its).cloned();
    let command = match of_operator.as_ref().or_else(|| draft.pod.calls.iter().find(is_its)) {
        Some(call) => call.arguments.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
        None if call_id == AGENT_WAY && draft.pod.is_working() => spec.agent.clone().unwrap_or_default(),
        None => return,
    };
    let arguments = json!({ "host": host, "port": port, "command": command });
    match permission(spec, NETWORK, &arguments) {
        PermissionDecision::Ask => {
            let id = format!("{call_id}{WAY_OUT}{}", draft.pod.head.next().0);
            let options = AgentOptions::default();
            let asked = ControlEvent::ApprovalAsked { id, tool: NETWORK.to_owned(), arguments, options };
            match of_operator {
                Some(_) => draft.outside(asked),
                None => {
                    draft.event(asked);
                    draft.status(PodState::Waiting, None);
                }
            }
        }
        decided => {
            let is_allowed = decided == PermissionDecision::Allow;
            draft.effect(Effect::LetOut { call_id, host, port, is_allowed });
        }
    }
}

/// A person has answered: the command continues, with or without the connection.
pub(super) fn answered(draft: &mut Draft, open: &OpenApproval, call_id: &str, decision: Decision) {
    let text = |name: &str| open.arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let port = open.arguments.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    let is_allowed = decision == Decision::Allow;
    let (call_id, port) = (call_id.to_owned(), port.unwrap_or_default());
    draft.effect(Effect::LetOut { call_id, host: text("host"), port, is_allowed });
    draft.wait_no_more();
}
