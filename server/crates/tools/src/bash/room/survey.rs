//! What lies on the disk at the places that a scope mentions, and what a command may do there.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use pod::{Scope, covers};
use protocol::{Access, ScopeRule};
use rustix::fd::OwnedFd;

use super::{
    super::{carve, system::System},
    identity::Identity,
};

/// The most entries of folders that are granted or denied without their subfolders; if there are more, the command is
/// refused.
const ENTRIES_MAX: usize = 1_000;
/// A name that stands for any file without a rule of its own.
const ANY: &str = "\u{1}";
/// These belong to the sandbox, whatever the scope says.
const OWN: [&str; 2] = ["/proc", "/dev"];

/// What a command may do with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Nothing,
    Read,
    Write,
}

/// A place where the access may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) reach: Reach,
    pub(super) identity: Identity,
    /// It cannot be moved away, although the access does not change here.
    pub(super) is_fixed: bool,
}

/// Everything that the rules and the system name and that exists, each before what lies beneath it.
pub(super) fn points(scope: &Scope, fixed: &[PathBuf], system: &System) -> Result<BTreeMap<PathBuf, Point>, String> {
    let survey = Survey { scope, system, denied: carve::denials(scope) };
    let mut points = BTreeMap::new();
    let rules = scope.rules().iter().chain(scope.lent()).chain(&survey.denied);
    for rule in rules {
        let Ok(file) = carve::open(Path::new(&rule.path)) else { continue };
        survey.add(&mut points, PathBuf::from(&rule.path), &file);
        if !rule.recursive {
            survey.add_entries(&mut points, &rule.path, &file)?;
        }
    }
    for path in system.readable.iter().chain(&system.closed) {
        if let Ok(file) = carve::open(path) {
            survey.add(&mut points, path.clone(), &file);
        }
    }
    for path in fixed {
        survey.fix(&mut points, path);
    }
    Ok(points)
}

struct Survey<'a> {
    scope: &'a Scope,
    system: &'a System,
    denied: Vec<ScopeRule>,
}

impl Survey<'_> {
    fn add(&self, points: &mut BTreeMap<PathBuf, Point>, path: PathBuf, file: &OwnedFd) {
        let is_own = OWN.iter().any(|own| path.starts_with(own));
        if let (false, Some(text), Ok(identity)) = (is_own, path.to_str(), Identity::of(file)) {
            let reach = if identity.is_folder { self.reach_beneath(text) } else { self.reach(text) };
            points.insert(path, Point { reach, identity, is_fixed: false });
        }
    }

    /// Makes `path` read-only, and keeps the writable folders on the way to it from being moved.
    fn fix(&self, points: &mut BTreeMap<PathBuf, Point>, path: &Path) {
        for place in path.ancestors() {
            let (Some(text), Ok(file)) = (place.to_str(), carve::open(place)) else { return };
            let Ok(identity) = Identity::of(&file) else { return };
            let reach = if identity.is_folder { self.reach_beneath(text) } else { self.reach(text) };
            if reach != Reach::Write {
                return;
            }
            let point = points.entry(place.to_owned()).or_insert(Point { reach, identity, is_fixed: true });
            point.is_fixed = true;
            if place == path {
                point.reach = Reach::Read;
            }
        }
    }

    fn add_entries(&self, points: &mut BTreeMap<PathBuf, Point>, path: &str, folder: &OwnedFd) -> Result<(), String> {
        let names = carve::names(folder).unwrap_or_default();
        if names.len() > ENTRIES_MAX {
            return Err(format!(
                "{path} has more than {ENTRIES_MAX} entries, which a rule that is not recursive needs one by one"
            ));
        }
        for name in names {
            if let Ok(entry) = carve::entry_of(folder, &name) {
                self.add(points, Path::new(path).join(OsStr::from_bytes(name.to_bytes())), &entry);
            }
        }
        Ok(())
    }

    /// The access to a file.
    fn reach(&self, path: &str) -> Reach {
        match self.denied.iter().any(|rule| covers(rule, path)) {
            true => Reach::Nothing,
            false => self.granted(path, path),
        }
    }

    /// The access to any file in a folder that has no rule of its own.
    fn reach_beneath(&self, folder: &str) -> Reach {
        match self.denied.iter().any(|rule| rule.recursive && covers(rule, folder)) {
            true => Reach::Nothing,
            false => self.granted(folder, &format!("{}/{ANY}", folder.trim_end_matches('/'))),
        }
    }

    fn granted(&self, path: &str, asked: &str) -> Reach {
        let grants = |access| self.scope.rules().iter().any(|rule| rule.access == access && covers(rule, asked));
        let is_lent = || self.scope.lent().iter().any(|rule| covers(rule, asked));
        match (grants(Access::Write), grants(Access::Read)) {
            (true, _) if !is_lent() => Reach::Write,
            (true, _) | (_, true) => Reach::Read,
            _ if self.system.shows(Path::new(path)) => Reach::Read,
            _ => Reach::Nothing,
        }
    }
}
