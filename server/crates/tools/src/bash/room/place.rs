//! Finds or creates the mount point in the sandbox for something. Never follows a link.

use std::path::{Component, Path, PathBuf};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, symlinkat},
    io::{self, Errno},
};

/// The mode of created folders. The tree is closed to everybody else anyway.
const FOLDER: Mode = Mode::from_bits_retain(0o755);
const FILE: Mode = Mode::from_bits_retain(0o644);

/// The folder or file at `path` beneath `root`, created if it is missing.
pub(super) fn find(root: &Path, path: &Path, is_folder: bool) -> io::Result<OwnedFd> {
    let mut names = names(path);
    match entry(CWD, &names.clone().fold(root.to_owned(), |whole, name| whole.join(name))) {
        Err(Errno::NOENT) => (),
        found => return found,
    }
    let name = names.next_back().ok_or(Errno::NOENT)?;
    let folder = find(root, &names.collect::<PathBuf>(), true)?;
    make(&folder, name, is_folder)?;
    entry(&folder, name)
}

/// Creates a link at `at` beneath `root`, unless something is there.
pub(super) fn link(root: &Path, at: &Path, to: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else {
        return Err(Errno::INVAL);
    };
    match symlinkat(to, find(root, folder, true)?, name) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = &Path> + Clone {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Path::new(name)),
        _ => None,
    })
}

fn make(folder: &OwnedFd, name: &Path, is_folder: bool) -> io::Result<()> {
    match is_folder {
        true => mkdirat(folder, name, FOLDER),
        false => openat(folder, name, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC, FILE).map(drop),
    }
}

fn entry(folder: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    openat2(folder, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}
