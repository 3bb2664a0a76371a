//! PostgreSQL: one connection that writes, several that read. For data that has to outlive one machine.

mod calls;
mod hosts;
mod journal;
mod leases;
mod ledger;
mod peers;
mod pen;
mod pods;
mod session;

use std::{sync::Arc, time::Duration};

use sqlx::{Connection, PgConnection};

use self::{hosts::Hosts, pen::PostgresPen};
use crate::{
    DamagedRecords, HostIdentity, Probe, StoreError, columns,
    engine::Opened,
    meters::Meters,
    reader::{Engine, Readers},
    txn::WriteError,
};

/// In order; `meta.version` counts those that have run.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres_1.sql"),
    include_str!("../../migrations/postgres_2.sql"),
    include_str!("../../migrations/postgres_3.sql"),
    include_str!("../../migrations/postgres_4.sql"),
    include_str!("../../migrations/postgres_5.sql"),
    include_str!("../../migrations/postgres_6.sql"),
    include_str!("../../migrations/postgres_7.sql"),
    include_str!("../../migrations/postgres_8.sql"),
    include_str!("../../migrations/postgres_9.sql"),
    include_str!("../../migrations/postgres_10.sql"),
    include_str!("../../migrations/postgres_11.sql"),
    include_str!("../../migrations/postgres_12.sql"),
    include_str!("../../migrations/postgres_13.sql"),
    include_str!("../../migrations/postgres_14.sql"),
    include_str!("../../migrations/postgres_15.sql"),
    include_str!("../../migrations/postgres_16.sql"),
    include_str!("../../migrations/postgres_17.sql"),
    include_str!("../../migrations/postgres_18.sql"),
    include_str!("../../migrations/postgres_19.sql"),
];
/// Makes hosts that open a new database at the same time migrate one after the other.
const MIGRATION_LOCK: i64 = 0x796f_6900;

const READERS_MAX: u32 = 8;
/// How long a read waits for a free reader.
const READER_WAIT_MAX: Duration = Duration::from_secs(10);
/// Opens the database, migrates it, and joins the hosts that serve it.
pub(crate) async fn open(url: &str, identity: HostIdentity, meters: &Meters) -> Result<Opened, StoreError> {
    let options = session::options(url, "yoi")?;
    let mut connection = session::open(&options).await.map_err(read_failed("reach the database"))?;
    let readers = session::pool(READERS_MAX, READER_WAIT_MAX).connect_lazy_with(options.clone());
    {
        let mut other = readers.acquire().await.map_err(read_failed("reach the database"))?;
        session::refuse_shared(&mut connection, &mut other).await?;
    }
    migrate(&mut connection).await?;
    let store_id = sqlx::query_scalar("select store_id from meta")
        .fetch_one(&mut connection)
        .await
        .map_err(read_failed("read the database's id"))?;
    let id = hosts::register(&mut connection, &identity, drop)
        .await
        .map_err(read_failed("join the hosts of the database"))?;
    let (hosts, loops) = Hosts::start(options.clone(), readers.clone(), identity, id, meters.clone());
    Ok(Opened {
        readers: Readers::Postgres(readers),
        engine: Arc::new(Postgres),
        pen: Box::new(PostgresPen::new(connection, options, hosts.clone())),
        store_id,
        host_epoch: id,
        cluster: Some((hosts, loops)),
    })
}

/// A remote server.
#[derive(Debug)]
struct Postgres;

impl Engine for Postgres {
    fn read_failed(&self, operation: &'static str, error: sqlx::Error) -> StoreError {
        read_failed(operation)(error)
    }
}

/// Connects and reads the server's version and what is set aside; changes nothing.
pub(crate) async fn probe(url: &str) -> Result<Probe, StoreError> {
    let options = session::options(url, "yoi doctor")?;
    let mut connection = session::open(&options).await.map_err(read_failed("reach the database"))?;
    let mut other = session::open(&options).await.map_err(read_failed("reach the database"))?;
    session::refuse_shared(&mut connection, &mut other).await?;
    let version: String = sqlx::query_scalar("show server_version")
        .fetch_one(&mut connection)
        .await
        .map_err(read_failed("ask the database for its version"))?;
    let done = self::version(&mut connection).await?;
    if done > MIGRATIONS.len() {
        return Err(StoreError::Database(
            "the database was made by a newer yoi; start that one, or choose another database".to_owned(),
        ));
    }
    let mut damaged = DamagedRecords::default();
    if done == MIGRATIONS.len() {
        let found = sqlx::query_as(
            "select coalesce(pods.name, 'Pod ' || pod), seq, reason, found_at
             from quarantine left join pods on pods.key = pod order by pod, seq",
        );
        let found = found.fetch_all(&mut connection).await.map_err(read_failed("list what is set aside"))?;
        found.into_iter().for_each(|row| damaged.add(|| columns::damaged_record(row)));
    }
    Ok(Probe { version: version.split_whitespace().next().unwrap_or_default().to_owned(), damaged })
}

