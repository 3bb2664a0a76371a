//! What follows from an input: events to commit, and effects to run once they are committed.

mod agent;
mod answer;
mod asked;
mod calls;
mod commands;
mod draft;
mod hooked;
mod mail;
mod overflow;
mod retry;
mod summary;
mod way_out;

use protocol::{ErrorCode, Outcome, PodState, ToolBy, Trigger, TurnEvent};

use self::{
    agent::agent_piece,
    answer::{answer_piece, unfinished},
    asked::ask,
    calls::{Said, agent_call, answer, operator_call, rejudge, tool_finished},
    commands::{Message, cancel, pause, restore, resume, steer, stop, submit},
    hooked::hooked,
    mail::mail,
    retry::retry,
    summary::{compact, rewind, summarised},
    way_out::way_out,
};
pub use self::{agent::fitting, calls::ROUNDS_MAX, hooked::HOOK};
pub(crate) use self::{
    calls::start_calls,
    draft::Draft,
    overflow::{OVERFLOW, SUSPECTED, failed, said_nothing},
};
use crate::{
    Input, ModelPiece, Pod, PodSpec, Step,
    state::{BlockKind, OpenCall},
};

/// The code of a run that a budget ended.
const BUDGET_SPENT: &str = "budget_spent";

/// What to commit, and then do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    pub steps: Vec<Step>,
    /// Run only after the steps are committed (I2).
    pub effects: Vec<Effect>,
}

/// Something that has to be done outside, on behalf of a Pod.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model, with the context as it stands.
    CallModel,
    /// Ask the model for a summary of everything but the newest part of the context.
    Summarise,
    /// Drop the model's stream and every tool call of the model's.
    Abort,
    /// Drop every tool call of a person's.
    AbortOperatorCalls,
    RunTool {
        call_id: String,
        name: String,
        arguments: serde_json::Value,
        by: ToolBy,
    },
    /// Send the prompt to the Pod's agent.
    Prompt,
    /// Answer the agent's question with one of its options, or without any.
    AnswerAgent {
        ask: String,
        option: Option<String>,
    },
    /// Tell the agent the outcome of the tool that it asked for.
    Reply {
        id: String,
        outcome: crate::ToolOutcome,
    },
    /// Run the hooks at the end of the run, which ends like this unless one of them has something to say.
    RunEndHooks {
        outcome: Outcome,
    },
    /// End every background command.
    EndCommands,
    /// End a running call.
    EndCall {
        call_id: String,
    },
    /// Allow or refuse a running command's connection to a host.
    LetOut {
        call_id: String,
        host: String,
        port: u16,
        is_allowed: bool,
    },
    /// Send a tool's server the person's answer; `None` if they declined.
    Tell {
        call_id: String,
        id: String,
        content: Option<serde_json::Value>,
    },
}

/// Why a command changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("is running; send with `queue`, or wait until it is idle")]
    Busy,
    /// For commands that cannot happen during a run and are not queued.
    #[error("is running; wait until it is idle, or cancel the run first")]
    InARun,
    #[error("is not running")]
    NotRunning,
    #[error("is not paused")]
    NotPaused,
    #[error("is stopped; restore it first")]
    NotLive,
    #[error(
        "is answered by an agent that keeps its context itself; the agent's own commands change it, as `/compact` does with some"
    )]
    OwnContext,
    #[error("has no such open question; it has been answered already, or is void")]
    AlreadyAnswered,
    #[error("has moved on since you looked; look again and decide again")]
    HeadMoved,
    #[error("has no such record; `to_seq` is one of its records")]
    OutsideLog,
    #[error(
        "has nothing to retry: every message in its context has its answer; send a message, or rewind to one first and \
         retry then"
    )]
    NothingToRetry,
    /// A retry would drop calls that only wait for the Pod to continue.
    #[error("is paused between tool calls; answer what it asks and resume it, or cancel the run and retry then")]
    CallsWait,
}

impl Refusal {
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Busy | Self::InARun => ErrorCode::Busy,
            Self::NotRunning => ErrorCode::NotRunning,
            Self::NotPaused => ErrorCode::NotPaused,
            Self::NotLive => ErrorCode::NotLive,
            Self::AlreadyAnswered => ErrorCode::AlreadyAnswered,
            Self::HeadMoved => ErrorCode::HeadMoved,
            Self::OutsideLog | Self::OwnContext => ErrorCode::InvalidInput,
            Self::NothingToRetry | Self::CallsWait => ErrorCode::NothingToRetry,
        }
    }
}

