//! SQLite: one file, one connection that writes, several that read.
//!
//! A commit is durable when it returns (WAL, `synchronous=full`). Only the pen begins write transactions, and it begins
//! them as such: a read transaction that turns into a write transaction fails at once if others have written.

mod inspect;
mod journal;
mod ledger;
mod log;
mod mark;
mod peers;
mod pen;
mod pods;
#[cfg(feature = "shared-file")]
mod shared;
mod watch;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sqlx::{
    ConnectOptions, Connection, Row, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous},
};

use crate::{
    StoreError, StoreOptions,
    engine::Opened,
    reader::{Engine, Readers},
    txn::WriteError,
};

pub(crate) use self::inspect::inspect;
#[cfg(feature = "shared-file")]
pub(crate) use self::shared::open as open_shared;
#[cfg(feature = "shared-file")]
pub use self::shared::{LeaseEvent, LeaseLine, lease_log};
use self::{log::Log, pen::SqlitePen, watch::Watch};

/// In order; `pragma user_version` counts those that have run.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite_1.sql"),
    include_str!("../../migrations/sqlite_2.sql"),
    include_str!("../../migrations/sqlite_3.sql"),
    include_str!("../../migrations/sqlite_4.sql"),
    include_str!("../../migrations/sqlite_5.sql"),
    include_str!("../../migrations/sqlite_6.sql"),
    include_str!("../../migrations/sqlite_7.sql"),
    include_str!("../../migrations/sqlite_8.sql"),
    include_str!("../../migrations/sqlite_9.sql"),
    include_str!("../../migrations/sqlite_10.sql"),
    include_str!("../../migrations/sqlite_11.sql"),
    include_str!("../../migrations/sqlite_12.sql"),
    include_str!("../../migrations/sqlite_13.sql"),
    include_str!("../../migrations/sqlite_14.sql"),
    include_str!("../../migrations/sqlite_15.sql"),
    include_str!("../../migrations/sqlite_16.sql"),
    include_str!("../../migrations/sqlite_17.sql"),
    include_str!("../../migrations/sqlite_18.sql"),
];

const READERS_MAX: u32 = 4;
/// How many rows a reader's thread buffers: a page of history is handed over in one go instead of fifty rows at a time.
const READER_ROWS_MAX: usize = 1_024;
/// How long one connection waits for another's lock.
const BUSY_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long a read waits for a free reader.
const READER_WAIT_MAX: Duration = Duration::from_secs(10);

/// Opens or creates the file, migrates it, and takes the next host epoch.
pub(crate) async fn open(path: &Path, store: &StoreOptions) -> Result<Opened, StoreError> {
    mark::refuse_beginning_beside_remains(path, &store.remains)?;
    create_file(path)
        .map_err(|error| StoreError::Database(format!("cannot open the database {}: {error}", path.display())))?;
    let options = writer_options(path, store.vfs);
    let mut connection = options.connect().await.map_err(read_failed("open the database"))?;
    let log = Log::of(path, store.faults.clone());
    log.settle(&mut connection).await.map_err(read_failed("make sure of the database's log"))?;
    // The sync of taking over covers both. It is not left to the first commit: if that one's sync failed, these steps
    // would never reach the disk, and everything after them would be lost with them.
    set_synchronous(&mut connection, "pragma synchronous = normal").await?;
    migrate(&mut connection, path).await?;
    set_synchronous(&mut connection, "pragma synchronous = full").await?;
    let row = take_over(&mut connection).await.map_err(read_failed("take over the database"))?;
    let store_id: String = row.try_get(0).map_err(read_failed("read the database's id"))?;
    mark::put(path, &store_id);
    let watch = Watch::of(path)
        .map_err(|error| StoreError::Database(format!("cannot find the database {}: {error}", path.display())))?;
    let watch = Arc::new(watch);
    Ok(Opened {
        readers: Readers::Sqlite(readers(path, store.vfs, &watch)),
        engine: Arc::new(Sqlite { watch: watch.clone(), path: path.to_owned() }),
        pen: Box::new(SqlitePen::new(connection, options, watch, log)),
        store_id,
        host_epoch: row.try_get(1).map_err(read_failed("read the host epoch"))?,
        cluster: None,
    })
}

