//! Committing what is changed in a Pod's folder.

use std::path::{Path, PathBuf};

use pod::Scope;
use protocol::{ApiError, CommandId, CommitAnswer, CommitCommand, ErrorCode};
use sha2::{Digest, Sha256};
use tools::{
    bash::plain,
    git::{GitCall, GitFailure, parts},
};

use super::{LIST_BYTES_MAX, Trees, about, failed, some, unrun};
use crate::git::Repository;

/// The longest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// The most paths that can be named.
const PATHS_MAX: usize = 10_000;
/// How many entries of git's log of `HEAD` are searched for a commit that was made before.
const LOGGED_MAX: usize = 100;
/// The author if git's settings name none.
const NAME: &str = "yoi";
const ADDRESS: &str = "yoi@localhost";

impl Trees {
    /// Commits what is changed in the Pod's folder and may be written by it: `cwd`, or the whole work tree of its own. A
    /// commit that this command made before, without that having been recorded, is found again.
    ///
    /// While a merge is in progress, its result is committed whole, as git has it.
    ///
    /// # Errors
    /// `no_repository`, `nothing_to_commit`; `merge_conflict` if files are still in conflict; `invalid_input` for a message
    /// or paths that are none, and for paths while a merge is in progress.
    pub(crate) async fn commit(
        &self,
        cwd: &str,
        scope: &Scope,
        command: &CommitCommand,
        id: &CommandId,
    ) -> Result<CommitAnswer, ApiError> {
        let CommitCommand { message, paths } = command;
        if message.trim().is_empty() || message.contains('\0') || message.len() > MESSAGE_BYTES_MAX {
            return Err(ApiError::invalid("`message` is not blank and has at most 65,536 bytes, none of them NUL"));
        }
        if paths.as_ref().is_some_and(|paths| paths.is_empty() || paths.len() > PATHS_MAX) {
            return Err(ApiError::invalid("`paths` names 1 to 10,000 files; leave it out to commit everything"));
        }
        let around = Repository::around(Path::new(cwd)).await;
        let repository = around.ok_or_else(|| {
            let sentence =
                format!("{cwd} is in no git repository; create one there with `git init`, or work in another");
            ApiError::new(ErrorCode::NoRepository, sentence)
        })?;
        let _turn = self.turns.with_repository(&repository.common_folder).await;
        let folder = scope.work_tree().map_or_else(|| PathBuf::from(cwd), |tree| PathBuf::from(&tree.path));
        let mark = mark(id, message);
        let committing =
            Committing { trees: self, cwd, folder, scope: self.committing(&repository, scope), repository, mark };
        if let Some(answer) = committing.made_before().await? {
            return Ok(answer);
        }
        let is_merge = committing.is_merge();
        if is_merge && paths.is_some() {
            let sentence =
                "a merge is in progress, which is committed as a whole; leave out `paths`, or end the merge first";
            return Err(ApiError::invalid(sentence));
        }
        committing.check_solved().await?;
        let files = match committing.files(scope, paths.as_deref()).await {
            // A merge that changes nothing is still committed.
            Err(error) if is_merge && error.code == ErrorCode::NothingToCommit => Vec::new(),
            files => files?,
        };
        committing.commit(&files, message, is_merge).await
    }

    /// The Pod's scope, with what a commit writes in the repository. In a work tree of its own that is what the Pod's
    /// commands may write, too.
    fn committing(&self, repository: &Repository, scope: &Scope) -> Scope {
        if scope.work_tree().is_some() {
            return scope.clone();
        }
        let more = self.scope(&[&repository.common_folder], &[&repository.top]);
        Scope::new(scope.rules().iter().chain(more.rules()).cloned(), scope.lent().iter().cloned())
    }

