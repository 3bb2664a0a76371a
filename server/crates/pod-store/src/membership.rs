//! This host among those that serve a database: its number, its heartbeat, the end of silent hosts, and wake-ups. When a
//! host is taken for dead is decided here, for every database that several hosts can serve.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::{
    sync::{Notify, watch},
    task::AbortHandle,
};

use crate::{
    hosts::{HostIdentity, HostRow, WakeUps},
    meters::Meters,
};

/// The interval of the heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A host that is silent for this long, by the database's clock, is dead.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(5);
/// How long the wake-ups of a busy host are gathered.
const NOTIFY_EVERY: Duration = Duration::from_millis(25);
/// How long to wait before the listener reconnects, and before wake-ups that could not be sent are sent again.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);
/// Distinguishes calls of one microsecond. The rest of 63 bits lasts until the year 2112.
const CALL_RANDOM_BITS: u32 = 11;

/// What a host knows of itself and of the others.
#[derive(Debug)]
pub(crate) struct Member {
    identity: HostIdentity,
    id: AtomicI64,
    /// Its first number, under which its calls are answered even after it has taken another one.
    caller: i64,
    /// The number that it has tried to take last. Whether it has it is known only once the answer has come.
    tried: AtomicI64,
    others: Others,
    /// Something was committed that the others have not been told about.
    unsaid: Notify,
    lost: watch::Sender<bool>,
    moved: watch::Sender<u64>,
    called: watch::Sender<u64>,
    answered: watch::Sender<u64>,
    meters: Meters,
}

/// Whether other hosts serve the database: the lowest bit. The rest counts those that have joined, so that a heartbeat
/// that counted the hosts before one joined does not make it forgotten.
#[derive(Debug)]
struct Others(AtomicU64);

impl Others {
    /// They may be there.
    fn unknown() -> Self {
        Self(AtomicU64::new(1))
    }

    fn are_there(&self) -> bool {
        self.0.load(Ordering::Acquire) & 1 == 1
    }

