//! The snapshots of one Pod on the disk: a folder with two files that only grow.
//!
//! `contents` has the content of every version of every file, each once, one after the other. `log` has a snapshot per
//! line, whose entries say where their contents begin. A content is written before the line that names it, so after a
//! kill the log names nothing that is not there; half a line at its end is dropped. What is read is checked by its hash.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, DirBuilder, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use ::changes::{Chronicle, Entry, Snapshot, Tree, differing, sha256};
use pod_store::Store;
use protocol::{ApiError, ErrorCode, LeftOut, Seq, WorkerId};
use tokio::sync::Mutex;
use tools::{
    bash::Background,
    files::{Content, Keep, look},
};

use super::{Folders, blocking};
use crate::clock;

/// The most bytes that are kept of one Pod; further contents are not kept.
const KEPT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The most bytes that one snapshot keeps.
const SNAPSHOT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Takes a Pod's snapshots, one after the other. While nobody holds it, it costs nothing.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// The Pod, and the commands that keep running after their call.
    pod: WorkerId,
    background: Background,
    written: Mutex<Option<Written>>,
    /// Calls that run now and may change files.
    running: AtomicUsize,
    /// A look at the files took too long: no more snapshots are taken until the Pod's task is restarted.
    has_given_up: AtomicBool,
}

/// A call that runs. Dropping this ends it.
#[derive(Debug)]
struct Running(Arc<Shelf>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The snapshots around one call or turn.
#[derive(Debug)]
pub(crate) struct Step {
    shelf: Arc<Shelf>,
    folders: Folders,
    running: Option<Running>,
}

impl Step {
    pub(crate) fn new(shelf: Arc<Shelf>, folders: Folders) -> Self {
        Self { shelf, folders, running: None }
    }

    /// Takes the snapshot before the call. `seq`: the Pod's head.
    pub(crate) async fn begin(&mut self, seq: Seq) {
        self.shelf.running.fetch_add(1, Ordering::Relaxed);
        self.running = Some(Running(self.shelf.clone()));
        self.shelf.take_or_warn(&self.folders, seq).await;
    }

    /// Takes the snapshot after the call. `seq`: the first record that may tell how it ended.
    pub(crate) async fn end(mut self, seq: Seq) {
        self.running = None;
        self.shelf.take_or_warn(&self.folders, seq).await;
    }
}

impl Shelf {
    pub(crate) fn new(pod: WorkerId, background: Background) -> Self {
        Self {
            pod,
            background,
            written: Mutex::default(),
            running: AtomicUsize::default(),
            has_given_up: AtomicBool::default(),
        }
    }

    /// Whether something of the Pod may change files from now on.
    fn is_open(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0 || self.background.runs(&self.pod)
    }

    async fn take_or_warn(self: &Arc<Self>, folders: &Folders, seq: Seq) {
        if self.has_given_up.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.take(folders, seq).await {
            self.has_given_up.store(true, Ordering::Relaxed);
            tracing::warn!(%error, folder = %folders.cwd, "a snapshot of a Pod's files could not be taken");
        }
    }

    /// Takes a snapshot: afterwards everything that is there now is kept. In the order in which it is asked for.
    pub(crate) async fn take(self: &Arc<Self>, folders: &Folders, seq: Seq) -> Result<(), ApiError> {
        let (shelf, folders) = (self.clone(), folders.clone());
        // Not given up with the caller: the next one begins where this one ends.
        let taking = tokio::spawn(async move {
            let mut written = shelf.written.lock().await;
            let is_open = shelf.is_open();
            let before = written.take();
            let (kept, taken) = blocking(move || {
                let mut present = match before {
                    Some(present) => present,
                    None => Written::open(&folders.snapshots).map_err(|error| failed(&error))?,
                };
                let taken = present.take(&folders, seq, is_open);
                // What could not be written whole is read again.
                Ok((taken.is_ok().then_some(present), taken))
            })
            .await?;
            *written = kept;
            taken.map_err(|error| failed(&error))
        });
        taking.await.unwrap_or_else(|_| Err(crate::error::stopping()))
    }
}

fn failed(error: &io::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("the snapshot of the Pod's files was not written: {error}"))
}

/// The two files, open for writing, and what they say.
#[derive(Debug)]
struct Written {
    log: File,
    contents: Contents,
    tree: Tree,
    left_out: Vec<LeftOut>,
}

/// The kept contents.
#[derive(Debug)]
struct Contents {
    file: File,
    /// Where the next one begins.
    end: u64,
    /// Where those with this hash begin.
    known: HashMap<String, u64>,
    /// How many bytes the present snapshot may still add.
    room: u64,
}

