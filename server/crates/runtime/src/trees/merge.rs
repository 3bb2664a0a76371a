//! Merging a Pod's branch into another one. The result is made without touching any file, and only then the other branch
//! moves to it: so a conflict leaves nothing half done.

use std::path::{Path, PathBuf};

use pod::WorkTree;
use protocol::{ApiError, ErrorCode, WorktreeAnswer, WorktreeDone};
use tools::git::{GitCall, GitFailure, parts};

use super::{Trees, about, failed, full_name, path_of, some, unrun};

/// How many characters of a commit's id stand for it.
const SHORT_CHARS: usize = 8;

/// What is merged into what.
struct Merge<'a> {
    trees: &'a Trees,
    tree: &'a WorkTree,
    into: &'a str,
    /// The branch that is checked out in the work tree, or the beginning of its commit's id if that is none.
    branch: String,
    /// The commit that is checked out in the work tree.
    head: String,
    /// The commit that the other branch is at.
    base: String,
}

impl Trees {
    /// Merges what is checked out in the work tree into `into`, a branch.
    ///
    /// # Errors
    /// `not_committed` and `merge_conflict` with paths; `invalid_input` if there is no such branch.
    pub(crate) async fn merge(&self, tree: &WorkTree, into: &str) -> Result<WorktreeAnswer, ApiError> {
        let _turn = self.turns.with_repository(Path::new(&tree.common)).await;
        let (path, scope) = (path_of(tree), self.reading(tree));
        let files = self.not_committed(&path, &scope, "all").await?;
        if !files.is_empty() {
            let sentence = format!(
                "in the work tree of {} is not committed: {}; commit it first, so that the merge has it",
                tree.branch,
                some(&files)
            );
            return Err(about(ErrorCode::NotCommitted, sentence, files));
        }
        let head = self.commit_of(&path, &scope, "HEAD").await?;
        let head = head.ok_or_else(|| ApiError::invalid("nothing is checked out in the work tree"))?;
        let Some(base) = self.commit_of(&path, &scope, &full_name(into)).await? else {
            let shown: String = into.chars().filter(|shown| !shown.is_control()).take(100).collect();
            return Err(ApiError::invalid(format!("there is no branch {shown} to merge into; name one with `into`")));
        };
        let branch = self.branch_of(&path, &scope, "HEAD").await?;
        let branch = branch.unwrap_or_else(|| head.chars().take(SHORT_CHARS).collect());
        Merge { trees: self, tree, into, branch, head, base }.carry_out().await
    }
}

