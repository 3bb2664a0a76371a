//! One answer to several questions: each is answered by itself, as if it had been sent alone.

use protocol::{
    ANSWERS_MAX, AnsweredQuestion, AnsweredQuestions, ApiError, ApprovalCommand, ApprovalsCommand, CommandId,
    QuestionId,
    operations::{Answer, AnswerApproval},
};
use sha2::{Digest, Sha256};

use super::{Carrier, once::Keeping};
use crate::port::answer_of;

impl Carrier<'_> {
    /// Answers each question, and says what became of each. The answers of a repeat are the first ones.
    pub(super) async fn answer_several(self, body: &ApprovalsCommand) -> Result<Answer, ApiError> {
        match body.ids.len() {
            0 => return Err(ApiError::invalid("`ids` is empty; name the questions to answer, as { pod, id }")),
            count if count > ANSWERS_MAX => {
                let sentence = format!("`ids` has {count} questions; at most {ANSWERS_MAX} are answered at once");
                return Err(ApiError::invalid(sentence));
            }
            _ => (),
        }
        let keeping = Keeping {
            write: |answered: &AnsweredQuestions| {
                serde_json::to_string(answered).expect("protocol types always encode")
            },
            read: |json: &str| serde_json::from_str(json),
        };
        let answered = self.claimed(keeping, async |_| {
            let mut items = Vec::with_capacity(body.ids.len());
            for (index, question) in body.ids.iter().enumerate() {
                // A second answer to the same question is an answer of its own, which comes too late.
                let before = body.ids[..index].iter().filter(|earlier| *earlier == question).count();
                items.push(self.answer_one((question, before), body).await);
            }
            Ok(AnsweredQuestions { items })
        });
        Ok(answered.await?.into())
    }

    /// `before`: how often the same question stands before this one in the request.
    async fn answer_one(self, (question, before): (&QuestionId, usize), body: &ApprovalsCommand) -> AnsweredQuestion {
        let QuestionId { pod, id } = question.clone();
        let answer = ApprovalCommand { reason: body.reason.clone(), ..ApprovalCommand::once(body.decision) };
        let command = AnswerApproval { pod: pod.clone(), id: id.clone(), body: answer };
        let done = match key_of(&self.key.id, question, before) {
            Ok(key) => self.backend.command(self.origin, key, command.into()).await.and_then(answer_of),
            Err(error) => Err(ApiError::invalid(error.to_string())),
        };
        match done {
            Ok(approval) => AnsweredQuestion { pod, id, approval: Some(approval), error: None },
            Err(error) => AnsweredQuestion { pod, id, approval: None, error: Some(error) },
        }
    }
}

/// The key of one answer, which follows from that of all: so a repeat, also after a crash in between, answers nothing
/// twice.
fn key_of(all: &CommandId, question: &QuestionId, before: usize) -> Result<CommandId, protocol::CommandIdError> {
    let repeated = if before == 0 { String::new() } else { format!("\n{before}") };
    let hash = Sha256::digest(format!("{all}\n{}\n{}{repeated}", question.pod, question.id));
    CommandId::parse(&hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}