    /// With an author, if git's settings name none.
    pub(super) async fn authored(&self, call: GitCall, cwd: &Path, scope: &Scope) -> Result<GitCall, ApiError> {
        let asked = GitCall::new(cwd, scope.clone(), ["config", "-z", "--get-regexp", "^user\\.(name|email)$"]);
        let told = match self.git.told(asked).await {
            Ok(told) => parts(&told),
            Err(GitFailure::Refused { .. }) => Vec::new(),
            Err(failure) => return Err(unrun(failure)),
        };
        let has = |key: &str| {
            told.iter()
                .any(|line| line.split_once('\n').is_some_and(|(name, value)| name == key && !value.trim().is_empty()))
        };
        let mut call = call;
        for (key, value, variables) in [
            ("user.name", NAME, ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"]),
            ("user.email", ADDRESS, ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]),
        ] {
            if !has(key) {
                call = variables.into_iter().fold(call, |call, variable| call.with_variable(variable, value));
            }
        }
        Ok(call)
    }
}

struct Committing<'a> {
    trees: &'a Trees,
    cwd: &'a str,
    /// The folder whose changes are committed.
    folder: PathBuf,
    scope: Scope,
    repository: Repository,
    /// What git's own log of `HEAD` says of the commit.
    mark: String,
}

