//! What a command left in a repository that it created itself and that runs something when somebody next works there:
//! hooks, settings that name programs, start files. None of it could be write-protected in the sandbox, because the
//! repository did not exist yet. It is reported with the result: removing it would destroy the Pod's own work, or undo
//! what a person does meanwhile.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

/// How much of git's settings is parsed; longer ones are reported as suspicious.
const SETTINGS_BYTES_MAX: u64 = 64 * 1024;
const TOLD_MAX: usize = 5;
const TOLD_CHARS_MAX: usize = 200;

/// What in the git folder of a new repository would run something.
pub(super) fn in_git_folder(folder: &Path) -> Vec<PathBuf> {
    let mut found = hooks(&folder.join("hooks"));
    let settings = folder.join("config");
    if settings.symlink_metadata().is_ok() && !is_plain(&settings) {
        found.push(settings);
    }
    let second = folder.join("config.worktree");
    found.extend(Some(second).filter(|path| path.symlink_metadata().is_ok()));
    found
}

/// The target of a file or link that stands in for a git folder. `None` if that cannot be determined.
pub(super) fn leads_to(path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().ok()?.is_symlink() {
        return path.canonicalize().ok();
    }
    let mut text = String::new();
    File::open(path).ok()?.take(SETTINGS_BYTES_MAX).read_to_string(&mut text).ok()?;
    path.parent()?.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// A sentence for the reader of the result; empty if there is nothing to report.
pub(super) fn told(cwd: &Path, found: &[PathBuf]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let shown = |path: &PathBuf| {
        let path = path.strip_prefix(cwd).unwrap_or(path).to_string_lossy();
        path.chars().take(TOLD_CHARS_MAX).flat_map(char::escape_debug).collect::<String>()
    };
    let paths: Vec<_> = found.iter().take(TOLD_MAX).map(shown).collect();
    let more = match found.len().saturating_sub(TOLD_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(" · runs something once someone works there: {}{more}", paths.join(", "))
}

/// What git 2.44 and newer say in a work tree after each commit: they try to lock the packed branches, even when they
/// need nothing there. A command must not be able to make anything beside them, because that is where git's settings
/// are.
const NOT_LOCKED: &str = "packed-refs.lock': Read-only file system";

/// A sentence for a reader who would take that for a failure; empty if git has not said it.
pub(super) fn told_of_locks(has_work_tree: bool, content: &str) -> &'static str {
    match has_work_tree && content.contains(NOT_LOCKED) {
        true => {
            " · what git says about packed-refs.lock is no failure: commits are made all the same; only packed branches \
             and tags cannot be deleted here"
        }
        false => "",
    }
}

/// All hooks except the samples that git itself creates.
fn hooks(folder: &Path) -> Vec<PathBuf> {
    match folder.symlink_metadata() {
        Err(_) => Vec::new(),
        Ok(kind) if !kind.is_dir() => vec![folder.to_owned()],
        Ok(_) => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut found: Vec<_> = entries.filter(|path| path.extension().is_none_or(|end| end != "sample")).collect();
            found.sort();
            found
        }
    }
}

/// Whether the settings are as git writes them for a new or cloned repository. Anything not known to be harmless is not
/// plain.
fn is_plain(settings: &Path) -> bool {
    let is_file = settings.symlink_metadata().is_ok_and(|kind| kind.is_file() && kind.len() <= SETTINGS_BYTES_MAX);
    let mut text = String::new();
    let read = File::open(settings).map(|file| file.take(SETTINGS_BYTES_MAX).read_to_string(&mut text));
    is_file && matches!(read, Ok(Ok(_))) && has_plain_lines(&text)
}

fn has_plain_lines(text: &str) -> bool {
    let mut section = (String::new(), false);
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        if let Some(head) = line.strip_prefix('[') {
            let Some(head) = head.strip_suffix(']') else { return false };
            let (name, part) = head.split_once(' ').unwrap_or((head, ""));
            section = (name.to_lowercase(), !part.is_empty());
            // A bracket further on would begin a setting on the same line.
            return !head.contains(['[', ']']);
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        !line.ends_with('\\') && is_harmless(&section.0, section.1, &key.trim().to_lowercase(), value.trim())
    })
}

/// Whether the setting names no program and leads to none.
fn is_harmless(section: &str, has_part: bool, key: &str, value: &str) -> bool {
    match (section, has_part, key) {
        (
            "core",
            false,
            "repositoryformatversion"
            | "filemode"
            | "bare"
            | "logallrefupdates"
            | "ignorecase"
            | "precomposeunicode"
            | "symlinks"
            | "autocrlf"
            | "eol",
        )
        | ("remote", true, "fetch" | "tagopt" | "promisor" | "partialclonefilter")
        | ("branch", true, "remote" | "merge" | "rebase")
        | ("extensions", false, "objectformat" | "refstorage" | "partialclone")
        | ("user", false, "name" | "email")
        | ("submodule", _, "active")
        | ("init", false, "defaultbranch") => true,
        // `ext::…` and the like are programs.
        ("remote", true, "url" | "pushurl") | ("submodule", true, "url") => {
            !value.contains("::") && !value.contains('"') && !value.starts_with('-')
        }
        // For a submodule, whose work tree lies beside it.
        ("core", false, "worktree") => value.starts_with("../"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_about_packed_branches_in_a_work_tree_is_explained() {
        let said = "error: Unable to create '/srv/main/.git/packed-refs.lock': Read-only file system\n";
        assert!(told_of_locks(true, said).contains("commits are made all the same"));
        assert_eq!((told_of_locks(false, said), told_of_locks(true, "[ada 1a2b3c4] two\n")), ("", ""));
    }

    #[test]
    fn settings_that_git_writes_by_itself_are_plain() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n# a word\n; another\n",
            "[core]\n\tworktree = ../../../lib\n[submodule \"lib\"]\n\tactive = true\n\turl = ../lib\n",
            "[user]\n\tname = Ada\n\temail = ada@example.com\n",
        ] {
            assert!(has_plain_lines(text), "{text}");
        }
    }

    #[test]
    fn settings_that_could_name_a_program_are_not_plain() {
        for text in [
            "[core]\n\tfsmonitor = evil\n",
            "[CORE]\n\tFSMonitor = evil\n",
            "[core] fsmonitor = evil\n",
            "[core]fsmonitor=evil [x]\n",
            "[core]\n\thooksPath = /tmp/evil\n",
            "[core]\n\tworktree = /home/ada\n",
            "[alias]\n\tst = !evil\n",
            "[include]\n\tpath = /tmp/evil\n",
            "[includeIf \"gitdir:/\"]\n\tpath = evil\n",
            "[remote \"origin\"]\n\turl = ext::sh -c evil\n",
            "[remote \"origin\"]\n\tuploadpack = evil\n",
            "[filter \"x\"]\n\tsmudge = evil\n",
            "[diff \"x\"]\n\ttextconv = evil\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[user]\n\tname = a\\\n",
            "[core.x]\n\tbare = true\n",
            "fsmonitor = evil\n",
            "[core\n",
        ] {
            assert!(!has_plain_lines(text), "{text}");
        }
    }

    #[test]
    fn a_few_are_named_and_no_name_breaks_the_line() {
        let found: Vec<_> = (0..7).map(|number| PathBuf::from(format!("/w/{number}\n"))).collect();
        let told = told(Path::new("/w"), &found);
        assert_eq!(told, " · runs something once someone works there: 0\\n, 1\\n, 2\\n, 3\\n, 4\\n and 2 more");
        assert_eq!(super::told(Path::new("/w"), &[]), "");
    }
}
