//! Removing a work tree with its branch, and what would be lost by it. The branch stays if it is checked out elsewhere:
//! whoever works there would be left without it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pod::WorkTree;
use protocol::{ApiError, ErrorCode};
use tools::git::{GitCall, GitFailure, parts};

use super::{Trees, about, failed, full_name, path_of, some};

/// How many commits are looked at.
const COMMITS_MAX: usize = 100;

/// What exists nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// Each as its short id and its subject, newest first.
    pub(crate) commits: Vec<String>,
    /// Files that are not committed; what git ignores does not count.
    pub(crate) files: Vec<String>,
    /// The commit that the branch was at when this was found out.
    seen: Option<String>,
}

/// What became of a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Discarded {
    /// It stays, because this would be lost.
    Not(Losses),
    /// It is gone. Its branch as well, unless it is checked out in another folder, too.
    Yes { kept_in: Option<PathBuf> },
}

/// What becomes of a work tree's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Branch {
    Kept,
    /// `seen`: only if it is still at this commit.
    Removed {
        seen: Option<String>,
    },
}

impl Losses {
    pub(crate) fn is_none(&self) -> bool {
        self.commits.is_empty() && self.files.is_empty()
    }

    /// `2 commits (1a2b3c4 Round refunds, …) and 3 files not committed (a, b, c)`.
    pub(crate) fn words(&self) -> String {
        let count = |list: &[String], word: &str| {
            let plural = if list.len() == 1 { "" } else { "s" };
            let most = if list.len() >= COMMITS_MAX { "at least " } else { "" };
            format!("{most}{} {word}{plural}", list.len())
        };
        let commits = (!self.commits.is_empty())
            .then(|| format!("{} on no other branch ({})", count(&self.commits, "commit"), some(&self.commits)));
        let files = (!self.files.is_empty())
            .then(|| format!("{} not committed ({})", count(&self.files, "file"), some(&self.files)));
        commits.into_iter().chain(files).collect::<Vec<_>>().join(" and ")
    }

    pub(crate) fn error(self, tree: &WorkTree) -> ApiError {
        let sentence = format!(
            "removing the work tree of {} would lose {}; merge or commit first, or send `force` to remove it nevertheless",
            tree.branch,
            self.words()
        );
        about(ErrorCode::NotMerged, sentence, self.files)
    }
}

impl Trees {
    /// Removes the work tree and its branch, unless something would be lost with them and `is_forced` is not set.
    pub(crate) async fn discard(&self, tree: &WorkTree, is_forced: bool) -> Result<Discarded, ApiError> {
        let common = Path::new(&tree.common);
        let _turn = self.turns.with_repository(common).await;
        let places = self.places_of(common, &self.scope(&[], &[common]), &tree.branch).await?;
        let kept_in = places.into_iter().find(|place| *place != path_of(tree));
        let losses = if is_forced { Losses::default() } else { self.losses(tree, kept_in.is_some()).await? };
        if !losses.is_none() {
            return Ok(Discarded::Not(losses));
        }
        let branch = if kept_in.is_some() { Branch::Kept } else { Branch::Removed { seen: losses.seen } };
        self.remove(tree, branch).await?;
        Ok(Discarded::Yes { kept_in })
    }

    /// What would be lost with the work tree and its branch, or without the branch if that is kept. Nothing, if both are
    /// gone already.
    async fn losses(&self, tree: &WorkTree, is_kept: bool) -> Result<Losses, ApiError> {
        let is_there = path_of(tree).join(".git").is_file();
        let (cwd, files) = match is_there {
            true => {
                let path = path_of(tree);
                (path.clone(), self.not_committed(&path, &self.reading(tree), "all").await?)
            }
            false => (Path::new(&tree.common).to_owned(), Vec::new()),
        };
        let (name, scope) = (full_name(&tree.branch), self.reading(tree));
        let seen = self.commit_of(&cwd, &scope, &name).await?;
        let heads = [is_there.then_some("HEAD"), seen.is_some().then_some(name.as_str())];
        let heads: Vec<&str> = heads.into_iter().flatten().collect();
        if heads.is_empty() {
            return Ok(Losses { files, ..Losses::default() });
        }
        let (most, own) = (format!("--max-count={COMMITS_MAX}"), format!("--exclude={}", tree.branch));
        let words = ["log", "-z", "--format=%h %s", &most].into_iter().chain(heads).chain(["--not"]);
        let others = (!is_kept).then_some(own.as_str()).into_iter().chain(["--branches", "--tags", "--remotes", "--"]);
        let told = self.git.told(GitCall::new(cwd, scope, words.chain(others))).await;
        let told = told.map_err(failed("the commits could not be compared"))?;
        Ok(Losses { commits: parts(&told), files, seen })
    }

    /// Removes the work tree, and the branch that was made for it unless that is kept, whatever is lost. What is gone
    /// already does not matter, so a repeat ends what a crash interrupted.
    pub(super) async fn remove(&self, tree: &WorkTree, branch: Branch) -> Result<(), ApiError> {
        let removed = |failure: GitFailure| failed("the work tree could not be removed whole")(failure);
        self.git.remove(Path::new(&tree.path)).await.map_err(removed)?;
        self.git.remove(Path::new(&tree.own)).await.map_err(removed)?;
        // Only if it is empty.
        let parents = [&tree.path, &tree.own].map(|path| Path::new(path).parent());
        parents.into_iter().flatten().for_each(|parent| drop(fs::remove_dir(parent)));
        let Branch::Removed { seen } = branch else { return Ok(()) };
        let common = Path::new(&tree.common);
        let (scope, name) = (self.scope(&[common], &[]), full_name(&tree.branch));
        let Some(now) = self.commit_of(common, &scope, &name).await? else { return Ok(()) };
        let call = GitCall::new(common, scope, ["update-ref", "-d", &name, &seen.unwrap_or(now)]);
        self.git.told(call).await.map(drop).map_err(failed("the branch could not be removed"))
    }
}