/// The file, and the watch over whether it is still there.
#[derive(Debug)]
struct Sqlite {
    watch: Arc<Watch>,
    path: PathBuf,
}

impl Engine for Sqlite {
    fn find(&self) -> Result<(), String> {
        self.watch.check()
    }

    fn read_failed(&self, operation: &'static str, error: sqlx::Error) -> StoreError {
        read_failed(operation)(error)
    }

    fn in_file(&self, error: StoreError) -> StoreError {
        in_file(error, &self.path)
    }
}

/// What [`open`] would report about a file that is gone.
pub(crate) fn missed(path: &Path, remains: &[PathBuf]) -> Option<String> {
    mark::refuse_beginning_beside_remains(path, remains).err().map(|error| error.to_string())
}

/// Readers are never opened on a different file than the writer's.
fn readers(path: &Path, vfs: Option<&'static str>, watch: &Arc<Watch>) -> SqlitePool {
    let watch = watch.clone();
    SqlitePoolOptions::new()
        .max_connections(READERS_MAX)
        .acquire_timeout(READER_WAIT_MAX)
        .test_before_acquire(false)
        .after_connect(move |_, _| {
            let found = watch.check().map_err(|why| sqlx::Error::Io(io::Error::other(why)));
            Box::pin(async move { found })
        })
        .connect_lazy_with(reader_options(path, vfs))
}

/// In a transaction of its own: a statement returns its row before its commit, which may still fail.
async fn take_over(connection: &mut SqliteConnection) -> Result<SqliteRow, sqlx::Error> {
    let mut txn = connection.begin_with("begin immediate").await?;
    let row = sqlx::query("update meta set host_epoch = host_epoch + 1 returning store_id, host_epoch")
        .fetch_one(&mut *txn)
        .await?;
    txn.commit().await?;
    Ok(row)
}

async fn set_synchronous(connection: &mut SqliteConnection, pragma: &'static str) -> Result<(), StoreError> {
    sqlx::raw_sql(pragma).execute(connection).await.map(drop).map_err(read_failed("open the database"))
}

