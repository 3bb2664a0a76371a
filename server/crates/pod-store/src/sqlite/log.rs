//! Makes sure that the write-ahead log is on the disk before anyone relies on what is in it.
//!
//! SQLite takes up the log of a process that ended as the kernel shows it, and continues behind it. But what the kernel
//! shows need not be on the disk: nobody synced it yet, or a sync failed, after which the kernel takes the pages for
//! written and never writes them again. Later commits stand behind such a gap, and are lost with it when the power
//! goes, though their own syncs succeeded. So the log is written once more in its place, which makes the kernel write
//! all of it, and synced.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use sqlx::{Connection, SqliteConnection};

use super::mark::beside;
use crate::Faults;

const CHUNK_BYTES: usize = 1 << 20;

/// The log of a database.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    faults: Option<Arc<dyn Faults>>,
}

impl Log {
    pub(super) fn of(database: &Path, faults: Option<Arc<dyn Faults>>) -> Self {
        Self { path: beside(database, "-wal"), faults }
    }

    /// To be called with each new connection that writes. Costs nothing if there is no log.
    pub(super) async fn settle(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        if !fs::metadata(&self.path).is_ok_and(|log| log.len() > 0) {
            return Ok(());
        }
        // Nobody else writes to it meanwhile.
        let txn = connection.begin_with("begin immediate").await?;
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || write_again(&path)).await.map_err(io::Error::other)??;
        if let Some(faults) = &self.faults {
            faults.log_written_again(&self.path);
        }
        txn.rollback().await
    }
}

fn write_again(path: &Path) -> io::Result<()> {
    let mut log = OpenOptions::new().read(true).write(true).open(path)?;
    let (mut chunk, mut at) = (vec![0; CHUNK_BYTES], 0);
    loop {
        log.seek(SeekFrom::Start(at))?;
        let count = log.read(&mut chunk)?;
        if count == 0 {
            return log.sync_all();
        }
        log.seek(SeekFrom::Start(at))?;
        log.write_all(&chunk[..count])?;
        at += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_written_again_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let bytes: Vec<u8> = (0..=255).cycle().take(CHUNK_BYTES * 2 + 77).collect();
        fs::write(&path, &bytes).unwrap();
        write_again(&path).unwrap();
        assert!(fs::read(&path).unwrap() == bytes);
    }
}
