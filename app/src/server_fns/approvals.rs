//! Approvals, and your answers to them.

use leptos::prelude::*;
use protocol::{AnsweredQuestion, Approval, ApprovalCommand, CommandId, Decision, OpenApproval, PodRef, QuestionId};

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// The open approvals of every Pod, oldest first.
#[server(prefix = "/fn", endpoint = "open_approvals", input = Json, output = Json)]
pub async fn open_approvals() -> Result<Vec<OpenApproval>, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.everywhere().open_approvals().await.map(|page| page.items))
}

/// Every approval that a Pod has asked for, answered ones included.
#[server(prefix = "/fn", endpoint = "pod_approvals", input = Json, output = Json)]
pub async fn pod_approvals(pod: PodRef) -> Result<Vec<Approval>, UiError> {
    Ok(door::read(operations::Approvals { pod, all: true, page: Default::default() }).await?.items)
}

/// An open approval, with its change to the file as it is now. `None` if it is no longer open.
#[server(prefix = "/fn", endpoint = "asked_change", input = Json, output = Json)]
pub async fn asked_change(pod: PodRef, id: String) -> Result<Option<Approval>, UiError> {
    let open = door::read(operations::Approvals { pod, all: false, page: Default::default() }).await?;
    Ok(open.items.into_iter().find(|approval| approval.id == id))
}

/// Gives several approvals the same answer, for this once; returns what became of each.
#[server(prefix = "/fn", endpoint = "answer_approvals", input = Json, output = Json)]
pub async fn answer_approvals(
    command_id: CommandId,
    ids: Vec<QuestionId>,
    decision: Decision,
) -> Result<Vec<AnsweredQuestion>, UiError> {
    let body = protocol::ApprovalsCommand { ids, decision, reason: None };
    Ok(door::carry_out(command_id, operations::AnswerApprovals { body }).await?.items)
}

/// Answers an approval. The first of two answers counts; the other is refused as `already_answered`.
#[server(prefix = "/fn", endpoint = "answer_approval", input = Json, output = Json)]
pub async fn answer_approval(
    pod: PodRef,
    command_id: CommandId,
    id: String,
    command: ApprovalCommand,
) -> Result<Approval, UiError> {
    door::carry_out(command_id, operations::AnswerApproval { pod, id, body: command }).await
}
