//! The git repository that a Pod's folder is in: its branch, whether something is not committed, how far it is from its
//! upstream. For people alone; no model is told.
//!
//! A repository is hostile: its configuration may name programs for git to run (monitors, hooks, filters, transports),
//! and these would run here, outside of any sandbox. So git is only asked what runs none of them, with what could be run
//! switched off, and files are compared by a git folder of our own, whose configuration is ours: it lends the
//! repository's index and objects, and nothing else. Filters that a repository relies on (as for large files) do not run
//! either; a file that only they would call unchanged counts as changed.

mod branch;

use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{LazyLock, Mutex},
    time::{Duration, Instant},
};

use pod::PodSpec;
use protocol::{GitView, WorkerId};
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
    sync::{Notify, Semaphore},
    time::timeout,
};

pub(crate) use self::branch::{Former, SinceBranch, since_branch};

/// How long an answer is used again for whoever opens a Pod.
const FRESH_MAX: Duration = Duration::from_millis(250);
/// How long a caller waits; after that it gets the answer before, and the next caller the new one.
const WAIT_MAX: Duration = Duration::from_millis(400);
/// How long a caller waits if there is no answer before.
const FIRST_WAIT_MAX: Duration = Duration::from_secs(3);
/// How long one look may take. What is not known by then stays unknown.
const LOOK_MAX: Duration = Duration::from_secs(5);
/// How many folders are remembered.
const KNOWN_MAX: usize = 2_048;
/// How many folders wait to be looked at for a list.
const WANTED_MAX: usize = 256;
/// The most bytes that are read of one answer of git.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// How many hex digits of a commit are shown where no branch is checked out.
const SHORT_CHARS: usize = 8;

/// How many looks run at once in this process; further ones wait.
static LOOKS: Semaphore = Semaphore::const_new(2);
static KNOWN: LazyLock<Mutex<HashMap<Spot, Known>>> = LazyLock::new(Mutex::default);
/// Pods in lists whose folders nobody has looked at.
static WANTED: LazyLock<Mutex<BTreeSet<WorkerId>>> = LazyLock::new(Mutex::default);
static IS_WANTED: Notify = Notify::const_new();

/// A folder, and the branch that its work tree came from, which takes the place of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    cwd: String,
    from: Option<String>,
}

impl Spot {
    pub(crate) fn of(spec: &PodSpec) -> Self {
        Self { cwd: spec.cwd.clone(), from: spec.worktree.as_ref().and_then(|tree| tree.from.clone()) }
    }

    #[cfg(test)]
    pub(crate) fn at(cwd: &str) -> Self {
        Self { cwd: cwd.to_owned(), from: None }
    }
}

/// The newest answer about a folder.
#[derive(Debug, Clone)]
struct Known {
    at: Instant,
    /// How long it took to find out.
    took: Duration,
    /// Something has happened there since.
    is_old: bool,
    view: Option<GitView>,
}

impl Known {
    fn is_fresh(&self) -> bool {
        !self.is_old && self.at.elapsed() < FRESH_MAX
    }
}

/// The state of the repository around this folder; `None` if there is none, or none that can be read in time.
pub(crate) async fn state_of(spot: &Spot) -> Option<GitView> {
    let before = known(spot);
    if let Some(known) = before.as_ref().filter(|known| known.is_fresh()) {
        return known.view.clone();
    }
    let spot = spot.clone();
    // Goes on when nobody waits any more, for the next one who asks.
    let looking = tokio::spawn(async move { looked(spot, Known::is_fresh).await });
    let wait_max = if before.is_some() { WAIT_MAX } else { FIRST_WAIT_MAX };
    match timeout(wait_max, looking).await {
        Ok(looked) => looked.ok().flatten(),
        Err(_) => before.and_then(|known| known.view),
    }
}

/// Looks, unless somebody else has meanwhile.
async fn looked(spot: Spot, is_enough: impl Fn(&Known) -> bool) -> Option<GitView> {
    let _permit = LOOKS.acquire().await.ok()?;
    if let Some(known) = known(&spot).filter(is_enough) {
        return known.view;
    }
    let at = Instant::now();
    let view = timeout(LOOK_MAX, look(Path::new(&spot.cwd), spot.from.as_deref())).await.ok().flatten();
    remember(spot, Known { at, took: at.elapsed(), is_old: false, view: view.clone() });
    view
}

/// What is known for a list, without looking. If nothing is, somebody looks soon ([`watch`]).
pub(crate) fn listed(spec: &PodSpec, worker_id: &WorkerId) -> Option<GitView> {
    let Some(known) = known(&Spot::of(spec)) else {
        let mut wanted = WANTED.lock().expect("no holder of what is wanted panics");
        if wanted.len() < WANTED_MAX && wanted.insert(worker_id.clone()) {
            IS_WANTED.notify_one();
        }
        return None;
    };
    known.view.map(|view| owned(view, spec))
}