/// Creates the file with its mode before SQLite does; the files beside it (`-wal`, `-shm`) get the same mode.
fn create_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
    }
    let mut file = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.write(true).create_new(true).open(path) {
        Ok(_) => {
            sync_name(path);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A new file is found after a power loss only if its folder was synced, which SQLite leaves to whoever creates it. A
/// folder that may not be read is left to the system.
#[cfg(unix)]
fn sync_name(path: &Path) {
    for folder in path.ancestors().skip(1).take(2) {
        drop(fs::File::open(folder).and_then(|folder| folder.sync_all()));
    }
}

#[cfg(not(unix))]
fn sync_name(_: &Path) {}

fn common_options(path: &Path, vfs: Option<&'static str>) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_WAIT_MAX)
        .statement_cache_capacity(32)
        .disable_statement_logging();
    match vfs {
        Some(vfs) => options.vfs(vfs),
        None => options,
    }
}

fn writer_options(path: &Path, vfs: Option<&'static str>) -> SqliteConnectOptions {
    common_options(path, vfs)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Negative: KiB. Positive: pages of 4 KiB.
        .pragma("cache_size", "-4096")
        .pragma("wal_autocheckpoint", "4000")
        .pragma("journal_size_limit", "16777216")
        .thread_name(|_| "store-writer".to_owned())
}

fn reader_options(path: &Path, vfs: Option<&'static str>) -> SqliteConnectOptions {
    common_options(path, vfs)
        .pragma("query_only", "on")
        .pragma("cache_size", "-1024")
        .row_buffer_size(READER_ROWS_MAX)
        .thread_name(|id| format!("store-reader-{id}"))
}

/// Each step is one transaction together with its version, so that a killed migration resumes where it stopped.
async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    if version(connection).await? == MIGRATIONS.len() {
        return Ok(());
    }
    let mut txn = connection.begin_with("begin immediate").await.map_err(read_failed("migrate the database"))?;
    // Another process may have migrated while this one waited.
    let done = version(&mut txn).await?;
    if done > MIGRATIONS.len() {
        return Err(StoreError::Database(
            "the database was made by a newer yoi; start that one, or choose another file".to_owned(),
        ));
    }
    if done == 0 {
        mark::refuse_first_tables_beside_mark(path)?;
    }
    for script in &MIGRATIONS[done..] {
        sqlx::raw_sql(*script).execute(&mut *txn).await.map_err(read_failed("migrate the database"))?;
    }
    if done == 0 {
        sqlx::query("insert into meta (one, store_id, host_epoch) values (1, ?, 0)")
            .bind(uuid::Uuid::new_v4().simple().to_string())
            .execute(&mut *txn)
            .await
            .map_err(read_failed("name the database"))?;
    }
    let set_version = sqlx::AssertSqlSafe(format!("pragma user_version = {}", MIGRATIONS.len()));
    sqlx::raw_sql(set_version).execute(&mut *txn).await.map_err(read_failed("migrate the database"))?;
    txn.commit().await.map_err(read_failed("migrate the database"))
}

async fn version(connection: &mut SqliteConnection) -> Result<usize, StoreError> {
    let version: i64 = sqlx::query_scalar("pragma user_version")
        .fetch_one(connection)
        .await
        .map_err(read_failed("read the database's version"))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// `operation` completes "cannot …".
fn read_failed(operation: &'static str) -> impl Fn(sqlx::Error) -> StoreError {
    move |error| match error {
        sqlx::Error::PoolClosed => StoreError::Closed,
        error if may_pass(&error) => StoreError::Unread(format!("cannot {operation}: {}", plain(&error))),
        error if is_damage(&error) => StoreError::Damaged(format!("cannot {operation}: {error}")),
        error => StoreError::Database(format!("cannot {operation}: {error}")),
    }
}

/// Whether a retry may succeed in a moment. If not, the statement is at fault, or the file is damaged.
fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        // SQLITE_BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL.
        sqlx::Error::Database(_) => matches!(code(error) & 0xff, 5 | 6 | 7 | 8 | 10 | 13 | 14 | 15),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// SQLITE_CORRUPT or NOTADB: the file is damaged, or is no database.
fn is_damage(error: &sqlx::Error) -> bool {
    matches!(code(error) & 0xff, 11 | 26)
}

/// Adds the file, and what to do about it, to a [`StoreError::Damaged`].
pub(crate) fn in_file(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Damaged(sentence) if !sentence.contains("docs/") => StoreError::Damaged(format!(
            "{sentence}: the database {} is damaged. Stop yoi, keep a copy of the folder, and put a backup in its place or \
             rescue what can be read with `sqlite3 {} .recover`; see docs/operations.md",
            path.display(),
            path.display()
        )),
        error => error,
    }
}

fn code(error: &sqlx::Error) -> i32 {
    error.as_database_error().and_then(|error| error.code()?.parse().ok()).unwrap_or(0)
}

/// What to do about a file that cannot be opened or written.
const LET_WRITE: &str = "let the account that yoi runs as write to it and to its folder";

/// Names the file in an error of [`open`] that says nothing of it.
pub(crate) fn at_start(error: StoreError, path: &Path) -> StoreError {
    match in_file(error, path) {
        StoreError::Unread(sentence) => StoreError::Unread(format!("{sentence} ({})", path.display())),
        error => error,
    }
}

/// Plain words for the most frequent errors.
fn plain(error: &sqlx::Error) -> String {
    match code(error) {
        // Exactly SQLITE_BUSY: its extended codes come at once, without waiting.
        5 => format!("another process has held the database for {} s", BUSY_WAIT_MAX.as_secs()),
        code if code & 0xff == 8 => format!("its file is read-only; {LET_WRITE}"),
        code if code & 0xff == 14 => format!("its file or its log cannot be opened; if that is read-only, {LET_WRITE}"),
        13 => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}

fn write_failed(operation: &'static str) -> impl Fn(sqlx::Error) -> WriteError {
    move |error| {
        let sentence = format!("cannot {operation}: {error}");
        if let Some(refusal) = error.as_database_error()
            && refusal.is_unique_violation()
        {
            return match refusal.message().contains("pods.name") {
                true => WriteError::NameTaken,
                false => WriteError::Conflict,
            };
        }
        if may_pass(&error) {
            return WriteError::Failed(format!("cannot {operation}: {}", plain(&error)));
        }
        if is_damage(&error) { WriteError::Damaged(sentence) } else { WriteError::Refused(sentence) }
    }
}
