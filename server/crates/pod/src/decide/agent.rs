//! Turns what an agent does during its turn into events, piece by piece. Its text and its thoughts arrive like a
//! model's.

use protocol::{AgentOption, AgentOptions, AlertLevel, ControlEvent, Outcome, PodState, ToolBy, TurnEvent, Usage};
use serde_json::Value;

use super::{Effect, calls::denied, draft::Draft, mail::complete};
use crate::{AgentPiece, OpenCall, PodSpec, Stop, ToolOutcome, Verdict, state::ASK, verdict};

/// The source of an agent's alerts.
const AGENT: &str = "agent";
/// The result of a call that has none of its own.
const TURN_OVER: &str = "not finished: the agent's turn ended before it told what came of this";

/// Handles one piece of the current turn.
pub(super) fn agent_piece(draft: &mut Draft, spec: &PodSpec, piece: AgentPiece) {
    match piece {
        AgentPiece::Started { agent, title, version, session_id, resumed } => {
            draft.event(ControlEvent::AgentStarted { agent, title, version, session_id, resumed });
        }
        AgentPiece::Ready { to_seq } => {
            draft.event(ControlEvent::AgentPrompted { to_seq });
            draft.effect(Effect::Prompt);
        }
        AgentPiece::Offers(offers) => {
            if draft.pod.session.as_ref().is_none_or(|session| session.offers != offers) {
                draft.event(ControlEvent::AgentOffers { offers });
            }
        }
        AgentPiece::Mode(mode) => {
            if draft.pod.session.as_ref().is_none_or(|session| session.mode.as_deref() != Some(&mode)) {
                draft.event(ControlEvent::ModeChanged { mode });
            }
        }
        AgentPiece::Plan(entries) => {
            if draft.pod.session.as_ref().is_none_or(|session| session.plan != entries) {
                draft.event(ControlEvent::PlanUpdated { entries });
            }
        }
        AgentPiece::Called { id, name, arguments } => {
            called(draft, id, name, arguments);
        }
        AgentPiece::Output { id, text } => {
            if let Some(block) = draft.pod.agent_call(&id).map(|call| call.block.clone()) {
                draft.event(TurnEvent::ToolOutputChunk { block, text });
            }
        }
        AgentPiece::Finished { id, outcome } => {
            if let Some(call) = draft.pod.agent_call(&id).cloned() {
                let diff = outcome.diff.clone().or_else(|| granted_diff(&call).filter(|_| !outcome.is_error));
                draft.finish_call(&call.call_id, ToolOutcome { diff, ..outcome });
                draft.wait_no_more();
            }
        }
        AgentPiece::Asked { ask, id, tool, arguments, options } => {
            asked(draft, spec, &ask, &id, tool, arguments, options)
        }
        AgentPiece::Wants { id, name, arguments } => wants(draft, spec, id, name, arguments),
        AgentPiece::Unwanted { id } => {
            if let Some(call) = draft.pod.agent_call(&id).cloned() {
                draft.interrupt_call(&call, "cancelled", "ended by the agent");
                draft.effect(Effect::EndCall { call_id: call.call_id });
                draft.wait_no_more();
            }
        }
        AgentPiece::Usage(usage) => {
            let usage = Usage { context_limit: draft.pod.limit_of(&usage), ..usage };
            draft.event(ControlEvent::Usage { usage });
        }
        AgentPiece::Alert(text) => {
            draft.event(ControlEvent::Alert { level: AlertLevel::Warn, source: AGENT.to_owned(), text, model: None });
        }
        AgentPiece::Ended(stop) => ended(draft, spec, stop),
        AgentPiece::Failed { code, detail } => {
            close(draft, true);
            draft.finish_run(Outcome::Error, Some((code, detail)));
            draft.status(PodState::Idle, None);
        }
        AgentPiece::Lost(reason) => {
            close(draft, true);
            draft.finish_run(Outcome::Interrupted, Some(("agent_lost".to_owned(), reason.clone())));
            draft.status(PodState::Paused, Some(&reason));
        }
    }
}

/// Returns the call id of an open call.
fn call_id(draft: &Draft, id: &str) -> Option<String> {
    draft.pod.agent_call(id).map(|call| call.call_id.clone())
}

