//! What a person decides about a Pod's work: answers to its approvals, tools run by hand, and rewinding.

use pod::{Input, Reach};
use pod_store::{PodKey, PodUpdate, Store};
use protocol::{
    ApiError, Approval, ApprovalCommand, Decision, ErrorCode, Event, Record, RewindCommand, Seq, ToolAnswer, ToolBy,
    TurnEvent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Actor,
    commands::{Carrying, encoded},
    commit::Extras,
    remember::{Remembered, remembered, row_of},
    sight::Looking,
    state::State,
    task::{OutsideCall, Reply},
};
use crate::{
    about, clock,
    command::{answer_of, read_answer},
    heavy, history,
};

/// The stored answer of a tool command, for its repeats: which call it is, and where in the journal it begins.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begun {
    call_id: String,
    seq: Seq,
}

impl Carrying<'_> {
    /// Answers an open approval. The first answer wins.
    pub(super) async fn answer(&mut self, id: String, command: ApprovalCommand) -> Result<String, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let asked = history::questions(&actors.store, state.key).await?.into_iter().find(|approval| approval.id == id);
        let asked = asked.ok_or_else(|| {
            let sentence = format!("pod \"{}\" has asked no question with the id \"{id}\"", state.name);
            ApiError::new(ErrorCode::NotFound, sentence)
        })?;
        let remember = remembered(Looking { actors, state }, &asked, &command).await;
        let ApprovalCommand { decision, reason, content, option, .. } = command.clone();
        let content = content_of(state, &id, decision, command.remember, content)?;
        let option = chosen(&asked, decision, option)?;
        let by = self.origin.by.clone();
        let answered = Approval {
            decision: Some(decision),
            option: option.clone(),
            by: Some(by.clone()),
            reason: reason.clone(),
            ..asked
        };
        let (mut spec, mut rules) = (state.spec.clone(), Vec::new());
        let remembered = remember?;
        let note = remembered.note(command.scope);
        let pattern = remembered.rule().and_then(|rule| rule.pattern.as_deref()).filter(|_| command.pattern.is_some());
        let about = about::about_answer(&answered, &command, pattern);
        match remembered {
            Remembered::Nothing => (),
            Remembered::Pod(_, permissions) => spec.permissions = permissions,
            Remembered::Shared(rule) => rules.push(row_of(&rule, &by)),
        }
        let has_new_spec = spec.permissions != state.spec.permissions;
        let update = PodUpdate { spec: has_new_spec.then(|| encoded(&spec)), ..PodUpdate::default() };
        let extras = self.extras("approve", clock::now(), &answered);
        let extras = Extras { update, rules, ..extras }.about(about);
        let input = Input::Answer { id, decision, by, reason, content, option };
        if decision == Decision::Allow {
            // Accepts the current definition before the call begins.
            self.actor.servers.clients.accept(&answered.tool);
        }
        if let Some(first) = self.commit([input].into_iter().chain(note), extras).await? {
            return Ok(first);
        }
        self.actor.state.spec = spec;
        Ok(answer_of(&answered))
    }

    pub(super) async fn rewind(&mut self, command: RewindCommand) -> Result<String, ApiError> {
        let RewindCommand { to_seq, expected_head, files, .. } = command;
        let Actor { actors, state, .. } = &*self.actor;
        let journal = history::Journal::until(&actors.store, state.key, &state.spec, &state.pod);
        let mut context = journal.context(Reach::after_rewind(to_seq)).await?;
        let at = state.pod.head.next();
        let counted = heavy::work(context.weight(), move || {
            context.push(at, None, &TurnEvent::Rewound { to_seq });
            context.tokens()
        });
        let input = Input::Rewind { to_seq, expected_head, context_used: counted.await };
        match files {
            true => Box::pin(self.rewind_with_files(command, input)).await,
            false => self.enter(input, "rewind", |kind| kind == "rewound").await,
        }
    }

    /// Begins a tool call for a person or for the Pod's agent.
    pub(super) async fn begin_call(mut self, call: OutsideCall) -> Result<Begun, ApiError> {
        if let Some(first) = self.first_answer().await? {
            return read_answer(&first);
        }
        let pod = &self.actor.state.pod;
        let begun = Begun { call_id: format!("call-b{}", pod.blocks + 1), seq: pod.head.next() };
        let OutsideCall { name, arguments, by } = call;
        let about = about::about_call(&name, &arguments);
        let extras = self.extras("tool", clock::now(), &begun).about(about);
        let input = match by {
            ToolBy::Agent => Input::AgentCall { name, arguments },
            ToolBy::Operator | ToolBy::Model => Input::OperatorCall { name, arguments },
        };
        match self.commit([input], extras).await? {
            Some(first) => read_answer(&first),
            None => Ok(begun),
        }
    }
}

