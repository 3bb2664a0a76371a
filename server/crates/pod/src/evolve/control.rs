//! How an event that no model sees changes a Pod.

use protocol::{ControlEvent, Decision, Outcome, PodState, Trigger, Usage, both_priced};

use super::mail;
use crate::{
    Pod,
    decide::OVERFLOW,
    state::{Limit, OpenApproval, PROVIDER, Run, Session, TASKS_MAX},
};

/// The source of alerts about budgets.
pub const BUDGET: &str = "budget";
/// The most alerts to remember: a Pod has few budgets and few models.
const ALERTS_MAX: usize = 16;

pub(super) fn control(pod: &mut Pod, event: &ControlEvent) {
    match event {
        ControlEvent::RunStarted { trigger, .. } => run_started(pod, *trigger),
        ControlEvent::RunFinished { outcome, code, detail, .. } => {
            if code.as_deref() == Some(OVERFLOW) {
                // There was nothing left to drop. The next request is sent unchanged: its model may have more room by
                // then.
                (pod.fits, pod.suspicion) = (None, None);
            }
            run_finished(pod, *outcome, detail.as_deref());
        }
        ControlEvent::Status { state, state_reason } => {
            match &mut pod.run {
                Some(run) => run.is_fresh = false,
                // Running without a run means that the context is being compacted.
                None if *state == PodState::Running => pod.compacting_from = Some(pod.state),
                None => pod.compacting_from = None,
            }
            pod.state = *state;
            pod.state_reason = state_reason.clone();
        }
        ControlEvent::ProviderRetry { attempt, code, detail, .. } => pod.note_retry(*attempt, code, detail),
        ControlEvent::Usage { usage } => {
            pod.learn(usage);
            pod.usage.add(usage);
            if let Some(run) = &mut pod.run {
                run.usage.add(usage);
            }
            if let Some(session) = &mut pod.session {
                let (known, more) = ((session.cost, session.currency), (usage.cost, usage.currency));
                (session.cost, session.currency) = both_priced(known, more);
            }
        }
        ControlEvent::SettingsChanged { provider, model, budget, .. } => {
            if provider.is_some() || model.is_some() {
                forget_model(pod);
            }
            if budget.is_some() {
                pod.budget_alerts.clear();
            }
        }
        ControlEvent::LimitReached { until, .. } => {
            let is_again = pod.run.as_ref().is_some_and(|run| run.trigger == Trigger::Limit);
            pod.limit = Some(Limit { until: *until, is_again });
        }
        ControlEvent::Alert { model: Some(model), .. } => pod.stand_in = Some(model.clone()),
        ControlEvent::Alert { source, text, .. } if source == BUDGET => remember(&mut pod.budget_alerts, text),
        ControlEvent::Alert { source, text, .. } if source == PROVIDER => remember(&mut pod.provider_alerts, text),
        ControlEvent::ApprovalAsked { id, tool, arguments, options } => pod.approvals.push(OpenApproval {
            id: id.clone(),
            call_id: id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            options: options.0.clone(),
        }),
        ControlEvent::ApprovalAnswered { id, decision, .. } => answered(pod, id, *decision),
        ControlEvent::PlanUpdated { entries } if pod.session.is_none() => {
            pod.tasks = serde_json::from_value(entries.clone()).unwrap_or_default();
            pod.tasks.truncate(TASKS_MAX);
        }
        ControlEvent::AgentStarted { .. }
        | ControlEvent::AgentOffers { .. }
        | ControlEvent::AgentPrompted { .. }
        | ControlEvent::PlanUpdated { .. }
        | ControlEvent::ModeChanged { .. } => session(pod, event),
        ControlEvent::MessageReceipt { message_id, state, .. } => mail::receipt(pod, message_id, *state),
        _ => (),
    }
}

fn answered(pod: &mut Pod, id: &str, decision: Option<Decision>) {
    if decision == Some(Decision::Allow) {
        grant(pod, id);
    }
    pod.approvals.retain(|open| open.id != id);
    let is_later = decision == Some(Decision::Allow) && pod.is_paused();
    if let Some(call) = pod.calls.iter_mut().find(|call| is_later && call.call_id == id) {
        call.is_allowed = true;
    }
}

