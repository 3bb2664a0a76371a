//! Making a work tree for a new Pod: beside the repository's folder, in `FOLDER.worktrees/BRANCH`.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use pod::{Scope, WorkTree};
use protocol::{Access, ApiError, ErrorCode, PodName, ScopeRule, WorktreeOptions};
use tools::git::{GitCall, GitFailure};

use super::{Trees, failed, full_name, names, remove::Branch};
use crate::git::Repository;

/// How long writing all files of a commit may take.
const CHECKOUT_MAX: Duration = Duration::from_secs(120);
/// How many names are tried for a branch.
const NAMES_TRIED_MAX: usize = 1_000;
const FROM_BYTES_MAX: usize = 1_024;

/// A work tree that was made, and where in it the Pod works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grown {
    pub(crate) tree: WorkTree,
    pub(crate) cwd: String,
    /// The folder that the repository is checked out in where the Pod was to work.
    top: PathBuf,
}

impl Trees {
    /// Makes a work tree for a Pod that was to work in `cwd`, an absolute canonical path. If it fails, nothing is left
    /// behind.
    ///
    /// # Errors
    /// `no_repository`, `name_taken` for the branch, and `invalid_input` for everything else that was asked for and
    /// cannot be.
    pub(crate) async fn grow(&self, cwd: &str, name: &PodName, wish: &WorktreeOptions) -> Result<Grown, ApiError> {
        let repository = Repository::around(Path::new(cwd)).await.ok_or_else(|| {
            let sentence = format!(
                "{cwd} is in no git repository that this server's account may use, so it cannot have a work tree; \
                 choose a folder in one, or create the Pod without `worktree`"
            );
            ApiError::new(ErrorCode::NoRepository, sentence)
        })?;
        let repository = canonical(repository)?;
        let within = Path::new(cwd).strip_prefix(&repository.top).map(Path::to_owned).unwrap_or_default();
        let _turn = self.turns.with_repository(&repository.common_folder).await;
        let growing = Growing { trees: self, repository };
        let (start, from) = growing.start(wish.from.as_deref()).await?;
        let branch = growing.branch(name, wish.branch.as_deref()).await?;
        growing.grow(&branch, start, from, &within).await
    }

    /// Removes a work tree that was made a moment ago for a Pod that could not be created.
    pub(crate) async fn undo(&self, grown: &Grown) {
        let _turn = self.turns.with_repository(Path::new(&grown.tree.common)).await;
        if let Err(error) = self.remove(&grown.tree, Branch::Removed { seen: None }).await {
            tracing::warn!(%error, path = grown.tree.path, "a work tree for a Pod that was not created stays behind");
        }
    }
}

impl Grown {
    /// Rules for folders of the repository as it is checked out elsewhere mean the work tree; what is denied there
    /// stays denied.
    pub(crate) fn moved(&self, rules: Vec<ScopeRule>) -> Vec<ScopeRule> {
        let moved = |rule: &ScopeRule| {
            let within = Path::new(&rule.path).strip_prefix(&self.top).ok()?;
            let path = Path::new(&self.tree.path).join(within);
            // Joining an empty path adds a slash.
            let path = path.to_str()?.trim_end_matches('/').to_owned();
            Some(ScopeRule { path, ..rule.clone() })
        };
        let both = rules.into_iter().flat_map(|rule| match moved(&rule) {
            Some(moved) if rule.access == Access::Deny => vec![moved, rule],
            Some(moved) => vec![moved],
            None => vec![rule],
        });
        both.collect()
    }
}

/// The repository that a work tree is made from.
struct Growing<'a> {
    trees: &'a Trees,
    repository: Repository,
}

