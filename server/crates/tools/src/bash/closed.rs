//! What of the system's configuration is not for everybody: passwords, keys, who may become root. A server that runs as
//! root can read it, and its commands, which have the same account, are not shown it.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const CONFIGURATION: &str = "/etc";
/// Folders within folders.
const DEPTH_MAX: usize = 8;
/// It changes seldom, and looking takes a few milliseconds.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Everything that not everybody may read. Nothing for an ordinary account, whom the system itself keeps out.
pub(super) fn paths() -> Vec<PathBuf> {
    static FOUND: Mutex<Option<(Instant, Vec<PathBuf>)>> = Mutex::new(None);
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    match &*found {
        Some((at, paths)) if at.elapsed() < LOOK_AGAIN => paths.clone(),
        _ => {
            let mut paths = Vec::new();
            look(Path::new(CONFIGURATION), DEPTH_MAX, &mut paths);
            *found = Some((Instant::now(), paths.clone()));
            paths
        }
    }
}

fn look(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Of a link what it leads to counts, there.
        let Ok(here) = entry.metadata() else { continue };
        match here.is_dir() {
            _ if here.is_symlink() => (),
            _ if !is_for_everybody(&here) => found.push(entry.path()),
            true if depth > 0 => look(&entry.path(), depth - 1, found),
            _ => (),
        }
    }
}

fn is_for_everybody(here: &Metadata) -> bool {
    let wanted = if here.is_dir() { 0o005 } else { 0o004 };
    here.mode() & wanted == wanted
}
