//! The place where a file is written: its folder, held open, and its name there. Content goes into a new file beside
//! the old one, which takes its name when it is complete, so a crash leaves either the old file or the new one, never
//! half of one.

use std::{
    fs::File,
    io::Write as _,
    os::fd::OwnedFd,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{
        Access, AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, accessat, fchmod, fchown, fsync,
        mkdirat, renameat, renameat_with, statat, unlinkat,
    },
    io::Errno,
};

use super::{
    beneath::{Anchor, link_text, open_beneath, real_path},
    failure::Failure,
    open::{LINKS_MAX, Opened, Route},
    path::{beneath, join, split},
    work::Work,
};

/// A file that may be written, existing or not.
#[derive(Debug)]
pub(super) struct Target<'a> {
    work: &'a Work,
    folder: OwnedFd,
    name: String,
    /// Absolute and canonical.
    pub(super) path: String,
    /// The path as the model is told.
    pub(super) asked: String,
}

/// What to do about missing folders on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Made,
    Refused,
}

/// Who may do what with a file that is brought back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rights {
    pub(super) is_executable: bool,
    /// What the mode of a file that is not there any more was, if that is known.
    pub(super) mode: Option<u32>,
}

impl<'a> Target<'a> {
    /// Finds the place of `path` (absolute, normalised), if the scope may write it. A link at its end is followed.
    pub(super) fn find(work: &'a Work, path: &str, missing: Missing) -> Result<Self, Failure> {
        let mut route = Route::new(work, path);
        for _ in 0..LINKS_MAX {
            route.check(|path| work.scope.may_write(path))?;
            let at = route.at.clone();
            let (folder, name) = split(&at).ok_or_else(|| is_folder(&route.asked))?;
            let anchor = route.anchor()?;
            match anchor.open_path(folder, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(handle) => match link_text(&handle, name) {
                    Ok(link) => route.lead(join(folder, &link)),
                    Err(Errno::INVAL | Errno::NOENT) => return Self::arrive(work, route, handle, name),
                    Err(errno) => return Err(route.failed(errno)),
                },
                Err(Errno::LOOP) => route.follow(&anchor)?,
                Err(Errno::NOENT) if missing == Missing::Made => make_folders(work, &route, &anchor, folder)?,
                Err(errno) => return Err(route.failed(errno)),
            }
        }
        Err(route.endless())
    }

    fn arrive(work: &'a Work, route: Route<'_>, folder: OwnedFd, name: &str) -> Result<Self, Failure> {
        let path = join(&route.real(&folder)?, name);
        work.scope.may_write(&path).map_err(|refusal| route.refused(refusal))?;
        work.check_led(&route.asked, &path)?;
        Ok(Self { work, folder, name: name.to_owned(), path, asked: route.asked })
    }

    /// The file as it is now; `None` if it does not exist.
    pub(super) fn present(&self) -> Result<Option<Opened>, Failure> {
        let handle = match open_beneath(&self.folder, &self.name, OFlags::PATH | OFlags::NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            handle => handle.map_err(|errno| self.failed(errno))?,
        };
        let opened = Opened::new(handle, self.path.clone()).map_err(|errno| self.failed(errno))?;
        if opened.kind().is_dir() {
            return Err(is_folder(&self.asked));
        }
        if !opened.kind().is_file() {
            return Err(Failure::InvalidInput(format!("{} is not a regular file; choose another name", self.asked)));
        }
        Ok(Some(opened))
    }

    /// Replaces `old`, which must still be what is there (`None`: nothing must be there), by `content`.
    pub(super) fn replace(&self, content: &str, old: Option<&Opened>) -> Result<(), Failure> {
        self.replace_bytes(content.as_bytes(), old, None)
    }

    /// The same for any content. Without `rights`, those of `old` stay.
    pub(super) fn replace_bytes(
        &self,
        content: &[u8],
        old: Option<&Opened>,
        rights: Option<Rights>,
    ) -> Result<(), Failure> {
        if old.is_some() {
            let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
            accessat(&self.folder, &self.name, Access::WRITE_OK, flags).map_err(|errno| self.failed(errno))?;
        }
        let (draft, file) = self.draft()?;
        fill(&file, content, old.map(|old| &old.stat), rights)
            .map_err(|error| Failure::Io(format!("{} was not written: {error}", self.asked)))?;
        self.work.go_on()?;
        self.recheck()?;
        match old {
            Some(old) if self.is_still(&old.stat) => draft.take_name(RenameFlags::empty()),
            Some(_) => return Err(self.changed()),
            None => draft.take_name(RenameFlags::NOREPLACE),
        }
        .map_err(|errno| if errno == Errno::EXIST { self.changed() } else { self.failed(errno) })
    }

    /// Removes `old`, which must still be what is there.
    pub(super) fn remove(&self, old: &Opened) -> Result<(), Failure> {
        self.work.go_on()?;
        self.recheck()?;
        match self.is_still(&old.stat) {
            true => unlinkat(&self.folder, &self.name, AtFlags::empty()).map_err(|errno| self.failed(errno)),
            false => Err(self.changed()),
        }
    }

    /// Whether a folder is there.
    pub(super) fn is_folder(&self) -> bool {
        let stat = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
    }

    /// Removes the folder that is there, if nothing but folders is in it, which may all be written.
    pub(super) fn remove_folder(&self) -> Result<(), Failure> {
        self.work.go_on()?;
        self.recheck()?;
        self.remove_hollow(&self.folder, &self.name, &self.path, true)?;
        self.remove_hollow(&self.folder, &self.name, &self.path, false)
    }

