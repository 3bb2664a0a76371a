//! This host among those that serve the database: its number, its heartbeat, the removal of dead hosts, and wake-ups.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgListener},
};
use tokio::sync::{Notify, watch};

use super::session;
use crate::{
    HostIdentity,
    engine::{Cluster as _, Loops},
    meters::Meters,
};

/// The interval of the heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A host that is silent for this long, by the database's clock, is dead; [`REAP`] contains the same number.
const DEAD_AFTER: Duration = Duration::from_secs(5);
const REAP: &str = "delete from hosts where id <> $1 and heartbeat_at < now() - interval '5 s' returning id, name";
/// How long the wake-ups of a busy host are gathered.
const NOTIFY_EVERY: Duration = Duration::from_millis(25);
/// How long to wait before the listener reconnects, and before wake-ups that could not be sent are sent again.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);
/// Connections besides the readers and the writer: heartbeat, calls, and the listener.
const BUS_CONNECTIONS_MAX: u32 = 5;
const BUS_WAIT_MAX: Duration = Duration::from_secs(3);
const CHANNEL: &str = "yoi";

/// This host's membership in a database that several hosts may serve.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// For heartbeat, calls and the listener, which must not wait behind a long read.
    pub(super) bus: PgPool,
    pub(super) readers: PgPool,
    pub(super) identity: HostIdentity,
    pub(super) id: AtomicI64,
    /// Its first number, under which its calls are answered even after it has taken another one.
    caller: i64,
    pub(super) others: Others,
    /// Something was committed that the others have not been told about.
    pub(super) unsaid: Notify,
    pub(super) lost: watch::Sender<bool>,
    pub(super) moved: watch::Sender<u64>,
    pub(super) called: watch::Sender<u64>,
    pub(super) answered: watch::Sender<u64>,
    pub(super) meters: Meters,
}

/// Whether other hosts serve the database: the lowest bit. The rest counts those that have joined, so that a heartbeat
/// that counted the hosts before one joined does not make it forgotten.
#[derive(Debug)]
pub(super) struct Others(AtomicU64);

impl Others {
    /// They may be there.
    fn unknown() -> Self {
        Self(AtomicU64::new(1))
    }

