//! What differs from the commit at which a branch left the branch that it came from, committed or not.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::Command,
    time::timeout,
};

use super::{Lent, Repository, git, is_commit, told};

/// How long all of it may take.
const TIME_MAX: Duration = Duration::from_secs(20);
/// The most files that differ.
const FILES_MAX: usize = 2_000;
/// The most bytes of git's list of them.
const LIST_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The most bytes of their former contents, of one file and of all.
const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
const ALL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long counting lines may take.
const COUNT_MAX: Duration = Duration::from_secs(2);
/// The most new files whose lines are counted, and the most bytes of one.
const COUNTED_FILES_MAX: usize = 200;
const COUNTED_BYTES_MAX: u64 = 1024 * 1024;
/// Branches that others usually come from.
const TRUNKS: [&str; 2] = ["main", "master"];

/// The mode of a submodule.
const SUBMODULE: &str = "160000";
/// The most repositories within a repository that are named.
const INNER_MAX: usize = 50;

/// What git is asked for the files that differ from a commit.
const DIFF: [&str; 8] =
    ["diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

/// What git is asked for how many lines differ.
const COUNT: [&str; 7] =
    ["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
/// What git is asked for the files that it does not know.
const OTHERS: [&str; 4] = ["ls-files", "--others", "--exclude-standard", "-z"];

/// The files that differ from a commit.
#[derive(Debug)]
pub(crate) struct SinceBranch {
    pub(crate) commit: String,
    /// Absolute paths, with what was there; `None`: nothing.
    pub(crate) files: Vec<(String, Option<Former>)>,
    /// Whether more files differ than are listed.
    pub(crate) is_cut: bool,
    /// Absolute paths of repositories within this one, of which nothing is listed.
    pub(crate) repositories: Vec<String>,
}

/// A file in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Former {
    /// `None`: too long.
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) is_executable: bool,
    /// The content is what a symbolic link names.
    pub(crate) is_link: bool,
}

/// A line of git's list: a path, and what it was in the commit.
struct Listed {
    path: String,
    /// Its mode and the id of its content.
    former: Option<(String, String)>,
}

/// What differs from where the branch that is checked out around `cwd` began. `from`: the branch that it came from, if
/// that is known. `None`: there is no repository with a commit, or git does not answer in time.
pub(crate) async fn since_branch(cwd: &Path, from: Option<&str>) -> Option<SinceBranch> {
    timeout(TIME_MAX, look(cwd, from)).await.ok().flatten()
}

async fn look(cwd: &Path, from: Option<&str>) -> Option<SinceBranch> {
    let repository = Repository::around(cwd).await?;
    let commit = repository.beginning(from).await?;
    let format = commit.clone();
    let lent = crate::heavy::blocking(move || Lent::make(Some(&format))).await.ok()?.ok()?;
    let asking = Asking { repository: &repository, lent: &lent };
    let mut listed = changed_in(&asking.list(&[&DIFF[..], &[&commit, "--"]].concat()).await?);
    let others = asking.list(&OTHERS).await?;
    // A repository that git does not know is listed as a folder.
    let (mut inner, others): (Vec<&str>, Vec<&str>) =
        others.split('\0').filter(|path| !path.is_empty()).partition(|path| path.ends_with('/'));
    listed.extend(others.into_iter().map(|path| Listed { path: path.to_owned(), former: None }));
    let staged = asking.list(&["ls-files", "--stage", "-z"]).await?;
    inner.extend(
        staged.split('\0').filter(|line| line.starts_with(SUBMODULE)).filter_map(|line| Some(line.split_once('\t')?.1)),
    );
    let repositories = repository.inner(&inner);
    let is_cut = listed.len() > FILES_MAX;
    listed.truncate(FILES_MAX);
    let files = asking.contents(listed).await?;
    Some(SinceBranch { commit, files, is_cut, repositories })
}

/// How many lines differ from where a branch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) added: u32,
    pub(super) removed: u32,
}

/// The lines that differ from where the branch that is checked out began, committed or not, new files included. `None`:
/// there is no commit, or git does not answer in time.
pub(super) async fn lines_since(repository: &Repository, from: Option<&str>) -> Option<Lines> {
    timeout(COUNT_MAX, count(repository, from)).await.ok().flatten()
}

