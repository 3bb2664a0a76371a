//! The server's part of the cgroup tree: a group for itself, and one for each command.
//!
//! The kernel only applies limits in a group whose parent contains no processes, so the server first moves itself into
//! a subgroup.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use protocol::{Wall, WallItem, WallState};

use super::{
    controller::Controller,
    group::{self, Wanted},
    own,
};
use crate::bash::{
    limits::Limits,
    order::{Hold, Order, Report},
    walls,
};

/// The server's group.
const SERVER: &str = "server";
/// The prefix of the names of commands' groups.
const COMMAND: &str = "command-";

/// Where a server's commands have their groups, or why they have none.
#[derive(Debug, Clone)]
pub struct Groups(Result<Tree, String>);

#[derive(Debug, Clone)]
struct Tree {
    folder: PathBuf,
    /// What the kernel limits for each command …
    controllers: Vec<Controller>,
    /// … and why it does not limit the rest.
    missing: Vec<(Controller, String)>,
}

impl Groups {
    /// No groups; the reason is half a sentence.
    pub fn none(reason: impl Into<String>) -> Self {
        Self(Err(reason.into()))
    }

    /// Divides the group in which this process was started, if it has been delegated.
    pub fn of_this_process() -> Self {
        match own::handed_over() {
            Ok(folder) => Self::beneath(&folder),
            Err(reason) => Self::none(reason),
        }
    }

    /// Divides a group: this process moves into a subgroup, and commands get theirs beside it. Leftovers of a server
    /// that was killed are removed. A test command is run to check that it works.
    pub fn beneath(folder: &Path) -> Self {
        let taken = take(folder).and_then(|tree| try_group(&tree).map(|()| tree));
        Self(taken.map_err(|reason| format!("{} could not be divided: {reason}", folder.display())))
    }

    /// A group for the next command.
    pub(in super::super) fn next(&self) -> Option<Wanted> {
        self.0.as_ref().ok().map(Tree::next)
    }

    /// The state of this wall, for people.
    pub(in super::super) fn wall(&self) -> WallItem {
        let (state, detail) = match &self.0 {
            Ok(tree) => tree.told(),
            Err(reason) => (WallState::Off, format!("{reason}; {}", stand_in())),
        };
        WallItem { wall: Wall::Cgroup, state, detail: Some(detail) }
    }
}

impl Tree {
    fn next(&self) -> Wanted {
        let name = format!("{COMMAND}{}", uuid::Uuid::new_v4().simple());
        Wanted { folder: self.folder.join(name), controllers: self.controllers.clone() }
    }

    fn told(&self) -> (WallState, String) {
        let limited = Vec::from_iter(self.controllers.iter().map(|controller| controller.limited()));
        let begin = "each command has a group of its own and is ended with it";
        let missing = self.missing.iter().map(|(controller, why)| format!("{} ({why})", controller.limited()));
        let missing = Vec::from_iter(missing);
        match (limited.is_empty(), missing.is_empty()) {
            (_, true) => (WallState::On, format!("{begin}; of the whole are limited: {}", limited.join(", "))),
            (false, false) => {
                let (limited, missing) = (limited.join(", "), missing.join(", "));
                (WallState::Partly, format!("{begin}; of the whole are limited: {limited}; not {missing}"))
            }
            (true, false) => {
                let missing = missing.join(", ");
                (WallState::Partly, format!("{begin}; of the whole are not limited: {missing}; {}", stand_in()))
            }
        }
    }
}

/// What limits commands without groups.
fn stand_in() -> &'static str {
    match rustix::process::geteuid().is_root() && Limits::default().numbers().is_none() {
        true => "limits of each process stand in, and nobody counts the processes of root before Linux 6.14",
        false => "limits of each process stand in",
    }
}

fn take(folder: &Path) -> Result<Tree, String> {
    let server = folder.join(SERVER);
    fs::create_dir(&server).or_else(unless_there).map_err(|error| format!("no group can be made in it: {error}"))?;
    group::write(&server, "cgroup.procs", &std::process::id().to_string()).map_err(|error| {
        let _ = fs::remove_dir(&server);
        format!("yoi cannot move into a group of its own: {error}")
    })?;
    remove_left_behind(folder);
    let offered = fs::read_to_string(folder.join("cgroup.controllers")).unwrap_or_default();
    let mut tree = Tree { folder: folder.to_owned(), controllers: Vec::new(), missing: Vec::new() };
    for controller in Controller::ALL {
        match enable(folder, &offered, controller) {
            Ok(()) => tree.controllers.push(controller),
            Err(why) => tree.missing.push((controller, why)),
        }
    }
    Ok(tree)
}

fn unless_there(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

fn enable(folder: &Path, offered: &str, controller: Controller) -> Result<(), String> {
    let name = controller.as_str();
    if !offered.split_whitespace().any(|offer| offer == name) {
        return Err(format!("{name} is not offered there"));
    }
    group::write(folder, "cgroup.subtree_control", &format!("+{name}")).map_err(|error| match error.kind() {
        ErrorKind::ResourceBusy => format!("{name} cannot be had beside other processes"),
        _ => format!("{name}: {error}"),
    })
}

fn remove_left_behind(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(COMMAND)) {
            group::end(&entry.path());
        }
    }
}

/// Runs a command that does nothing, in a group and without a sandbox.
fn try_group(tree: &Tree) -> Result<(), String> {
    let order = Order { group: Some(tree.next()), ..Order::nothing(Hold::Nothing) };
    match walls::carried_out(&order) {
        Ok(Report::Exited(0)) => Ok(()),
        Ok(Report::Unconfined(reason) | Report::NotStarted(reason)) => Err(reason),
        Ok(report) => Err(format!("a first command in a group ended otherwise: {report:?}")),
        Err(error) => Err(format!("a first group could not be tried: {error}")),
    }
}
