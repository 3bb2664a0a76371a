//! Exactly-once commands: the answers by command id, as long as this process remembers them, and the ids that an
//! earlier process sent without learning the outcome. An answer is stored in the database together with the claim of
//! its id.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    future::Future,
    sync::{Arc, Mutex, MutexGuard},
};

use protocol::{ApiError, CommandId, ErrorCode};
use runtime::{CommandKey, Host};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Mutex as Turn;

/// How many ids are remembered; the oldest go first.
const KEYS_MAX: usize = 10_000;

/// How a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was not carried out: its id can be used again.
    Refused(ApiError),
    /// Nobody knows whether it was carried out: a repeat gets the same error, and nothing is sent again.
    Unknown(ApiError),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) | Failure::Unknown(error) => error,
        }
    }
}

/// An answer as JSON, or the error; `None` while the command is in progress.
type Answer = Arc<Turn<Option<Result<String, ApiError>>>>;

#[derive(Debug, Default)]
pub(crate) struct Answers {
    known: Mutex<Known>,
    /// Stores the claims.
    host: Option<Host>,
}

#[derive(Debug, Default)]
struct Known {
    keys: HashMap<CommandId, ([u8; 32], Answer)>,
    order: VecDeque<CommandId>,
    /// Ids that were sent and whose outcome is unknown, because an earlier process sent them or too many others
    /// followed. The older protocol cannot tell a repeat from a new command.
    left_open: HashSet<CommandId>,
}

impl Answers {
    /// Must be called before the first command.
    pub(crate) async fn of(host: Host) -> Result<Self, ApiError> {
        let known = Known { left_open: host.claims().open().await?, ..Known::default() };
        Ok(Self { known: Mutex::new(known), host: Some(host) })
    }

    /// Carries out a command, or returns its earlier answer. The command continues if the caller goes away.
    pub(crate) async fn once<T, F>(self: &Arc<Self>, key: CommandKey, command: F) -> Result<T, ApiError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let answer = self.answer_of(&key)?;
        let answers = Arc::clone(self);
        let work = tokio::spawn(async move {
            // Repeats wait here for the first attempt.
            let mut answered = answer.lock().await;
            if let Some(known) = &*answered {
                return known.clone();
            }
            let done = match command.await {
                Ok(done) => Ok(serde_json::to_string(&done).expect("an answer always encodes")),
                Err(Failure::Unknown(error)) => Err(error),
                Err(Failure::Refused(error)) => {
                    answers.forget(&key, &answer).await;
                    return Err(error);
                }
            };
            *answered = Some(done.clone());
            done
        });
        let done = work.await.map_err(|_| ApiError::new(ErrorCode::Internal, "the command broke; see the log"))??;
        read(&done)
    }

    fn answer_of(&self, key: &CommandKey) -> Result<Answer, ApiError> {
        let mut known = self.lock();
        match known.keys.get(&key.id) {
            Some((fingerprint, _)) if *fingerprint != key.fingerprint => return Err(reused(&key.id)),
            Some((_, answer)) => return Ok(answer.clone()),
            None => (),
        }
        let answer = match known.left_open.contains(&key.id) {
            true => Arc::new(Turn::new(Some(Err(unknown(&key.id))))),
            false => Answer::default(),
        };
        known.keys.insert(key.id.clone(), (key.fingerprint, answer.clone()));
        known.order.push_back(key.id.clone());
        if known.order.len() > KEYS_MAX
            && let Some(oldest) = known.order.pop_front()
            && let Some((_, answer)) = known.keys.remove(&oldest)
            // If it was carried out, its claim has the answer.
            && !answer.try_lock().is_ok_and(|answer| matches!(*answer, Some(Ok(_))))
        {
            known.left_open.insert(oldest);
        }
        Ok(answer)
    }

    async fn forget(&self, key: &CommandKey, answer: &Answer) {
        // Also if it was refused because its Pod is unreachable: it was not sent, so it may be sent after a restart.
        if let Some(host) = &self.host
            && let Err(error) = host.claims().free(key).await
        {
            tracing::warn!(%error, key = %key.id, "the key of a command that was refused could not be given back");
        }
        let (mut known, id) = (self.lock(), &key.id);
        known.left_open.remove(id);
        if known.keys.get(id).is_some_and(|(_, kept)| Arc::ptr_eq(kept, answer)) {
            known.keys.remove(id);
            known.order.retain(|kept| kept != id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("no holder of the answers panics")
    }
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, ApiError> {
    serde_json::from_str(answer)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("an answer cannot be read: {error}")))
}

