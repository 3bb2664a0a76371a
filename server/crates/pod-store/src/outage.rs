//! Whether the database can be written now, what has failed so far, and how long writers wait.
//!
//! Only in memory, since it could not be stored while it matters. It is for people and for waiting callers; whether a
//! batch has been written is decided by the writer alone.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use protocol::Seq;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use crate::{PodKey, StoreError};

/// How long a write on behalf of a caller waits during an outage before it is taken back.
pub const OUTAGE_WAIT_MAX: Duration = Duration::from_secs(3);
/// How much longer to wait if it cannot be taken back because it may have been written.
const DOUBT_WAIT_MAX: Duration = Duration::from_secs(5);
/// How many damaged records are logged individually; the rest are only counted.
const ALARMS_MAX: usize = 1_000;
/// How often to try to take back a batch that is being committed.
const TAKE_BACK_EVERY: Duration = Duration::from_millis(50);

/// The database cannot be written; the writer keeps trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    pub since: Timestamp,
    pub kind: OutageKind,
    /// The latest message of the database, fit for people.
    pub why: String,
}

/// Whether an outage ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageKind {
    /// It will pass, like a full disk or a database that is restarting.
    Away,
    /// The database was deleted, moved or replaced; it ends when somebody restores it.
    Lost,
}

impl Outage {
    /// The error for a caller whose change was not written.
    pub fn refusal(self) -> StoreError {
        match self.kind {
            OutageKind::Away => StoreError::Away(self.why),
            OutageKind::Lost => StoreError::Lost(self.why),
        }
    }
}

/// What has failed since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    pub reads: u64,
    pub writes: u64,
    /// Damaged records that are set aside, whenever they were found.
    pub damaged: u64,
}

/// How long a batch waits for a database that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until it is written, however long that takes.
    Endless,
    /// A short time. It ends with [`StoreError::Away`] only if nothing was written; in doubt it waits until that is
    /// known.
    UntilKnown,
    /// A short time; in doubt it ends with [`StoreError::Unknown`].
    Short,
}

/// Whether a database can be read and written now.
#[derive(Debug)]
pub struct Health {
    outage: watch::Sender<Option<Outage>>,
    /// The store is being closed: nobody waits any longer.
    pub(crate) closing: watch::Sender<bool>,
    reads_failed: AtomicU64,
    writes_failed: AtomicU64,
    outages: AtomicU64,
    /// The number of journal rows that are set aside.
    pub(crate) damaged: AtomicU64,
    /// The damaged records that have been logged.
    alarms: Mutex<HashSet<(PodKey, Seq)>>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            outage: watch::Sender::new(None),
            closing: watch::Sender::new(false),
            reads_failed: AtomicU64::new(0),
            writes_failed: AtomicU64::new(0),
            outages: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            alarms: Mutex::default(),
        }
    }
}

