//! Inspects the file without changing anything; it is opened for reading.

use std::{fs, io::Read, path::Path, time::Duration};

use bytes::Bytes;
use futures_util::TryStreamExt;
use protocol::Seq;
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{MIGRATIONS, mark, read_failed, version};
use crate::{DamagedRecords, Inspection, PodKey, StoreError, checksum::RawRecord, columns};

/// How long to wait for another program's lock.
const LOCK_WAIT_MAX: Duration = Duration::from_millis(1_500);
/// The first schema version with checksums.
const CHECKSUMS_SINCE: usize = 10;
/// The header of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(crate) async fn inspect(path: &Path) -> Result<Inspection, StoreError> {
    let log_bytes = fs::metadata(mark::beside(path, "-wal")).map_or(0, |log| log.len());
    // SQLite deletes the log of an empty file, so such a file is not opened at all.
    begins_well(path).map_err(|why| {
        let log = if log_bytes > 0 { format!(", beside a log of {} kB", log_bytes / 1024) } else { String::new() };
        StoreError::Database(format!("{} {why}{log}", path.display()))
    })?;
    let options = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(LOCK_WAIT_MAX);
    let options = options.disable_statement_logging();
    let mut connection = options.connect().await.map_err(read_failed("open the database for reading"))?;
    let done = version(&mut connection).await?;
    let findings: Vec<String> = sqlx::query_scalar("pragma quick_check(5)")
        .fetch_all(&mut connection)
        .await
        .map_err(read_failed("check the database"))?;
    let mut damage: Vec<String> = findings.into_iter().filter(|finding| finding != "ok").collect();
    let mut damaged = DamagedRecords::default();
    if done >= CHECKSUMS_SINCE
        && let Err(error) = look_at_records(&mut connection, &mut damaged).await
        && damage.is_empty()
    {
        damage.push(error.to_string());
    }
    drop(connection.close().await);
    // A damaged file is not touched.
    let unwritable = if damage.is_empty() { why_not_writable(path).await } else { None };
    Ok(Inspection { version: done, known_version: MIGRATIONS.len(), damage, damaged, log_bytes, unwritable })
}

/// Checks each record of each Pod against its checksum.
async fn look_at_records(connection: &mut SqliteConnection, damaged: &mut DamagedRecords) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query_as(
        "select journal.pod, journal.seq, class, cast(sum as integer), journal.body,
                coalesce(pods.name, 'Pod ' || journal.pod), quarantine.found_at
         from journal
         left join pods on pods.key = journal.pod
         left join quarantine on quarantine.pod = journal.pod and quarantine.seq = journal.seq
         order by journal.pod, journal.seq",
    )
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let (pod, seq, class, sum, body, name, found_at): (_, _, _, _, Vec<u8>, String, Option<i64>) = row;
        let record = RawRecord { seq: Seq(seq), class, sum, body: Bytes::from(body) };
        if let Some(damage) = record.damage(PodKey(pod)) {
            damaged.add(|| columns::damaged_record((name, seq, damage.reason().to_owned(), found_at)));
        }
    }
    Ok(())
}

fn begins_well(path: &Path) -> Result<(), String> {
    let mut magic = [0_u8; 16];
    let mut file = fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    if file.metadata().is_ok_and(|file| file.len() == 0) {
        return Err("is empty".to_owned());
    }
    let read = file.read_exact(&mut magic);
    if read.is_ok() && magic == *MAGIC { Ok(()) } else { Err("is not a SQLite database".to_owned()) }
}

/// Takes the lock that a write would take, and releases it.
async fn why_not_writable(path: &Path) -> Option<String> {
    if let Err(error) = fs::OpenOptions::new().append(true).open(path) {
        return Some(error.to_string());
    }
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(LOCK_WAIT_MAX).disable_statement_logging();
    let locking = async {
        let mut connection = options.connect().await?;
        let locked = lock(&mut connection).await;
        connection.close().await.and(locked)
    };
    locking.await.err().map(|error| match super::code(&error) {
        5 => "another program holds it".to_owned(),
        _ => error.to_string(),
    })
}

async fn lock(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("begin immediate; rollback").execute(connection).await.map(drop)
}