/// The change that the agent showed when it asked, as a unified diff. Some agents show it only then.
fn granted_diff(call: &OpenCall) -> Option<String> {
    let diff = call.granted.as_ref()?.get("diff")?.as_str()?;
    let start = diff.find("--- ").or_else(|| diff.find("@@ "))?;
    Some(diff[start..].to_owned())
}

/// Opens a call under the id that the agent uses. Returns `None` if that id is open already.
fn called(draft: &mut Draft, id: String, name: String, arguments: Value) -> Option<String> {
    if draft.pod.agent_call(&id).is_some() {
        return None;
    }
    draft.close_speech(false);
    let block = draft.next_block();
    let call_id = format!("call-{block}");
    draft.event(TurnEvent::ToolCalled {
        call_id: call_id.clone(),
        block,
        name,
        arguments,
        by: ToolBy::Model,
        agent_call_id: Some(id),
    });
    Some(call_id)
}

/// Answers by a rule that applies to the call, or asks a person.
fn asked(
    draft: &mut Draft,
    spec: &PodSpec,
    ask: &str,
    id: &str,
    tool: String,
    arguments: Value,
    options: Vec<AgentOption>,
) {
    let Some(call_id) = call_id(draft, id) else {
        return draft.effect(Effect::AnswerAgent { ask: ask.to_owned(), option: None });
    };
    let decided = match verdict(spec, &tool, &arguments) {
        Verdict::Ask => None,
        Verdict::Allow => fitting(&options, true),
        Verdict::Deny(_) => fitting(&options, false),
    };
    match decided {
        Some(option) => draft.effect(Effect::AnswerAgent { ask: ask.to_owned(), option: Some(option) }),
        None => {
            let (id, options) = (format!("{call_id}{ASK}{ask}"), AgentOptions(options));
            draft.event(ControlEvent::ApprovalAsked { id, tool, arguments, options });
            draft.status(PodState::Waiting, None);
        }
    }
}

/// Returns the option that allows or rejects once, or else the one that does so permanently.
pub fn fitting(options: &[AgentOption], allows: bool) -> Option<String> {
    let once = if allows { "allow_once" } else { "reject_once" };
    let exact = options.iter().find(|option| option.kind == once);
    exact.or_else(|| options.iter().find(|option| option.allows() == allows)).map(|option| option.id.clone())
}

/// Runs one of yoi's own tools for the agent, as for a model.
fn wants(draft: &mut Draft, spec: &PodSpec, id: String, name: String, arguments: Value) {
    let Some(call_id) = called(draft, id, name.clone(), arguments.clone()) else { return };
    match verdict(spec, &name, &arguments) {
        Verdict::Allow => {
            draft.effect(Effect::RunTool { call_id, name, arguments, by: ToolBy::Model });
        }
        Verdict::Ask => {
            let options = AgentOptions::default();
            draft.event(ControlEvent::ApprovalAsked { id: call_id, tool: name, arguments, options });
            draft.status(PodState::Waiting, None);
        }
        Verdict::Deny(denial) => draft.finish_call(&call_id, denied(&denial, &name)),
    }
}

fn ended(draft: &mut Draft, spec: &PodSpec, stop: Stop) {
    close(draft, false);
    let failure = match stop {
        Stop::EndTurn => return complete(draft, spec),
        Stop::Cancelled => {
            draft.finish_run(Outcome::Cancelled, None);
            return draft.status(PodState::Idle, None);
        }
        Stop::Refusal => {
            let failure = ("refusal", "the agent refused to continue; it has forgotten this message");
            draft.finish_run(Outcome::Error, Some((failure.0.to_owned(), failure.1.to_owned())));
            return draft.status(PodState::Idle, None);
        }
        Stop::MaxTokens => {
            ("limit", "the agent's model reached its limit of tokens; send a message to let it continue")
        }
        Stop::MaxRequests => {
            ("rounds", "the agent reached its limit of requests in one turn; send a message to let it continue")
        }
    };
    draft.finish_run(Outcome::Limit, Some((failure.0.to_owned(), failure.1.to_owned())));
    draft.status(PodState::Idle, None);
}

/// Closes everything that the turn left open or running.
fn close(draft: &mut Draft, interrupted: bool) {
    draft.close_speech(interrupted);
    draft.void_approvals("the agent's turn is over");
    draft.close_calls("cancelled", TURN_OVER);
    draft.effect(Effect::Abort);
}
