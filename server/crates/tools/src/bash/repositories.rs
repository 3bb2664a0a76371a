//! The repositories that a command could change, and what in them it must not: git's settings and hooks name programs
//! that run when a person next asks for the status of the work (docs/decisions/0044-what-runs-later-is-not-written.md).
//!
//! What exists is protected in the sandbox: it is mounted over itself read-only, and the folders on the path to it over
//! themselves, so that none of them can be moved away. What git would read and does not exist yet cannot be mounted; it
//! is removed when the command has ended. No repository that git itself created has such files. What a command puts
//! into a repository that it creates itself is reported afterwards.
//!
//! A background command may run for days, so what leads git elsewhere is removed while it runs. A second settings file
//! may be a person's by the end, so it is reported; where git would read one, an empty one is there and protected.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use pod::{IN_GIT_FOLDERS, Scope, WorkTree};
use protocol::Access;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::leavings;

/// How many folders of a scope are searched for repositories; what lies deeper or beyond is not found.
const FOLDERS_MAX: usize = 400;
const DEPTH_MAX: usize = 4;
/// The most git folders of one repository: its own, and those of its submodules and work trees.
const PARTS_MAX: usize = 64;
/// Folders with thousands of downloaded or built files.
const SKIPPED: [&str; 6] = ["node_modules", "target", ".venv", "venv", "vendor", "dist"];
/// Redirects all of git elsewhere; only folders of additional work trees have it.
const LEADS_AWAY: &str = "commondir";
/// A second settings file, which git reads only if the first one says so.
const SECOND_SETTINGS: &str = "config.worktree";
/// The setting that makes git read them, in lower case, and how much of the first file is searched for it.
const READS_SECOND: &str = "worktreeconfig";
const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;
/// Where git looks for further objects, and for what stands in for others.
const IN_SHARED: [(&str, &str); 2] = [("objects", "info"), ("refs", "replace")];
const START_FILE: &str = ".envrc";

/// What was found before a command.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    fixed: BTreeSet<PathBuf>,
    /// Git folders.
    folders: BTreeSet<PathBuf>,
    /// Files or links that stand in for a git folder and lead to it.
    leading: BTreeSet<PathBuf>,
    /// What does not exist, and must not exist afterwards.
    missing: Vec<PathBuf>,
}

impl Repositories {
    /// Reads folders, so it must not be called on an async thread.
    pub(super) fn within(scope: &Scope) -> Self {
        let mut found = Self::default();
        let mut left = FOLDERS_MAX;
        for rule in scope.rules().iter().filter(|rule| rule.access == Access::Write) {
            let depth = if rule.recursive { DEPTH_MAX } else { 0 };
            found.look_through(Path::new(&rule.path), depth, &mut left);
        }
        if let Some(work_tree) = scope.work_tree() {
            found.fix_shared(work_tree);
        }
        found
    }

    /// The parts of a work tree's repository that commands may write, except what would make git run or read something
    /// else there. Further object folders would show objects of repositories that are closed to the Pod; replacements
    /// would show others something else than what they committed.
    fn fix_shared(&mut self, work_tree: &WorkTree) {
        self.fix_parts_of(Path::new(&work_tree.own));
        for (folder, name) in IN_SHARED {
            let within = Path::new(&work_tree.common).join(folder);
            let folder = within.join(name);
            // Empty, it is as good as none.
            if within.is_dir() && !folder.exists() {
                let _ = fs::create_dir(&folder);
            }
            self.fixed.insert(folder);
        }
    }

    /// Breadth-first, so that many folders in one place do not hide a repository beside them.
    fn look_through(&mut self, top: &Path, depth_max: usize, left: &mut usize) {
        let mut folders = VecDeque::from([(top.to_owned(), 0)]);
        while let Some((folder, depth)) = folders.pop_front() {
            if *left == 0 {
                return;
            }
            *left -= 1;
            if is_git_folder(&folder) {
                self.fix_parts_of(&folder);
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let Ok(kind) = entry.file_type() else { continue };
                if name == ".git" && !kind.is_dir() {
                    self.leading.insert(path.clone());
                }
                if kind.is_file() && (name == ".git" || name == START_FILE) {
                    self.fixed.insert(path);
                } else if kind.is_dir() && depth < depth_max && !SKIPPED.iter().any(|skipped| name == *skipped) {
                    folders.push_back((path, depth + 1));
                }
            }
        }
    }

    /// The git folder, and those of its submodules and additional work trees.
    fn fix_parts_of(&mut self, top: &Path) {
        let mut folders = VecDeque::from([top.to_owned()]);
        for _ in 0..PARTS_MAX {
            let Some(folder) = folders.pop_front() else { return };
            self.fix(&folder);
            for within in ["modules", "worktrees"] {
                let entries = fs::read_dir(folder.join(within)).into_iter().flatten().flatten();
                let parts = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                folders.extend(parts.map(|part| part.path()));
            }
            // A submodule's name may have several parts: `modules/lib/one`.
            if folder != top && !folder.join("HEAD").is_file() {
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                let parts = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                folders.extend(parts.map(|part| part.path()));
            }
        }
    }

