//! A git work tree of a Pod's own: a folder with a branch of its own, which shares one repository with others.
//!
//! Pure: everything here is text that was found out when it was made.

use protocol::{Access, ScopeRule};
use serde::{Deserialize, Serialize};

/// What commits write in the git folder that all work trees share: objects, branches and their logs. Never its settings
/// and hooks.
const SHARED: [&str; 4] = ["objects", "refs", "logs", "reftable"];

/// Where it is and what it came from. Paths are absolute and canonical.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTree {
    /// Its folder.
    pub path: String,
    /// The branch that was made for it, without `refs/heads/`.
    pub branch: String,
    /// The branch that it came from, without `refs/heads/`; `None` if it came from a commit, a tag or another server's
    /// branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The commit that it began with.
    pub start: String,
    /// The git folder that all work trees of the repository share.
    pub common: String,
    /// The work tree's own part of it: its index, its HEAD.
    pub own: String,
}

impl WorkTree {
    /// What a command that works in it may touch of the repository, besides its folder.
    pub fn rules(&self) -> Vec<ScopeRule> {
        let rule = |path: String, access| ScopeRule { path, access, recursive: true };
        let shared = SHARED.map(|name| rule(format!("{}/{name}", self.common), Access::Write));
        let others = [rule(self.common.clone(), Access::Read), rule(self.own.clone(), Access::Write)];
        others.into_iter().chain(shared).collect()
    }
}
