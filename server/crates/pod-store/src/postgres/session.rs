//! A session with the server: its limits, and what it must be: a server that takes writes, and a session of its own.

use std::{str::FromStr, time::Duration};

use sqlx::{
    ConnectOptions, PgConnection, Row,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::read_failed;
use crate::StoreError;

/// Limits for a statement, for waiting for a lock, and for a host that stalls within a transaction while another one
/// waits to take over its Pods. Set after connecting, because poolers refuse or drop settings of the first packet.
const BEGIN: &str = "set statement_timeout = '120s'; set lock_timeout = '10s';
     set idle_in_transaction_session_timeout = '4s'; select pg_is_in_recovery()";

/// How often to look whether two connections share one session.
const LOOKS: usize = 3;

pub(super) fn options(url: &str, name: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|error| StoreError::Database(format!("cannot read the address of the database: {error}")))?;
    // No number that yoi stores has a fraction, and poolers refuse the setting.
    Ok(options.application_name(name).extra_float_digits(None).disable_statement_logging())
}

/// A pool of sessions that are limited like all others.
pub(super) fn pool(connections: u32, wait: Duration) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(wait)
        .after_connect(|connection, _| Box::pin(begin(connection)))
}

pub(super) async fn open(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    begin(&mut connection).await?;
    Ok(connection)
}

/// A standby would show old data, and accept no writes.
async fn begin(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let row = sqlx::raw_sql(BEGIN).fetch_one(connection).await?;
    if row.try_get::<bool, _>(0)? {
        let sentence = "the server at this address is a standby; give an address that always leads to the primary";
        return Err(sqlx::Error::Io(std::io::Error::other(sentence)));
    }
    Ok(())
}

/// Refuses a pooler in transaction mode, because notices, prepared statements and limits belong to a session.
/// Statements of the simple protocol work there, too.
pub(super) async fn refuse_shared(one: &mut PgConnection, other: &mut PgConnection) -> Result<(), StoreError> {
    for _ in 0..LOOKS {
        if is_shared(one, other).await.map_err(read_failed("look for a pooler before the database"))? {
            return Err(StoreError::Database(
                "a pooler before the database gives each transaction another session, and yoi needs sessions of its own: \
                 set `pool_mode = session` for this database in PgBouncer, or give yoi the address of PostgreSQL itself"
                    .to_owned(),
            ));
        }
    }
    Ok(())
}

/// True if a transaction of the second connection takes the session that the first one has.
async fn is_shared(one: &mut PgConnection, other: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let before = session_of(one).await?;
    sqlx::raw_sql("begin").execute(&mut *other).await?;
    let taken = session_of(other).await;
    let after = session_of(one).await;
    sqlx::raw_sql("rollback").execute(&mut *other).await?;
    Ok(taken? == before || after? != before)
}

/// The id of the server's process for this session.
async fn session_of(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    sqlx::raw_sql("select pg_backend_pid()").fetch_one(connection).await?.try_get(0)
}
