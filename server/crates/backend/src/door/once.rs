//! Makes commands that another runtime carries out happen once per key, like those carried out here.
//!
//! The key is stored before the command is sent on, so it stands for one command in the whole server. The answer is
//! stored with it, so a repeat gets it even if the other runtime is away.

use std::future::Future;

use protocol::{
    ApiError, ErrorCode, RuntimeId,
    operations::{Answer, Command},
};
use runtime::Claimed;

use super::Carrier;

/// How an answer is encoded under its key, and decoded again.
pub(super) struct Keeping<Write, Read> {
    pub(super) write: Write,
    pub(super) read: Read,
}

impl Carrier<'_> {
    /// Carries out a command, or returns its first answer. The runtime in this process handles the key itself, in the
    /// transaction that carries out the command.
    ///
    /// A refusal frees the key. If it is not known whether the command was carried out (the other runtime did not
    /// answer, or this process was killed), the command keeps the key, and a repeat asks the other runtime again under
    /// it.
    pub(super) async fn once(
        self,
        command: &Command,
        work: impl Future<Output = Result<Answer, ApiError>>,
    ) -> Result<Answer, ApiError> {
        let runtime_id = command.runtime_id();
        if runtime_id == RuntimeId::local() {
            return work.await;
        }
        if let Some(answer) = self.first_answer(command).await? {
            return Ok(answer);
        }
        self.backend.port(&runtime_id)?.ready().await?;
        let keeping = Keeping { write: Answer::kept, read: |json: &str| command.kept(json) };
        self.claimed(keeping, async |_| work.await).await
    }

    /// Carries out a command under a key that no journal handles. `work` is told whether it was begun before, by a
    /// process that was killed or that did not learn the outcome.
    pub(super) async fn claimed<T>(
        self,
        keeping: Keeping<impl FnOnce(&T) -> String, impl FnOnce(&str) -> Result<T, serde_json::Error>>,
        work: impl AsyncFnOnce(bool) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let was_begun = match self.backend.host.claims().claim(self.key).await? {
            Claimed::Answered(answer) => return (keeping.read)(&answer).map_err(unreadable),
            Claimed::Before => true,
            Claimed::Now => false,
        };
        let done = work(was_begun).await;
        let noted = match &done {
            Ok(answer) => self.backend.host.claims().settle(self.key, (keeping.write)(answer)).await,
            Err(error) if error.code.status() < 500 => self.backend.host.claims().free(self.key).await,
            Err(_) => Ok(()),
        };
        // The command keeps the key, so for a repeat the other runtime gives the same answer.
        if let Err(error) = noted {
            tracing::warn!(%error, key = %self.key.id, "the outcome of a command could not be stored under its key");
        }
        done
    }

    /// The answer to the command of this key, or `None` if it was not carried out, as far as this server knows.
    pub(super) async fn first_answer(self, command: &Command) -> Result<Option<Answer>, ApiError> {
        let kept = self.backend.host.claims().first_answer(self.key).await?;
        kept.map(|answer| command.kept(&answer).map_err(unreadable)).transpose()
    }
}

fn unreadable(error: serde_json::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}"))
}