async fn count(repository: &Repository, from: Option<&str>) -> Option<Lines> {
    let commit = repository.beginning(from).await?;
    let format = commit.clone();
    let lent = tokio::task::spawn_blocking(move || Lent::make(Some(&format))).await.ok()?.ok()?;
    let asking = Asking { repository, lent: &lent };
    let mut lines = counted(&asking.list(&[&COUNT[..], &[&commit, "--"]].concat()).await?);
    let others = asking.list(&OTHERS).await?;
    let top = repository.top.clone();
    let new = tokio::task::spawn_blocking(move || new_lines(&top, &others)).await.ok()?;
    lines.added = lines.added.saturating_add(new);
    Some(lines)
}

/// Reads `ADDED\tREMOVED\tPATH\0…`; a file that is no text has `-` for both.
fn counted(list: &str) -> Lines {
    let mut lines = Lines::default();
    for file in list.split('\0') {
        let mut parts = file.splitn(3, '\t').map(|part| part.parse().unwrap_or(0));
        lines.added = lines.added.saturating_add(parts.next().unwrap_or(0));
        lines.removed = lines.removed.saturating_add(parts.next().unwrap_or(0));
    }
    lines
}

/// The lines of files that git does not know, as far as they are short and few.
fn new_lines(top: &Path, others: &str) -> u32 {
    let paths = others.split('\0').filter(|path| !path.is_empty()).take(COUNTED_FILES_MAX);
    let lines = paths.filter_map(|path| {
        let path = top.join(path);
        // No link is followed: it may lead anywhere.
        let facts = std::fs::symlink_metadata(&path).ok()?;
        let is_counted = facts.is_file() && facts.len() <= COUNTED_BYTES_MAX;
        let content =
            is_counted.then(|| std::fs::read(&path).ok()).flatten().filter(|content| !content.contains(&0))?;
        let count = content.split_inclusive(|byte| *byte == b'\n').count();
        Some(u32::try_from(count).unwrap_or(u32::MAX))
    });
    lines.fold(0, u32::saturating_add)
}

impl Repository {
    /// The absolute paths of those that are there.
    fn inner(&self, paths: &[&str]) -> Vec<String> {
        let paths = paths.iter().take(INNER_MAX).map(|path| self.top.join(path.trim_end_matches('/')));
        let there = paths.filter(|path| path.join(".git").symlink_metadata().is_ok());
        there.filter_map(|path| path.to_str().map(str::to_owned)).collect()
    }

    /// The commit at which the branch left the one that it came from; the newest one if it came from none.
    async fn beginning(&self, from: Option<&str>) -> Option<String> {
        let head = self.head().await?;
        let newest = head.commit?;
        let branch = head.branch.as_deref().and_then(|branch| branch.strip_prefix("refs/heads/"));
        let is_trunk = branch.is_some_and(|branch| TRUNKS.contains(&branch));
        let trunks = TRUNKS.into_iter().filter(|_| !is_trunk);
        let named = from.into_iter().chain(trunks).filter(|name| Some(*name) != branch);
        let upstream = branch.map(|branch| format!("refs/heads/{branch}@{{upstream}}"));
        for other in named.map(|name| format!("refs/heads/{name}")).chain(upstream) {
            let verified = format!("{other}^{{commit}}");
            let asked = ["rev-parse", "--quiet", "--verify", "--end-of-options", &verified];
            let Some(other) = told(git(&self.top).args(asked)).await.map(|text| text.trim().to_owned()) else {
                continue;
            };
            if !is_commit(&other) {
                continue;
            }
            let base = told(git(&self.top).args(["merge-base", &newest, &other])).await;
            if let Some(base) = base.map(|text| text.trim().to_owned()).filter(|text| is_commit(text)) {
                return Some(base);
            }
        }
        Some(newest)
    }
}

/// Asks git with a git folder of our own, which lends the repository's index and objects.
struct Asking<'a> {
    repository: &'a Repository,
    lent: &'a Lent,
}

