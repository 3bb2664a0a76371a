//! Carves what is denied or lent out of what is granted.
//!
//! Landlock can only add: a rule on a folder applies to everything beneath it, and no second rule can take a part away.
//! So a granted folder with an exception somewhere beneath it is not granted as a whole; instead, everything beside the
//! path to the exception is granted, entry by entry. For a folder on that path only listing is granted, so a command
//! cannot create, rename or remove entries directly in it. (Landlock's permission to list also applies to everything
//! beneath, so names, and only names, can be listed in the excepted folder too.)

use std::{
    ffi::{CStr, CString},
    path::Path,
};

use pod::{Scope, covers};
use protocol::{Access, ScopeRule};
use rustix::{
    fd::OwnedFd,
    fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::{self, Errno},
};

/// The most entries beside exceptions; if there are more, the command is refused and nothing is left out silently.
const ENTRIES_MAX: usize = 100_000;

/// What is granted on a file or folder that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// Everything that the rule grants.
    Whole,
    /// Listing only: an exception lies beneath, or only this folder's own files are granted.
    OnTheWay,
}

/// Walks down from granted paths to what can be granted as a whole.
pub(super) struct Carver<'a> {
    without: &'a [ScopeRule],
    found: &'a mut dyn FnMut(Node, &OwnedFd) -> Result<(), String>,
    entries_left: usize,
}

/// Opens the file or folder itself, of any kind, if no part of its path is a symbolic link.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

impl<'a> Carver<'a> {
    pub(super) fn new(
        without: &'a [ScopeRule],
        found: &'a mut dyn FnMut(Node, &OwnedFd) -> Result<(), String>,
    ) -> Self {
        Self { without, found, entries_left: ENTRIES_MAX }
    }

    /// Finds what `rule` grants. A path that does not exist, or has become a link, grants nothing.
    pub(super) fn grant(&mut self, rule: &ScopeRule) -> Result<(), String> {
        let Ok(file) = open(Path::new(&rule.path)) else {
            return Ok(());
        };
        match rule.recursive || !is_folder(&file) {
            true => self.grant_all(&rule.path, &file),
            false => self.grant_files_of(&rule.path, &file),
        }
    }

    /// Grants `path` and everything beneath it.
    fn grant_all(&mut self, path: &str, file: &OwnedFd) -> Result<(), String> {
        if !self.without.iter().any(|rule| touches(rule, path)) {
            return (self.found)(Node::Whole, file);
        }
        if self.is_excepted_whole(path) || !is_folder(file) {
            return Ok(());
        }
        if !self.is_excepted(path) {
            (self.found)(Node::OnTheWay, file)?;
        }
        for name in self.names_in(path, file)? {
            if let Ok(entry) = entry_of(file, &name) {
                self.grant_all(&joined(path, &name), &entry)?;
            }
        }
        Ok(())
    }

    /// Grants only the files directly in the folder.
    fn grant_files_of(&mut self, path: &str, folder: &OwnedFd) -> Result<(), String> {
        if !self.is_excepted(path) {
            (self.found)(Node::OnTheWay, folder)?;
        }
        for name in self.names_in(path, folder)? {
            match entry_of(folder, &name) {
                Ok(entry) if !is_folder(&entry) && !self.is_excepted(&joined(path, &name)) => {
                    (self.found)(Node::Whole, &entry)?;
                }
                _ => (),
            }
        }
        Ok(())
    }

    fn is_excepted(&self, path: &str) -> bool {
        self.without.iter().any(|rule| covers(rule, path))
    }

    fn is_excepted_whole(&self, path: &str) -> bool {
        self.without.iter().any(|rule| rule.recursive && covers(rule, path))
    }

    /// The names directly in `folder`.
    fn names_in(&mut self, path: &str, folder: &OwnedFd) -> Result<Vec<CString>, String> {
        let names = match names(folder) {
            Ok(names) => names,
            // The command could not enter it either.
            Err(Errno::ACCESS | Errno::NOENT) => Vec::new(),
            Err(errno) => return Err(format!("{path} could not be listed: {errno}")),
        };
        let left = self.entries_left.checked_sub(names.len());
        self.entries_left =
            left.ok_or_else(|| format!("more than {ENTRIES_MAX} entries lie beside what is denied or lent"))?;
        Ok(names)
    }
}

pub(super) fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = openat2(folder, ".", flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let entries = Dir::read_from(&listed)?.map(|entry| Ok(entry?.file_name().to_owned()));
    let is_own = |name: &CString| matches!(name.to_bytes(), b"." | b"..");
    entries.filter(|name| !name.as_ref().is_ok_and(is_own)).collect()
}

fn joined(folder: &str, name: &CStr) -> String {
    format!("{}/{}", folder.trim_end_matches('/'), name.to_string_lossy())
}

/// Opens an entry of a folder. Fails for a link.
pub(super) fn entry_of(folder: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(folder, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn is_folder(file: &OwnedFd) -> bool {
    fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
}

/// Whether the rule covers `path` or something beneath it.
fn touches(rule: &ScopeRule, path: &str) -> bool {
    covers(rule, path) || Path::new(&rule.path).starts_with(path)
}

/// The deny rules, each also with the canonical form of its path: denying a link denies its target.
pub(super) fn denials(scope: &Scope) -> Vec<ScopeRule> {
    let denied = scope.rules().iter().filter(|rule| rule.access == Access::Deny);
    let real = |rule: &ScopeRule| {
        let path = Path::new(&rule.path).canonicalize().ok()?.to_str()?.to_owned();
        Some(ScopeRule { path, ..rule.clone() })
    };
    denied.flat_map(|rule| [Some(rule.clone()), real(rule)]).flatten().collect()
}
