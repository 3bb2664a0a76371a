//! Database outages: how long callers wait and what they are told, how Pods read on their own behalf, and what is known
//! of the outage. None of this is stored, since there is nowhere to store it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use pod_store::{OUTAGE_WAIT_MAX, Outage, OutageKind, StoreError};
use protocol::ApiError;
use tokio::time::{Instant, error::Elapsed};

use super::Ground;

/// How often a read is tried while the database can be written; such a failure does not pass by itself.
const READS_MAX: usize = 5;
const READ_AGAIN: Duration = Duration::from_millis(200);
/// After this many further waits, a caller whose command has already been taken is told that its outcome is unknown.
const WAITS_IN_DOUBT: usize = 3;

/// How long the result of a check stays valid.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// A database that takes longer than this counts as unavailable.
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Whether the database can be used, and what is wrong if not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseState {
    pub reads: Option<String>,
    pub writes: Option<String>,
    /// Since when it cannot be written.
    pub since: Option<Timestamp>,
}

/// The result of a check, and when it was made.
#[derive(Debug)]
pub(crate) struct Looked {
    at: Instant,
    state: DatabaseState,
}

/// Who owns a request: its caller, until the Pod's task takes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slip(Arc<AtomicU8>);

impl Slip {
    const WAITING: u8 = 0;
    const TAKEN: u8 = 1;
    const WITHDRAWN: u8 = 2;

    /// Called by the Pod's task. Returns false if the caller was already told that nothing was done.
    pub(crate) fn take(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::TAKEN, Ordering::AcqRel, Ordering::Acquire) != Err(Self::WITHDRAWN)
    }

    fn withdraw(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Ground {
    /// Waits for an answer, but only briefly during an outage. A request that has not been taken by then is withdrawn
    /// and does not happen.
    pub(crate) async fn answered<T>(
        &self,
        slip: &Slip,
        answer: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let gives_up = async {
            let mut outage = self.store.health().outlasts_waiting().await;
            if slip.withdraw() {
                return outage.refusal().into();
            }
            for _ in 0..WAITS_IN_DOUBT {
                // A lost database is reported at once, but the Pod's task needs a moment to learn what became of this
                // request.
                (outage, ()) =
                    tokio::join!(self.store.health().outlasts_waiting(), tokio::time::sleep(OUTAGE_WAIT_MAX));
            }
            StoreError::Unknown(outage.why).into()
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            error = gives_up => Err(error),
        }
    }

    /// Reads on behalf of a Pod, which cannot report a failure to anybody: retries for as long as the database is away.
    pub(crate) async fn patiently<T, F>(&self, mut read: impl FnMut() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut failed = 0;
        loop {
            let error = match read().await {
                Err(error @ (StoreError::Unread(_) | StoreError::Lost(_))) => error,
                read => return read,
            };
            if self.stopping.is_cancelled() {
                return Err(StoreError::Closed);
            }
            // A failed write also makes the outage known to those who wait for it.
            if self.store.probe_writing().await.is_ok() {
                failed += 1;
                if failed == READS_MAX {
                    return Err(error);
                }
            }
            tokio::time::sleep(READ_AGAIN).await;
        }
    }

    /// Waits for something, but only briefly during an outage, since it may depend on the database.
    pub(crate) async fn unless_out(&self, something: impl Future) {
        tokio::select! {
            _ = something => (),
            _ = self.store.health().outlasts_waiting() => (),
        }
    }

    /// Whether the database can be read and written. Checks it, unless that was done a moment ago.
    pub(crate) async fn look_at_database(&self) -> DatabaseState {
        let mut looked = self.looked.lock().await;
        if let Some(Looked { at, state }) = looked.as_ref()
            && at.elapsed() < LOOK_AGAIN
        {
            return state.clone();
        }
        let writing = async {
            // During an outage the writer keeps trying by itself.
            if self.store.health().is_out() { Ok(()) } else { self.store.probe_writing().await }
        };
        let (reads, writes) = tokio::join!(
            tokio::time::timeout(LOOK_MAX, self.store.probe_reading()),
            tokio::time::timeout(LOOK_MAX, writing)
        );
        let wrong = |looked: Result<Result<(), StoreError>, Elapsed>| match looked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("the database does not answer within {} s", LOOK_MAX.as_secs())),
        };
        let outage = self.store.health().outage().borrow().as_ref().map(|outage| (outage.since, outage.why.clone()));
        let state = DatabaseState {
            reads: wrong(reads),
            since: outage.as_ref().map(|(since, _)| *since),
            writes: outage.map(|(_, why)| why).or_else(|| wrong(writes)),
        };
        *looked = Some(Looked { at: Instant::now(), state: state.clone() });
        state
    }
}

/// What is wrong, for people.
pub(crate) fn reason(outage: &Outage) -> String {
    match outage.kind {
        OutageKind::Away => {
            format!("yoi cannot write to its database and goes on by itself once it can: {}", outage.why)
        }
        OutageKind::Lost => format!("yoi's database is gone, and nothing is kept any more: {}", outage.why),
    }
}
