//! Opening files beneath a folder that is already open, never through a symbolic link: the system calls and their
//! flags.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use pod::{Scope, covers};
use protocol::Access;
use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlink, readlinkat},
    io::Errno,
};

use super::path::{beneath, join, split};

/// How often to retry when the kernel returns EAGAIN, because names move while it resolves them.
const TRIES_MAX: usize = 16;

/// The folder that the path's own rule names, or its nearest existing ancestor.
#[derive(Debug)]
pub(super) struct Anchor {
    fd: OwnedFd,
    path: String,
}

impl Anchor {
    /// Opens the anchor of `path`, which the scope grants. `ELOOP`: a rule names its folder through a symbolic link.
    pub(super) fn open(scope: &Scope, path: &str) -> Result<Self, Errno> {
        let granting = scope.rules().iter().filter(|rule| rule.access != Access::Deny && covers(rule, path));
        let deepest = granting.map(|rule| rule.path.as_str()).max_by_key(|folder| folder.len()).unwrap_or("/");
        let mut folder = match split(path) {
            Some((parent, _)) if deepest == path => parent,
            _ => deepest,
        };
        loop {
            match (open_from(CWD, folder, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::empty()), split(folder)) {
                (Err(Errno::NOENT | Errno::NOTDIR), Some((parent, _))) => folder = parent,
                (opened, _) => return Ok(Self { fd: opened?, path: folder.to_owned() }),
            }
        }
    }

    /// The folder itself, and its absolute path.
    pub(super) fn parts(&self) -> (&OwnedFd, &str) {
        (&self.fd, &self.path)
    }

    /// Opens `path`, which is the anchor or beneath it. `ELOOP`: there is a symbolic link on the way.
    pub(super) fn open_path(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_beneath(&self.fd, beneath(&self.path, path).ok_or(Errno::XDEV)?, flags)
    }

    /// Where `path` leads by its first symbolic link, as text; `None` if there is no link, or not any more.
    pub(super) fn follow(&self, path: &str) -> Result<Option<String>, Errno> {
        let rest = beneath(&self.path, path).ok_or(Errno::XDEV)?;
        let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
        for end in ends {
            let (head, tail) = rest.split_at(end);
            let fd = open_beneath(&self.fd, head, OFlags::PATH | OFlags::NOFOLLOW)?;
            if FileType::from_raw_mode(fstat(&fd)?.st_mode).is_symlink() {
                let link = join(&self.path, head);
                let folder = split(&link).map_or("/", |(folder, _)| folder);
                let led = join(folder, &link_text(&fd, "")?);
                return Ok(Some(join(&led, tail.trim_start_matches('/'))));
            }
        }
        Ok(None)
    }
}

/// Opens what is at `rest` beneath `folder`; empty means the folder itself.
pub(super) fn open_beneath(folder: impl AsFd, rest: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let rest = if rest.is_empty() { "." } else { rest };
    open_from(folder, rest, flags, ResolveFlags::BENEATH)
}

/// The text of a symbolic link; `EINVAL` if it is none. An empty `name` means `folder` itself.
pub(super) fn link_text(folder: impl AsFd, name: &str) -> Result<String, Errno> {
    readlinkat(folder, name, Vec::new())?.into_string().map_err(|_| Errno::ILSEQ)
}

/// The current path of `fd` according to the kernel; `None` if it was deleted or has no path that a scope could name.
pub(super) fn real_path(fd: impl AsFd) -> Option<String> {
    let link = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let path = readlink(link, Vec::new()).ok()?.into_string().ok()?;
    (path.starts_with('/') && !path.ends_with(" (deleted)")).then_some(path)
}

fn open_from(folder: impl AsFd, path: &str, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | more;
    let flags = flags | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    let mut last = Errno::AGAIN;
    for _ in 0..TRIES_MAX {
        match openat2(&folder, path, flags, mode, resolve) {
            Err(error @ (Errno::AGAIN | Errno::INTR)) => last = error,
            opened => return opened,
        }
    }
    Err(last)
}
