//! The protocol between yoi and its helper: one order on the helper's standard input, which stays open as long as the
//! command may run, and one report on its standard output. The command itself sees neither.

use std::{fmt, path::PathBuf};

use pod::Scope;
use protocol::ScopeRule;
use serde::{Deserialize, Serialize};

use super::{groups, limits::Limits};
use crate::Network;

/// One line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) command: String,
    /// A program that runs until it is ended, instead of the command line.
    #[serde(default)]
    pub(super) program: Option<Program>,
    pub(super) cwd: PathBuf,
    pub(super) rules: Vec<ScopeRule>,
    /// Granted like the rules, except that only plain files and folders can be created there: no links, pipes or
    /// sockets, which others who work there would follow or wait at.
    #[serde(default)]
    pub(super) shared: Vec<ScopeRule>,
    pub(super) lent: Vec<ScopeRule>,
    /// Existing files and folders that are read-only whatever the rules say, and cannot be moved away.
    pub(super) fixed: Vec<PathBuf>,
    /// Parts of the system that are hidden from it.
    pub(super) closed: Vec<PathBuf>,
    pub(super) hold: Hold,
    pub(super) network: Network,
    /// The socket on which the keeper takes connections to ports of the sandbox's own loopback.
    pub(super) way_in: Option<PathBuf>,
    pub(super) limits: Limits,
    /// The group for it and everything that it starts; `None` if no groups are delegated.
    pub(super) group: Option<groups::Wanted>,
}

/// A served program with its arguments. The helper's standard output is a socket, which becomes this program's standard
/// input and output. Its standard error is the helper's.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Program {
    pub(super) arguments: Vec<String>,
    /// Variables besides those that every command gets.
    pub(super) variables: Vec<(String, String)>,
}

// Written by hand, so that the values of variables are never printed.
impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Program").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// How the command is confined to its scope. If that is not possible, nothing runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hold {
    Nothing,
    /// Only Landlock's file rules: a person has been asked.
    Landlock,
    /// In a sandbox, built by bubblewrap if that is given.
    Room {
        bubblewrap: Option<PathBuf>,
    },
}

impl Order {
    /// Runs a command that does nothing, without a scope, to test the confinement.
    pub(super) fn nothing(hold: Hold) -> Self {
        Self {
            command: "exit 0".to_owned(),
            program: None,
            cwd: "/".into(),
            rules: Vec::new(),
            shared: Vec::new(),
            lent: Vec::new(),
            fixed: Vec::new(),
            closed: Vec::new(),
            hold,
            network: Network::None,
            way_in: None,
            limits: Limits::default(),
            group: None,
        }
    }

    pub(super) fn scope(&self) -> Scope {
        Scope::new(self.rules.iter().chain(&self.shared).cloned(), self.lent.iter().cloned())
    }
}

/// One line of JSON; the first one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The confinement was not available, so nothing was run.
    Unconfined(String),
    /// The command could not be started.
    NotStarted(String),
    Exited(i32),
    Signalled(i32),
}
