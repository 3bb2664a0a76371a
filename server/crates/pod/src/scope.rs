//! Which paths a Pod may read and write: its rules, minus what it has lent for writing.
//!
//! Pure: paths are compared as text, `/`-separated, absolute and without `.` or `..`. Whether a path on the disk really
//! is what its text says is checked where files are opened.

use std::sync::Arc;

use protocol::{Access, ScopeRule};

use crate::{Protected, WorkTree};

/// A Pod's current scope, including what it has lent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    rules: Vec<ScopeRule>,
    /// Lent to children for writing: it can be read here but not written.
    lent: Vec<ScopeRule>,
    /// Cannot be written, whatever the rules say.
    protected: Arc<Protected>,
    /// The work tree whose repository commands may touch.
    work_tree: Option<Arc<WorkTree>>,
}

/// Why a path may not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScopeRefusal {
    #[error("is outside the scope of this Pod")]
    Outside,
    #[error("is in the scope of this Pod for reading only")]
    ReadOnly,
    #[error("is denied by a rule of this Pod's scope")]
    Denied,
    #[error("is lent to a child for writing; stop the child to have it back")]
    Lent,
    #[error(
        "makes a shell, git, the session or yoi itself run something outside of every scope, so no Pod writes it; change it \
         yourself if you want it changed"
    )]
    Protected,
}

/// Why something cannot be lent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LendRefusal {
    #[error("{0} is not an absolute path without `.` and `..`")]
    BadPath(String),
    #[error("{0} is outside of what this Pod holds and may lend")]
    NotHeld(String),
    #[error(
        "{0} overlaps something that is lent already; a folder that is lent for writing is lent to one child alone"
    )]
    Conflict(String),
}

impl Scope {
    /// `lent` is what is lent to children now; only what is lent for writing restricts the lender.
    pub fn new(rules: impl IntoIterator<Item = ScopeRule>, lent: impl IntoIterator<Item = ScopeRule>) -> Self {
        let lent = lent.into_iter().filter(|rule| rule.access == Access::Write).collect();
        Self { rules: rules.into_iter().collect(), lent, protected: Arc::default(), work_tree: None }
    }

    /// The same scope, with protected paths that cannot be written.
    #[must_use]
    pub fn with_protected(self, protected: Arc<Protected>) -> Self {
        Self { protected, ..self }
    }

    /// The same scope, for a Pod that works in this work tree.
    #[must_use]
    pub fn with_work_tree(self, work_tree: Option<WorkTree>) -> Self {
        Self { work_tree: work_tree.map(Arc::new), ..self }
    }

    /// The same scope, with one more rule.
    #[must_use]
    pub fn with_rule(mut self, rule: ScopeRule) -> Self {
        self.rules.push(rule);
        self
    }

    pub fn work_tree(&self) -> Option<&WorkTree> {
        self.work_tree.as_deref()
    }

    /// What commands, and no other tool, may touch besides: parts of the repository of the work tree, which belong to
    /// others too.
    pub fn shared(&self) -> Vec<ScopeRule> {
        self.work_tree().map(WorkTree::rules).unwrap_or_default()
    }

    pub fn rules(&self) -> &[ScopeRule] {
        &self.rules
    }

    pub fn protected(&self) -> &Protected {
        &self.protected
    }

    /// What is lent to children for writing.
    pub fn lent(&self) -> &[ScopeRule] {
        &self.lent
    }

    /// Whether `path` may be read: a rule grants it and none denies it.
    pub fn may_read(&self, path: &str) -> Result<(), ScopeRefusal> {
        self.granted(path).map(|_| ())
    }

    /// Whether `path` may be written: granted for writing, not denied, not lent, and not protected.
    pub fn may_write(&self, path: &str) -> Result<(), ScopeRefusal> {
        match self.granted(path)? {
            Access::Write if self.lent.iter().any(|rule| covers(rule, path)) => Err(ScopeRefusal::Lent),
            Access::Write if self.protected.covers(path) => Err(ScopeRefusal::Protected),
            Access::Write => Ok(()),
            Access::Read | Access::Deny => Err(ScopeRefusal::ReadOnly),
        }
    }

