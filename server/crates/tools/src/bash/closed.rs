//! The parts of the system's configuration that are not world-readable: passwords, keys, sudo rules. A server running
//! as root can read them, and so could its commands, which run under the same account; so they are hidden from
//! commands.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const CONFIGURATION: &str = "/etc";
/// How many levels of folders are searched.
const DEPTH_MAX: usize = 8;
/// It rarely changes, and searching takes a few milliseconds.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Everything that is not world-readable. Empty for an ordinary account, which the system itself keeps out.
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
        // For a link, its target counts, in its own place.
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