impl Asking<'_> {
    fn git(&self, arguments: &[&str]) -> Option<Command> {
        let Repository { top, git_folder, common_folder, .. } = self.repository;
        let excludes = common_folder.join("info/exclude");
        let mut command = git(top);
        command
            .arg("-c")
            .arg(format!("core.excludesFile={}", excludes.to_str()?))
            .arg(format!("--git-dir={}", self.lent.0.to_str()?))
            .arg(format!("--work-tree={}", top.to_str()?))
            .args(arguments)
            .env("GIT_INDEX_FILE", git_folder.join("index"))
            .env("GIT_OBJECT_DIRECTORY", common_folder.join("objects"));
        Some(command)
    }

    /// Git's output, without paths that are not UTF-8.
    async fn list(&self, arguments: &[&str]) -> Option<String> {
        let mut child = self.git(arguments)?.spawn().ok()?;
        let mut said = Vec::new();
        child.stdout.take()?.take(LIST_BYTES_MAX).read_to_end(&mut said).await.ok()?;
        // Ends git when it writes too much.
        drop(child);
        Some(String::from_utf8_lossy(&said).into_owned())
    }

    /// The files with what they were.
    async fn contents(&self, listed: Vec<Listed>) -> Option<Vec<(String, Option<Former>)>> {
        let mut child = self.git(&["cat-file", "--batch"])?.stdin(Stdio::piped()).spawn().ok()?;
        let mut input = child.stdin.take()?;
        let ids: Vec<String> = listed.iter().filter_map(|one| Some(format!("{}\n", one.former.as_ref()?.1))).collect();
        let asking = tokio::spawn(async move {
            for id in ids {
                input.write_all(id.as_bytes()).await?;
            }
            input.shutdown().await
        });
        let mut output = BufReader::new(child.stdout.take()?);
        let (mut files, mut room) = (Vec::new(), ALL_BYTES_MAX);
        for Listed { path, former } in listed {
            let whole = self.repository.top.join(&path);
            let Some(whole) = whole.to_str().map(str::to_owned) else { continue };
            let former = match former {
                None => None,
                Some((mode, _)) => {
                    let content = read_one(&mut output, &mut room).await?;
                    Some(Former { content, is_executable: mode == "100755", is_link: mode == "120000" })
                }
            };
            files.push((whole, former));
        }
        drop(child);
        asking.abort();
        Some(files)
    }
}

/// One answer of `cat-file --batch`: the content, or `None` if it is too long or missing.
async fn read_one(output: &mut BufReader<tokio::process::ChildStdout>, room: &mut usize) -> Option<Option<Vec<u8>>> {
    let mut head = String::new();
    output.read_line(&mut head).await.ok()?;
    let Some(size) = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok()) else {
        return Some(None);
    };
    if size > FILE_BYTES_MAX || size > *room {
        let mut rest = (&mut *output).take(size as u64 + 1);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.ok()?;
        return Some(None);
    }
    let mut content = vec![0; size + 1];
    output.read_exact(&mut content).await.ok()?;
    content.truncate(size);
    *room -= size;
    Some(Some(content))
}