impl Health {
    /// `Some` while the database cannot be written; the writer keeps trying until it can.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.subscribe()
    }

    pub fn is_out(&self) -> bool {
        self.outage.borrow().is_some()
    }

    /// True if the database was deleted, moved or replaced, and has not been restored.
    pub fn is_lost(&self) -> bool {
        self.outage.borrow().as_ref().is_some_and(|outage| outage.kind == OutageKind::Lost)
    }

    /// Returns when an outage has lasted for [`OUTAGE_WAIT_MAX`] during this call, or at once if the database is lost.
    pub async fn outlasts_waiting(&self) -> Outage {
        self.outlasts(OUTAGE_WAIT_MAX).await
    }

    pub fn failures(&self) -> Failures {
        Failures {
            reads: self.reads_failed.load(Ordering::Relaxed),
            writes: self.writes_failed.load(Ordering::Relaxed),
            damaged: self.damaged.load(Ordering::Relaxed),
        }
    }

    /// How many outages have begun.
    pub(crate) fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    pub(crate) fn read_failed(&self) {
        self.reads_failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a failed write that may succeed when it is retried.
    pub(crate) fn write_failed(&self, kind: OutageKind, why: &str) {
        self.writes_failed.fetch_add(1, Ordering::Relaxed);
        self.outage.send_if_modified(|outage| {
            let (was, since) = outage.as_ref().map(|outage| (outage.kind, outage.since)).unzip();
            if was != Some(kind) {
                match kind {
                    OutageKind::Away => {
                        tracing::error!(why, "the database cannot be written; trying again until it can")
                    }
                    OutageKind::Lost => tracing::error!(why, "THE DATABASE IS GONE; nothing more is written"),
                }
            }
            if since.is_none() {
                self.outages.fetch_add(1, Ordering::Relaxed);
            }
            let since = since.unwrap_or_else(Timestamp::now);
            let now = Some(Outage { since, kind, why: why.to_owned() });
            let is_news = *outage != now;
            *outage = now;
            is_news
        });
    }

    /// Logs a damaged record prominently, once.
    pub(crate) fn tell_damaged(&self, pod: PodKey, seq: Seq, reason: &str) {
        let mut alarms = self.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        if alarms.len() < ALARMS_MAX && alarms.insert((pod, seq)) {
            tracing::error!(pod = pod.0, seq = seq.0, reason, "A JOURNAL RECORD IS DAMAGED; setting it aside");
        }
    }

    pub(crate) fn written(&self) {
        if !self.is_out() {
            return;
        }
        if let Some(outage) = self.outage.send_replace(None) {
            let lasted_ms = outage.since.duration_until(Timestamp::now()).as_millis();
            tracing::warn!(lasted_ms = lasted_ms as u64, "the database is written again");
        }
    }

    /// Returns when an outage has lasted for `wait` during this call, or at once if the database is lost.
    pub(crate) async fn outlasts(&self, wait: Duration) -> Outage {
        let mut outage = self.outage();
        // The sender lives as long as `self`, so waiting cannot fail.
        loop {
            drop(outage.wait_for(Option::is_some).await);
            let is_over_or_lost = |now: &Option<Outage>| now.as_ref().is_none_or(|now| now.kind == OutageKind::Lost);
            let is_over = matches!(timeout(wait, outage.wait_for(is_over_or_lost)).await, Ok(Ok(now)) if now.is_none());
            let now = outage.borrow().clone();
            match now {
                Some(now) if !is_over => return now,
                _ => (),
            }
        }
    }

    /// Returns when a batch is given up, with the error for its caller.
    pub(crate) async fn gives_up(&self, ticket: &Ticket, patience: Patience) -> StoreError {
        if patience == Patience::Endless {
            return std::future::pending().await;
        }
        let mut tried_since = None;
        loop {
            let outage = match tried_since {
                None => self.outlasts(OUTAGE_WAIT_MAX).await,
                Some(_) => self.outlasts(TAKE_BACK_EVERY).await,
            };
            if ticket.take_back() {
                return outage.refusal();
            }
            let since: Instant = *tried_since.get_or_insert_with(Instant::now);
            if patience == Patience::Short && since.elapsed() > DOUBT_WAIT_MAX {
                return StoreError::Unknown(outage.why);
            }
            sleep(TAKE_BACK_EVERY).await;
        }
    }
}

const OPEN: u8 = 0;
const COMMITTING: u8 = 1;
const TAKEN_BACK: u8 = 2;

/// Who controls a batch: its caller, who may take it back, until the writer commits it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticket(Arc<AtomicU8>);

impl Ticket {
    /// Called by the batch's caller. Returns false if the batch may have been written.
    fn take_back(&self) -> bool {
        self.0.compare_exchange(OPEN, TAKEN_BACK, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_taken_back(&self) -> bool {
        self.0.load(Ordering::Acquire) == TAKEN_BACK
    }

    /// Called by the writer right before the commit. Returns false if the caller has taken the batch back.
    pub(crate) fn commit(&self) -> bool {
        let begun = self.0.compare_exchange(OPEN, COMMITTING, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok_and(|_| true) || begun == Err(COMMITTING)
    }

    /// Called by the writer if nothing of the batch was written.
    pub(crate) fn reopen(&self) {
        // Fails if it was taken back, or was never being committed.
        let _ = self.0.compare_exchange(COMMITTING, OPEN, Ordering::AcqRel, Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_taken_back_or_committed_and_never_both() {
        let ticket = Ticket::default();
        assert!(ticket.commit() && ticket.commit() && !ticket.take_back());
        ticket.reopen();
        assert!(ticket.take_back() && !ticket.commit() && ticket.is_taken_back());
        ticket.reopen();
        assert!(ticket.is_taken_back());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_is_told_only_of_an_outage_that_goes_on() {
        let health = Health::default();
        let ticket = Ticket::default();
        let ends = async {
            for _ in 0..3 {
                health.write_failed(OutageKind::Away, "the disk is full");
                sleep(OUTAGE_WAIT_MAX / 2).await;
                health.written();
                sleep(OUTAGE_WAIT_MAX).await;
            }
        };
        tokio::select! {
            given_up = health.gives_up(&ticket, Patience::Short) => panic!("{given_up}"),
            () = ends => (),
        }
        health.write_failed(OutageKind::Away, "the disk is full");
        let given_up = health.gives_up(&ticket, Patience::UntilKnown).await;
        assert!(matches!(&given_up, StoreError::Away(why) if why == "the disk is full"), "{given_up:?}");
        let doubtful = Ticket::default();
        assert!(doubtful.commit());
        assert!(matches!(health.gives_up(&doubtful, Patience::Short).await, StoreError::Unknown(_)));
        assert_eq!(health.failures(), Failures { writes: 4, ..Failures::default() });
    }
}