impl Written {
    fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let open = |name| File::options().read(true).append(true).create(true).mode(0o600).open(folder.join(name));
        let (mut log, file) = (open("log")?, open("contents")?);
        let (snapshots, whole) = snapshots_in(&mut log)?;
        log.set_len(whole)?;
        let mut known = HashMap::new();
        for entry in snapshots.iter().flat_map(|snapshot| snapshot.changed.values()).flatten() {
            if let (Some(hash), Some(at)) = (&entry.hash, entry.kept_at) {
                known.insert(hash.clone(), at);
            }
        }
        let end = file.metadata()?.len();
        let chronicle = Chronicle::new(snapshots);
        let contents = Contents { file, end, known, room: 0 };
        Ok(Self { log, contents, tree: chronicle.latest(), left_out: chronicle.left_out() })
    }

    fn take(&mut self, folders: &Folders, seq: Seq, is_open: bool) -> io::Result<()> {
        self.contents.room = SNAPSHOT_BYTES_MAX;
        let found = look(&folders.cwd, &folders.scope, (&self.tree, &folders.also), &mut self.contents);
        let found = found.map_err(io::Error::other)?;
        let changed = differing(&self.tree, &found.tree).into_iter();
        let mut changed: BTreeMap<_, _> = changed.map(|(path, (_, now))| (path.to_owned(), now.cloned())).collect();
        // Who may read a file that is brought back is no change that anybody reviews, and is kept.
        let is_other = |path: &String, now: &Entry| self.tree.get(path).is_some_and(|before| before.mode != now.mode);
        let other_modes = found.tree.iter().filter(|(path, now)| is_other(path, now));
        changed.extend(other_modes.map(|(path, now)| (path.clone(), Some(now.clone()))));
        let left_out = (found.left_out != self.left_out).then(|| found.left_out.clone());
        let snapshot = Snapshot { seq, at: clock::now(), is_open, changed, left_out };
        let mut line = serde_json::to_vec(&snapshot)?;
        line.push(b'\n');
        self.log.write_all(&line)?;
        (self.tree, self.left_out) = (found.tree, found.left_out);
        Ok(())
    }
}

impl Keep for Contents {
    fn keep(&mut self, hash: &str, content: &[u8]) -> io::Result<Option<u64>> {
        if let Some(at) = self.known.get(hash) {
            return Ok(Some(*at));
        }
        let size = content.len() as u64;
        if size > self.room || self.end + size > KEPT_BYTES_MAX {
            return Ok(None);
        }
        let at = self.end;
        self.file.write_all(content)?;
        (self.end, self.room) = (at + size, self.room - size);
        self.known.insert(hash.to_owned(), at);
        Ok(Some(at))
    }
}

/// The snapshots in a log, and how many bytes of it they are.
fn snapshots_in(log: &mut File) -> io::Result<(Vec<Snapshot>, u64)> {
    let mut bytes = Vec::new();
    log.seek(SeekFrom::Start(0))?;
    log.read_to_end(&mut bytes)?;
    let (mut snapshots, mut whole) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // A line that was cut off by a kill, or is not of this version: what follows it cannot be read either.
        let Some(json) = line.strip_suffix(b"\n") else { break };
        let Ok(snapshot) = serde_json::from_slice(json) else { break };
        snapshots.push(snapshot);
        whole += line.len() as u64;
    }
    Ok((snapshots, whole))
}

/// A Pod's snapshots, for reading.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(super) chronicle: Chronicle,
    contents: Option<File>,
}

impl Archive {
    /// What was written until now; nothing if nothing was. Blocks.
    pub(crate) fn read(folder: &Path) -> Result<Self, ApiError> {
        let log = match File::open(folder.join("log")) {
            Ok(log) => log,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { chronicle: Chronicle::default(), contents: None });
            }
            Err(error) => return Err(unreadable(&error)),
        };
        let (snapshots, _) = snapshots_in(&mut { log }).map_err(|error| unreadable(&error))?;
        let contents = File::open(folder.join("contents")).ok();
        Ok(Self { chronicle: Chronicle::new(snapshots), contents })
    }

    /// What a file was; `None` if its content was not kept, or is damaged.
    pub(super) fn content(&self, entry: &Entry) -> Option<Content> {
        let (hash, at) = (entry.hash.as_ref()?, entry.kept_at?);
        let mut bytes = vec![0; usize::try_from(entry.size).ok()?];
        self.contents.as_ref()?.read_exact_at(&mut bytes, at).ok()?;
        (sha256(&bytes) == *hash).then_some(Content { bytes, is_executable: entry.is_executable, mode: entry.mode })
    }

    /// The kept file with this version.
    pub(super) fn find(&self, path: &str, version: &str) -> Option<Content> {
        let entry = self.chronicle.versions(path).find(|entry| entry.version() == version)?;
        self.content(entry)
    }
}

fn unreadable(error: &io::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("the snapshots of the Pod's files cannot be read: {error}"))
}

/// Removes the snapshots of Pods that are gone, as after a kill during a deletion.
pub(crate) async fn sweep(store: Store, all: PathBuf) {
    let listed = crate::heavy::blocking(move || {
        let folders = fs::read_dir(&all).into_iter().flatten().flatten();
        folders.map(|folder| folder.path()).collect::<Vec<_>>()
    });
    for folder in listed.await.unwrap_or_default() {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Ok(worker_id) = WorkerId::parse(name) else { continue };
        if matches!(store.pods().find(&worker_id).await, Ok(None))
            && let Err(error) = tokio::fs::remove_dir_all(&folder).await
        {
            tracing::warn!(%error, folder = %folder.display(), "the snapshots of a deleted Pod stay behind");
        }
    }
}