    fn fix(&mut self, folder: &Path) {
        self.folders.insert(folder.to_owned());
        let hooks = folder.join("hooks");
        // An empty folder is as good as none and can be mounted. If it cannot be created here, the command cannot
        // create it either.
        if folder.join("HEAD").is_file() && !hooks.exists() {
            let _ = fs::create_dir(&hooks);
        }
        for name in IN_GIT_FOLDERS.iter().chain(&["gitdir"]) {
            let path = folder.join(name);
            // A repository with its own objects leads nowhere. A work tree always leads to its repository, whatever a
            // command put beside that: without it, git would read settings here.
            let is_odd = *name == LEADS_AWAY && folder.join("objects").is_dir() && !is_of_work_tree(folder);
            match path.symlink_metadata() {
                Ok(_) if is_odd => self.missing.push(path),
                Ok(_) => drop(self.fixed.insert(path)),
                // Empty, it is as good as none, and can be mounted.
                Err(_) if *name == SECOND_SETTINGS && reads_second(folder) && File::create_new(&path).is_ok() => {
                    self.fixed.insert(path);
                }
                Err(_) if [LEADS_AWAY, SECOND_SETTINGS].contains(name) => self.missing.push(path),
                Err(_) => (),
            }
        }
    }

    pub(super) fn fixed(&self) -> Vec<PathBuf> {
        self.fixed.iter().cloned().collect()
    }

    /// What the command created that runs something later: in repositories that did not exist before, and start files.
    /// Reads folders, like [`Repositories::within`].
    pub(super) fn left_in(&self, scope: &Scope) -> Vec<PathBuf> {
        let now = Self::within(scope);
        let in_new = now.folders.difference(&self.folders).flat_map(|folder| leavings::in_git_folder(folder));
        let start_files = now.fixed.difference(&self.fixed).filter(|path| path.ends_with(START_FILE)).cloned();
        let is_known =
            |path: &Path| now.folders.iter().any(|folder| folder.canonicalize().is_ok_and(|own| own == path));
        let leads_away = |path: &&PathBuf| leavings::leads_to(path).is_none_or(|to| !is_known(&to));
        let away = now.leading.difference(&self.leading).filter(leads_away).cloned();
        in_new.chain(start_files).chain(away).collect()
    }

    /// Removes what was created and must not exist. The command and everything that it started have ended.
    pub(super) fn tidy(&self) {
        for path in &self.missing {
            remove(path);
        }
    }

    /// Removes what leads all of git elsewhere, also while a command runs. Returns what was there.
    pub(super) fn keep(&self) -> Vec<PathBuf> {
        self.missing.iter().filter(|path| path.ends_with(LEADS_AWAY) && remove(path)).cloned().collect()
    }

    /// Second settings files that were not there before.
    pub(super) fn second_settings(&self) -> Vec<PathBuf> {
        let is_there = |path: &&PathBuf| path.ends_with(SECOND_SETTINGS) && path.symlink_metadata().is_ok();
        self.missing.iter().filter(is_there).cloned().collect()
    }
}

/// Removes what must not exist. Returns whether it was there. No link on the way to it is followed: a command may have
/// put one in place of a folder.
fn remove(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let Ok(folder) = openat2(CWD, folder, flags, Mode::empty(), resolve) else { return false };
    let there = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    if there.symlink_metadata().is_err() {
        return false;
    }
    match fs::remove_file(&there).or_else(|_| fs::remove_dir_all(&there)) {
        Ok(()) => tracing::warn!(path = %path.display(), "a command made what leads git elsewhere; it was removed"),
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "what leads git elsewhere could not be removed");
        }
    }
    true
}

/// Whether git reads a second settings file here.
fn reads_second(folder: &Path) -> bool {
    let common = if is_of_work_tree(folder) { folder.ancestors().nth(2) } else { Some(folder) };
    let Some(settings) = common.map(|common| common.join("config")) else { return false };
    if !settings.symlink_metadata().is_ok_and(|kind| kind.is_file()) {
        return false;
    }
    let mut text = Vec::new();
    let read = File::open(settings).map(|file| file.take(SETTINGS_BYTES_MAX).read_to_end(&mut text));
    matches!(read, Ok(Ok(_))) && String::from_utf8_lossy(&text).to_lowercase().contains(READS_SECOND)
}

/// Whether it is the part of a repository that belongs to an additional work tree.
fn is_of_work_tree(folder: &Path) -> bool {
    folder.parent().is_some_and(|above| above.file_name() == Some(OsStr::new("worktrees")))
}

/// By its name, or by its contents, as git itself recognises bare repositories.
fn is_git_folder(folder: &Path) -> bool {
    let is_named = folder.file_name() == Some(OsStr::new(".git"));
    is_named || folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}
