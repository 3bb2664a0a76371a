//! Git work trees of Pods: how one is made, merged and removed, and how what is in it is committed. What a person asks
//! for; a Pod's own commands use git themselves.
//!
//! Everything that changes a repository runs in a sandbox with just the folders that it needs (`tools::git`), and one
//! after the other: what is found out before a change is still so when it is made. Nothing is known here of Pods besides
//! their settings.

mod commit;
mod grow;
mod merge;
mod names;
mod remove;
mod turns;

use std::path::{Path, PathBuf};

use pod::{Scope, WorkTree};
use protocol::{Access, ApiError, ErrorCode, PodName, ScopeRule};
use tools::git::{Git, GitCall, GitFailure, parts};

use self::turns::{Turn, Turns};
pub(crate) use self::{grow::Grown, remove::Discarded};

/// At most this many paths are in an error.
const PATHS_MAX: usize = 100;
/// The most bytes of a list of files.
const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Git, and what it never touches.
#[derive(Debug)]
pub(crate) struct Trees {
    git: Git,
    /// yoi's own files.
    hidden: Vec<String>,
    turns: Turns,
}

impl Trees {
    /// `hidden`: what git never touches.
    pub(crate) fn new(git: Git, hidden: Vec<String>) -> Self {
        Self { git, hidden, turns: Turns::default() }
    }

    /// The turn to create a Pod of this name with a work tree: of two at once, the second one finds the name taken
    /// before anything is made.
    pub(crate) async fn turn_of(&self, name: &PodName) -> Turn {
        self.turns.take(format!("pod {name}")).await
    }

    /// What git may touch for one task: these folders with everything beneath them.
    fn scope(&self, writes: &[&Path], reads: &[&Path]) -> Scope {
        let rule = |path: &Path, access| {
            let path = path.to_str()?.to_owned();
            Some(ScopeRule { path, access, recursive: true })
        };
        let hidden = self.hidden.iter().filter_map(|path| rule(Path::new(path), Access::Deny));
        let writes = writes.iter().filter_map(|path| rule(path, Access::Write));
        let reads = reads.iter().filter_map(|path| rule(path, Access::Read));
        Scope::new(writes.chain(reads).chain(hidden), [])
    }

    /// What git may touch to read a work tree.
    fn reading(&self, tree: &WorkTree) -> Scope {
        self.scope(&[], &[Path::new(&tree.path), Path::new(&tree.common)])
    }

    /// What git may touch to work in a work tree: the same as a command in there.
    fn working(&self, tree: &WorkTree) -> Scope {
        self.scope(&[Path::new(&tree.path)], &[]).with_work_tree(Some(tree.clone()))
    }

    /// The commit that something names, as a full id; `None` if it names none.
    async fn commit_of(&self, cwd: &Path, scope: &Scope, named: &str) -> Result<Option<String>, ApiError> {
        let named = format!("{named}^{{commit}}");
        let call = GitCall::new(cwd, scope.clone(), ["rev-parse", "--verify", "--quiet", "--end-of-options", &named]);
        match self.git.line(call).await {
            Ok(line) => Ok(line.lines().last().map(str::to_owned)),
            Err(GitFailure::Refused { .. }) => Ok(None),
            Err(failure) => Err(unrun(failure)),
        }
    }

    /// The branch that something names, without `refs/heads/`; `None` if that is no branch.
    async fn branch_of(&self, cwd: &Path, scope: &Scope, named: &str) -> Result<Option<String>, ApiError> {
        let words = ["rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", named];
        match self.git.line(GitCall::new(cwd, scope.clone(), words)).await {
            Ok(line) => {
                let name = line.lines().last().and_then(|line| line.strip_prefix("refs/heads/"));
                Ok(name.map(str::to_owned))
            }
            Err(GitFailure::Refused { .. }) => Ok(None),
            Err(failure) => Err(unrun(failure)),
        }
    }

    /// The folders in which a branch is checked out. One that is gone does not count, unless it is locked: then it may
    /// come back.
    async fn places_of(&self, cwd: &Path, scope: &Scope, branch: &str) -> Result<Vec<PathBuf>, ApiError> {
        let call = GitCall::new(cwd, scope.clone(), ["worktree", "list", "--porcelain", "-z"]);
        let told = self.git.told(call).await.map_err(failed("the work trees could not be listed"))?;
        let (lines, wanted) = (parts(&told), format!("branch {}", full_name(branch)));
        let place = |lines: &[String]| {
            let folder = PathBuf::from(lines.first()?.strip_prefix("worktree ")?);
            let is_locked = lines.iter().any(|line| line == "locked" || line.starts_with("locked "));
            (lines.contains(&wanted) && (is_locked || folder.is_dir())).then_some(folder)
        };
        Ok(lines.chunk_by(|_, next| !next.starts_with("worktree ")).filter_map(place).collect())
    }

    /// The files that are not committed in a work tree, relative to its top.
    async fn not_committed(&self, top: &Path, scope: &Scope, untracked: &str) -> Result<Vec<String>, ApiError> {
        let untracked = format!("--untracked-files={untracked}");
        let words = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=none", &untracked];
        let told = self.git.told(GitCall::new(top, scope.clone(), words).at_most(LIST_BYTES_MAX)).await;
        let told = told.map_err(failed("the state of the work tree could not be read"))?;
        // Two letters and a space come before each path.
        Ok(parts(&told).iter().filter_map(|part| part.get(3..)).map(str::to_owned).collect())
    }
}

/// For a failure that the caller has no other words for.
fn failed(what: &str) -> impl FnOnce(GitFailure) -> ApiError {
    let what = what.to_owned();
    move |failure| match failure {
        GitFailure::Refused { words, .. } => ApiError::invalid(format!("{what}: git says: {words}")),
        unrun_failure => unrun(unrun_failure),
    }
}

/// Git was not run to its end.
fn unrun(failure: GitFailure) -> ApiError {
    let code = match &failure {
        GitFailure::Unrun(tools::bash::Unrun::Late(_)) => ErrorCode::Timeout,
        GitFailure::Unrun(tools::bash::Unrun::TooMuch(_)) => ErrorCode::PayloadTooLarge,
        _ => ErrorCode::RuntimeUnavailable,
    };
    ApiError::new(code, format!("{failure}; nothing was changed"))
}

/// An error about files, with the first of them.
fn about(code: ErrorCode, detail: String, mut paths: Vec<String>) -> ApiError {
    paths.truncate(PATHS_MAX);
    ApiError::new(code, detail).with_paths(paths)
}

/// `a, b and 3 more`.
fn some(paths: &[String]) -> String {
    const SHOWN_MAX: usize = 3;
    let shown = paths.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn full_name(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn path_of(tree: &WorkTree) -> PathBuf {
    PathBuf::from(&tree.path)
}
