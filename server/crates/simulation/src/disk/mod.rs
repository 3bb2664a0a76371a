//! A disk that fails when it is told to, and that forgets what was not synced when its power goes.
//!
//! SQLite reaches it through a VFS: [`Disk::register`] makes one, and `StoreOptions::with_vfs` opens a store on it. The
//! real files are written all the same, by SQLite's own VFS for Unix, so that a store that is dropped and opened again
//! finds them as after a kill. Beside them the disk keeps what a power loss would leave of each (see `image`).
//!
//! What is not modelled: files that do not go through SQLite (they count as synced), and the index of the log in shared
//! memory (`-shm`), which does not survive a power loss.

mod image;
mod vfs;

use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
};

use self::image::Image;

/// What a program asks of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    Open,
    Read,
    Write,
    Sync,
    Truncate,
    Delete,
    /// In a [`Fault`]: any of write, sync, truncate and delete.
    Change,
}

impl Op {
    fn includes(self, call: Self) -> bool {
        self == call || self == Self::Change && !matches!(call, Self::Open | Self::Read)
    }
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// `EIO`. Of a failed sync: what it was to write out is not written later either, unless it is written again.
    Io,
    /// `ENOSPC`.
    Full,
    /// Half of a write is done, and then the disk is full. Other calls fail as with [`Failure::Full`].
    ShortWrite,
    /// `EROFS`: files that exist are opened for reading only, and nothing is written.
    ReadOnly,
    /// From before this call on nothing reaches the disk: see [`Disk::cut_power`].
    PowerCut,
}

/// How often a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Once,
    Calls(u64),
    /// Until [`Disk::heal`].
    Always,
}

/// A failure to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub op: Op,
    /// The first call that fails, counted from now; 1 is the next.
    pub nth: u64,
    pub times: Times,
    pub failure: Failure,
}

/// How many calls there were, and how many of them failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub opens: u64,
    pub reads: u64,
    pub writes: u64,
    pub syncs: u64,
    pub truncates: u64,
    pub deletes: u64,
    pub failed: u64,
}

impl Counts {
    pub fn of(&self, op: Op) -> u64 {
        match op {
            Op::Open => self.opens,
            Op::Read => self.reads,
            Op::Write => self.writes,
            Op::Sync => self.syncs,
            Op::Truncate => self.truncates,
            Op::Delete => self.deletes,
            Op::Change => self.writes + self.syncs + self.truncates + self.deletes,
        }
    }

    fn add(&mut self, op: Op) {
        match op {
            Op::Open => self.opens += 1,
            Op::Read => self.reads += 1,
            Op::Write => self.writes += 1,
            Op::Sync => self.syncs += 1,
            Op::Truncate => self.truncates += 1,
            Op::Delete => self.deletes += 1,
            Op::Change => (),
        }
    }
}

/// Unix time, in ms.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;
/// Fills a buffer with random bytes.
pub type Fill = Arc<dyn Fn(&mut [u8]) + Send + Sync>;
/// Sleeps for this many µs.
pub type Sleep = Arc<dyn Fn(u64) + Send + Sync>;

/// Where SQLite gets time and chance from; `None`: from the machine.
///
/// SQLite draws its random bytes once per process from the default VFS, so `fill` matters only to whoever makes the
/// disk the default one.
#[derive(Clone, Default)]
pub struct World {
    pub now: Option<Now>,
    pub fill: Option<Fill>,
    pub sleep: Option<Sleep>,
}

/// A simulated disk, and the VFS of its name.
pub struct Disk {
    name: String,
    state: Mutex<State>,
    /// Signalled when a file was closed.
    closed: Condvar,
    world: Mutex<World>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, File>,
    faults: Vec<Fault>,
    counts: Counts,
    is_off: bool,
}

#[derive(Default)]
struct File {
    image: Image,
    /// How many connections have it open.
    open: usize,
}

impl fmt::Debug for Disk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Disk").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("World").finish_non_exhaustive()
    }
}

