//! The group of one command, from its beginning to its end.

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

/// The kernel tells when a group gets empty. It is looked at once more all the same …
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// … so often. What is left then is stuck in the kernel, and its group stays until the next start.
const LOOKS_MAX: usize = 30;

/// A group that is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Wanted {
    pub(in super::super) folder: PathBuf,
    /// What the kernel limits there.
    pub(super) controllers: Vec<Controller>,
}

/// A group that is there.
#[derive(Debug)]
pub(in super::super) struct Group {
    folder: PathBuf,
    opened: OwnedFd,
}

impl Group {
    /// An empty one, with its limits. Where one of them cannot be set, there is none.
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

    /// Ends every process in it.
    pub(in super::super) fn kill(&self) {
        let _ = kill(&self.folder);
    }

    /// Ends every process in it, and removes it.
    pub(in super::super) fn end(&self) {
        end(&self.folder);
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.opened.as_fd()
    }
}

/// Ends every process in a group, and removes it with those beneath it. Where it is gone already, nothing is done.
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
        // What may not be in memory is not to fill the disk instead. A kernel without swap has no such file.
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

/// To a file of a group, which the kernel has made.
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
        // That it was interrupted, or that it was too long, is seen to by the next look.
        let _ = poll(&mut [PollFd::new(&events, PollFlags::PRI)], Some(&LOOK_AGAIN));
    }
    Err(io::Error::other("a process in it does not end"))
}

/// Whoever could make groups beneath it is gone.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}
