//! Walks a folder by name, in order, leaving out hidden files and what git ignores.
//!
//! The walk only proposes paths, because names may change while it runs; whoever uses one opens it with
//! [`super::open`].

use std::{ffi::OsStr, ops::ControlFlow};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};
use pod::{Scope, covers};
use protocol::Access;

use super::{
    failure::Failure,
    path::{beneath, split},
    work::Work,
};

/// The most files and folders that one call visits.
const ENTRIES_MAX: usize = 200_000;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    All,
    /// The visitor stopped it.
    Stopped,
    /// It reached the limit of entries.
    TooMuch,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// The most files and folders that are visited.
    pub(super) entries: usize,
    /// The number of levels below the root; `None` for all.
    pub(super) depth: Option<usize>,
}

impl Reach {
    const WHOLE: Self = Self { entries: ENTRIES_MAX, depth: None };
}

/// What a walk visits.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// Absolute and canonical: a folder or a single file.
    pub(super) root: String,
    /// Include names that begin with a dot. `.git` is always left out.
    pub(super) hidden: bool,
}

impl Walk {
    /// Calls `visit` with every readable path beneath the root that is not a folder.
    pub(super) fn files(
        &self,
        work: &Work,
        visit: impl FnMut(&str) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<Walked, Failure> {
        self.files_within(Reach::WHOLE, work, visit)
    }

    /// The same, with a limit.
    pub(super) fn files_within(
        &self,
        reach: Reach,
        work: &Work,
        mut visit: impl FnMut(&str) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<Walked, Failure> {
        let base = base(work, &self.root);
        let mut met_root = false;
        let mut walked = self.files_from(&base, reach, work, &mut met_root, &mut visit)?;
        if !met_root && base != self.root {
            // The root itself is ignored by git. It was asked for by name, so its contents are visited.
            walked = self.files_from(&self.root, reach, work, &mut met_root, &mut visit)?;
        }
        Ok(walked)
    }

    fn files_from(
        &self,
        base: &str,
        reach: Reach,
        work: &Work,
        met_root: &mut bool,
        visit: &mut impl FnMut(&str) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<Walked, Failure> {
        let (walk, scope) = (self.clone(), work.scope.clone());
        let way_down = beneath(base, &self.root).unwrap_or_default().split('/').filter(|name| !name.is_empty()).count();
        let entries = WalkBuilder::new(base)
            .max_depth(reach.depth.map(|depth| depth + way_down))
            .standard_filters(false)
            .ignore(true)
            .git_ignore(true)
            .git_exclude(true)
            .require_git(false)
            .follow_links(false)
            .sort_by_file_name(OsStr::cmp)
            .filter_entry(move |entry| walk.enters(entry, &scope))
            .build();
        for (count, entry) in entries.enumerate() {
            work.go_on()?;
            if count == reach.entries {
                return Ok(Walked::TooMuch);
            }
            // A folder that cannot be listed, or has gone away, contributes nothing.
            let Ok(entry) = entry else { continue };
            let Some(path) = entry.path().to_str() else { continue };
            *met_root |= path == self.root;
            let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
            if is_folder || beneath(&self.root, path).is_none() || work.scope.may_read(path).is_err() {
                continue;
            }
            if visit(path)?.is_break() {
                return Ok(Walked::Stopped);
            }
        }
        Ok(Walked::All)
    }

    /// Above the root, only the path that leads to it; beneath it, whatever is not left out.
    fn enters(&self, entry: &DirEntry, scope: &Scope) -> bool {
        let Some(path) = entry.path().to_str() else { return false };
        if beneath(path, &self.root).is_some() {
            return true;
        }
        let name = entry.file_name();
        let is_left_out = name == ".git" || (!self.hidden && name.as_encoded_bytes().starts_with(b"."));
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        beneath(&self.root, path).is_some() && !is_left_out && (!is_folder || reaches(scope, path))
    }
}

/// A pattern for paths relative to a folder, which the model gave in `field`.
pub(super) fn glob(field: &str, pattern: &str) -> Result<GlobMatcher, Failure> {
    let refused = |why: &str| Failure::InvalidInput(format!("{field}: {why}"));
    if pattern.is_empty() {
        return Err(refused("it is empty; \"**\" matches every file"));
    }
    if pattern.starts_with('/') || pattern.split('/').any(|name| name == "..") {
        return Err(refused("it is matched against paths beneath `path`; give the folder there"));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| refused(&format!("{}; correct the pattern", error.kind())))
}

/// Whether the pattern asks for names that begin with a dot.
pub(super) fn names_hidden(pattern: &str) -> bool {
    pattern.split(['/', '{', ',']).any(|name| name.starts_with('.') && name != "." && name != "..")
}

/// Where ignore files begin to apply: at the root of the repository, otherwise at the working directory, but never
/// above a folder that the scope cannot read.
fn base(work: &Work, root: &str) -> String {
    let readable = |folder: &&str| work.scope.may_read(folder).is_ok();
    let folders = std::iter::successors(Some(root), |folder| split(folder).map(|(parent, _)| parent));
    let above = folders.take_while(readable).collect::<Vec<_>>();
    // Only asks whether the name exists, and only in folders of the scope.
    let repository = above.iter().find(|folder| std::fs::symlink_metadata(format!("{folder}/.git")).is_ok());
    let base = repository.or_else(|| above.iter().find(|folder| **folder == work.cwd));
    base.map_or(root, |folder| *folder).to_owned()
}

/// Whether something in `folder` may be readable.
fn reaches(scope: &Scope, folder: &str) -> bool {
    let is_within = |rule: &protocol::ScopeRule| rule.recursive && covers(rule, folder);
    let is_denied = scope.rules().iter().any(|rule| rule.access == Access::Deny && is_within(rule));
    let leads_on = |rule: &protocol::ScopeRule| is_within(rule) || beneath(folder, &rule.path).is_some();
    !is_denied && scope.rules().iter().any(|rule| rule.access != Access::Deny && leads_on(rule))
}
