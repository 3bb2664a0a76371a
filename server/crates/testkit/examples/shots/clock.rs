//! The clock of the server in the pictures: the scene plays in a minute and is told as a morning's work.
//!
//! Needs libfaketime (Debian: `libfaketime`). Without it everything happens now, and the pictures say so.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use testkit::yoi::Launch;

/// Where distributions keep the library, below `/usr/lib`.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";
/// How often the clock moves, and by how many seconds.
const TICK: Duration = Duration::from_millis(20);
const STEP_S: i64 = 20;

/// The server's clock; it stands on its own until the scene is over.
#[derive(Debug)]
pub(crate) struct Clock {
    file: Option<PathBuf>,
    /// How many seconds ago it is, and the least that may be.
    ago_s: Arc<AtomicI64>,
    least_s: Arc<AtomicI64>,
}

impl Clock {
    /// A clock that this server will have.
    pub(crate) fn wind(folder: &Path, launch: Launch) -> (Self, Launch) {
        let (ago_s, least_s) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
        let Some(library) = library() else {
            println!("    libfaketime is not installed, so everything in the pictures happens at once");
            return (Self { file: None, ago_s, least_s }, launch);
        };
        let file = folder.join("clock");
        set(&file, 0);
        let launch = launch
            .env("LD_PRELOAD", &library.display().to_string())
            .env("FAKETIME_TIMESTAMP_FILE", &file.display().to_string())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let clock = Self { file: Some(file.clone()), ago_s, least_s };
        tokio::spawn(tick(file, Arc::clone(&clock.ago_s), Arc::clone(&clock.least_s)));
        (clock, launch)
    }

    /// It is so many minutes ago, and from now on the clock runs fast until it is only `until` minutes ago.
    pub(crate) fn minutes_ago(&self, minutes: i64, until: i64) {
        self.least_s.store(until * 60, Ordering::Relaxed);
        self.ago_s.store(minutes * 60, Ordering::Relaxed);
        if let Some(file) = &self.file {
            set(file, minutes * 60);
        }
    }
}

async fn tick(file: PathBuf, ago_s: Arc<AtomicI64>, least_s: Arc<AtomicI64>) {
    loop {
        tokio::time::sleep(TICK).await;
        let (now, least) = (ago_s.load(Ordering::Relaxed), least_s.load(Ordering::Relaxed));
        let next = (now - STEP_S).max(least);
        if next < now && ago_s.compare_exchange(now, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            set(&file, next);
        }
    }
}

/// Sets the clock in one step, because the server reads it at any moment.
fn set(file: &Path, ago_s: i64) {
    let new = file.with_extension("new");
    let told = if ago_s == 0 { "+0".to_owned() } else { format!("-{ago_s}s") };
    std::fs::write(&new, told).and_then(|()| std::fs::rename(&new, file)).expect("the clock can be set");
}

fn library() -> Option<PathBuf> {
    let usual = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path().join(LIBRARY));
    usual.chain([PathBuf::from("/usr/lib").join(LIBRARY)]).find(|path| path.is_file())
}