    /// Removes a folder with the folders in it, or only looks whether there is anything else.
    fn remove_hollow(&self, above: &OwnedFd, name: &str, path: &str, only_looks: bool) -> Result<(), Failure> {
        self.work.scope.may_write(path).map_err(|refusal| Failure::Scope { path: self.asked.clone(), refusal })?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let folder = open_beneath(above, name, flags).map_err(|errno| self.failed(errno))?;
        let entries = Dir::read_from(&folder).map_err(|errno| self.failed(errno))?;
        for entry in entries {
            let entry = entry.map_err(|errno| self.failed(errno))?;
            match entry.file_name().to_str() {
                Ok("." | "..") => (),
                Ok(inner) if entry.file_type().is_dir() => {
                    self.remove_hollow(&folder, inner, &join(path, inner), only_looks)?;
                }
                _ => return Err(self.in_the_way()),
            }
        }
        match only_looks {
            true => Ok(()),
            false => unlinkat(above, name, AtFlags::REMOVEDIR).map_err(|errno| match errno {
                Errno::NOTEMPTY | Errno::EXIST => self.in_the_way(),
                errno => self.failed(errno),
            }),
        }
    }

    fn in_the_way(&self) -> Failure {
        let sentence = format!("{} is a folder with files in it now; take these back or move them first", self.asked);
        Failure::InvalidInput(sentence)
    }

    /// Checks that the folder is still where it was when it was checked.
    fn recheck(&self) -> Result<(), Failure> {
        let is_there = real_path(&self.folder).is_some_and(|folder| join(&folder, &self.name) == self.path);
        if is_there { Ok(()) } else { Err(self.changed()) }
    }

    fn is_still(&self, old: &Stat) -> bool {
        statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| {
            let identity = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_ctime, stat.st_ctime_nsec);
            identity(&now) == identity(old)
        })
    }

    /// A new file in the same folder, under an unused name.
    fn draft(&self) -> Result<(Draft<'_>, File), Failure> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        loop {
            let name = format!(".yoi-{:x}-{:x}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            match open_beneath(&self.folder, &name, flags) {
                Ok(file) => return Ok((Draft { target: self, name, is_named: false }, File::from(file))),
                Err(Errno::EXIST) => self.work.go_on()?,
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    fn changed(&self) -> Failure {
        Failure::ReadFirst { path: self.asked.clone(), why: "changed while it was being written" }
    }

    fn failed(&self, errno: Errno) -> Failure {
        Failure::of_system(&self.asked, errno)
    }
}

/// A file that has not got its final name yet; removed if it never gets it.
#[derive(Debug)]
struct Draft<'a> {
    target: &'a Target<'a>,
    name: String,
    is_named: bool,
}

impl Draft<'_> {
    fn take_name(mut self, flags: RenameFlags) -> Result<(), Errno> {
        let (folder, name) = (&self.target.folder, &self.target.name);
        match renameat_with(folder, &self.name, folder, name, flags) {
            // Some file systems do not support the flags. Then the name is checked first, which leaves a short race.
            Err(Errno::INVAL) if !flags.is_empty() => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => renameat(folder, &self.name, folder, name)?,
                Ok(_) => return Err(Errno::EXIST),
                Err(errno) => return Err(errno),
            },
            renamed => renamed?,
        }
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_named
            && let Err(error) = unlinkat(&self.target.folder, &self.name, AtFlags::empty())
        {
            tracing::warn!(name = self.name, %error, "an unfinished file was left behind");
        }
    }
}

/// Writes everything to the disk. Owner and mode are copied from the old file; set-id bits never survive a change of
/// content.
fn fill(mut file: &File, content: &[u8], old: Option<&Stat>, rights: Option<Rights>) -> std::io::Result<()> {
    if let (None, Some(Rights { mode: Some(mode), .. })) = (old, rights) {
        // Before anything is in it that others may not read.
        fchmod(file, Mode::from_raw_mode(mode & 0o777))?;
    }
    file.write_all(content)?;
    if let Some(old) = old {
        // Only a privileged server can change a file's owner; for any other the file belongs to it already.
        let _ = fchown(file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        fchmod(file, Mode::from_raw_mode(old.st_mode & 0o777))?;
    }
    if let Some(Rights { is_executable, .. }) = rights {
        let mode = rustix::fs::fstat(file)?.st_mode & 0o777;
        // Whoever may read it may run it.
        let mode = if is_executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
        fchmod(file, Mode::from_raw_mode(mode))?;
    }
    Ok(fsync(file)?)
}

/// Creates the folders from the anchor to `folder`, each only if it may be written. Stops at a link, which the caller
/// follows before it tries again.
fn make_folders(work: &Work, route: &Route<'_>, anchor: &Anchor, folder: &str) -> Result<(), Failure> {
    let (top, top_path) = anchor.parts();
    let mut at = top.try_clone().map_err(|error| Failure::Io(format!("{}: {error}", route.asked)))?;
    let rest = beneath(top_path, folder).unwrap_or_default();
    for name in rest.split('/') {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        at = match open_beneath(&at, name, flags) {
            Err(Errno::NOENT) => {
                let path = join(&route.real(&at)?, name);
                work.scope.may_write(&path).map_err(|refusal| route.refused(refusal))?;
                match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {
                        open_beneath(&at, name, flags).map_err(|errno| route.failed(errno))?
                    }
                    Err(errno) => return Err(route.failed(errno)),
                }
            }
            Err(Errno::LOOP) => return Ok(()),
            opened => opened.map_err(|errno| route.failed(errno))?,
        };
    }
    Ok(())
}

fn is_folder(asked: &str) -> Failure {
    Failure::InvalidInput(format!("{asked} is a folder; give the path of a file in it"))
}
