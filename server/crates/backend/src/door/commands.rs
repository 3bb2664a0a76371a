//! Commands, each with a key. The same command sent again with the same key is a repeat.

use futures_util::future::BoxFuture;
use protocol::{
    ApiError, CommandId, ControlVerb, PodRef, Receipt,
    operations::{Answer, Command, ToCommand},
};
use runtime::{CommandKey, Origin};
use sha2::{Digest, Sha256};

use super::{Backend, carrier::Carrier};
use crate::port::answer_of;

impl Backend {
    /// Carries out a command, or returns its first answer.
    pub async fn carry_out<C: ToCommand>(
        &self,
        origin: &Origin,
        id: CommandId,
        command: C,
    ) -> Result<C::Answer, ApiError> {
        answer_of(self.command(origin, id, command.into()).await?)
    }

    /// Like [`Backend::carry_out`], for a command that consists of its verb only.
    pub async fn control(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: PodRef,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        answer_of(self.command(origin, id, verb.of(pod)).await?)
    }

    /// Like [`Backend::carry_out`], for any command.
    pub fn command<'a>(
        &'a self,
        origin: &'a Origin,
        id: CommandId,
        command: Command,
    ) -> BoxFuture<'a, Result<Answer, ApiError>> {
        Box::pin(async move {
            if let Command::RunTool(run) = &command
                && !run.body.arguments.is_object()
            {
                return Err(ApiError::invalid("`arguments` is a JSON object of what the tool takes"));
            }
            if let Command::Input(input) = &command {
                self.blobs().bring(&input.pod.runtime_id, &input.body).await?;
            }
            let key = key_of(id, &command);
            let carrier = Carrier { backend: self, origin, key: &key };
            let done = match &command {
                Command::Introduce(introduce) => carrier.introduce(introduce.clone()).await,
                Command::AnswerApprovals(several) => carrier.answer_several(&several.body).await,
                Command::SendMessage(send) => carrier.send_message(send.clone()).await,
                _ => return carrier.carried(command).await,
            };
            carrier.audited(&command, None, done).await
        })
    }
}

fn key_of(id: CommandId, command: &Command) -> CommandKey {
    fingerprint(id, command.key_word(), command.pod(), &command.said())
}

/// The key of a command. The same id with another verb, address or body is another command and is refused as
/// `key_reused`. `said` is JSON.
pub(super) fn fingerprint(id: CommandId, verb: &str, pod: Option<&PodRef>, said: &str) -> CommandKey {
    let mut hash = Sha256::new();
    hash.update(verb);
    hash.update([0]);
    hash.update(pod.map(PodRef::to_string).unwrap_or_default());
    hash.update([0]);
    hash.update(said);
    CommandKey { id, fingerprint: hash.finalize().into() }
}
