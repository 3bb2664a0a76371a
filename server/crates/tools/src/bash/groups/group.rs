//! The group of one command, from creation to removal.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, Mode, OFlags, openat},
};
use serde::{Deserialize, Serialize};

use super::{super::limits::Limits, controller::Controller};

/// The kernel notifies when a group becomes empty. It is also polled at this interval …
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// … this many times. What is left then is stuck in the kernel, and its group stays until the next start.
const LOOKS_MAX: usize = 30;

/// A group to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Wanted {
    pub(in super::super) folder: PathBuf,
    /// What the kernel limits there.
    pub(super) controllers: Vec<Controller>,
}

/// An existing group.
#[derive(Debug)]
pub(in super::super) struct Group {
    folder: PathBuf,
    opened: OwnedFd,
}

impl Group {
    /// Creates an empty group with its limits. If one of them cannot be set, there is no group.
    pub(in super::super) fn make(wanted: &Wanted, limits: &Limits) -> io::Result<Self> {
        let folder = wanted.folder.clone();
        fs::create_dir(&folder)?;
        match limit(wanted, limits).and_then(|()| open(&folder)) {
            Ok(opened) => Ok(Self { folder, opened }),
            Err(error) => {
                let _ = fs::remove_dir(&folder);
                Err(error)
            }
        }
    }

    /// Kills every process in it.
    pub(in super::super) fn kill(&self) {
        let _ = kill(&self.folder);
    }

    /// Kills every process in it and removes it.
    pub(in super::super) fn end(&self) {
        end(&self.folder);
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.opened.as_fd()
    }
}

/// Kills every process in a group and removes it with its subgroups. Does nothing if the group is gone.
pub(in super::super) fn end(folder: &Path) {
    let ended = kill(folder).and_then(|()| await_empty(folder)).and_then(|()| remove(folder));
    match ended {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(%error, group = %folder.display(), "the group of a command is left behind");
        }
        Ok(()) | Err(_) => (),
    }
}

fn limit(wanted: &Wanted, limits: &Limits) -> io::Result<()> {
    for (file, value) in wanted.controllers.iter().flat_map(|controller| controller.settings(limits)) {
        write(&wanted.folder, file, &value.to_string())?;
    }
    if wanted.controllers.contains(&Controller::Memory) {
        // What must not be in memory must not fill the swap instead. A kernel without swap has no such file.
        write(&wanted.folder, "memory.swap.max", "0").or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    Ok(())
}

fn open(folder: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Writes to one of a group's files, which the kernel has created.
pub(super) fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(folder.join(file))?.write_all(text.as_bytes())
}

fn kill(folder: &Path) -> io::Result<()> {
    write(folder, "cgroup.kill", "1")
}

fn await_empty(folder: &Path) -> io::Result<()> {
    let mut events = File::open(folder.join("cgroup.events"))?;
    for _ in 0..LOOKS_MAX {
        let mut text = String::new();
        events.rewind()?;
        events.read_to_string(&mut text)?;
        if text.lines().any(|line| line == "populated 0") {
            return Ok(());
        }
        // Interruptions and timeouts are handled by the next look.
        let _ = poll(&mut [PollFd::new(&events, PollFlags::PRI)], Some(&LOOK_AGAIN));
    }
    Err(io::Error::other("a process in it does not end"))
}

/// Nothing that could create subgroups is left.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}