    pub(super) fn are_there(&self) -> bool {
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

/// Takes a new number under this identity, and tells the other hosts: one that was alone tells nobody what it writes. A
/// previous host with the same identity is removed and owns nothing any more.
pub(super) async fn register(connection: &mut PgConnection, identity: &HostIdentity) -> Result<i64, sqlx::Error> {
    let mut txn = connection.begin().await?;
    let former: Vec<i64> = sqlx::query_scalar("delete from hosts where uid = $1 returning id")
        .bind(&identity.uid)
        .fetch_all(&mut *txn)
        .await?;
    free(&mut txn, &former).await?;
    let id = sqlx::query_scalar("insert into hosts (uid, name, heartbeat_at) values ($1, $2, now()) returning id")
        .bind(&identity.uid)
        .bind(&identity.name)
        .fetch_one(&mut *txn)
        .await?;
    sqlx::query("insert into host_marks (host, mark) values ($1, 0)").bind(id).execute(&mut *txn).await?;
    sqlx::query("select pg_notify($1, $2)").bind(CHANNEL).bind(format!("joined {id}")).execute(&mut *txn).await?;
    txn.commit().await?;
    Ok(id)
}

/// A separate statement after the hosts are gone, so that it sees everything they had claimed; they cannot claim more.
async fn free(connection: &mut PgConnection, hosts: &[i64]) -> Result<u64, sqlx::Error> {
    if hosts.is_empty() {
        return Ok(0);
    }
    sqlx::query("update pods set owner = null, changed = pg_current_xact_id() where owner = any($1)")
        .bind(hosts)
        .execute(connection)
        .await
        .map(|done| done.rows_affected())
}

/// Joins again after this host was declared dead, owning nothing. `None` if a newer host has the same identity.
pub(super) async fn join_again(connection: &mut PgConnection, hosts: &Hosts) -> Result<Option<i64>, sqlx::Error> {
    let later: Option<i64> = sqlx::query_scalar("select id from hosts where uid = $1 and id > $2")
        .bind(&hosts.identity.uid)
        .bind(hosts.id())
        .fetch_optional(&mut *connection)
        .await?;
    if later.is_some() {
        return Ok(None);
    }
    let id = register(connection, &hosts.identity).await?;
    hosts.adopt(id);
    Ok(Some(id))
}

/// Releases all Pods and removes this host.
pub(super) async fn leave(connection: &mut PgConnection, host: i64) -> Result<(), sqlx::Error> {
    let mut txn = connection.begin().await?;
    sqlx::query("delete from hosts where id = $1").bind(host).execute(&mut *txn).await?;
    free(&mut txn, &[host]).await?;
    txn.commit().await
}

impl Hosts {
    pub(super) fn start(
        options: PgConnectOptions,
        readers: PgPool,
        identity: HostIdentity,
        id: i64,
        meters: Meters,
    ) -> (Arc<Self>, Loops) {
        let bus = session::pool(BUS_CONNECTIONS_MAX, BUS_WAIT_MAX).connect_lazy_with(options);
        let hosts = Arc::new(Self {
            bus,
            readers,
            identity,
            id: AtomicI64::new(id),
            caller: id,
            others: Others::unknown(),
            unsaid: Notify::new(),
            lost: watch::Sender::new(false),
            moved: watch::Sender::new(0),
            called: watch::Sender::new(0),
            answered: watch::Sender::new(0),
            meters,
        });
        let loops = [
            tokio::spawn(hosts.clone().beat_on()).abort_handle(),
            tokio::spawn(hosts.clone().reap_on()).abort_handle(),
            tokio::spawn(hosts.clone().notify_on()).abort_handle(),
            tokio::spawn(hosts.clone().listen_on()).abort_handle(),
        ];
        (hosts, Loops(loops.into()))
    }

    pub(super) fn caller(&self) -> i64 {
        self.caller
    }

    /// Uses this number from now on.
    pub(super) fn adopt(&self, id: i64) {
        self.id.store(id, Ordering::Release);
        self.lost.send_if_modified(|lost| std::mem::replace(lost, false));
    }

    /// Best effort: a host that misses it polls as well. Whether it was sent.
    pub(super) async fn notify(&self, what: &str) -> bool {
        let sent = sqlx::query("select pg_notify($1, $2)").bind(CHANNEL).bind(what).execute(&self.bus).await;
        if let Err(error) = &sent {
            tracing::debug!(%error, "other hosts could not be woken");
        }
        sent.is_ok()
    }

    async fn beat_on(self: Arc<Self>) {
        let mut last_beat = Instant::now();
        let mut ticks = tokio::time::interval(HEARTBEAT);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if *self.lost.borrow() {
                last_beat = Instant::now();
                continue;
            }
            let before = self.others.before();
            match self.beat().await {
                Ok(Some(hosts)) => {
                    last_beat = Instant::now();
                    self.others.counted(hosts, before);
                }
                Ok(None) => {
                    tracing::error!("this host was declared dead; it lets go of its Pods");
                    self.tell_lost();
                }
                // A host that is alone has nobody to lose its Pods to; each commit checks the lease anyway.
                Err(error) if self.has_others() && last_beat.elapsed() > DEAD_AFTER => {
                    self.meters.renewals_failed.inc();
                    tracing::error!(%error, "the database was out of reach for too long; this host lets go of its Pods");
                    self.tell_lost();
                }
                Err(error) => {
                    self.meters.renewals_failed.inc();
                    tracing::warn!(%error, "this host could not say that it lives");
                }
            }
        }
    }

    /// The number of hosts; `None` if this one is no longer among them.
    async fn beat(&self) -> Result<Option<i64>, sqlx::Error> {
        let beat = "update hosts set heartbeat_at = now() where id = $1 returning (select count(*) from hosts)";
        let beat = sqlx::query_scalar(beat).bind(self.id()).fetch_optional(&self.bus);
        tokio::time::timeout(DEAD_AFTER, beat).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// In a task of its own: it waits for a commit of the silent host that is under way, and the heartbeat must not.
    async fn reap_on(self: Arc<Self>) {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            if self.has_others() && !*self.lost.borrow() {
                self.reap().await;
            }
        }
    }

    async fn reap(&self) {
        match self.reap_in_txn().await {
            Ok(dead) => {
                for (id, name, pods) in &dead {
                    tracing::warn!(host = name, id, pods, "a host is silent; its Pods are free for others");
                }
                if !dead.is_empty() {
                    self.moved.send_modify(|count| *count += 1);
                }
            }
            Err(error) => tracing::warn!(%error, "silent hosts could not be ended"),
        }
    }

    async fn reap_in_txn(&self) -> Result<Vec<(i64, String, u64)>, sqlx::Error> {
        let mut txn = self.bus.begin().await?;
        let dead: Vec<(i64, String)> = sqlx::query_as(REAP).bind(self.id()).fetch_all(&mut *txn).await?;
        let mut ended = Vec::new();
        for (id, name) in dead {
            let pods = free(&mut txn, &[id]).await?;
            ended.push((id, name, pods));
        }
        if !ended.is_empty() {
            sqlx::query("delete from host_calls where host not in (select id from hosts)").execute(&mut *txn).await?;
        }
        sqlx::query("delete from host_calls where at < now() - interval '15 minutes'").execute(&mut *txn).await?;
        sqlx::query("delete from pods_gone where at < now() - interval '1 hour'").execute(&mut *txn).await?;
        txn.commit().await?;
        Ok(ended)
    }

    async fn notify_on(self: Arc<Self>) {
        loop {
            self.unsaid.notified().await;
            let is_said = self.notify(&format!("moved {}", self.id())).await;
            if !is_said {
                self.unsaid.notify_one();
            }
            tokio::time::sleep(if is_said { NOTIFY_EVERY } else { LISTEN_AGAIN }).await;
        }
    }

    async fn listen_on(self: Arc<Self>) {
        loop {
            if let Err(error) = self.listen().await {
                tracing::debug!(%error, "the wake-ups of other hosts are cut off; looking now and then meanwhile");
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    async fn listen(&self) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.bus).await?;
        listener.listen(CHANNEL).await?;
        self.catch_up();
        loop {
            match listener.try_recv().await? {
                Some(notice) => self.heard(notice.payload()),
                None => self.catch_up(),
            }
        }
    }

    /// Whatever was said before the listener connected is lost.
    fn catch_up(&self) {
        self.meet();
        for wake_up in [&self.moved, &self.called, &self.answered] {
            wake_up.send_modify(|count| *count += 1);
        }
    }

    /// A host has joined, or may have. It may not have been told of what was committed since.
    fn meet(&self) {
        self.others.joined();
        self.unsaid.notify_one();
    }

    fn heard(&self, payload: &str) {
        let Some((what, host)) = payload.split_once(' ') else { return };
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
