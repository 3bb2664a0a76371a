//! Commands that another runtime carries out happen once for their key, as those that are carried out here do.
//!
//! The key is written down before the command is sent on, so it is one command in the whole server. Its answer is kept
//! with it: a repeat is told it also when the other runtime is away.

use std::future::Future;

use protocol::{ApiError, AuditAbout, ErrorCode, RuntimeId};
use runtime::{Claimed, CommandKey, Origin};
use serde::{Serialize, de::DeserializeOwned};

use crate::Backend;

impl Backend {
    /// Carries a command out once for its key, and sees to its audit row. A repeat writes none.
    pub(crate) async fn carry_out<T: Serialize + DeserializeOwned>(
        &self,
        origin: &Origin,
        action: &str,
        key: &CommandKey,
        (runtime_id, target): (&RuntimeId, String),
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.carry_out_about(origin, action, key, (runtime_id, target), work, async |_| None).await
    }

    /// As [`Self::carry_out`]. `about` says what a row that is written here is about, beyond its target.
    pub(crate) async fn carry_out_about<T: Serialize + DeserializeOwned>(
        &self,
        origin: &Origin,
        action: &str,
        key: &CommandKey,
        (runtime_id, target): (&RuntimeId, String),
        work: impl Future<Output = Result<T, ApiError>>,
        about: impl AsyncFnOnce(&Result<T, ApiError>) -> Option<AuditAbout>,
    ) -> Result<T, ApiError> {
        let first = match is_local(runtime_id) {
            true => Ok(None),
            false => self.first_answer(key).await,
        };
        let done = match first {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => self.once(runtime_id, key, work).await,
            Err(error) => Err(error),
        };
        // Its Pod may be gone since, or by this very command, which came twice: a repeat is told what the first one was.
        let done = match done {
            Err(gone) if gone.code == ErrorCode::PodNotFound => match self.first_answer(key).await {
                Ok(Some(answer)) => return Ok(answer),
                Err(reused) if reused.code == ErrorCode::KeyReused => Err(reused),
                Ok(None) | Err(_) => Err(gone),
            },
            done => done,
        };
        let about = about(&done).await;
        self.audited(origin, action, runtime_id, target, about, done).await
    }

    /// Carries a command out, or gives its first answer. What this process carries out itself looks after its key in
    /// the transaction that carries it out.
    ///
    /// A refusal frees the key. Where nobody knows whether the command was carried out (the other runtime did not
    /// answer, this process was killed) the key stays the command's, and a repeat asks again under it.
    pub(crate) async fn once<T: Serialize + DeserializeOwned>(
        &self,
        runtime_id: &RuntimeId,
        key: &CommandKey,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        if is_local(runtime_id) {
            return work.await;
        }
        if let Some(answer) = self.first_answer(key).await? {
            return Ok(answer);
        }
        self.port(runtime_id)?.ready().await?;
        self.claimed(key, async |_| work.await).await
    }

    /// Carries a command out under its key, which no journal looks after. The work is told whether it was begun before,
    /// by a process that was killed or that did not learn what came of it.
    pub(crate) async fn claimed<T: Serialize + DeserializeOwned>(
        &self,
        key: &CommandKey,
        work: impl AsyncFnOnce(bool) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let was_begun = match self.host.claim(key).await? {
            Claimed::Answered(answer) => return read(&answer),
            Claimed::Before => true,
            Claimed::Now => false,
        };
        let done = work(was_begun).await;
        let noted = match &done {
            Ok(answer) => {
                let answer = serde_json::to_string(answer).expect("an answer always encodes");
                self.host.settle_claim(key, answer).await
            }
            Err(error) if error.code.status() < 500 => self.host.free_claim(key).await,
            Err(_) => Ok(()),
        };
        // The key stays the command's, so a repeat is told the same by the other runtime.
        if let Err(error) = noted {
            tracing::warn!(%error, key = %key.id, "what came of a command could not be noted under its key");
        }
        done
    }

    /// What a command of this key was answered; none when it was not carried out, as far as this server knows.
    pub(crate) async fn first_answer<T: DeserializeOwned>(&self, key: &CommandKey) -> Result<Option<T>, ApiError> {
        self.host.first_answer(key).await?.map(|answer| read(&answer)).transpose()
    }
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, ApiError> {
    serde_json::from_str(answer)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
}

fn is_local(runtime_id: &RuntimeId) -> bool {
    *runtime_id == RuntimeId::local()
}