/// Reads `:MODE MODE ID ID STATUS\0PATH\0…`.
fn changed_in(list: &str) -> Vec<Listed> {
    let mut parts = list.split('\0');
    let mut listed = Vec::new();
    while let (Some(facts), Some(path)) = (parts.next(), parts.next()) {
        let mut facts = facts.trim_start_matches(':').split(' ');
        let (Some(mode), Some(_), Some(id)) = (facts.next(), facts.next(), facts.next()) else { break };
        let is_there = mode != "000000" && is_commit(id);
        let former = is_there.then(|| (mode.to_owned(), id.to_owned()));
        // A submodule is a repository of its own.
        if mode != SUBMODULE {
            listed.push(Listed { path: path.to_owned(), former });
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn run(folder: &Path, arguments: &[&str]) {
        let names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
        let done = std::process::Command::new("git").current_dir(folder).args(names).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[tokio::test]
    async fn a_branch_is_compared_with_where_it_left_the_other_one_committed_or_not() {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().canonicalize().unwrap();
        let put = |path: &str, content: &str| fs::write(at.join(path), content).unwrap();
        run(&at, &["init", "-q"]);
        assert!(since_branch(&at, None).await.is_none(), "there is no commit");
        ["a", "b", "c"].into_iter().for_each(|path| put(path, "1\n"));
        run(&at, &["add", "."]);
        run(&at, &["commit", "-qm", "one"]);
        run(&at, &["checkout", "-qb", "work"]);
        put("a", "2\n");
        run(&at, &["commit", "-qam", "two"]);
        put("b", "2\n");
        put(".gitignore", "made\n");
        put("made", "x");
        fs::remove_file(at.join("c")).unwrap();
        let since = since_branch(&at, None).await.unwrap();
        let name = |path: &String| path.strip_prefix(at.to_str().unwrap()).unwrap()[1..].to_owned();
        let text = |former: &Option<Former>| {
            former.as_ref().map(|former| String::from_utf8(former.content.clone().unwrap()).unwrap())
        };
        let files: Vec<_> = since.files.iter().map(|(path, former)| (name(path), text(former))).collect();
        let one = Some("1\n".to_owned());
        assert_eq!(
            files,
            [
                ("a".to_owned(), one.clone()),
                ("b".to_owned(), one.clone()),
                ("c".to_owned(), one),
                (".gitignore".to_owned(), None)
            ]
        );
    }

    #[tokio::test]
    async fn links_are_compared_and_repositories_within_are_named() {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().canonicalize().unwrap();
        let link = |to: &str, path: &str| std::os::unix::fs::symlink(to, at.join(path)).unwrap();
        run(&at, &["init", "-q"]);
        ["moved", "gone", "file", "same"].into_iter().for_each(|path| link("target", path));
        for path in ["inner", "stranger"] {
            fs::create_dir(at.join(path)).unwrap();
            run(&at.join(path), &["init", "-q"]);
            fs::write(at.join(path).join("a"), "1").unwrap();
            run(&at.join(path), &["add", "."]);
            run(&at.join(path), &["commit", "-qm", "one"]);
        }
        run(&at, &["add", "moved", "gone", "file", "same", "inner"]);
        run(&at, &["commit", "-qm", "one"]);
        ["moved", "gone", "file"].into_iter().for_each(|path| fs::remove_file(at.join(path)).unwrap());
        link("elsewhere", "moved");
        fs::write(at.join("file"), "now").unwrap();
        let since = since_branch(&at, None).await.unwrap();
        let files: Vec<_> = since.files.iter().map(|(path, former)| (path.as_str(), former.clone().unwrap())).collect();
        let was = Former { content: Some(b"target".to_vec()), is_executable: false, is_link: true };
        let whole = |path: &str| at.join(path).to_str().unwrap().to_owned();
        let (file, gone, moved) = (whole("file"), whole("gone"), whole("moved"));
        assert_eq!(files, [(file.as_str(), was.clone()), (gone.as_str(), was.clone()), (moved.as_str(), was)]);
        assert_eq!(since.repositories, [whole("stranger"), whole("inner")]);
    }

    #[tokio::test]
    async fn lines_are_counted_since_the_branch_began_and_new_files_too() {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().canonicalize().unwrap();
        let put = |path: &str, content: &str| fs::write(at.join(path), content).unwrap();
        let lines = async || {
            let repository = Repository::around(&at).await.unwrap();
            lines_since(&repository, None).await.map(|lines| (lines.added, lines.removed))
        };
        run(&at, &["init", "-q"]);
        assert_eq!(lines().await, None, "there is no commit");
        put("a", "1\n2\n3\n");
        run(&at, &["add", "."]);
        run(&at, &["commit", "-qm", "one"]);
        assert_eq!(lines().await, Some((0, 0)));
        run(&at, &["checkout", "-qb", "work"]);
        put("a", "1\n3\nfour\nfive\n");
        run(&at, &["commit", "-qam", "two"]);
        put("a", "1\nfour\nfive\n");
        put("new", "1\n2");
        fs::write(at.join("picture"), [0; 100]).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at.join("link")).unwrap();
        assert_eq!(lines().await, Some((4, 2)));
    }

    #[tokio::test]
    async fn nothing_that_a_repository_names_is_run() {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().canonicalize().unwrap();
        run(&at, &["init", "-q"]);
        fs::write(at.join("a"), "1\n").unwrap();
        run(&at, &["add", "."]);
        run(&at, &["commit", "-qm", "one"]);
        let trace = at.join("ran");
        let program = format!("touch {}; cat", trace.display());
        for setting in
            ["core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "core.pager"]
        {
            run(&at, &["config", setting, &program]);
        }
        fs::write(at.join(".gitattributes"), "* diff=x filter=x\n").unwrap();
        fs::write(at.join("a"), "2\n").unwrap();
        let since = since_branch(&at, None).await.unwrap();
        assert_eq!(since.files.len(), 2);
        let repository = Repository::around(&at).await.unwrap();
        assert_eq!(lines_since(&repository, None).await, Some(Lines { added: 2, removed: 1 }));
        assert!(!trace.exists());
    }
}
