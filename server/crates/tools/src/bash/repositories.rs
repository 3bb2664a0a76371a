//! The repositories that a command could change, and what in them it must not: git's settings and hooks name programs that run when
//! a person next asks for the state of the work (docs/decisions/0044-what-runs-later-is-not-written.md).
//!
//! What is there is fixed in the room: mounted over itself for reading, and the folders on the way to it over themselves, so that
//! none is moved away with what it holds. What git would read and is not there can have no mount; it is taken away when the
//! command has ended. No repository has it that was made by git for its own. What a command puts into a repository that it
//! makes itself is told afterwards.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use pod::{IN_GIT_FOLDERS, Scope};
use protocol::Access;

use super::leavings;

/// Folders of a scope that are looked through for repositories; what lies deeper or beyond is not found.
const FOLDERS_MAX: usize = 400;
const DEPTH_MAX: usize = 4;
/// Of one repository: its own folder, and those of its parts.
const PARTS_MAX: usize = 64;
/// Folders that hold what was fetched or built, by the thousand.
const SKIPPED: [&str; 6] = ["node_modules", "target", ".venv", "venv", "vendor", "dist"];
/// Leads all of git elsewhere; only folders of further work trees have it.
const LEADS_AWAY: &str = "commondir";
/// A second file of settings, which git reads only where the first one says so.
const SECOND_SETTINGS: &str = "config.worktree";
const START_FILE: &str = ".envrc";

/// What was found before a command.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    fixed: BTreeSet<PathBuf>,
    /// Git's own folders.
    folders: BTreeSet<PathBuf>,
    /// What stands in the place of one and leads to it: a file, or a link.
    leading: BTreeSet<PathBuf>,
    /// What is not there, and must not be there afterwards.
    missing: Vec<PathBuf>,
}

impl Repositories {
    /// Reads folders: not for a thread that others wait for.
    pub(super) fn within(scope: &Scope) -> Self {
        let mut found = Self::default();
        let mut left = FOLDERS_MAX;
        for rule in scope.rules().iter().filter(|rule| rule.access == Access::Write) {
            let depth = if rule.recursive { DEPTH_MAX } else { 0 };
            found.look_through(Path::new(&rule.path), depth, &mut left);
        }
        found
    }

    /// Nearest first, so that many folders in one place do not hide a repository beside them.
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

    /// Git's folder, those of its submodules and of its further work trees.
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
        // An empty one is as good as none, and can be mounted. One that cannot be made here cannot be made by the command.
        if folder.join("HEAD").is_file() && !hooks.exists() {
            let _ = fs::create_dir(&hooks);
        }
        for name in IN_GIT_FOLDERS.iter().chain(&["gitdir"]) {
            let path = folder.join(name);
            // One that is somebody's own keeps its objects, and leads nowhere.
            let is_odd = *name == LEADS_AWAY && folder.join("objects").is_dir();
            match path.symlink_metadata() {
                Ok(_) if is_odd => self.missing.push(path),
                Ok(_) => drop(self.fixed.insert(path)),
                Err(_) if [LEADS_AWAY, SECOND_SETTINGS].contains(name) => self.missing.push(path),
                Err(_) => (),
            }
        }
    }

    pub(super) fn fixed(&self) -> Vec<PathBuf> {
        self.fixed.iter().cloned().collect()
    }

    /// What the command made beside, that runs something later: in repositories that were not there before it, and start files.
    /// Reads folders, as [`Repositories::within`].
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

    /// Takes away what came to be, and must not. The command and all that it started have ended.
    pub(super) fn tidy(&self) {
        for path in self.missing.iter().filter(|path| path.symlink_metadata().is_ok()) {
            let taken = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
            match taken {
                Ok(()) => {
                    tracing::warn!(path = %path.display(), "a command made what leads git elsewhere; it was removed")
                }
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "what leads git elsewhere could not be removed")
                }
            }
        }
    }
}

/// By its name, or by what is in it, as git itself finds bare ones.
fn is_git_folder(folder: &Path) -> bool {
    let is_named = folder.file_name() == Some(OsStr::new(".git"));
    is_named || folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}
