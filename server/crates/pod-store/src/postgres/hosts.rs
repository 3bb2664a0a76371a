//! The hosts that serve the database: their rows, heartbeats, and notifications.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgListener},
};

use super::session;
use crate::{
    HostIdentity,
    membership::{Bus, Ended, Loops, Member},
    meters::Meters,
};

/// [`crate::membership::DEAD_AFTER`] by the database's clock.
const REAP: &str = "delete from hosts where id <> $1 and heartbeat_at < now() - interval '5 s' returning id, name";
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
    pub(super) member: Member,
}

/// Takes a new number under this identity, and tells the other hosts: one that was alone tells nobody what it writes. A
/// previous host with the same identity is removed and owns nothing any more.
///
/// `tries` is told the number before it is committed.
pub(super) async fn register(
    connection: &mut PgConnection,
    identity: &HostIdentity,
    tries: impl FnOnce(i64),
) -> Result<i64, sqlx::Error> {
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
    tries(id);
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

/// Joins again after this host was declared dead, owning nothing. `None` if a newer host has the same identity. A number
/// whose answer was lost is this host's own, and of several the newest counts.
pub(super) async fn join_again(connection: &mut PgConnection, hosts: &Hosts) -> Result<Option<i64>, sqlx::Error> {
    let later: Option<i64> =
        sqlx::query_scalar("select id from hosts where uid = $1 and id > $2 order by id desc limit 1")
            .bind(&hosts.member.identity().uid)
            .bind(hosts.member.id())
            .fetch_optional(&mut *connection)
            .await?;
    if let Some(later) = later {
        return Ok(Some(later).filter(|later| hosts.member.has_tried(*later)));
    }
    register(connection, hosts.member.identity(), |id| hosts.member.tries(id)).await.map(Some)
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
        let hosts = Arc::new(Self { bus, readers, member: Member::new(identity, id, meters) });
        let loops = Loops::start(&hosts);
        (hosts, loops)
    }

    /// Whatever was said before the listener connected is lost.
    fn catch_up(&self) {
        self.member.meet();
        self.member.stir_all();
    }
}

#[async_trait]
impl Bus for Hosts {
    fn member(&self) -> &Member {
        &self.member
    }

    async fn beat(&self) -> Result<Option<i64>, sqlx::Error> {
        let beat = "update hosts set heartbeat_at = now() where id = $1 returning (select count(*) from hosts)";
        sqlx::query_scalar(beat).bind(self.member.id()).fetch_optional(&self.bus).await
    }

    async fn reap(&self) -> Result<Vec<Ended>, sqlx::Error> {
        let mut txn = self.bus.begin().await?;
        let dead: Vec<(i64, String)> = sqlx::query_as(REAP).bind(self.member.id()).fetch_all(&mut *txn).await?;
        let mut ended = Vec::new();
        for (id, name) in dead {
            let pods = free(&mut txn, &[id]).await?;
            ended.push(Ended { id, name, pods });
        }
        if !ended.is_empty() {
            sqlx::query("delete from host_calls where host not in (select id from hosts)").execute(&mut *txn).await?;
        }
        sqlx::query("delete from host_calls where at < now() - interval '15 minutes'").execute(&mut *txn).await?;
        sqlx::query("delete from pods_gone where at < now() - interval '1 hour'").execute(&mut *txn).await?;
        txn.commit().await?;
        Ok(ended)
    }

    async fn notify(&self, what: &str) -> bool {
        let sent = sqlx::query("select pg_notify($1, $2)").bind(CHANNEL).bind(what).execute(&self.bus).await;
        if let Err(error) = &sent {
            tracing::debug!(%error, "other hosts could not be woken");
        }
        sent.is_ok()
    }

    async fn listen(&self) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.bus).await?;
        listener.listen(CHANNEL).await?;
        self.catch_up();
        loop {
            match listener.try_recv().await? {
                Some(notice) => self.member.heard(notice.payload()),
                None => self.catch_up(),
            }
        }
    }
}