impl Disk {
    /// The disk of this name; it is made by the first call and stays until the process ends. Faults and power are the
    /// whole disk's, so hosts that fail by themselves need a disk each.
    ///
    /// # Panics
    /// If SQLite does not take the VFS: there is no memory, or the system is not Unix.
    pub fn register(name: &str) -> &'static Self {
        static DISKS: OnceLock<Mutex<HashMap<String, &'static Disk>>> = OnceLock::new();
        let mut disks = DISKS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        disks.entry(name.to_owned()).or_insert_with(|| {
            let disk: &'static Self = Box::leak(Box::new(Self {
                name: name.to_owned(),
                state: Mutex::default(),
                closed: Condvar::new(),
                world: Mutex::default(),
            }));
            vfs::register(disk);
            disk
        })
    }

    /// What to open a store with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a failure to come.
    pub fn fault(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// No call fails any more, unless the power is off.
    pub fn heal(&self) {
        self.state().faults.clear();
    }

    /// How many failures are still to come or are in progress.
    pub fn faults_left(&self) -> usize {
        self.state().faults.len()
    }

    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    pub fn reset_counts(&self) {
        self.state().counts = Counts::default();
    }

    /// From now on each call fails and nothing of it reaches the disk. To be followed by closing all connections and
    /// [`Disk::power_off`].
    pub fn cut_power(&self) {
        self.state().is_off = true;
    }

    pub fn is_off(&self) -> bool {
        self.state().is_off
    }

    /// Blocks until no connection has a file below `folder` open: connections are closed on threads of their own, some
    /// time after they were dropped.
    pub fn wait_closed(&self, folder: &Path) {
        let mut state = self.state();
        while state.open_below(folder) {
            state = self.closed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Loses the power, if it is not lost yet, and gets it back: each file below `folder` is rewritten to what was
    /// synced and to some of the rest, as `seed` decides. Faults to come are forgotten.
    ///
    /// # Errors
    /// If the real files cannot be written, or a connection still has one open.
    pub fn power_off(&self, folder: &Path, seed: &mut dyn FnMut() -> u64) -> io::Result<()> {
        let mut state = self.state();
        if state.open_below(folder) {
            return Err(io::Error::other("a connection is still open; drop it and call wait_closed first"));
        }
        for (path, file) in state.files.iter_mut().filter(|(path, _)| path.starts_with(folder)) {
            file.image.power_off(seed);
            match file.image.now() {
                Some(bytes) => fs::write(path, bytes)?,
                None => remove(path)?,
            }
            let mut index = path.clone().into_os_string();
            index.push("-shm");
            remove(Path::new(&index))?;
        }
        state.is_off = false;
        state.faults.clear();
        Ok(())
    }

    /// The end of a crash that is no power loss: the files stay as they were at [`Disk::cut_power`], and faults to come
    /// are forgotten.
    pub fn power_on(&self) {
        let mut state = self.state();
        state.is_off = false;
        state.faults.clear();
    }

    /// Somebody has written a file's bytes once more in their place, past SQLite, and synced them.
    pub fn rewritten(&self, path: &Path) {
        let mut state = self.state();
        if state.is_off {
            return;
        }
        if let Some(file) = state.files.get_mut(path) {
            let now = file.image.now().map(<[u8]>::to_vec);
            file.image.adopt(now);
        }
    }

    /// Forgets the files below a folder that is no longer used.
    pub fn forget(&self, folder: &Path) {
        self.state().files.retain(|path, _| !path.starts_with(folder));
    }

    /// Where SQLite gets time and chance from.
    pub fn set_world(&self, world: World) {
        *self.world.lock().unwrap_or_else(PoisonError::into_inner) = world;
    }

    fn world(&self) -> World {
        self.world.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts a call, and decides whether it fails.
    fn call(&mut self, op: Op) -> Result<(), Failure> {
        if self.is_off {
            return Err(Failure::PowerCut);
        }
        self.counts.add(op);
        let mut failure = None;
        self.faults.retain_mut(|fault| {
            if failure.is_some() || !fault.op.includes(op) {
                return true;
            }
            if fault.nth > 1 {
                fault.nth -= 1;
                return true;
            }
            failure = Some(fault.failure);
            match &mut fault.times {
                Times::Once | Times::Calls(0 | 1) => false,
                Times::Calls(left) => {
                    *left -= 1;
                    true
                }
                Times::Always => true,
            }
        });
        match failure {
            None => Ok(()),
            Some(failure) => {
                self.counts.failed += 1;
                self.is_off = failure == Failure::PowerCut;
                Err(failure)
            }
        }
    }

    fn open_below(&self, folder: &Path) -> bool {
        self.files.iter().any(|(path, file)| file.open > 0 && path.starts_with(folder))
    }

    /// A file is open now; `found` is what it held before, if it existed.
    fn opened(&mut self, path: &Path, found: Option<Vec<u8>>) {
        let file = self.files.entry(path.to_owned()).or_default();
        if file.open == 0 && file.image.now() != found.as_deref() {
            file.image.adopt(found);
        }
        file.image.create();
        file.open += 1;
    }

    /// With the first sync of a new file, SQLite's VFS for Unix syncs its folder.
    fn synced(&mut self, path: Option<&Path>) {
        let Some(path) = path else { return };
        let Some(file) = self.files.get_mut(path) else { return };
        let is_new = file.image.is_new();
        file.image.sync();
        if is_new {
            let beside = self.files.iter_mut().filter(|(other, _)| other.parent() == path.parent());
            beside.for_each(|(_, file)| file.image.folder_synced());
        }
    }

    fn is_open(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|file| file.open > 0)
    }

    fn closed(&mut self, path: &Path) {
        if let Some(file) = self.files.get_mut(path) {
            file.open = file.open.saturating_sub(1);
        }
    }

    fn image(&mut self, path: Option<&Path>) -> Option<&mut Image> {
        self.files.get_mut(path?).map(|file| &mut file.image)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