async fn migrate(connection: &mut PgConnection) -> Result<(), StoreError> {
    if version(connection).await? == MIGRATIONS.len() {
        return Ok(());
    }
    let mut txn = connection.begin().await.map_err(read_failed("migrate the database"))?;
    sqlx::query("select pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *txn)
        .await
        .map_err(read_failed("wait for another yoi's migration"))?;
    // Another process may have migrated while this one waited.
    let done = version(&mut txn).await?;
    if done > MIGRATIONS.len() {
        return Err(StoreError::Database(
            "the database was made by a newer yoi; start that one, or choose another database".to_owned(),
        ));
    }
    for script in &MIGRATIONS[done..] {
        sqlx::raw_sql(*script).execute(&mut *txn).await.map_err(read_failed("migrate the database"))?;
    }
    sqlx::query(
        "insert into meta (one, version, store_id, host_epoch) values (1, $1, $2, 0)
         on conflict (one) do update set version = excluded.version",
    )
    .bind(i32::try_from(MIGRATIONS.len()).expect("there are few migrations"))
    .bind(uuid::Uuid::new_v4().simple().to_string())
    .execute(&mut *txn)
    .await
    .map_err(read_failed("name the database"))?;
    txn.commit().await.map_err(read_failed("migrate the database"))
}

async fn version(connection: &mut PgConnection) -> Result<usize, StoreError> {
    // This way a missing table is a result and not an error that would abort the transaction.
    let exists: bool = sqlx::query_scalar("select to_regclass('meta') is not null")
        .fetch_one(&mut *connection)
        .await
        .map_err(read_failed("read the database's version"))?;
    if !exists {
        return Ok(0);
    }
    let version: i32 = sqlx::query_scalar("select version from meta")
        .fetch_one(connection)
        .await
        .map_err(read_failed("read the database's version"))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// `operation` completes "cannot …".
fn read_failed(operation: &'static str) -> impl Fn(sqlx::Error) -> StoreError {
    move |error| match error {
        sqlx::Error::PoolClosed => StoreError::Closed,
        error if is_gone(&error) => StoreError::Lost(gone(operation, &error)),
        error if may_pass(&error) => StoreError::Unread(format!("cannot {operation}: {error}")),
        error => StoreError::Database(format!("cannot {operation}: {error}")),
    }
}

/// Whether a retry may succeed in a moment. If not, the statement is at fault, access was denied, or what it reads is
/// damaged.
fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code();
            let class = code.as_deref().and_then(|code| code.get(..2));
            !matches!(class, Some("0A" | "22" | "23" | "28" | "3D" | "42" | "54" | "XX"))
        }
        // Problems with the connection.
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut => true,
        _ => false,
    }
}

/// The database or a table was dropped.
fn is_gone(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("3D000" | "3F000" | "42P01"))
}

fn gone(operation: &'static str, error: &sqlx::Error) -> String {
    format!(
        "cannot {operation}: {error}. It is not there, or was dropped: restore it from a backup; until then nothing is written"
    )
}

fn write_failed(operation: &'static str) -> impl Fn(sqlx::Error) -> WriteError {
    move |error| {
        let sentence = format!("cannot {operation}: {error}");
        let Some(refusal) = error.as_database_error() else {
            return if may_pass(&error) { WriteError::Failed(sentence) } else { WriteError::Refused(sentence) };
        };
        if refusal.is_unique_violation() {
            return match refusal.constraint() {
                Some("pods_name") => WriteError::NameTaken,
                _ => WriteError::Conflict,
            };
        }
        if is_gone(&error) {
            return WriteError::Lost(gone(operation, &error));
        }
        match refusal.code().as_deref().and_then(|code| code.get(..2)) {
            // A deadlock or serialization failure between two hosts; this one has to start over.
            Some("40") => WriteError::Again(sentence),
            _ if may_pass(&error) => WriteError::Failed(sentence),
            _ => WriteError::Refused(sentence),
        }
    }
}