    /// A deny wins over every grant; among grants, write wins over read.
    fn granted(&self, path: &str) -> Result<Access, ScopeRefusal> {
        let covering = || self.rules.iter().filter(|rule| covers(rule, path)).map(|rule| rule.access);
        if covering().any(|access| access == Access::Deny) {
            return Err(ScopeRefusal::Denied);
        }
        match covering().any(|access| access == Access::Write) {
            true => Ok(Access::Write),
            false => covering().next().ok_or(ScopeRefusal::Outside),
        }
    }

    /// The scope of a child that is lent `wanted`: those rules, plus every deny of the lender's that reaches into them,
    /// so that no descendant can hold more. `loans` is everything lent to other children, including read access.
    pub fn lend(&self, wanted: &[ScopeRule], loans: &[ScopeRule]) -> Result<Vec<ScopeRule>, LendRefusal> {
        for rule in wanted {
            if !is_plain(&rule.path) {
                return Err(LendRefusal::BadPath(rule.path.clone()));
            }
            if !self.holds(rule) {
                return Err(LendRefusal::NotHeld(rule.path.clone()));
            }
            if loans.iter().any(|loan| conflicts(rule, loan)) {
                return Err(LendRefusal::Conflict(rule.path.clone()));
            }
        }
        let reaches_in = |deny: &&ScopeRule| {
            deny.access == Access::Deny && wanted.iter().any(|rule| rule.access != Access::Deny && overlap(rule, deny))
        };
        let denies = self.rules.iter().filter(reaches_in).filter(|deny| !wanted.contains(deny));
        Ok(wanted.iter().chain(denies).cloned().collect())
    }

    /// Whether everything that the rule covers is covered by one of ours with at least the same access.
    fn holds(&self, wanted: &ScopeRule) -> bool {
        if wanted.access == Access::Deny {
            return true;
        }
        let is_denied = self.rules.iter().any(|rule| rule.access == Access::Deny && covers(rule, &wanted.path));
        let is_covered = self.rules.iter().any(|rule| {
            let gives = rule.access == Access::Write || (rule.access == Access::Read && wanted.access == Access::Read);
            let includes = match rule.recursive {
                true => is_within(&wanted.path, &rule.path),
                false => wanted.path == rule.path && !wanted.recursive,
            };
            gives && includes
        });
        is_covered && !is_denied
    }
}

/// Whether a path can be compared as text: absolute, with plain components.
pub fn is_plain(path: &str) -> bool {
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|part| !part.is_empty() && part != "." && part != "..") && !path.contains('\0')
        })
}

/// Whether the rule covers `path`: its own path and everything beneath it or, if not recursive, only what is directly
/// in it.
pub fn covers(rule: &ScopeRule, path: &str) -> bool {
    match rule.recursive {
        true => is_within(path, &rule.path),
        false => path == rule.path || parent(path) == Some(rule.path.as_str()),
    }
}

/// Whether `path` is `folder` or beneath it.
fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        Some(("", name)) if !name.is_empty() => Some("/"),
        Some((folder, name)) if !name.is_empty() => Some(folder),
        _ => None,
    }
}

/// Whether some path is covered by both.
fn overlap(one: &ScopeRule, other: &ScopeRule) -> bool {
    covers(one, &other.path) || covers(other, &one.path)
}

/// Whether two loans of one lender cannot exist at the same time.
fn conflicts(one: &ScopeRule, other: &ScopeRule) -> bool {
    let is_grant = |rule: &ScopeRule| rule.access != Access::Deny;
    let one_writes = one.access == Access::Write || other.access == Access::Write;
    is_grant(one) && is_grant(other) && one_writes && overlap(one, other)
}