    /// One has joined, or may have.
    fn joined(&self) {
        let joined = |others| Some((others | 1) + 2);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, joined).expect("it always is something");
    }

    /// What [`Self::counted`] wants from before the hosts are counted.
    fn before(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// There are so many hosts, with this one.
    fn counted(&self, hosts: i64, before: u64) {
        if hosts > 1 {
            self.0.fetch_or(1, Ordering::AcqRel);
        } else {
            // If it is another one by now, somebody has joined meanwhile.
            let _ = self.0.compare_exchange(before, before & !1, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

/// What the database does for its hosts.
#[async_trait]
pub(crate) trait Bus: Send + Sync + 'static {
    fn member(&self) -> &Member;
    /// Says that this host lives. Returns the number of hosts; `None` if this one is no longer among them.
    async fn beat(&self) -> Result<Option<i64>, sqlx::Error>;
    /// Ends the hosts that have been silent for [`DEAD_AFTER`] and frees their Pods.
    async fn reap(&self) -> Result<Vec<Ended>, sqlx::Error>;
    /// Wakes the other hosts. Best effort: a host that misses it polls as well. Returns whether it was sent.
    async fn notify(&self, what: &str) -> bool;
    /// Passes on what other hosts notify, until it is cut off from them.
    async fn listen(&self) -> Result<(), sqlx::Error>;
}

/// A host that was declared dead, and how many Pods it had.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) pods: u64,
}

/// The background tasks of an open store; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Loops(Vec<AbortHandle>);

impl Drop for Loops {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

impl Loops {
    pub(crate) fn start(bus: &Arc<impl Bus>) -> Self {
        Self(vec![
            tokio::spawn(beat_on(bus.clone())).abort_handle(),
            tokio::spawn(reap_on(bus.clone())).abort_handle(),
            tokio::spawn(notify_on(bus.clone())).abort_handle(),
            tokio::spawn(listen_on(bus.clone())).abort_handle(),
        ])
    }
}

impl Member {
    pub(crate) fn new(identity: HostIdentity, id: i64, meters: Meters) -> Self {
        Self {
            identity,
            id: AtomicI64::new(id),
            caller: id,
            tried: AtomicI64::new(id),
            others: Others::unknown(),
            unsaid: Notify::new(),
            lost: watch::Sender::new(false),
            moved: watch::Sender::new(0),
            called: watch::Sender::new(0),
            answered: watch::Sender::new(0),
            meters,
        }
    }

    pub(crate) fn identity(&self) -> &HostIdentity {
        &self.identity
    }

    pub(crate) fn id(&self) -> i64 {
        self.id.load(Ordering::Acquire)
    }

    pub(crate) fn this(&self) -> HostRow {
        HostRow { id: self.id(), name: self.identity.name.clone() }
    }

    pub(crate) fn caller(&self) -> i64 {
        self.caller
    }

    pub(crate) fn has_others(&self) -> bool {
        self.others.are_there()
    }

    /// True while this host has been declared dead or cannot send its heartbeat.
    pub(crate) fn lost(&self) -> watch::Receiver<bool> {
        self.lost.subscribe()
    }

    pub(crate) fn tell_lost(&self) {
        if self.lost.send_if_modified(|lost| !std::mem::replace(lost, true)) {
            self.meters.leases_lost.inc();
        }
    }

    /// Tells the other hosts that something was committed.
    pub(crate) fn tell_moved(&self) {
        if self.has_others() {
            self.unsaid.notify_one();
        }
    }

    pub(crate) fn wake_ups(&self) -> WakeUps {
        WakeUps { moved: self.moved.subscribe(), called: self.called.subscribe(), answered: self.answered.subscribe() }
    }

    /// Uses this number from now on.
    pub(crate) fn adopt(&self, id: i64) {
        self.id.store(id, Ordering::Release);
        self.lost.send_if_modified(|lost| std::mem::replace(lost, false));
    }

    /// From now on this number, found in the database, is this host's own.
    pub(crate) fn tries(&self, id: i64) {
        self.tried.store(id, Ordering::Release);
    }

    pub(crate) fn has_tried(&self, id: i64) -> bool {
        self.tried.load(Ordering::Acquire) == id
    }

    /// A host has joined, or may have. It may not have been told of what was committed since.
    pub(crate) fn meet(&self) {
        self.others.joined();
        self.unsaid.notify_one();
    }

    /// Notices may have been missed.
    pub(crate) fn stir_all(&self) {
        for wake_up in [&self.moved, &self.called, &self.answered] {
            wake_up.send_modify(|count| *count += 1);
        }
    }

    /// A notice has come.
    pub(crate) fn heard(&self, notice: &str) {
        let Some((what, host)) = notice.split_once(' ') else { return };
        let number = host.parse();
        let is_own = number == Ok(self.id());
        let wake_up = match what {
            "joined" if !is_own => return self.meet(),
            "moved" if !is_own => &self.moved,
            "called" if is_own => &self.called,
            "answered" if number == Ok(self.caller) => &self.answered,
            _ => return,
        };
        wake_up.send_modify(|count| *count += 1);
    }
}

/// A number that no other call has had, later than those before. Not from a sequence of an unlogged table: on a standby
/// that was promoted, PostgreSQL 15 cannot read it ("bad magic number"), and after a crash it starts over, so that a late
/// answer to an old call would be taken for the answer to the new one with its number.
pub(crate) fn new_call_id() -> i64 {
    let micros = jiff::Timestamp::now().as_microsecond();
    let random = uuid::Uuid::new_v4().as_u128() as i64 & ((1 << CALL_RANDOM_BITS) - 1);
    (micros << CALL_RANDOM_BITS) | random
}

async fn beat_on(bus: Arc<impl Bus>) {
    let member = bus.member();
    let mut last_beat = Instant::now();
    let mut ticks = tokio::time::interval(HEARTBEAT);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if *member.lost.borrow() {
            last_beat = Instant::now();
            continue;
        }
        let (id, before) = (member.id(), member.others.before());
        let beat = tokio::time::timeout(DEAD_AFTER, bus.beat()).await;
        if member.id() != id {
            // It has joined again meanwhile: the answer is about the host that it was.
            last_beat = Instant::now();
            continue;
        }
        match beat.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            Ok(Some(hosts)) => {
                last_beat = Instant::now();
                member.others.counted(hosts, before);
            }
            Ok(None) => {
                tracing::error!("this host was declared dead; it lets go of its Pods");
                member.tell_lost();
            }
            // A host that is alone has nobody to lose its Pods to; each commit checks the lease anyway.
            Err(error) if member.has_others() && last_beat.elapsed() > DEAD_AFTER => {
                member.meters.renewals_failed.inc();
                tracing::error!(%error, "the database was out of reach for too long; this host lets go of its Pods");
                member.tell_lost();
            }
            Err(error) => {
                member.meters.renewals_failed.inc();
                tracing::warn!(%error, "this host could not say that it lives");
            }
        }
    }
}

/// In a task of its own: it waits for a commit of the silent host that is under way, and the heartbeat must not.
async fn reap_on(bus: Arc<impl Bus>) {
    let member = bus.member();
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if !member.has_others() || *member.lost.borrow() {
            continue;
        }
        match bus.reap().await {
            Ok(dead) => {
                for Ended { id, name, pods } in &dead {
                    tracing::warn!(host = name, id, pods, "a host is silent; its Pods are free for others");
                }
                if !dead.is_empty() {
                    member.moved.send_modify(|count| *count += 1);
                }
            }
            Err(error) => tracing::warn!(%error, "silent hosts could not be ended"),
        }
    }
}

async fn notify_on(bus: Arc<impl Bus>) {
    loop {
        bus.member().unsaid.notified().await;
        let is_said = bus.notify(&format!("moved {}", bus.member().id())).await;
        if !is_said {
            bus.member().unsaid.notify_one();
        }
        tokio::time::sleep(if is_said { NOTIFY_EVERY } else { LISTEN_AGAIN }).await;
    }
}

async fn listen_on(bus: Arc<impl Bus>) {
    loop {
        if let Err(error) = bus.listen().await {
            tracing::debug!(%error, "the wake-ups of other hosts are cut off; looking now and then meanwhile");
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_from_before_a_host_joined_does_not_make_it_forgotten() {
        let others = Others::unknown();
        assert!(others.are_there(), "until they are counted");
        others.counted(1, others.before());
        assert!(!others.are_there());
        let before = others.before();
        others.joined();
        others.counted(1, before);
        assert!(others.are_there(), "the count is older");
        others.counted(1, others.before());
        assert!(!others.are_there());
        let before = others.before();
        others.counted(2, before);
        assert!(others.are_there());
    }
}