/// Notes in an agent's call what a person has just allowed about it.
fn grant(pod: &mut Pod, id: &str) {
    let open = pod.approvals.iter().find(|open| open.id == id);
    let Some((call_id, arguments)) = open.and_then(|open| Some((open.agents_ask()?.0, open.arguments.clone()))) else {
        return;
    };
    if let Some(call) = pod.calls.iter_mut().find(|call| call.call_id == call_id) {
        call.granted = Some(arguments);
    }
}

/// What was learned about the previous model does not apply to another one.
fn forget_model(pod: &mut Pod) {
    (pod.fits, pod.suspicion, pod.learnt_limit) = (None, None, 0);
    pod.stand_in = None;
}

/// Updates what is known about the session with the Pod's agent.
fn session(pod: &mut Pod, event: &ControlEvent) {
    let session = pod.session.get_or_insert_default();
    match event {
        ControlEvent::AgentStarted { title, version, session_id, resumed, .. } => {
            (session.title, session.version) = (title.clone(), version.clone());
            if !resumed {
                // A new session has no memory of what was said and starts without a plan and in its own mode.
                let Session { asked_to, heard_to, .. } = *session;
                let (title, version) = (session.title.take(), session.version.take());
                *session = Session { title, version, asked_to, heard_to, ..Session::default() };
            }
            session.id.clone_from(session_id);
        }
        ControlEvent::AgentOffers { offers } => session.offers = offers.clone(),
        ControlEvent::AgentPrompted { to_seq } => session.asked_to = *to_seq,
        ControlEvent::PlanUpdated { entries } => session.plan = entries.clone(),
        ControlEvent::ModeChanged { mode } => session.mode = Some(mode.clone()),
        _ => (),
    }
}

fn remember(alerts: &mut Vec<String>, text: &str) {
    if alerts.len() >= ALERTS_MAX {
        alerts.remove(0);
    }
    alerts.push(text.to_owned());
}

fn run_started(pod: &mut Pod, trigger: Trigger) {
    pod.runs += 1;
    pod.failure = None;
    pod.limit = None;
    pod.resumable = false;
    if !matches!(trigger, Trigger::Resume | Trigger::Retry) {
        pod.stand_in = None;
    }
    (pod.unread_mail, pod.has_late_mail) = (None, false);
    pod.read_messages.clear();
    pod.hops = match trigger {
        Trigger::Input | Trigger::Resume | Trigger::Retry => 0,
        Trigger::Peer => pod.unread_messages.iter().map(|letter| letter.hops + 1).max().unwrap_or(0),
        // No person has been involved in between.
        Trigger::Child | Trigger::Limit => pod.hops,
    };
    pod.run = Some(Run {
        id: format!("run-{}", pod.runs),
        trigger,
        usage: Usage::default(),
        is_fresh: true,
        blocks_before: pod.blocks,
        input_seq: None,
        bare_since: Some(pod.head),
        rounds: 0,
        failing: None,
        overflows: 0,
        hook_turns: 0,
    });
}

fn run_finished(pod: &mut Pod, outcome: Outcome, detail: Option<&str>) {
    let run = pod.run.take();
    pod.count_failures(outcome, run.is_some_and(|run| run.blocks_before == pod.blocks));
    if outcome != Outcome::Completed {
        pod.read_messages.clear();
    } else if let Some(session) = &mut pod.session {
        session.heard_to = session.asked_to;
    }
    let operators = &pod.operator_calls;
    pod.open_blocks.retain(|open| operators.iter().any(|call| call.block == open.id));
    pod.resumable = matches!(outcome, Outcome::Paused | Outcome::Interrupted);
    if outcome == Outcome::Completed {
        pod.cut_answer = None;
    }
    if !pod.resumable {
        pod.stand_in = None;
    }
    if outcome == Outcome::Error {
        pod.failure = Some(detail.unwrap_or_default().to_owned());
    }
}