/// With what is known of the Pod's own work tree.
pub(crate) fn owned(view: GitView, spec: &PodSpec) -> GitView {
    let tree = spec.worktree.as_ref();
    GitView { worktree: tree.map(|tree| tree.path.clone()), from: tree.and_then(|tree| tree.from.clone()), ..view }
}

/// Says that something has happened in a Pod's folder: what is known of it is shown until somebody looks again.
pub(crate) fn touched(spec: &PodSpec) {
    let mut known = KNOWN.lock().expect("no holder of what is known panics");
    known.get_mut(&Spot::of(spec)).into_iter().for_each(|known| known.is_old = true);
}

/// Waits until a list has shown a Pod whose folder nobody has looked at. Cancel safe.
pub(crate) async fn is_wanted() {
    IS_WANTED.notified().await;
}

/// Takes those Pods.
pub(crate) fn wanted() -> BTreeSet<WorkerId> {
    std::mem::take(&mut *WANTED.lock().expect("no holder of what is wanted panics"))
}

/// How long to wait before the next look at a folder: at least `least` from one to the next, ten times as long as a look
/// takes. `None`: not at all.
pub(crate) fn pause(spot: &Spot, least: Duration) -> Option<Duration> {
    let known = known(spot)?;
    least.max(known.took * 10).checked_sub(known.at.elapsed())
}

/// Looks, however fresh the last answer is. Returns true if the answer is another one.
pub(crate) async fn looked_again(spot: Spot) -> bool {
    let before = known(&spot).and_then(|known| known.view);
    looked(spot, |_| false).await != before
}

fn known(spot: &Spot) -> Option<Known> {
    KNOWN.lock().expect("no holder of what is known panics").get(spot).cloned()
}

fn remember(spot: Spot, now: Known) {
    let mut known = KNOWN.lock().expect("no holder of what is known panics");
    if known.len() >= KNOWN_MAX && !known.contains_key(&spot) {
        let oldest = known.iter().min_by_key(|(_, known)| known.at).map(|(spot, _)| spot.clone());
        oldest.and_then(|oldest| known.remove(&oldest));
    }
    known.insert(spot, now);
}

async fn look(cwd: &Path, from: Option<&str>) -> Option<GitView> {
    let inside = cwd.to_owned();
    // Nearly always there is no repository, and then no program has to be started.
    let is_inside = crate::heavy::blocking(move || inside.ancestors().any(|folder| folder.join(".git").exists()));
    if !is_inside.await.unwrap_or(false) {
        return None;
    }
    let repository = Repository::around(cwd).await?;
    let head = repository.head().await?;
    let dirty = repository.is_dirty(head.commit.as_deref()).await?;
    // Where nothing can differ, nothing is counted.
    let lines = branch::lines_since(&repository, from).await.unwrap_or_default();
    let (ahead, behind) = match repository.distance(head.branch.as_deref()).await {
        Some(distance) => distance,
        None => repository.distance_from(from).await.unwrap_or_default(),
    };
    let branch = match (&head.branch, &head.commit) {
        (Some(branch), _) => branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned(),
        (None, commit) => commit.as_deref()?.chars().take(SHORT_CHARS).collect(),
    };
    let repository = repository.name();
    Some(GitView {
        branch,
        dirty,
        ahead,
        behind,
        added: lines.added,
        removed: lines.removed,
        worktree: None,
        from: None,
        repository,
    })
}

/// A repository, as it is seen from one of its work trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    pub(crate) top: PathBuf,
    pub(crate) git_folder: PathBuf,
    /// The same, unless this is one of several worktrees.
    pub(crate) common_folder: PathBuf,
}

/// What is checked out.
struct Head {
    /// Its full name; `None` if no branch is checked out.
    branch: Option<String>,
    /// `None` before the first commit.
    commit: Option<String>,
}

impl Repository {
    /// The repository that this folder is in; `None` if it is in none that this account may use.
    pub(crate) async fn around(cwd: &Path) -> Option<Self> {
        let asked = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let told = told(git(cwd).args(asked)).await?;
        let [top, git_folder, common_folder] = told.lines().collect::<Vec<_>>().try_into().ok()?;
        let (top, git_folder) = (PathBuf::from(top), PathBuf::from(git_folder));
        Some(Self { top, git_folder, common_folder: common_folder.into() })
    }

