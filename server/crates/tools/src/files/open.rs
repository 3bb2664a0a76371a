//! Opening files for reading. The path is checked as text, opened without following links, and checked as what it
//! really is.
//!
//! Symbolic links are followed here and not by the kernel: each is read, and its target is checked against the scope
//! before the disk is asked about it. So nothing outside is touched, and nobody learns whether it exists.

use std::{
    fs::File,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use pod::ScopeRefusal;
use rustix::{
    fs::{CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, openat},
    io::Errno,
};

use super::{
    beneath::{Anchor, real_path},
    failure::Failure,
    work::Work,
};

/// How many symbolic links are followed, as in the kernel.
pub(super) const LINKS_MAX: usize = 40;

/// A file or folder in the scope, held open, so that it stays the same whatever happens to its name.
#[derive(Debug)]
pub(super) struct Opened {
    handle: OwnedFd,
    /// Absolute and canonical: no part of it is a symbolic link.
    pub(super) path: String,
    /// As of opening.
    pub(super) stat: Stat,
}

/// Opens `path` (absolute, normalised) for reading, if it is in the scope.
pub(super) fn open(work: &Work, path: &str) -> Result<Opened, Failure> {
    let mut route = Route::new(work, path);
    for _ in 0..LINKS_MAX {
        route.check(|path| work.scope.may_read(path))?;
        let anchor = route.anchor()?;
        match anchor.open_path(&route.at, OFlags::PATH) {
            Ok(handle) => return route.arrive(handle),
            Err(Errno::LOOP) => route.follow(&anchor)?,
            Err(errno) => return Err(route.failed(errno)),
        }
    }
    Err(route.endless())
}

impl Opened {
    /// `handle` was opened as `path`, which was checked.
    pub(super) fn new(handle: OwnedFd, path: String) -> Result<Self, Errno> {
        let stat = fstat(&handle)?;
        Ok(Self { handle, path, stat })
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(super) fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }

    /// Opens the very same file for its content. Only for regular files: opening others may have side effects.
    pub(super) fn reader(&self) -> Result<File, Errno> {
        let same = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(CWD, same, flags, Mode::empty()).map(File::from)
    }
}

/// The route from the requested path to the one that is opened, link by link.
#[derive(Debug)]
pub(super) struct Route<'a> {
    work: &'a Work,
    /// The path as the model is told.
    pub(super) asked: String,
    /// The absolute path, as far as links have been followed.
    pub(super) at: String,
    is_led: bool,
}

impl<'a> Route<'a> {
    pub(super) fn new(work: &'a Work, path: &str) -> Self {
        Self { work, asked: work.shown(path), at: path.to_owned(), is_led: false }
    }

    /// Checks with `may` whether the scope allows the current path of the route.
    pub(super) fn check(&self, may: impl Fn(&str) -> Result<(), ScopeRefusal>) -> Result<(), Failure> {
        may(&self.at).map_err(|refusal| self.refused(refusal))
    }

    pub(super) fn refused(&self, refusal: ScopeRefusal) -> Failure {
        let path = self.asked.clone();
        match self.is_led {
            true => Failure::Link { path, refusal },
            false => Failure::Scope { path, refusal },
        }
    }

    pub(super) fn anchor(&self) -> Result<Anchor, Failure> {
        Anchor::open(&self.work.scope, &self.at).map_err(|errno| match errno {
            Errno::LOOP => Failure::Denied(format!(
                "{} is in a scope whose folder is named through a symbolic link; the scope must name its real path",
                self.asked
            )),
            errno => self.failed(errno),
        })
    }

    /// Continues at the target of the first link. If it is no longer a link, the path is simply tried again.
    pub(super) fn follow(&mut self, anchor: &Anchor) -> Result<(), Failure> {
        if let Some(led) = anchor.follow(&self.at).map_err(|errno| self.failed(errno))? {
            self.lead(led);
        }
        Ok(())
    }

    pub(super) fn lead(&mut self, to: String) {
        self.at = to;
        self.is_led = true;
    }

    /// Checks what was really opened, and that it is not in `/proc`, which would expose the server's own process.
    pub(super) fn real(&self, handle: impl AsFd) -> Result<String, Failure> {
        if fstatfs(&handle).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC) {
            return Err(Failure::Denied(format!("{} is about running processes, which no scope has", self.asked)));
        }
        real_path(handle).ok_or_else(|| self.moved())
    }

    fn arrive(self, handle: OwnedFd) -> Result<Opened, Failure> {
        let path = self.real(&handle)?;
        self.work.scope.may_read(&path).map_err(|refusal| self.refused(refusal))?;
        self.work.check_led(&self.asked, &path)?;
        Opened::new(handle, path).map_err(|errno| self.failed(errno))
    }

    pub(super) fn failed(&self, errno: Errno) -> Failure {
        Failure::of_system(&self.asked, errno)
    }

    pub(super) fn endless(&self) -> Failure {
        Failure::Io(format!("{} leads through too many symbolic links, or keeps changing", self.asked))
    }

    fn moved(&self) -> Failure {
        Failure::Io(format!("{} was moved or deleted while it was opened; try again", self.asked))
    }
}
