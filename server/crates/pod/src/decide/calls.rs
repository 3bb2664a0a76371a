//! Tool calls: run, sent for approval, denied, answered, ended.

use protocol::{AgentOptions, ControlEvent, Decision, Outcome, PodState, ToolBy, TurnEvent};

use super::{Effect, Refusal, asked, draft::Draft, fitting, way_out};
use crate::{Denial, Failing, PodSpec, ToolOutcome, Verdict, is_denied, verdict};

/// The most answers with calls in one run. Long work takes some hundreds; a model that goes in circles would never
/// stop.
pub const ROUNDS_MAX: u32 = 1_000;

/// The most calls of an agent that run or wait for a person at once.
const AGENT_CALLS_MAX: usize = 64;

/// How often the same call may fail in consecutive answers before a person should look.
const FAILURES_MAX: u32 = 3;

/// Runs allowed calls, asks for approvals, and answers denied calls.
pub(crate) fn start_calls(draft: &mut Draft, spec: &PodSpec) {
    for call in draft.pod.calls.clone() {
        match verdict(spec, &call.name, &call.arguments) {
            Verdict::Allow => draft.effect(Effect::RunTool {
                call_id: call.call_id,
                name: call.name,
                arguments: call.arguments,
                by: ToolBy::Model,
            }),
            Verdict::Ask => draft.event(ControlEvent::ApprovalAsked {
                id: call.call_id,
                tool: call.name,
                arguments: call.arguments,
                options: AgentOptions::default(),
            }),
            Verdict::Deny(denial) => draft.finish_call(&call.call_id, denied(&denial, &call.name)),
        }
    }
    match draft.pod.is_asking() {
        false => go_on_after_calls(draft),
        true => draft.status(PodState::Waiting, None),
    }
}

/// What the model is told about a call that is not made.
pub(super) fn denied(denial: &Denial, tool: &str) -> ToolOutcome {
    ToolOutcome::failed("permission_denied", denial.sentence(tool))
}

/// Answers the open questions that rules or the Pod's mode decide now. `by` is who changed them.
pub(super) fn rejudge(draft: &mut Draft, spec: &PodSpec, by: &str) -> Result<(), Refusal> {
    for open in draft.pod.approvals.clone() {
        // What a server asks with a form, and what a running command asks about a host, is for a person.
        if open.asker().is_some() && open.agents_ask().is_none() {
            continue;
        }
        let (decision, reason) = match verdict(spec, &open.tool, &open.arguments) {
            Verdict::Ask => continue,
            Verdict::Allow => (Decision::Allow, "a rule or the mode of this Pod allows it now".to_owned()),
            Verdict::Deny(denial) => (Decision::Deny, denial.sentence(&open.tool)),
        };
        let option = fitting(&open.options, decision == Decision::Allow);
        if option.is_none() && !open.options.is_empty() {
            continue;
        }
        let denied = reason.clone();
        let said = Said { decision, by: by.to_owned(), reason: Some(reason), content: None, option };
        told(draft, &open.id, said, denied)?;
    }
    Ok(())
}

/// A person's answer to a question.
pub(super) struct Said {
    pub(super) decision: protocol::Decision,
    pub(super) by: String,
    pub(super) reason: Option<String>,
    pub(super) content: Option<serde_json::Value>,
    pub(super) option: Option<String>,
}

pub(super) fn answer(draft: &mut Draft, id: &str, said: Said) -> Result<(), Refusal> {
    let why = said.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    told(draft, id, said, format!("a person denied it{why}"))
}

/// Like [`answer`]; `denied` is what the model is told if the call is denied.
fn told(draft: &mut Draft, id: &str, said: Said, denied: String) -> Result<(), Refusal> {
    let Said { decision, by, reason, content, option } = said;
    let open = draft.pod.approvals.iter().find(|open| open.id == id).cloned().ok_or(Refusal::AlreadyAnswered)?;
    let is_of_operator = draft.pod.is_of_operator(&open);
    let event = ControlEvent::ApprovalAnswered {
        id: open.id.clone(),
        tool: open.tool.clone(),
        arguments: open.arguments.clone(),
        decision: Some(decision),
        option: option.clone(),
        by: Some(by),
        reason,
    };
    match is_of_operator {
        true => draft.outside(event),
        false => draft.event(event),
    }
    if let Some((_, ask)) = open.agents_ask() {
        draft.effect(Effect::AnswerAgent { ask: ask.to_owned(), option });
        draft.wait_no_more();
        return Ok(());
    }
    if let Some(call_id) = open.asker() {
        match open.form() {
            Some(_) => asked::answered(draft, &open, call_id, decision, content),
            None => way_out::answered(draft, &open, call_id, decision),
        }
        return Ok(());
    }
    if is_of_operator {
        match decision {
            protocol::Decision::Deny => {
                draft.finish_call(&open.call_id, ToolOutcome::failed("permission_denied", denied));
            }
            protocol::Decision::Allow => draft.effect(Effect::RunTool {
                call_id: open.call_id,
                name: open.tool,
                arguments: open.arguments,
                by: ToolBy::Agent,
            }),
        }
        return Ok(());
    }
    let is_paused = draft.pod.is_paused();
    match decision {
        protocol::Decision::Deny => {
            draft.finish_call(&open.call_id, ToolOutcome::failed("permission_denied", denied));
        }
        protocol::Decision::Allow if is_paused => (),
        protocol::Decision::Allow => draft.effect(Effect::RunTool {
            call_id: open.call_id,
            name: open.tool,
            arguments: open.arguments,
            by: ToolBy::Model,
        }),
    }
    if !is_paused && !draft.pod.is_asking() {
        draft.status(PodState::Running, None);
        go_on_after_calls(draft);
    }
    Ok(())
}

