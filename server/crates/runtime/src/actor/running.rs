//! Records how long a silent call has run, for the server that starts after a kill: a file beside the call's long
//! output, whose modification time is the last moment at which the call is known to have run.

use std::{
    convert::Infallible,
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use protocol::Timestamp;

/// The time between two marks. A call that ends before the first leaves no file.
const EVERY: Duration = Duration::from_millis(500);

/// Marks the call as running until this future is dropped, and then removes the file.
pub(super) async fn mark(folder: PathBuf, call_id: String) -> Infallible {
    let mark = Arc::new(Mark(file_of(&folder, &call_id)));
    loop {
        tokio::time::sleep(EVERY).await;
        // Shared, so that the file is removed after the last touch.
        let mark = mark.clone();
        drop(crate::heavy::blocking(move || mark.touch()).await);
    }
}

/// The last moment at which a call is known to have run. `None` if it ended at once or ran on another machine.
pub(super) fn last_seen(folder: &Path, call_id: &str) -> Option<Timestamp> {
    let changed = fs::metadata(file_of(folder, call_id)).ok()?.modified().ok()?;
    Timestamp::try_from(changed).ok()
}

/// Removes the file that a kill left.
pub(super) fn forget(folder: &Path, call_id: &str) {
    drop(Mark(file_of(folder, call_id)));
}

struct Mark(PathBuf);

impl Mark {
    fn touch(&self) {
        // Without the mark, only the duration reported after a kill is less accurate.
        if let Err(error) = touch(&self.0) {
            tracing::debug!(%error, path = %self.0.display(), "a running call cannot be marked");
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, path = %self.0.display(), "the mark of a call that ended stays behind");
            }
            _ => (),
        }
    }
}

fn file_of(folder: &Path, call_id: &str) -> PathBuf {
    folder.join(format!("{call_id}.running"))
}

fn touch(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::options().create(true).append(true).open(path)?.set_modified(SystemTime::now())
}
