//! What yoi and its helper tell each other: one order on the helper's standard input, which then stays open for as long
//! as the command may run, and one report on its standard output. The command itself sees neither.

use std::path::PathBuf;

use pod::Scope;
use protocol::ScopeRule;
use serde::{Deserialize, Serialize};

/// One line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) rules: Vec<ScopeRule>,
    pub(super) lent: Vec<ScopeRule>,
    /// Whether the kernel is to hold the command to the scope. Where it is and cannot be done, nothing runs.
    pub(super) confine: bool,
    /// The soft limit of open files, where it is not to be that of yoi.
    pub(super) open_files_max: Option<u64>,
    /// The private temporary folder: chosen by the helper, which makes it and removes it.
    pub(super) temp: Option<PathBuf>,
}

impl Order {
    pub(super) fn scope(&self) -> Scope {
        Scope::new(self.rules.iter().cloned(), self.lent.iter().cloned())
    }
}

/// One line of JSON; the first that comes counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The kernel did not take the rules, so nothing was run.
    Unconfined(String),
    /// The command could not be started.
    NotStarted(String),
    Exited(i32),
    Signalled(i32),
}
