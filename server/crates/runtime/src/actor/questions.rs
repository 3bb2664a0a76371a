//! What a person decides about a Pod's work: answers to its questions, tools that are run by hand, a rewind.

use pod::{Input, Reach, remembered, with_rule};
use pod_store::PodUpdate;
use protocol::{
    ApiError, Approval, ApprovalCommand, Decision, ErrorCode, Event, PermissionDecision, Record, RewindCommand, Seq,
    ToolAnswer, TurnEvent,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{
    PodTask,
    commands::{answer_of, repeated},
    commit::{Extras, Outcome},
};
use crate::{CommandKey, Origin, about, clock, error, heavy, history};

/// What a repeat of a tool's command finds: which call it was, and where it begins.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    call_id: String,
    seq: Seq,
}

impl PodTask {
    /// Answers an open question. The first answer wins.
    pub(super) async fn answer(
        &mut self,
        id: String,
        command: ApprovalCommand,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<String, ApiError> {
        let asked =
            history::questions(&self.inner.store, self.key).await?.into_iter().find(|approval| approval.id == id);
        let asked = asked.ok_or_else(|| {
            let sentence = format!("pod \"{}\" has asked no question with the id \"{id}\"", self.name);
            ApiError::new(ErrorCode::NotFound, sentence)
        })?;
        let ApprovalCommand { decision, remember, reason } = command;
        let answered =
            Approval { decision: Some(decision), by: Some(origin.by.clone()), reason: reason.clone(), ..asked };
        let mut spec = self.spec.clone();
        if remember {
            let always = match decision {
                Decision::Allow => PermissionDecision::Allow,
                Decision::Deny => PermissionDecision::Deny,
            };
            let (tool, arguments) = (&answered.tool, &answered.arguments);
            let sight = self.sight(tool, arguments).await?;
            let rule = remembered(&self.spec.cwd, tool, arguments, sight, always);
            spec.permissions = with_rule(&spec.permissions, rule).map_err(|why| {
                ApiError::invalid(format!("`remember`: {why}; or answer without `remember`, for this once"))
            })?;
        }
        let update = PodUpdate {
            spec: remember.then(|| serde_json::to_string(&spec).expect("a recipe always encodes")),
            ..PodUpdate::default()
        };
        let extras = self.extras(&key, origin, "approve", clock::now(), &answered);
        let extras = Extras { update, ..extras }.about(about::about_answer(&answered, remember));
        let input = Input::Answer { id, decision, by: origin.by.clone(), reason };
        match self.advance([input], extras).await? {
            Outcome::Repeated(row) => repeated(row, &key),
            Outcome::Done => {
                self.spec = spec;
                Ok(answer_of(&answered))
            }
        }
    }

    pub(super) async fn rewind(
        &mut self,
        command: RewindCommand,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<String, ApiError> {
        let RewindCommand { to_seq, expected_head } = command;
        let journal = history::Journal::until(&self.inner.store, self.key, &self.spec, &self.pod);
        let mut context = journal.context(Reach::after_rewind(to_seq)).await.map_err(error::store_failed)?;
        let at = self.pod.head.next();
        let counted = heavy::work(context.weight(), move || {
            context.push(at, None, &TurnEvent::Rewound { to_seq });
            context.tokens()
        });
        let input = Input::Rewind { to_seq, expected_head, context_used: counted.await };
        let seq = self.seq_after(input.clone(), |kind| kind == "rewound")?;
        self.carry_out(Some(input), "rewind", key, origin, seq).await
    }

    /// Runs a tool for a person. The answer goes out when the tool has ended, or at once when it is known.
    pub(super) async fn operator_call(
        &mut self,
        name: String,
        arguments: serde_json::Value,
        key: CommandKey,
        origin: &Origin,
        reply: oneshot::Sender<Result<ToolAnswer, ApiError>>,
    ) {
        match self.begin_operator_call(name, arguments, key, origin).await {
            Ok(begun) => self.await_call(begun, reply).await,
            // Whoever asked may have gone away; likewise below.
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    async fn begin_operator_call(
        &mut self,
        name: String,
        arguments: serde_json::Value,
        key: CommandKey,
        origin: &Origin,
    ) -> Result<Begun, ApiError> {
        let read = |answer: String| {
            serde_json::from_str(&answer).map_err(|_| ApiError::new(ErrorCode::Internal, "a stored answer is damaged"))
        };
        if let Some(row) = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)? {
            return read(repeated(row, &key)?);
        }
        if self.is_deleted {
            return Err(error::no_such_pod(&self.worker_id));
        }
        let begun = Begun { call_id: format!("call-b{}", self.pod.blocks + 1), seq: self.pod.head.next() };
        let about = about::about_call(&name, &arguments);
        let extras = self.extras(&key, origin, "tool", clock::now(), &begun).about(about);
        match self.advance([Input::OperatorCall { name, arguments }], extras).await? {
            Outcome::Repeated(row) => read(repeated(row, &key)?),
            Outcome::Done => Ok(begun),
        }
    }

    async fn await_call(&mut self, begun: Begun, reply: oneshot::Sender<Result<ToolAnswer, ApiError>>) {
        if self.pod.operator_calls.iter().any(|call| call.call_id == begun.call_id) {
            self.waiters.entry(begun.call_id).or_default().push(reply);
            return;
        }
        let _ = reply.send(self.ended_call(&begun).await);
    }

    /// What the journal says of a call that has ended.
    async fn ended_call(&mut self, begun: &Begun) -> Result<ToolAnswer, ApiError> {
        let rows = self.inner.store.turn_records(self.key, begun.seq).await.map_err(error::store_failed)?;
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
}