impl Growing<'_> {
    fn top(&self) -> &Path {
        &self.repository.top
    }

    fn reading(&self) -> Scope {
        self.trees.scope(&[], &[self.top(), &self.repository.common_folder])
    }

    /// The commit to begin with, and the branch that it is the end of.
    async fn start(&self, from: Option<&str>) -> Result<(String, Option<String>), ApiError> {
        let named = from.unwrap_or("HEAD");
        let is_odd = named.is_empty() || named.starts_with('-') || named.contains(char::is_control);
        if is_odd || named.len() > FROM_BYTES_MAX {
            return Err(ApiError::invalid("`from` of a work tree names a branch, a tag or a commit"));
        }
        let scope = self.reading();
        let Some(start) = self.trees.commit_of(self.top(), &scope, named).await? else {
            return Err(ApiError::invalid(match from {
                Some(from) => {
                    format!("the repository in {} has no branch, tag or commit {from}", self.top().display())
                }
                None => format!(
                    "the repository in {} has no commit yet, so a work tree has nothing to begin with; commit something \
                     first",
                    self.top().display()
                ),
            }));
        };
        // A name that is a tag and a branch is the tag for git; only a branch can be merged into.
        let branch = self.trees.branch_of(self.top(), &scope, named).await?;
        Ok((start, branch))
    }

    /// The name of the new branch.
    async fn branch(&self, name: &PodName, wish: Option<&str>) -> Result<String, ApiError> {
        let words = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"];
        let told = self.trees.git.told(GitCall::new(self.top(), self.reading(), words)).await;
        let told = told.map_err(failed("the branches could not be read"))?;
        let others: Vec<_> = String::from_utf8_lossy(&told).lines().map(str::to_owned).collect();
        if let Some(wish) = wish {
            return match names::refusal(wish) {
                Some(why) => {
                    let shown: String = wish.chars().filter(|shown| !shown.is_control()).take(100).collect();
                    Err(ApiError::invalid(format!("\"{shown}\" is not a valid branch name: {why}")))
                }
                None if names::is_taken(wish, &others) => Err(taken(wish)),
                None => Ok(wish.to_owned()),
            };
        }
        let free = |branch: &String| {
            let place = self.place(branch);
            !names::is_taken(branch, &others) && place.symlink_metadata().is_err()
        };
        let free = names::of_pod(name).take(NAMES_TRIED_MAX).find(free);
        free.ok_or_else(|| ApiError::invalid("too many branches are named after this Pod; name one with `branch`"))
    }

    /// The folder of all work trees.
    fn place_of_all(&self) -> PathBuf {
        let mut place = self.repository.main_folder().as_os_str().to_owned();
        place.push(".worktrees");
        PathBuf::from(place)
    }

    fn place(&self, branch: &str) -> PathBuf {
        self.place_of_all().join(names::folder(branch))
    }

    async fn grow(&self, branch: &str, start: String, from: Option<String>, within: &Path) -> Result<Grown, ApiError> {
        let all = self.place_of_all();
        let is_new = make_folder(&all)?;
        let growing = async {
            self.make_branch(branch, &start).await?;
            let grown = self.grow_on(branch, start.clone(), from, within).await;
            if grown.is_err() {
                self.clear_branch(branch, &start).await;
            }
            grown
        };
        let grown = growing.await;
        if grown.is_err() && is_new {
            let _ = fs::remove_dir(&all);
        }
        grown
    }

    /// The same on a branch that was made for it.
    async fn grow_on(
        &self,
        branch: &str,
        start: String,
        from: Option<String>,
        within: &Path,
    ) -> Result<Grown, ApiError> {
        let path = self.new_place(branch)?;
        let growing = async {
            let own = self.make(&path, branch).await?;
            let tree = self.described(&path, branch, start, from, &own)?;
            self.check_out(&tree).await?;
            let cwd = folder_in(&path, within)?;
            Ok(Grown { tree, cwd, top: self.top().to_owned() })
        };
        let grown = growing.await;
        if grown.is_err() {
            self.clear_tree(&path).await;
        }
        grown
    }

    fn scope(&self) -> Scope {
        self.trees.scope(&[&self.repository.common_folder, &self.place_of_all()], &[self.top()])
    }

    /// Makes the branch, unless there is one of this name: then it is somebody else's.
    async fn make_branch(&self, branch: &str, start: &str) -> Result<(), ApiError> {
        let (name, reason) = (full_name(branch), format!("branch: Created from {start}"));
        // Nothing as the former commit: there must be none.
        let words = ["update-ref", "-m", &reason, &name, start, ""];
        match self.trees.git.told(GitCall::new(self.top(), self.scope(), words)).await {
            Ok(_) => Ok(()),
            Err(GitFailure::Refused { words, .. })
                if words.contains("already exists") || words.contains("' exists;") =>
            {
                Err(taken(branch))
            }
            Err(failure) => Err(failed("the branch could not be made")(failure)),
        }
    }

    /// Makes the folder. The branch is new, but its folder may be left from another one.
    fn new_place(&self, branch: &str) -> Result<PathBuf, ApiError> {
        let others = (2..=NAMES_TRIED_MAX).map(|number| self.place(&format!("{branch}-{number}")));
        for place in std::iter::once(self.place(branch)).chain(others) {
            match fs::create_dir(&place) {
                Ok(()) => return Ok(place),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => {
                    let sentence = format!("the folder {} cannot be made: {error}", place.display());
                    return Err(ApiError::invalid(sentence));
                }
            }
        }
        Err(ApiError::invalid("too many folders are named after this branch; name another one with `branch`"))
    }

    /// Has git make it in an empty folder, with a branch that is there. Returns the work tree's own part of the git
    /// folder.
    async fn make(&self, path: &Path, branch: &str) -> Result<PathBuf, ApiError> {
        let text = text(path)?;
        let words = ["worktree", "add", "--quiet", "--no-checkout", "--", &text, branch];
        let told = self.trees.git.told(GitCall::new(self.top(), self.scope(), words)).await;
        told.map_err(failed("the work tree could not be made"))?;
        let made = Repository::around(path).await.map(canonical).transpose()?;
        let own = made.map(|made| made.git_folder);
        let is_own = |own: &PathBuf| own.starts_with(self.repository.common_folder.join("worktrees"));
        let own = own.filter(is_own).ok_or_else(|| ApiError::invalid("the new work tree cannot be read"))?;
        // Settings that only this work tree has: while the file exists, commands in there cannot make it.
        match OpenOptions::new().write(true).create_new(true).open(own.join("config.worktree")) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(ApiError::invalid(format!("the work tree's settings could not be closed: {error}")))
            }
            _ => Ok(own),
        }
    }

    /// Writes the files. Filters that the repository names run within the same bounds as the Pod's commands.
    async fn check_out(&self, tree: &WorkTree) -> Result<(), ApiError> {
        let call = GitCall::new(&tree.path, self.trees.working(tree), ["reset", "--hard", "--quiet"]);
        let told = self.trees.git.told(call.within(CHECKOUT_MAX)).await;
        told.map(drop).map_err(failed("the files of the work tree could not be written"))
    }

    fn described(
        &self,
        path: &Path,
        branch: &str,
        start: String,
        from: Option<String>,
        own: &Path,
    ) -> Result<WorkTree, ApiError> {
        Ok(WorkTree {
            path: text(path)?,
            branch: branch.to_owned(),
            from,
            start,
            common: text(&self.repository.common_folder)?,
            own: text(own)?,
        })
    }

    /// Removes a folder that was made here, and its part of the git folder.
    async fn clear_tree(&self, path: &Path) {
        let made = Repository::around(path).await.filter(|made| made.top == path);
        let own = made.map(|made| made.git_folder);
        let _ = self.trees.git.remove(path).await;
        let worktrees = self.repository.common_folder.join("worktrees");
        if let Some(own) = own.filter(|own| own.parent() == Some(&worktrees)) {
            let _ = self.trees.git.remove(&own).await;
            let _ = fs::remove_dir(&worktrees);
        }
    }

    /// Removes a branch that was made here, if it is still as it was made.
    async fn clear_branch(&self, branch: &str, start: &str) {
        let name = full_name(branch);
        let _ = self.trees.git.told(GitCall::new(self.top(), self.scope(), ["update-ref", "-d", &name, start])).await;
    }
}

