//! Plays a day on a disk, and holds what is found afterwards against what was acknowledged.

use std::{
    cell::Cell,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use pod_store::{Database, Faults, Step, Store, StoreError, StoreOptions};
use simulation::disk::{Counts, Disk, Op};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::day::{Deed, carry_out, view};

/// What is seen after each deed; the first is of the beginning.
pub(crate) type Views = Vec<Vec<String>>;

/// How often something is tried again while the disk fails.
const TRIES_MAX: usize = 200;
/// How long a disk that fails for good does so, from its first failure.
const HEALS_AFTER: Duration = Duration::from_millis(30);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A folder with a database on a disk.
pub(crate) struct Stage {
    pub(crate) disk: &'static Disk,
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

/// How far a day came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Deeds that were acknowledged: these, and all before them.
    pub(crate) acknowledged: usize,
    pub(crate) begun: usize,
}

/// Tells the disk what it cannot see.
#[derive(Debug)]
struct PastSqlite(&'static Disk);

impl Faults for PastSqlite {
    fn before(&self, _: Step) -> Result<(), StoreError> {
        Ok(())
    }

    fn log_written_again(&self, log: &Path) {
        self.0.rewritten(log);
    }
}

/// When the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Only if a fault says so.
    ByFault,
    /// After the line in which something failed, and this many more.
    AfterFailure(usize),
}

impl Stage {
    /// Nothing yet.
    pub(crate) fn empty(disk: &'static Disk) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.unwrap();
        let path = folder.path().join("yoi.db");
        Self { disk, folder, path }
    }

    /// A database without Pods, closed.
    pub(crate) fn begun(disk: &'static Disk) -> Self {
        static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let stage = Self::empty(disk);
            runtime().block_on(async { stage.open().await.unwrap().close().await });
            let files = fs::read_dir(stage.folder.path()).unwrap().map(|file| file.unwrap());
            files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
        });
        let stage = Self::empty(disk);
        for (name, bytes) in files {
            fs::write(stage.folder.path().join(name), bytes).unwrap();
        }
        stage
    }

    pub(crate) async fn open(&self) -> Result<Store, StoreError> {
        let options = StoreOptions::sqlite(&self.path).with_vfs(self.disk.name());
        Store::open(options.with_faults(Arc::new(PastSqlite(self.disk)))).await
    }

    /// As a server that is started again and again; `None` if the power went.
    async fn open_at_last(&self) -> Option<Store> {
        for _ in 0..TRIES_MAX {
            match self.open().await {
                Ok(store) => return Some(store),
                Err(_) if self.disk.is_off() => return None,
                Err(StoreError::Unread(_)) => (),
                Err(error) => panic!("this is no error that passes: {error:?}"),
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        panic!("the store does not open, though the disk works again");
    }

    /// Plays the lines of a day.
    pub(crate) async fn play(&self, day: &[Vec<Deed>], cut: Cut, views: Option<&Views>) -> Progress {
        let (progress, mut lines_left) = (Cell::new(Progress::default()), None);
        let playing = async {
            let mut store = self.open_at_last().await?;
            for line in day {
                match &line[..] {
                    [Deed::Checkpoint] => self.checkpoint().await,
                    [Deed::Reopen] => {
                        store.close().await;
                        store = self.open_at_last().await?;
                    }
                    deeds => self.play_line(&store, deeds, &progress).await?,
                }
                if self.disk.counts().failed > 0 {
                    if let (None, Some(views)) = (lines_left, views) {
                        self.assert_shows(&store, &views[progress.get().acknowledged]).await?;
                    }
                    let left = lines_left.unwrap_or(match cut {
                        Cut::ByFault => usize::MAX,
                        Cut::AfterFailure(lines) => lines,
                    });
                    if left == 0 {
                        self.disk.cut_power();
                    }
                    lines_left = Some(left.saturating_sub(1));
                }
                if self.disk.is_off() {
                    store.close().await;
                    return None;
                }
            }
            if let Some(views) = views {
                self.assert_shows(&store, &views[progress.get().acknowledged]).await?;
            }
            store.close().await;
            Some(())
        };
        let healing = async {
            while self.disk.counts().failed == 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            tokio::time::sleep(HEALS_AFTER).await;
            self.disk.heal();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = playing => (),
            () = healing => (),
        }
        progress.get()
    }

    /// Plays the lines of a day and is killed after the last.
    pub(crate) async fn play_and_kill(&self, day: &[Vec<Deed>]) -> Progress {
        let progress = Cell::new(Progress::default());
        let store = self.open().await.unwrap();
        for deeds in day {
            self.play_line(&store, deeds, &progress).await.unwrap();
        }
        self.disk.cut_power();
        store.close().await;
        self.disk.wait_closed(self.folder.path());
        self.disk.power_on();
        progress.get()
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("yoi.db-wal")
    }

    /// All deeds of a line at once; `None` if the power went meanwhile.
    async fn play_line(&self, store: &Store, deeds: &[Deed], progress: &Cell<Progress>) -> Option<()> {
        let before = progress.get().begun;
        progress.set(Progress { begun: before + deeds.len(), ..progress.get() });
        let doing = join_all(deeds.iter().enumerate().map(|(index, deed)| async move {
            let done = carry_out(store, deed).await;
            match done {
                Ok(()) => {
                    let Progress { acknowledged, begun } = progress.get();
                    progress.set(Progress { acknowledged: acknowledged.max(before + index + 1), begun });
                }
                Err(error) => assert!(self.disk.is_off(), "{deed:?}: {error:?}"),
            }
        }));
        let gone = async {
            while !self.disk.is_off() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::select! {
            biased;
            _ = doing => (),
            () = gone => (),
        }
        if self.disk.is_off() {
            store.close().await;
            return None;
        }
        Some(())
    }

    /// What happens to it is nobody's concern: it is tried again.
    async fn checkpoint(&self) {
        let options = SqliteConnectOptions::new().filename(&self.path).vfs(self.disk.name());
        if let Ok(mut connection) = options.disable_statement_logging().connect().await {
            drop(sqlx::query("pragma wal_checkpoint(passive)").execute(&mut connection).await);
            drop(connection.close().await);
        }
    }

    /// What is seen, however often it takes to read it; `None` if the power went.
    async fn seen(&self, store: &Store) -> Option<Vec<String>> {
        for _ in 0..TRIES_MAX {
            match view(store).await {
                Ok(seen) => return Some(seen),
                Err(_) if self.disk.is_off() => {
                    store.close().await;
                    return None;
                }
                Err(StoreError::Unread(_)) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => panic!("this is no error that passes: {error:?}"),
            }
        }
        panic!("the store cannot be read, though the disk works again");
    }

    async fn assert_shows(&self, store: &Store, expected: &[String]) -> Option<()> {
        let seen = self.seen(store).await?;
        assert!(seen == expected, "it shows something else than was written:\n{}", difference(&seen, expected));
        Some(())
    }

    /// Opens what was left, and says which deeds are in it: a beginning of the day, and nothing else.
    pub(crate) fn found(&self, views: &Views, progress: Progress) -> usize {
        let seen = runtime().block_on(async {
            let store = self.open().await.unwrap();
            let seen = view(&store).await.unwrap();
            store.close().await;
            let inspection = Database::Sqlite { path: self.path.clone() }.inspect().await.unwrap().unwrap();
            assert!(inspection.damage.is_empty() && inspection.damaged.count == 0, "{inspection:?}");
            seen
        });
        self.disk.wait_closed(self.folder.path());
        let Progress { acknowledged, begun } = progress;
        match (acknowledged..=begun).find(|deeds| views[*deeds] == seen) {
            Some(deeds) => deeds,
            None => {
                let other = views.iter().position(|view| *view == seen);
                let difference = difference(&seen, &views[acknowledged]);
                panic!("{acknowledged} of {begun} deeds were acknowledged; found {other:?}:\n{difference}")
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.disk.power_on();
        self.disk.forget(self.folder.path());
    }
}

fn difference(seen: &[String], expected: &[String]) -> String {
    let cut = |sign: &str, line: &String| format!("{sign} {}\n", line.chars().take(300).collect::<String>());
    let more = seen.iter().filter(|line| !expected.contains(line)).map(|line| cut("+", line));
    let less = expected.iter().filter(|line| !seen.contains(line)).map(|line| cut("-", line));
    more.chain(less).take(8).collect()
}

/// One that nothing else uses.
pub(crate) fn fresh() -> &'static Disk {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    Disk::register(&format!("disk-{}", NUMBER.fetch_add(1, Ordering::Relaxed)))
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What is seen after each deed of a day without faults, one after the other.
pub(crate) fn views_of(day: &[Vec<Deed>]) -> Views {
    let stage = Stage::begun(fresh());
    runtime().block_on(async {
        let store = stage.open().await.unwrap();
        let mut views = vec![view(&store).await.unwrap()];
        for deed in day.iter().flatten().filter(|deed| deed.changes_anything()) {
            carry_out(&store, deed).await.unwrap();
            views.push(view(&store).await.unwrap());
        }
        store.close().await;
        views
    })
}

/// The calls of a day without faults.
pub(crate) fn calls_of(day: &[Vec<Deed>], make: fn(&'static Disk) -> Stage, views: &Views) -> Counts {
    let stage = make(fresh());
    stage.disk.reset_counts();
    let progress = runtime().block_on(stage.play(day, Cut::ByFault, Some(views)));
    assert_eq!(progress.acknowledged, views.len() - 1);
    stage.disk.counts()
}

/// Plays each case on a disk of its own, several at once, and reports those that fail.
pub(crate) fn for_each<C: Send + Sync + std::fmt::Debug>(cases: &[C], play: impl Fn(&C, &'static Disk) + Sync) {
    let (next, failed) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from) * 4;
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let disk = fresh();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    disk.reset_counts();
                    if let Err(why) = catch_unwind(AssertUnwindSafe(|| play(case, disk))) {
                        let text = why.downcast_ref::<&str>().map(|text| (*text).to_owned());
                        let why = why.downcast_ref::<String>().cloned().or(text).unwrap_or_default();
                        failed.lock().unwrap().push(format!("{case:?}: {why}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let told = failed.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} of {} cases failed:\n{told}", failed.len(), cases.len());
}

/// Numbers from a seed.
pub(crate) fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// Whether each call is to fail, which takes minutes; otherwise some of those that there are many of do.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("YOI_DISK_ALL").is_some()
}

/// The numbers of the calls to try.
pub(crate) fn calls(counts: &Counts, op: Op) -> impl Iterator<Item = u64> + use<> {
    let step = match op {
        _ if is_thorough() => 1,
        Op::Read | Op::Write => 37,
        Op::Change => 17,
        _ => 1,
    };
    (1..=counts.of(op)).step_by(step)
}
