//! Whether the open files are still the ones at their paths.
//!
//! A file that was deleted or replaced still takes writes as long as it is open, but nobody will ever find them. So
//! this is checked around each commit, and every second while nobody writes.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::mark::beside;

/// Device and inode of a file.
type Identity = (u64, u64);

#[derive(Debug)]
pub(super) struct Watch {
    path: PathBuf,
    database: Identity,
    log_path: PathBuf,
    /// `None` until the log was first seen.
    log: Mutex<Option<Identity>>,
}

impl Watch {
    /// For a file that was just opened.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let database = identity(path)?;
        Ok(Self { path: path.to_owned(), database, log_path: beside(path, "-wal"), log: Mutex::new(None) })
    }

    /// # Errors
    /// What has happened and what to do about it, as a sentence without a path.
    pub(super) fn check(&self) -> Result<(), String> {
        expect(&self.path, self.database)?;
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        match *log {
            Some(known) => expect(&self.log_path, known),
            None => {
                *log = identity(&self.log_path).ok();
                Ok(())
            }
        }
    }

    /// The connection was reopened, which may have created a new log.
    pub(super) fn forget_log(&self) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn expect(path: &Path, known: Identity) -> Result<(), String> {
    let what = match identity(path) {
        Ok(found) if found == known => return Ok(()),
        Ok(_) => "was replaced".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "was deleted or moved".to_owned(),
        Err(error) => format!("is out of reach ({error})"),
    };
    let name = path.file_name().unwrap_or_default().display();
    Err(format!(
        "{name} {what} while yoi was running. Put back what was there, or stop yoi, put a backup in its place and start it \
         again; until then nothing is written"
    ))
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// On other systems an open file cannot be deleted.
#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|_| (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_missed_while_it_is_away_or_another_is_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let [path, log, away] = ["yoi.db", "yoi.db-wal", "away"].map(|name| folder.path().join(name));
        fs::write(&path, "a").unwrap();
        let watch = Watch::of(&path).unwrap();
        watch.check().unwrap();
        fs::write(&log, "b").unwrap();
        watch.check().unwrap();
        for file in [&path, &log] {
            let name = file.file_name().unwrap().to_str().unwrap();
            fs::rename(file, &away).unwrap();
            let told = watch.check().unwrap_err();
            assert!(told.starts_with(&format!("{name} was deleted or moved")), "{told}");
            fs::write(file, "c").unwrap();
            let told = watch.check().unwrap_err();
            assert!(told.starts_with(&format!("{name} was replaced")), "{told}");
            fs::rename(&away, file).unwrap();
            watch.check().unwrap();
        }
        fs::remove_file(&log).unwrap();
        watch.forget_log();
        watch.check().unwrap();
    }
}