/// What follows from `input` in this state. Late pieces of a run that has ended are ignored.
pub fn decide(pod: &Pod, spec: &PodSpec, input: Input) -> Result<Decision, Refusal> {
    if let Some(step) = growth(pod, &input) {
        return Ok(Decision { steps: vec![step], effects: Vec::new() });
    }
    let mut draft = Draft::new(pod);
    match input {
        Input::Submit { command_id, segments, by, blobs } => {
            submit(&mut draft, command_id, Message { segments, by, blobs })?
        }
        Input::Steer { command_id, segments, by, blobs } => {
            steer(&mut draft, command_id, Message { segments, by, blobs })?
        }
        Input::Pause => pause(&mut draft)?,
        Input::Resume { command_id } => resume(&mut draft, Trigger::Resume, command_id)?,
        Input::Compact | Input::Rewind { .. } | Input::Retry { .. } if spec.agent.is_some() => {
            return Err(Refusal::OwnContext);
        }
        Input::Retry { command_id, is_unanswered } => retry(&mut draft, command_id, is_unanswered)?,
        Input::LimitOver if pod.resumes_at(spec).is_none() => return Err(Refusal::NotPaused),
        Input::LimitOver => resume(&mut draft, Trigger::Limit, None)?,
        Input::Cancel => cancel(&mut draft)?,
        Input::Stop => stop(&mut draft),
        Input::Restore => restore(&mut draft),
        Input::Compact => compact(&mut draft)?,
        Input::Summarised(summary) => summarised(&mut draft, summary),
        Input::Rewind { to_seq, expected_head, context_used } => {
            rewind(&mut draft, to_seq, expected_head, context_used)?;
        }
        Input::Mail { events, wakes } => mail(&mut draft, events, wakes)?,
        Input::Note(events) => events.into_iter().for_each(|event| draft.outside(event)),
        Input::Rejudge { by } => rejudge(&mut draft, spec, &by)?,
        Input::Agent(piece) if pod.takes_pieces() => agent_piece(&mut draft, spec, piece),
        Input::Agent(_) => (),
        Input::BudgetSpent(why) if pod.is_answering() => budget_spent(&mut draft, why),
        Input::BudgetSpent(_) => (),
        Input::OperatorCall { name, arguments } => operator_call(&mut draft, spec, name, arguments)?,
        Input::AgentCall { name, arguments } => agent_call(&mut draft, spec, name, arguments)?,
        Input::Model(piece) if pod.takes_pieces() => answer_piece(&mut draft, spec, piece),
        Input::Unfinished(usage) => unfinished(&mut draft, usage),
        // From a call that has ended.
        Input::ToolOutput { .. } => (),
        Input::WayOut { call_id, host, port } => way_out(&mut draft, spec, call_id, host, port),
        Input::Ask { call_id, number, server, message, schema } => {
            ask(
                &mut draft,
                &call_id,
                number,
                &serde_json::json!({ "server": server, "message": message, "schema": schema }),
            );
        }
        Input::CommandsEnded(ends) => ends.into_iter().for_each(|end| draft.end_command(end)),
        Input::ToolFinished { call_id, outcome } => tool_finished(&mut draft, &call_id, outcome),
        Input::RunHooked { run_id, words } => hooked(&mut draft, spec, &run_id, words),
        Input::Answer { id, decision, by, reason, content, option } => {
            answer(&mut draft, &id, Said { decision, by, reason, content, option })?;
        }
        Input::Model(_) => (),
    }
    Ok(draft.done())
}

/// Ends the run; the context stays as it is, for when the budget allows more.
fn budget_spent(draft: &mut Draft, why: String) {
    draft.finish_run(Outcome::Limit, Some((BUDGET_SPENT.to_owned(), why)));
    draft.status(PodState::Idle, None);
}

/// One more chunk of an open block: the most frequent case, which must not cost a copy of the state.
fn growth(pod: &Pod, input: &Input) -> Option<Step> {
    let piece = match input {
        Input::Model(piece) => piece,
        Input::ToolOutput { call_id, text } => return output_growth(pod, call_id, text),
        _ => return None,
    };
    let open = pod.model_block().filter(|_| pod.takes_pieces())?;
    let block = || open.id.clone();
    let event = match (piece, open.kind) {
        (ModelPiece::Text(text), BlockKind::Text) => TurnEvent::TextChunk { block: block(), text: text.clone() },
        (ModelPiece::Reasoning(text), BlockKind::Reasoning) => {
            TurnEvent::ReasoningChunk { block: block(), text: text.clone() }
        }
        (ModelPiece::ToolArgs { index, text, .. }, BlockKind::ToolArgs(open)) if *index == open => {
            TurnEvent::ToolArgsChunk { block: block(), text: text.clone(), name: None }
        }
        _ => return None,
    };
    Some(Step { run_id: pod.run_id(), event: event.into() })
}

fn output_growth(pod: &Pod, call_id: &str, text: &str) -> Option<Step> {
    let of = |calls: &[OpenCall]| calls.iter().find(|call| call.call_id == call_id).map(|call| call.block.clone());
    if pod.calls.iter().any(|call| call.call_id == call_id && !pod.has_begun(call)) {
        return None;
    }
    let (block, run_id) = match of(&pod.calls) {
        Some(block) => (block, pod.run_id()),
        // A person's call belongs to no run.
        None => (of(&pod.operator_calls)?, None),
    };
    let event = TurnEvent::ToolOutputChunk { block, text: text.to_owned() };
    Some(Step { run_id, event: event.into() })
}