impl Committing<'_> {
    fn call<'b>(&self, words: impl IntoIterator<Item = &'b str>) -> GitCall {
        GitCall::new(&self.repository.top, self.scope.clone(), words)
    }

    /// The commit with this mark, if there is one among the newest of the log of `HEAD`.
    async fn made_before(&self) -> Result<Option<CommitAnswer>, ApiError> {
        let number = format!("--max-count={LOGGED_MAX}");
        let words = ["log", "--walk-reflogs", "-z", "--no-show-signature", "--format=%H %gs", &number, "HEAD", "--"];
        let told = match self.trees.git.told(self.call(words).at_most(LIST_BYTES_MAX)).await {
            Ok(told) => parts(&told),
            // There is no commit yet, or no log.
            Err(GitFailure::Refused { .. }) => return Ok(None),
            Err(failure) => return Err(unrun(failure)),
        };
        let is_it = |said: &str| said.strip_prefix(&self.mark).is_some_and(|rest| rest.starts_with(':'));
        let found = told.iter().find_map(|line| line.split_once(' ').filter(|(_, said)| is_it(said)));
        let Some((commit, _)) = found else { return Ok(None) };
        let words = [
            "diff-tree",
            "--no-commit-id",
            "--name-only",
            "--no-renames",
            "--diff-merges=first-parent",
            "-r",
            "-z",
            "--root",
            "--end-of-options",
            commit,
        ];
        let told = self.trees.git.told(self.call(words).at_most(LIST_BYTES_MAX)).await;
        let told = told.map_err(failed("the files of the commit could not be listed"))?;
        let files: Vec<PathBuf> = parts(&told).iter().map(|path| self.repository.top.join(path)).collect();
        self.answer(commit.to_owned(), &files).await.map(Some)
    }

    /// Whether git is in the middle of a merge, or of copying a commit. Then it commits no single files.
    fn is_merge(&self) -> bool {
        let folder = &self.repository.git_folder;
        ["MERGE_HEAD", "CHERRY_PICK_HEAD"].iter().any(|name| folder.join(name).symlink_metadata().is_ok())
    }

    /// Fails if files are in conflict, because committing them would mark them as resolved.
    async fn check_solved(&self) -> Result<(), ApiError> {
        let told = self.trees.git.told(self.call(["ls-files", "--unmerged", "-z"]).at_most(LIST_BYTES_MAX)).await;
        let told = parts(&told.map_err(failed("the files in conflict could not be listed"))?);
        // `MODE ID STAGE\tPATH`, for each stage.
        let mut files: Vec<_> = told.iter().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect();
        files.dedup();
        if files.is_empty() {
            return Ok(());
        }
        let sentence =
            format!("still in conflict: {}; resolve it and mark it with `git add`, or abort the merge", some(&files));
        Err(about(ErrorCode::MergeConflict, sentence, files))
    }

    /// The changed files that are to be committed, absolute.
    async fn files(&self, own: &Scope, paths: Option<&[String]>) -> Result<Vec<PathBuf>, ApiError> {
        let folder = self.folder.to_string_lossy();
        let words = [
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--",
            &folder,
        ];
        let told = self.trees.git.told(self.call(words).at_most(LIST_BYTES_MAX)).await;
        let told = told.map_err(failed("the changes could not be listed"))?;
        // Two letters and a space come before each path.
        let all = parts(&told).into_iter().filter_map(|part| Some(self.repository.top.join(part.get(3..)?)));
        let is_own = |path: &PathBuf| path.to_str().is_some_and(|path| may_change(own, path));
        let all: Vec<PathBuf> = all.filter(is_own).collect();
        let Some(paths) = paths else {
            return match all.is_empty() {
                true => Err(nothing(&folder)),
                false => Ok(all),
            };
        };
        let wanted: Vec<PathBuf> = paths.iter().map(|path| plain(&Path::new(self.cwd).join(path))).collect();
        let is_changed = |wanted: &PathBuf| all.iter().any(|path| path.starts_with(wanted));
        let unknown: Vec<String> =
            paths.iter().zip(&wanted).filter(|(_, wanted)| !is_changed(wanted)).map(|(path, _)| path.clone()).collect();
        if !unknown.is_empty() {
            let sentence =
                format!("this Pod has no change to commit in {}; GET P/changes lists what is changed", some(&unknown));
            return Err(about(ErrorCode::NothingToCommit, sentence, unknown));
        }
        Ok(all.into_iter().filter(|path| wanted.iter().any(|wanted| path.starts_with(wanted))).collect())
    }

    async fn commit(&self, files: &[PathBuf], message: &str, is_merge: bool) -> Result<CommitAnswer, ApiError> {
        let top = &self.repository.top;
        let relative = files.iter().filter_map(|path| path.strip_prefix(top).ok()?.to_str());
        let listed: Vec<u8> = relative.flat_map(|path| path.bytes().chain([0])).collect();
        let from_list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        if !files.is_empty() {
            let add = self.call(["add", "--all", "--force"].into_iter().chain(from_list)).with_input(listed.clone());
            self.trees.git.told(add).await.map_err(failed("the changes could not be added"))?;
        }
        let words = ["commit", "--quiet", "--no-verify", "--cleanup=whitespace", "-m", message];
        let call = match is_merge {
            true => self.call(words),
            false => self.call(words.into_iter().chain(["--only"]).chain(from_list)).with_input(listed),
        };
        let call = call.with_variable("GIT_REFLOG_ACTION", &self.mark);
        let call = self.trees.authored(call, top, &self.scope).await?;
        self.trees.git.told(call).await.map_err(failed("the changes could not be committed"))?;
        let commit = self.trees.commit_of(top, &self.scope, "HEAD").await?;
        let commit = commit.ok_or_else(|| ApiError::new(ErrorCode::Internal, "the commit cannot be found"))?;
        self.answer(commit, files).await
    }

    async fn answer(&self, commit: String, files: &[PathBuf]) -> Result<CommitAnswer, ApiError> {
        let branch = self.trees.branch_of(&self.repository.top, &self.scope, "HEAD").await?;
        let shown = |path: &PathBuf| path.strip_prefix(self.cwd).unwrap_or(path).to_string_lossy().into_owned();
        Ok(CommitAnswer { commit, branch, files: files.iter().map(shown).collect() })
    }
}

/// What git's log of `HEAD` says of the commit that this command makes; a Pod cannot guess it.
fn mark(id: &CommandId, message: &str) -> String {
    let digest = Sha256::new().chain_update(id.as_str()).chain_update([0]).chain_update(message).finalize();
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("yoi-{hex}")
}

/// Whether the Pod's scope lets it write the file, perhaps while it is lent. What runs later is a person's.
fn may_change(scope: &Scope, path: &str) -> bool {
    matches!(scope.may_write(path), Ok(()) | Err(pod::ScopeRefusal::Lent))
}

fn nothing(folder: &str) -> ApiError {
    ApiError::new(ErrorCode::NothingToCommit, format!("nothing is changed in {folder} that this Pod may write"))
}