    /// The folder of its first work tree or, if it has none, its git folder.
    pub(crate) fn main_folder(&self) -> &Path {
        match self.common_folder.file_name() {
            Some(name) if name == ".git" => self.common_folder.parent().unwrap_or(&self.common_folder),
            // A submodule, or a git folder elsewhere.
            _ if self.common_folder == self.git_folder => &self.top,
            _ => &self.common_folder,
        }
    }

    fn name(&self) -> String {
        self.main_folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    async fn head(&self) -> Option<Head> {
        let branch = told(git(&self.top).args(["symbolic-ref", "--quiet", "HEAD"])).await;
        let commit = told(git(&self.top).args(["rev-parse", "--quiet", "--verify", "HEAD"])).await;
        let commit = commit.map(|text| text.trim().to_owned()).filter(|text| is_commit(text));
        let branch = branch.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        (branch.is_some() || commit.is_some()).then_some(Head { branch, commit })
    }

    /// How many commits the branch is ahead of its upstream, and behind it. `None` if it has none.
    async fn distance(&self, branch: Option<&str>) -> Option<(u32, u32)> {
        let format = "--format=%(refname) %(upstream) %(upstream:track,nobracket)";
        let told = told(git(&self.top).args(["for-each-ref", format, branch?])).await?;
        let tracked = told.lines().find_map(|line| line.strip_prefix(branch?)?.strip_prefix(' '))?;
        let (upstream, tracked) = tracked.split_once(' ').unwrap_or((tracked, ""));
        if upstream.is_empty() || tracked.trim() == "gone" {
            return None;
        }
        let count = |word: &str| {
            let part = tracked.split(", ").find_map(|part| part.trim().strip_prefix(word));
            part.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
        };
        Some((count("ahead "), count("behind ")))
    }

    /// The same for what is checked out and the branch that it came from.
    async fn distance_from(&self, from: Option<&str>) -> Option<(u32, u32)> {
        let range = format!("HEAD...refs/heads/{}", from?);
        let told = told(git(&self.top).args(["rev-list", "--left-right", "--count", &range, "--"])).await?;
        let (ahead, behind) = told.trim().split_once('\t')?;
        Some((ahead.parse().ok()?, behind.parse().ok()?))
    }

    /// Whether `git status` would name a file.
    async fn is_dirty(&self, commit: Option<&str>) -> Option<bool> {
        let commit = commit.map(str::to_owned);
        let lent = crate::heavy::blocking(move || Lent::make(commit.as_deref())).await.ok()?.ok()?;
        let excludes = self.common_folder.join("info/exclude");
        let mut status = git(&self.top);
        status
            .arg("-c")
            .arg(format!("core.excludesFile={}", excludes.to_str()?))
            .arg(format!("--git-dir={}", lent.0.to_str()?))
            .arg(format!("--work-tree={}", self.top.to_str()?))
            .args(["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames"])
            .env("GIT_INDEX_FILE", self.git_folder.join("index"))
            .env("GIT_OBJECT_DIRECTORY", self.common_folder.join("objects"));
        let mut child = status.spawn().ok()?;
        let mut first = [0];
        match child.stdout.as_mut()?.read(&mut first).await.ok()? {
            0 => child.wait().await.ok()?.success().then_some(false),
            _ => Some(true),
        }
    }
}

/// A git folder of our own for one look, with our own configuration; it is removed when this is dropped.
struct Lent(PathBuf);

impl Lent {
    fn make(commit: Option<&str>) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("yoi-look-{}", uuid::Uuid::new_v4()));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let lent = Self(folder);
        let format = if commit.is_some_and(|commit| commit.len() == 64) { "sha256" } else { "sha1" };
        let config = format!("[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = {format}\n");
        fs::create_dir(lent.0.join("refs"))?;
        fs::create_dir(lent.0.join("objects"))?;
        fs::write(lent.0.join("config"), config)?;
        fs::write(lent.0.join("HEAD"), format!("{}\n", commit.unwrap_or("ref: refs/heads/none")))?;
        Ok(lent)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a folder for looking at a repository stays behind");
        }
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Git in this folder, as far as it can be trusted there.
fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        // Objects that are missing here are not fetched, by no transport.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .arg("-C")
        .arg(folder)
        .arg("--no-pager");
    let off = [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.untrackedCache=false",
        "safe.bareRepository=explicit",
    ];
    for setting in off {
        git.args(["-c", setting]);
    }
    git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    git
}

/// What it says; `None` if it fails, or says too much.
async fn told(command: &mut Command) -> Option<String> {
    let mut child: Child = command.spawn().ok()?;
    let mut said = String::new();
    child.stdout.take()?.take(ANSWER_BYTES_MAX).read_to_string(&mut said).await.ok()?;
    child.wait().await.ok()?.success().then_some(said)
}

#[cfg(test)]
mod tests;