/// The folder within a work tree in which the Pod is to work.
fn folder_in(path: &Path, within: &Path) -> Result<String, ApiError> {
    let folder = if within.as_os_str().is_empty() { path.to_owned() } else { path.join(within) };
    match folder.canonicalize() {
        Ok(cwd) if cwd.starts_with(path) && cwd.is_dir() => text(&cwd),
        _ => {
            let sentence =
                format!("the folder {} is not in the commit that the work tree begins with", within.display());
            Err(ApiError::invalid(sentence))
        }
    }
}

fn text(path: &Path) -> Result<String, ApiError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| ApiError::invalid("the path of the repository has to be valid UTF-8"))
}

fn taken(branch: &str) -> ApiError {
    let sentence = format!("a branch like {branch} exists already in this repository; name another one with `branch`");
    ApiError::new(ErrorCode::NameTaken, sentence)
}

fn canonical(repository: Repository) -> Result<Repository, ApiError> {
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|error| ApiError::invalid(format!("{} cannot be inspected: {error}", path.display())))
    };
    let Repository { top, git_folder, common_folder } = &repository;
    Ok(Repository { top: real(top)?, git_folder: real(git_folder)?, common_folder: real(common_folder)? })
}

/// Makes the folder, unless it exists. Returns whether it is new.
fn make_folder(folder: &Path) -> Result<bool, ApiError> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(_) if folder.symlink_metadata().is_ok_and(|there| there.is_dir()) => Ok(false),
        Err(error) => {
            let sentence = format!("work trees are in {}, which cannot be made: {error}", folder.display());
            Err(ApiError::invalid(sentence))
        }
    }
}
