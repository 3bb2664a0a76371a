//! What a command may read but not write, although a rule of its scope grants it: what is lent, and what is protected.
//!
//! For the kernel's file rules. A folder on the way to such a path gets no new entries, so that missing paths cannot be
//! created either: granting a home folder grants the folders in it, but no new names beside them.

use std::{fs, path::Path};

use pod::{Scope, covers};
use protocol::{Access, ScopeRule};

/// Where other people's home folders are.
const HOMES: &str = "/home";

pub(super) fn unwritten(scope: &Scope) -> Vec<ScopeRule> {
    let grants = |path: &str| {
        let grants = scope.rules().iter().filter(|rule| rule.access == Access::Write);
        grants.into_iter().any(|rule| covers(rule, path))
    };
    let protected = scope.protected().known(homes(&grants));
    let really = protected.iter().filter(|path| grants(path)).filter_map(|path| real(path));
    let paths = protected.iter().cloned().chain(really).filter(|path| grants(path));
    let protected = paths.map(|path| ScopeRule { path, access: Access::Write, recursive: true });
    scope.lent().iter().cloned().chain(protected).collect()
}

/// Only if something there may be written at all.
fn homes(grants: &impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(HOMES).into_iter().flatten().flatten();
    let homes = entries.filter_map(|entry| entry.path().into_os_string().into_string().ok());
    homes.filter(|home| grants(home)).collect()
}

/// Where a link leads: a start file may be a link into a folder of dotfiles.
fn real(path: &str) -> Option<String> {
    let real = Path::new(path).canonicalize().ok()?;
    real.into_os_string().into_string().ok().filter(|real| real != path)
}
