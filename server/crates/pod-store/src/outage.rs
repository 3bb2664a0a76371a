//! Whether the database takes writes now, what failed so far, and how long those wait who write.
//!
//! Only in memory: what could be stored about it could be stored. It is for people and for those who wait; whether a batch is
//! on the disk is the writer's business alone.

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

/// Who writes on somebody's behalf waits for so long of an outage, and then takes back what is not written.
pub const OUTAGE_WAIT_MAX: Duration = Duration::from_secs(3);
/// Whoever cannot take it back, because it may be on the disk, waits for so long again.
const DOUBT_WAIT_MAX: Duration = Duration::from_secs(5);
/// Damaged records that the log tells of, each by itself; the rest is counted.
const ALARMS_MAX: usize = 1_000;
/// How often it is tried to take back a batch that is just being committed.
const TAKE_BACK_EVERY: Duration = Duration::from_millis(50);

/// The database cannot be written, and the writer tries again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    pub since: Timestamp,
    pub kind: OutageKind,
    /// What the database said last, fit for people.
    pub why: String,
}

/// Whether an outage ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageKind {
    /// It passes, as a full disk or a database that is started again.
    Away,
    /// The database was deleted, moved or replaced; it ends when somebody puts back what was there.
    Lost,
}

impl Outage {
    /// For who wanted something written; nothing was.
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
    /// Records that are damaged and set aside, whenever they were found.
    pub damaged: u64,
}

/// How long a batch waits for a database that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until it is written, however long that takes.
    Endless,
    /// A short time. It ends with [`StoreError::Away`] only when nothing was written; in doubt it waits until it is known.
    UntilKnown,
    /// A short time; in doubt it ends with [`StoreError::Unknown`].
    Short,
}

/// Whether a database can be read and written now.
#[derive(Debug)]
pub struct Health {
    outage: watch::Sender<Option<Outage>>,
    /// The store is being closed: whoever waits, waits no longer.
    pub(crate) closing: watch::Sender<bool>,
    reads_failed: AtomicU64,
    writes_failed: AtomicU64,
    /// Rows of journals that are set aside.
    pub(crate) damaged: AtomicU64,
    /// Those that the log has told of.
    alarms: Mutex<HashSet<(PodKey, Seq)>>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            outage: watch::Sender::new(None),
            closing: watch::Sender::new(false),
            reads_failed: AtomicU64::new(0),
            writes_failed: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            alarms: Mutex::default(),
        }
    }
}

impl Health {
    /// Present while the database cannot be written; it is tried again and again until it can.
    pub fn outage(&self) -> watch::Receiver<Option<Outage>> {
        self.outage.subscribe()
    }

    pub fn is_out(&self) -> bool {
        self.outage.borrow().is_some()
    }

    /// The database was deleted, moved or replaced, and is not back yet.
    pub fn is_lost(&self) -> bool {
        self.outage.borrow().as_ref().is_some_and(|outage| outage.kind == OutageKind::Lost)
    }

    /// Ends when an outage has gone on for [`OUTAGE_WAIT_MAX`] while this waited, or at once when the database is gone.
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

    pub(crate) fn read_failed(&self) {
        self.reads_failed.fetch_add(1, Ordering::Relaxed);
    }

    /// A write failed, and may succeed when it is tried again.
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
            let since = since.unwrap_or_else(Timestamp::now);
            let now = Some(Outage { since, kind, why: why.to_owned() });
            let is_news = *outage != now;
            *outage = now;
            is_news
        });
    }

    /// Loudly, and once.
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

    /// Ends when an outage has gone on for so long while this waited; at once when the database is gone.
    pub(crate) async fn outlasts(&self, wait: Duration) -> Outage {
        let mut outage = self.outage();
        // Its sender lives as long as `self`, so that no wait fails.
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

    /// Ends when a batch is given up, with what its caller is to be told.
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

/// Whose a batch is: its caller's, who may take it back, until the writer commits it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticket(Arc<AtomicU8>);

impl Ticket {
    /// For the caller: false when it may be on the disk.
    fn take_back(&self) -> bool {
        self.0.compare_exchange(OPEN, TAKEN_BACK, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_taken_back(&self) -> bool {
        self.0.load(Ordering::Acquire) == TAKEN_BACK
    }

    /// For the writer, right before the commit: false when its caller has taken it back.
    pub(crate) fn commit(&self) -> bool {
        let begun = self.0.compare_exchange(OPEN, COMMITTING, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok_and(|_| true) || begun == Err(COMMITTING)
    }

    /// For the writer, when nothing of it was written.
    pub(crate) fn reopen(&self) {
        // Err: it was taken back, or never came so far.
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
