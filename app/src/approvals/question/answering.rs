//! The first of two competing answers counts, and the later one is told so.

use leptos::{prelude::*, task::spawn_local};
use protocol::{Approval, ApprovalCommand, Decision, ErrorCode, PodRef};
use transcript::words::actor_words;

use super::Question;
use crate::{
    UiError,
    console::{Console, fresh_command},
    server_fns::{answer_approval, pod_approvals},
};

/// Sends this answer. If another one came first, says so in a notice and returns that one.
pub(crate) async fn answer(
    console: Console,
    pod: PodRef,
    id: String,
    command: ApprovalCommand,
) -> Result<Approval, UiError> {
    match answer_approval(pod.clone(), fresh_command(), id.clone(), command).await {
        Err(refusal) if refusal.code() == ErrorCode::AlreadyAnswered => {
            let earlier = earlier_answer(pod, &id).await.ok_or(refusal)?;
            console.note(format!("Already answered: {}.", answer_words(&earlier)));
            Ok(earlier)
        }
        other => other,
    }
}

/// The answer to an approval that is no longer open.
async fn earlier_answer(pod: PodRef, id: &str) -> Option<Approval> {
    pod_approvals(pod).await.ok()?.into_iter().find(|approval| approval.id == id)
}

/// The answer to a question that may be answered elsewhere: once it is no longer open, that answer.
pub(crate) fn answer_from_anywhere(question: &Question, is_open: Memo<bool>) -> RwSignal<Option<Approval>> {
    let answered = RwSignal::new(None::<Approval>);
    let asked = question.clone();
    Effect::new(move |_| {
        if is_open.get() || answered.with_untracked(Option::is_some) {
            return;
        }
        let asked = asked.clone();
        spawn_local(async move {
            let gone = || Approval::open(asked.id.clone(), asked.tool.clone(), asked.arguments.clone(), asked.asked_at);
            let answer = earlier_answer(asked.pod.clone(), &asked.id).await.unwrap_or_else(gone);
            answered.try_update(|answered| answered.get_or_insert(answer).id.len());
        });
    });
    answered
}

/// `allowed by you`, `denied by kim: not today`, `no longer needed: the run was cancelled`.
pub(crate) fn answer_words(answer: &Approval) -> String {
    let verb = match answer.decision {
        Some(Decision::Allow) => "allowed",
        Some(Decision::Deny) => "denied",
        None => "no longer needed",
    };
    let by = answer.by.as_deref().map(|by| format!(" by {}", actor_words(by))).unwrap_or_default();
    let reason = answer.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{verb}{by}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_who_gave_it_and_why() {
        let answer = |decision, by: Option<&str>, reason: Option<&str>| {
            let (by, reason) = (by.map(str::to_owned), reason.map(str::to_owned));
            let (id, tool) = ("q".to_owned(), "Bash".to_owned());
            let arguments = serde_json::Value::Null;
            let asked = Approval::open(id, tool, arguments, protocol::Timestamp::UNIX_EPOCH);
            answer_words(&Approval { decision, by, reason, ..asked })
        };
        assert_eq!(answer(Some(Decision::Allow), Some("operator"), None), "allowed by you");
        assert_eq!(answer(Some(Decision::Allow), Some("kim"), None), "allowed by kim");
        assert_eq!(answer(Some(Decision::Deny), Some("kim"), Some("not today")), "denied by kim: not today");
        assert_eq!(answer(None, None, Some("the run was cancelled")), "no longer needed: the run was cancelled");
    }
}