/// Runs the calls that a person allowed while the Pod was paused.
pub(super) fn run_allowed(draft: &mut Draft) {
    for call in draft.pod.calls.clone().into_iter().filter(|call| call.is_allowed) {
        draft.effect(Effect::RunTool {
            call_id: call.call_id,
            name: call.name,
            arguments: call.arguments,
            by: ToolBy::Model,
        });
    }
}

/// A person's call needs no approval, but a deny rule applies to people too, until it is changed.
pub(super) fn operator_call(
    draft: &mut Draft,
    spec: &PodSpec,
    name: String,
    arguments: serde_json::Value,
) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    let call_id = begin_beside(draft, &name, &arguments, ToolBy::Operator);
    match refusal(spec, &name, &arguments) {
        Some(sentence) => draft.finish_call(&call_id, ToolOutcome::failed("permission_denied", sentence)),
        None => draft.effect(Effect::RunTool { call_id, name, arguments, by: ToolBy::Operator }),
    }
    Ok(())
}

/// The Pod's agent calls one of our tools, during its run or between two: the Pod's rules apply as to a model's call.
/// An approval holds up only this call.
pub(super) fn agent_call(
    draft: &mut Draft,
    spec: &PodSpec,
    name: String,
    arguments: serde_json::Value,
) -> Result<(), Refusal> {
    if !draft.pod.state.is_live() {
        return Err(Refusal::NotLive);
    }
    if draft.pod.operator_calls.iter().filter(|call| call.is_agents).count() >= AGENT_CALLS_MAX {
        return Err(Refusal::Busy);
    }
    let call_id = begin_beside(draft, &name, &arguments, ToolBy::Agent);
    if !spec.offers(&name) {
        draft.finish_call(&call_id, ToolOutcome::failed("permission_denied", not_offered(&name)));
        return Ok(());
    }
    match verdict(spec, &name, &arguments) {
        Verdict::Deny(denial) => draft.finish_call(&call_id, denied(&denial, &name)),
        Verdict::Ask => draft.outside(ControlEvent::ApprovalAsked {
            id: call_id,
            tool: name,
            arguments,
            options: AgentOptions::default(),
        }),
        Verdict::Allow => draft.effect(Effect::RunTool { call_id, name, arguments, by: ToolBy::Agent }),
    }
    Ok(())
}

/// Begins a call that belongs to no run, and returns its id.
fn begin_beside(draft: &mut Draft, name: &str, arguments: &serde_json::Value, by: ToolBy) -> String {
    let block = draft.next_block();
    let call_id = format!("call-{block}");
    let (name, arguments) = (name.to_owned(), arguments.clone());
    let agent_call_id = None;
    draft.outside(TurnEvent::ToolCalled { call_id: call_id.clone(), block, name, arguments, by, agent_call_id });
    call_id
}

/// Why not even a person may make this call.
fn refusal(spec: &PodSpec, name: &str, arguments: &serde_json::Value) -> Option<String> {
    if !spec.offers(name) {
        return Some(not_offered(name));
    }
    is_denied(spec, name, arguments).then(|| Denial::Rule.sentence(name))
}

fn not_offered(name: &str) -> String {
    format!("the profile of this Pod does not offer {name}")
}

pub(super) fn tool_finished(draft: &mut Draft, call_id: &str, outcome: ToolOutcome) {
    let is_models = draft.pod.calls.iter().any(|call| call.call_id == call_id);
    draft.finish_call(call_id, outcome);
    if is_models {
        draft.wait_no_more();
        go_on_after_calls(draft);
    }
}

/// Asks the model again once every call of its answer has a result, unless it has been asked so often in this run that
/// a person should look.
pub(crate) fn go_on_after_calls(draft: &mut Draft) {
    // An agent continues by itself.
    if draft.pod.session.is_some() {
        return;
    }
    if !draft.pod.is_answering() || !draft.pod.calls.is_empty() {
        return;
    }
    let run = draft.pod.run.as_ref();
    let failing = run.and_then(|run| run.failing.as_ref()).filter(|failing| failing.times >= FAILURES_MAX);
    let (code, detail) = match failing {
        Some(Failing { name, .. }) => (
            "failing",
            format!(
                "the same call of {name} failed {FAILURES_MAX} times, answer after answer; tell the model what to do instead"
            ),
        ),
        None if run.is_none_or(|run| run.rounds < ROUNDS_MAX) => return draft.ask_model(),
        None => ("rounds", format!("the model called tools {ROUNDS_MAX} times in one run; send a message to continue")),
    };
    draft.finish_run(Outcome::Limit, Some((code.to_owned(), detail)));
    draft.status(PodState::Idle, None);
}