/// Returns what a tool's server is told: an answer to what it asked, and nothing else.
fn content_of(
    state: &State,
    id: &str,
    decision: Decision,
    remember: bool,
    content: Option<Value>,
) -> Result<Option<Value>, ApiError> {
    let form = state.pod.approvals.iter().find(|open| open.id == id).and_then(pod::OpenApproval::form);
    match (form, content) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ApiError::invalid("`content` is for questions with a form; leave it out")),
        (Some(_), _) if remember => {
            Err(ApiError::invalid("`remember`: what a tool's server asks is answered each time; leave it out"))
        }
        (Some(_), _) if decision == Decision::Deny => Ok(None),
        (Some(form), content) => {
            let content = content.unwrap_or_else(|| serde_json::json!({}));
            match mcp::answer_refusal(form, &content) {
                Some(sentence) => Err(ApiError::invalid(sentence)),
                None => Ok(Some(content)),
            }
        }
    }
}

/// Returns which of an agent's own options the answer is, or `None` if the question has none or none that rejects.
fn chosen(asked: &Approval, decision: Decision, option: Option<String>) -> Result<Option<String>, ApiError> {
    let allows = decision == Decision::Allow;
    let Some(id) = option else {
        let fitting = pod::fitting(&asked.options, allows);
        return match fitting {
            None if allows && !asked.options.is_empty() => {
                Err(ApiError::invalid("the agent offers no option that allows this; deny it"))
            }
            fitting => Ok(fitting),
        };
    };
    let names = || asked.options.iter().map(|option| option.id.as_str()).collect::<Vec<_>>().join(", ");
    match asked.options.iter().find(|option| option.id == id) {
        Some(option) if option.allows() == allows => Ok(Some(id)),
        Some(option) => {
            let word = if option.allows() { "allow" } else { "deny" };
            Err(ApiError::invalid(format!("the option \"{id}\" goes with the decision `{word}`")))
        }
        None if asked.options.is_empty() => Err(ApiError::invalid("this question has no options; leave `option` out")),
        None => Err(ApiError::invalid(format!("this question has no option \"{id}\"; there are {}", names()))),
    }
}

/// Replies when the call has ended, or at once if it already has.
pub(super) async fn await_call(actor: &mut Actor, begun: Begun, reply: Reply<ToolAnswer>) {
    let Actor { actors, state, waiters, .. } = actor;
    if state.pod.operator_calls.iter().any(|call| call.call_id == begun.call_id) {
        return waiters.wait(begun.call_id, reply);
    }
    reply.send(ended_call(&actors.store, state.key, &begun).await);
}

/// What the journal says about a call that has ended.
async fn ended_call(store: &Store, key: PodKey, begun: &Begun) -> Result<ToolAnswer, ApiError> {
    let rows = store.journals().turns(key, begun.seq).await?;
    let answer = rows.iter().find_map(|row| match serde_json::from_slice::<Record>(&row.body).ok()?.event {
        Event::Turn(TurnEvent::ToolFinished { call_id, summary, content, is_error, code, .. })
            if call_id == begun.call_id =>
        {
            Some(ToolAnswer { summary, content, is_error, code })
        }
        _ => None,
    });
    answer.ok_or_else(|| ApiError::new(ErrorCode::Internal, "the journal has no result of this call"))
}
