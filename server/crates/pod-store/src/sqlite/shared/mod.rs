//! For tests: a SQLite file that stands for the database that several hosts share (docs/decisions/0097).
//!
//! What hosts do with a shared database is the code for PostgreSQL; only its statements about hosts and owners are
//! written a second time here. A transaction of one host is over before another one's begins.

mod calls;
mod hosts;
mod log;
mod pen;

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool, sqlite::SqlitePoolOptions};

pub use self::log::{LeaseEvent, LeaseLine, lease_log};
use self::{
    hosts::{Hosts, join},
    pen::SharedPen,
};
use super::{Log, READER_WAIT_MAX, Sqlite, SqlitePen, Watch, read_failed};
use crate::{
    HostIdentity, StoreError, StoreOptions, Way,
    engine::Opened,
    membership::{Loops, Member},
    meters::Meters,
    on_the_spot::settled,
    reader::{Engine, Readers},
};

const TABLES: &str = include_str!("tables.sql");

/// Heartbeat, calls and the end of silent hosts.
const BUS_CONNECTIONS_MAX: u32 = 4;

/// Opens or creates the file, and joins the hosts that serve it.
pub(crate) async fn open(
    path: &Path,
    store: &StoreOptions,
    identity: HostIdentity,
    meters: &Meters,
) -> Result<Opened, StoreError> {
    let way = store.way.clone().ok_or(StoreError::Closed)?;
    let lost = |why| StoreError::Unread(format!("cannot reach the database: {why}"));
    way.pass().await.map_err(lost)?;
    let (connection, store_id, id) = settled(opened(path, store, &identity)).await?;
    way.pass().await.map_err(lost)?;
    let watch = Watch::of(path)
        .map_err(|error| StoreError::Database(format!("cannot find the database {}: {error}", path.display())))?;
    let watch = Arc::new(watch);
    let readers = super::readers(path, store.vfs, &watch);
    let options = super::writer_options(path, store.vfs);
    let pen = SqlitePen::new(connection, options, watch.clone(), Log::of(path, store.faults.clone()));
    let file = Sqlite { watch, path: path.to_owned() };
    let hosts = Arc::new(Hosts {
        bus: bus(path, store),
        readers: readers.clone(),
        way: way.clone(),
        member: Member::new(identity, id, meters.clone()),
    });
    let loops = Loops::start(&hosts);
    Ok(Opened {
        readers: Readers::Sqlite(readers),
        engine: Arc::new(Shared { file, way }),
        pen: Box::new(SharedPen::new(pen, hosts.clone())),
        store_id,
        host_epoch: id,
        cluster: Some((hosts, loops)),
    })
}

fn bus(path: &Path, store: &StoreOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(BUS_CONNECTIONS_MAX)
        .acquire_timeout(READER_WAIT_MAX)
        .test_before_acquire(false)
        .connect_lazy_with(super::writer_options(path, store.vfs))
}

async fn opened(
    path: &Path,
    store: &StoreOptions,
    identity: &HostIdentity,
) -> Result<(SqliteConnection, String, i64), StoreError> {
    super::create_file(path)
        .map_err(|error| StoreError::Database(format!("cannot open the database {}: {error}", path.display())))?;
    let options = super::writer_options(path, store.vfs);
    let mut connection = options.connect().await.map_err(read_failed("open the database"))?;
    super::migrate(&mut connection, path).await?;
    add_tables(&mut connection).await.map_err(read_failed("add the tables for hosts"))?;
    let store_id: String = sqlx::query_scalar("select store_id from meta")
        .fetch_one(&mut connection)
        .await
        .map_err(read_failed("read the database's id"))?;
    super::mark::put(path, &store_id);
    let id = join(&mut connection, identity, drop).await.map_err(read_failed("join the hosts of the database"))?;
    Ok((connection, store_id, id))
}

async fn add_tables(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut txn = connection.begin_with("begin immediate").await?;
    let are_there: i64 =
        sqlx::query_scalar("select count(*) from sqlite_master where name = 'hosts'").fetch_one(&mut *txn).await?;
    if are_there == 0 {
        sqlx::raw_sql(TABLES).execute(&mut *txn).await?;
    }
    txn.commit().await
}

/// The file, and the way to it.
#[derive(Debug)]
struct Shared {
    file: Sqlite,
    way: Arc<dyn Way>,
}

impl Engine for Shared {
    fn find(&self) -> Result<(), String> {
        self.file.find()
    }

    fn pass(&self) -> BoxFuture<'_, Result<(), sqlx::Error>> {
        Box::pin(async { self.way.pass().await.map_err(lost) })
    }

    fn read_failed(&self, operation: &'static str, error: sqlx::Error) -> StoreError {
        self.file.read_failed(operation, error)
    }

    fn in_file(&self, error: StoreError) -> StoreError {
        self.file.in_file(error)
    }
}

/// As a connection that breaks.
fn lost(why: String) -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::other(why))
}