impl Merge<'_> {
    fn answer(&self, done: WorktreeDone, commit: String) -> WorktreeAnswer {
        let (branch, into) = (self.branch.clone(), Some(self.into.to_owned()));
        WorktreeAnswer { done, branch, into, commit: Some(commit), kept_in: None }
    }

    async fn carry_out(&self) -> Result<WorktreeAnswer, ApiError> {
        if self.is_in(&self.head, &self.base).await? {
            return Ok(self.answer(WorktreeDone::UpToDate, self.base.clone()));
        }
        let checked_out = self.checked_out().await?;
        if let Some(folder) = &checked_out {
            self.check_clean(folder).await?;
        }
        let (done, result) = match self.is_in(&self.base, &self.head).await? {
            true => (WorktreeDone::FastForward, self.head.clone()),
            false => (WorktreeDone::Merged, self.merged().await?),
        };
        match checked_out {
            Some(folder) => self.forward(&folder, &result).await?,
            None => self.move_branch(&result).await?,
        }
        Ok(self.answer(done, result))
    }

    /// Whether one commit is in the history of the other.
    async fn is_in(&self, one: &str, other: &str) -> Result<bool, ApiError> {
        let scope = self.trees.reading(self.tree);
        let call = GitCall::new(path_of(self.tree), scope, ["merge-base", "--is-ancestor", one, other]);
        match self.trees.git.told(call).await {
            Ok(_) => Ok(true),
            Err(GitFailure::Refused { code: 1, .. }) => Ok(false),
            Err(failure) => Err(failed("the histories could not be compared")(failure)),
        }
    }

    /// The folder in which the other branch is checked out.
    async fn checked_out(&self) -> Result<Option<PathBuf>, ApiError> {
        let scope = self.trees.reading(self.tree);
        let places = self.trees.places_of(&path_of(self.tree), &scope, self.into).await?;
        match places.into_iter().next() {
            Some(folder) if !folder.is_dir() => Err(ApiError::invalid(format!(
                "{} is checked out in {}, which is locked and not there; bring it back, or give it up with `git worktree \
                 unlock` first",
                self.into,
                folder.display()
            ))),
            folder => Ok(folder),
        }
    }

    async fn check_clean(&self, folder: &Path) -> Result<(), ApiError> {
        // Git itself refuses to overwrite a file that it does not know.
        let scope = self.trees.scope(&[], &[folder, Path::new(&self.tree.common)]);
        let files = self.trees.not_committed(folder, &scope, "no").await?;
        match files.is_empty() {
            true => Ok(()),
            false => {
                let sentence = format!(
                    "in {}, where {} is checked out, is not committed: {}; commit or stash it there first",
                    folder.display(),
                    self.into,
                    some(&files)
                );
                Err(about(ErrorCode::NotCommitted, sentence, files))
            }
        }
    }

    /// Makes the merge commit. Nothing refers to it yet.
    async fn merged(&self) -> Result<String, ApiError> {
        let (path, scope) = (path_of(self.tree), self.trees.working(self.tree));
        let words = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", &self.base, &self.head];
        let ran = self.trees.git.run(GitCall::new(&path, scope.clone(), words)).await;
        let ran = ran.map_err(|error| unrun(error.into()))?;
        let mut told = parts(&ran.output).into_iter();
        let (Some(0 | 1), Some(tree)) = (ran.code, told.next()) else {
            let words = ran.errors.lines().next().unwrap_or_default().to_owned();
            return Err(ApiError::invalid(format!("the branches could not be merged: git says: {words}")));
        };
        if ran.code == Some(1) {
            let paths: Vec<String> = told.collect();
            let sentence = format!(
                "{} and {} both changed {}; nothing was merged: let the Pod merge {} into its branch and resolve the conflict there",
                self.branch,
                self.into,
                some(&paths),
                self.into
            );
            return Err(about(ErrorCode::MergeConflict, sentence, paths));
        }
        let what = if self.head.starts_with(&self.branch) { "commit" } else { "branch" };
        let message = format!("Merge {what} '{}' into {}", self.branch, self.into);
        let words = ["commit-tree", tree.trim(), "-p", &self.base, "-p", &self.head, "-m", &message];
        let call = self.trees.authored(GitCall::new(&path, scope.clone(), words), &path, &scope).await?;
        self.trees.git.line(call).await.map_err(failed("the merge could not be committed"))
    }

    /// Moves the branch where it is checked out, with the files there.
    async fn forward(&self, folder: &Path, result: &str) -> Result<(), ApiError> {
        let scope = self.trees.scope(&[Path::new(&self.tree.common), folder], &[]);
        let call =
            GitCall::new(folder, scope, ["merge", "--ff-only", "--quiet", "--no-stat", "--no-autostash", result]);
        self.trees.git.told(call).await.map(drop).map_err(|failure| match failure {
            // Not moved by yoi: by a command, or by a person with git.
            GitFailure::Refused { words, .. } if words.contains("cannot lock ref") => {
                let sentence = format!("somebody else has just moved {}: {words}; look at it, then repeat", self.into);
                ApiError::new(ErrorCode::Busy, sentence)
            }
            GitFailure::Refused { words, .. } => {
                let sentence = format!(
                    "git does not change the files in {}, where {} is checked out: {words}; make it clean there first",
                    folder.display(),
                    self.into
                );
                ApiError::new(ErrorCode::NotCommitted, sentence)
            }
            failure => unrun(failure),
        })
    }

    async fn move_branch(&self, result: &str) -> Result<(), ApiError> {
        let (name, reason) = (full_name(self.into), format!("merge {}", self.branch));
        let words = ["update-ref", "-m", &reason, &name, result, &self.base];
        let common = Path::new(&self.tree.common);
        let call = GitCall::new(common, self.trees.scope(&[common], &[]), words);
        self.trees.git.told(call).await.map(drop).map_err(failed("the other branch could not be moved"))
    }
}
