use leptos::prelude::*;
use protocol::{Approval, ApprovalCommand, CommandId, PodRef};

use crate::{UiError, codec::Json};

/// Of two answers to a question the first counts; the other is refused as `already_answered`.
#[server(prefix = "/fn", endpoint = "answer_approval", input = Json, output = Json)]
pub async fn answer_approval(
    pod: PodRef,
    command_id: CommandId,
    id: String,
    command: ApprovalCommand,
) -> Result<Approval, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(
        backend
            .carry_out(
                &origin,
                command_id,
                protocol::operations::AnswerApproval { pod: pod.clone(), id: id.clone(), body: command },
            )
            .await,
    )
}
