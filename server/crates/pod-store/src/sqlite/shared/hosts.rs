//! The hosts that serve the file: their rows, heartbeats, and notices.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sqlx::{
    Connection, Sqlite, SqliteConnection, SqlitePool,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use super::lost;
use crate::{
    HostIdentity, Way,
    columns::micros,
    membership::{Bus, DEAD_AFTER, Ended, Member},
    on_the_spot::settled,
    reader::give_back,
};

/// This host's membership.
#[derive(Debug)]
pub(super) struct Hosts {
    /// For whatever is not part of a group of batches.
    pub(super) bus: SqlitePool,
    pub(super) readers: SqlitePool,
    pub(super) way: Arc<dyn Way>,
    pub(super) member: Member,
}

/// The database's clock: in a simulation all hosts have the same.
pub(super) fn now() -> i64 {
    micros(Timestamp::now())
}

/// Takes a new number under this identity. A previous host with the same identity is removed and owns nothing any more.
///
/// `tries` is told the number before it is committed.
pub(super) async fn join(
    connection: &mut SqliteConnection,
    identity: &HostIdentity,
    tries: impl FnOnce(i64),
) -> Result<i64, sqlx::Error> {
    let mut txn = connection.begin_with("begin immediate").await?;
    let former: Vec<i64> = sqlx::query_scalar("delete from hosts where uid = ? returning id")
        .bind(identity.uid.clone())
        .fetch_all(&mut *txn)
        .await?;
    free(&mut txn, &former).await?;
    let id = sqlx::query_scalar("insert into hosts (uid, name, heartbeat_at) values (?, ?, ?) returning id")
        .bind(identity.uid.clone())
        .bind(identity.name.clone())
        .bind(now())
        .fetch_one(&mut *txn)
        .await?;
    tries(id);
    txn.commit().await?;
    Ok(id)
}

async fn free(connection: &mut SqliteConnection, hosts: &[i64]) -> Result<u64, sqlx::Error> {
    sqlx::query("update pods set owner = null where owner in (select value from json_each(?))")
        .bind(json!(hosts).to_string())
        .execute(connection)
        .await
        .map(|done| done.rows_affected())
}

/// Joins again after this host was declared dead, owning nothing. `None` if a newer host has the same identity. A number
/// whose answer was lost is this host's own, and of several the newest counts.
pub(super) async fn join_again(connection: &mut SqliteConnection, hosts: &Hosts) -> Result<Option<i64>, sqlx::Error> {
    let later: Option<i64> =
        sqlx::query_scalar("select id from hosts where uid = ? and id > ? order by id desc limit 1")
            .bind(hosts.member.identity().uid.clone())
            .bind(hosts.member.id())
            .fetch_optional(&mut *connection)
            .await?;
    if let Some(later) = later {
        return Ok(Some(later).filter(|later| hosts.member.has_tried(*later)));
    }
    join(connection, hosts.member.identity(), |id| hosts.member.tries(id)).await.map(Some)
}

/// Releases all Pods and removes this host.
pub(super) async fn leave(connection: &mut SqliteConnection, host: i64) -> Result<(), sqlx::Error> {
    let mut txn = connection.begin_with("begin immediate").await?;
    sqlx::query("delete from hosts where id = ?").bind(host).execute(&mut *txn).await?;
    free(&mut txn, &[host]).await?;
    txn.commit().await
}

impl Hosts {
    /// Runs one statement at the database; returns its rows.
    pub(super) async fn ask(
        &self,
        pool: &SqlitePool,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        self.way.pass().await.map_err(lost)?;
        let rows = settled(async {
            let mut connection = pool.acquire().await?;
            let rows = query.fetch_all(&mut *connection).await;
            give_back(connection).await;
            rows
        })
        .await;
        self.way.pass().await.map_err(lost)?;
        rows
    }

    async fn reap_in_txn(&self) -> Result<Vec<Ended>, sqlx::Error> {
        let mut connection = self.bus.acquire().await?;
        let ended = end_silent(&mut connection, self.member.id()).await;
        give_back(connection).await;
        ended
    }
}

async fn end_silent(connection: &mut SqliteConnection, host: i64) -> Result<Vec<Ended>, sqlx::Error> {
    let mut txn = connection.begin_with("begin immediate").await?;
    let silent = SignedDuration::try_from(DEAD_AFTER).unwrap_or(SignedDuration::MAX);
    let dead: Vec<(i64, String)> =
        sqlx::query_as("delete from hosts where id <> ? and heartbeat_at < ? returning id, name")
            .bind(host)
            .bind(micros(Timestamp::now() - silent))
            .fetch_all(&mut *txn)
            .await?;
    let mut ended = Vec::new();
    for (id, name) in dead {
        let pods = free(&mut txn, &[id]).await?;
        ended.push(Ended { id, name, pods });
    }
    if !ended.is_empty() {
        sqlx::query("delete from host_calls where host not in (select id from hosts)").execute(&mut *txn).await?;
    }
    txn.commit().await?;
    Ok(ended)
}

#[async_trait]
impl Bus for Hosts {
    fn member(&self) -> &Member {
        &self.member
    }

    async fn beat(&self) -> Result<Option<i64>, sqlx::Error> {
        let beat = "update hosts set heartbeat_at = ? where id = ? returning (select count(*) from hosts)";
        let rows = self.ask(&self.bus, sqlx::query(beat).bind(now()).bind(self.member.id())).await?;
        rows.first().map(|row| sqlx::Row::try_get(row, 0)).transpose()
    }

    async fn reap(&self) -> Result<Vec<Ended>, sqlx::Error> {
        self.way.pass().await.map_err(lost)?;
        let ended = settled(self.reap_in_txn()).await;
        self.way.pass().await.map_err(lost)?;
        ended
    }

    async fn notify(&self, what: &str) -> bool {
        self.way.notify(what).await;
        true
    }

    async fn listen(&self) -> Result<(), sqlx::Error> {
        self.member.stir_all();
        loop {
            self.member.heard(&self.way.heard().await);
        }
    }
}