fn unknown(id: &CommandId) -> ApiError {
    let sentence = format!(
        "the command {id} was sent before, and its answer did not come; whether the Pod took it, its transcript shows. \
         To send it again, use a fresh idempotency key"
    );
    ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
}

fn reused(id: &CommandId) -> ApiError {
    let sentence = format!("the idempotency key {id} belongs to another command; use a fresh one for this");
    ApiError::new(ErrorCode::KeyReused, sentence)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn key(id: &str, body: u8) -> CommandKey {
        CommandKey { id: CommandId::parse(id).unwrap(), fingerprint: [body; 32] }
    }

    #[tokio::test]
    async fn a_command_happens_once_however_often_it_comes() {
        let (answers, count) = (Arc::new(Answers::default()), Arc::new(AtomicU32::new(0)));
        let command = || {
            let count = count.clone();
            async move {
                tokio::task::yield_now().await;
                Ok::<u32, Failure>(count.fetch_add(1, Ordering::SeqCst) + 1)
            }
        };
        let (a, b) = tokio::join!(answers.once(key("k", 1), command()), answers.once(key("k", 1), command()));
        assert_eq!((a, b), (Ok(1), Ok(1)));
        assert_eq!(answers.once(key("k", 2), command()).await.unwrap_err().code, ErrorCode::KeyReused);
    }

    #[tokio::test]
    async fn a_refused_command_leaves_no_trace_and_one_that_nobody_knows_of_is_not_sent_again() {
        let answers = Arc::new(Answers::default());
        let error = || ApiError::new(ErrorCode::Busy, "busy");
        let refused = answers.once::<u32, _>(key("a", 1), async move { Err(Failure::Refused(error())) }).await;
        assert_eq!(refused.unwrap_err().code, ErrorCode::Busy);
        assert_eq!(answers.once(key("a", 2), async { Ok::<u32, Failure>(7) }).await, Ok(7));

        let lost = answers.once::<u32, _>(key("b", 1), async move { Err(Failure::Unknown(error())) }).await;
        assert!(lost.is_err());
        assert!(answers.once(key("b", 1), async { Ok::<u32, Failure>(7) }).await.is_err(), "it is not sent again");
    }

    #[tokio::test]
    async fn what_an_earlier_process_sent_is_not_sent_again() {
        let answers = Arc::new(Answers::default());
        answers.lock().left_open.insert(CommandId::parse("sent").unwrap());
        for _ in 0..2 {
            let told = answers.once(key("sent", 1), async { Ok::<u32, Failure>(7) }).await;
            assert_eq!(told.unwrap_err().code, ErrorCode::RuntimeUnavailable);
        }
        assert_eq!(answers.once(key("fresh", 1), async { Ok::<u32, Failure>(7) }).await, Ok(7));
    }

    #[tokio::test]
    async fn what_may_have_been_taken_is_not_sent_again_however_many_came_since() {
        let answers = Arc::new(Answers::default());
        let late = Failure::Unknown(ApiError::new(ErrorCode::Timeout, "no answer came"));
        answers.once::<u32, _>(key("lost", 1), async { Err(late) }).await.unwrap_err();
        for number in 0..KEYS_MAX {
            answers.once(key(&number.to_string(), 1), async { Ok::<u32, Failure>(7) }).await.unwrap();
        }
        assert!(!answers.lock().keys.contains_key(&CommandId::parse("lost").unwrap()));
        assert!(answers.once(key("lost", 1), async { Ok::<u32, Failure>(7) }).await.is_err());
        assert_eq!(answers.lock().left_open.len(), 1, "those that were answered are not among them");
    }

    #[tokio::test]
    async fn keys_are_bounded() {
        let answers = Arc::new(Answers::default());
        for number in 0..KEYS_MAX + 10 {
            answers.answer_of(&key(&format!("k{number}"), 1)).unwrap();
        }
        let known = answers.lock();
        assert_eq!((known.keys.len(), known.order.len()), (KEYS_MAX, KEYS_MAX));
    }
}
