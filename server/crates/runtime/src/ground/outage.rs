//! While the database cannot be written or read: how long callers wait and what they are told, how Pods read on their own
//! behalf, and what is seen of it. Nothing of this is stored, for there is nowhere to store it.

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

/// How often a read is tried again while the database can be written: what fails then does not pass.
const READS_MAX: usize = 5;
const READ_AGAIN: Duration = Duration::from_millis(200);
/// An outage goes on for so many more waits before a caller, whose command is being carried out, is told that nobody knows.
const WAITS_IN_DOUBT: usize = 3;

/// What was seen of the database is good for so long.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// A database that takes longer than this is as good as none.
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Whether the database can be used; where not, what is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseState {
    pub reads: Option<String>,
    pub writes: Option<String>,
    /// Since when it cannot be written.
    pub since: Option<Timestamp>,
}

/// What was seen, and when.
#[derive(Debug)]
pub(crate) struct Looked {
    at: Instant,
    state: DatabaseState,
}

/// Whose a request is: its caller's, until the Pod's task takes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slip(Arc<AtomicU8>);

impl Slip {
    const WAITING: u8 = 0;
    const TAKEN: u8 = 1;
    const WITHDRAWN: u8 = 2;

    /// For the Pod's task: false when its caller was told that nothing was done.
    pub(crate) fn take(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::TAKEN, Ordering::AcqRel, Ordering::Acquire) != Err(Self::WITHDRAWN)
    }

    fn withdraw(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Ground {
    /// Waits for an answer; through an outage a short time only. What was not taken by then does not happen.
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
                // That the database is gone is told at once; what became of this takes the Pod's task a moment.
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

    /// Reads for a Pod, which has nowhere to go with a failure: again and again while the database is away.
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
            // This also lets those know who wait: an outage is known as soon as a write fails.
            if self.store.probe_writing().await.is_ok() {
                failed += 1;
                if failed == READS_MAX {
                    return Err(error);
                }
            }
            tokio::time::sleep(READ_AGAIN).await;
        }
    }

    /// Waits for something; in an outage, which may be what it waits for, a short time only.
    pub(crate) async fn unless_out(&self, something: impl Future) {
        tokio::select! {
            _ = something => (),
            _ = self.store.health().outlasts_waiting() => (),
        }
    }

    /// Whether the database can be read and written: tried, unless it was a moment ago.
    pub(crate) async fn look_at_database(&self) -> DatabaseState {
        let mut looked = self.looked.lock().await;
        if let Some(Looked { at, state }) = looked.as_ref()
            && at.elapsed() < LOOK_AGAIN
        {
            return state.clone();
        }
        let writing = async {
            // In an outage the writer tries by itself.
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
            format!("yoi cannot write to its database and continues by itself once it can: {}", outage.why)
        }
        OutageKind::Lost => format!("yoi's database is gone, and nothing can be stored any more: {}", outage.why),
    }
}
