//! A file system in memory: names, folders and files, and what of them is on the disk.
//!
//! Names reach the disk in order, with the next sync of anything, as in a file system with a journal.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::image::Image;

const PAGE: u32 = 4096;
/// How long the kernel may rely on what it was told: nobody else changes it.
const FOREVER: Duration = Duration::from_secs(3_600);
const ROOT: u64 = 1;

/// What is wrong with the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Full,
    /// Each sync fails, and drops what it was to write.
    NoSync,
    ReadOnly,
}

#[derive(Debug, Clone)]
pub(super) struct Memory(Arc<Mutex<Tree>>);

type Names = BTreeMap<(u64, OsString), u64>;

#[derive(Debug)]
struct Tree {
    nodes: BTreeMap<u64, Node>,
    names: Names,
    /// The names that are certainly on the disk.
    stored: Names,
    trouble: Option<Trouble>,
}

#[derive(Debug)]
struct Node {
    mode: u16,
    changed_at: SystemTime,
    /// `None` for a folder.
    image: Option<Image>,
    /// SQLite's index of the log: memory of processes, not of the disk. The kernel writes it whenever it likes.
    is_index: bool,
}

impl Memory {
    pub(super) fn new() -> Self {
        let root = Node { mode: 0o755, changed_at: UNIX_EPOCH, image: None, is_index: false };
        let nodes = BTreeMap::from([(ROOT, root)]);
        let tree = Tree { nodes, names: Names::new(), stored: Names::new(), trouble: None };
        Self(Arc::new(Mutex::new(tree)))
    }

    pub(super) fn trouble(&self, trouble: Option<Trouble>) {
        self.tree().trouble = trouble;
    }

    /// What is left when the power is back. The file system must not be mounted.
    pub(super) fn power_off(&self, seed: &mut dyn FnMut() -> u64) {
        let mut tree = self.tree();
        if seed().is_multiple_of(2) {
            tree.names = tree.stored.clone();
        }
        let Tree { nodes, names, .. } = &mut *tree;
        names.retain(|_, node| !nodes[node].is_index);
        let named: std::collections::BTreeSet<u64> = names.values().copied().chain([ROOT]).collect();
        nodes.retain(|number, _| named.contains(number));
        nodes.values_mut().filter_map(|node| node.image.as_mut()).for_each(|image| image.power_off(seed));
        tree.stored = tree.names.clone();
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree {
    fn named(&self, parent: INodeNo, name: &OsStr) -> Result<u64, Errno> {
        self.names.get(&(parent.0, name.to_owned())).copied().ok_or(Errno::ENOENT)
    }

    fn node(&mut self, number: INodeNo) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number.0).ok_or(Errno::ENOENT)
    }

    fn image(&mut self, number: INodeNo) -> Result<&mut Image, Errno> {
        self.node(number)?.image.as_mut().ok_or(Errno::EISDIR)
    }

    /// Whether anything may be changed now.
    fn may_change(&self) -> Result<(), Errno> {
        match self.trouble {
            Some(Trouble::ReadOnly) => Err(Errno::EROFS),
            Some(Trouble::Full) => Err(Errno::ENOSPC),
            Some(Trouble::NoSync) | None => Ok(()),
        }
    }

    fn attr(&self, request: &Request, number: u64) -> Result<FileAttr, Errno> {
        let node = self.nodes.get(&number).ok_or(Errno::ENOENT)?;
        let size = node.image.as_ref().and_then(Image::now).map_or(0, <[u8]>::len) as u64;
        let at = node.changed_at;
        let is_folder = node.image.is_none();
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: at,
            mtime: at,
            ctime: at,
            crtime: at,
            kind: if is_folder { FileType::Directory } else { FileType::RegularFile },
            perm: node.mode,
            nlink: if is_folder { 2 } else { 1 },
            uid: request.uid(),
            gid: request.gid(),
            rdev: 0,
            blksize: PAGE,
            flags: 0,
        })
    }

    fn make(&mut self, parent: INodeNo, name: &OsStr, mode: u32, is_folder: bool) -> Result<u64, Errno> {
        self.may_change()?;
        let number = self.nodes.last_key_value().map_or(ROOT, |(last, _)| *last) + 1;
        let mut image = Image::default();
        image.adopt(Some(Vec::new()));
        let node = Node {
            mode: (mode & 0o7777) as u16,
            changed_at: SystemTime::now(),
            image: (!is_folder).then_some(image),
            is_index: name.as_encoded_bytes().ends_with(b"-shm"),
        };
        self.nodes.insert(number, node);
        self.names.insert((parent.0, name.to_owned()), number);
        Ok(number)
    }

    fn write(&mut self, number: INodeNo, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        let allowed = self.may_change();
        let node = self.node(number)?;
        if !node.is_index {
            allowed?;
        }
        node.changed_at = SystemTime::now();
        node.image.as_mut().ok_or(Errno::EISDIR)?.write(at as usize, bytes);
        Ok(())
    }

    fn sync(&mut self, number: Option<INodeNo>) -> Result<(), Errno> {
        let fails = self.trouble == Some(Trouble::NoSync);
        if let Some(number) = number {
            let image = self.image(number)?;
            if fails { image.sync_failed() } else { image.sync() }
        }
        if fails {
            return Err(Errno::EIO);
        }
        self.stored = self.names.clone();
        Ok(())
    }

    fn rename(&mut self, from: (u64, OsString), to: (u64, OsString)) -> Result<(), Errno> {
        self.may_change()?;
        let number = self.names.remove(&from).ok_or(Errno::ENOENT)?;
        self.names.insert(to, number);
        Ok(())
    }
}

/// Answers with what was found or the error.
macro_rules! answer {
    ($reply:expr, $outcome:expr, $found:pat => $done:expr) => {
        match $outcome {
            Ok($found) => $done,
            Err(error) => $reply.error(error),
        }
    };
}

impl Filesystem for Memory {
    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let tree = self.tree();
        let found = tree.named(parent, name).and_then(|number| tree.attr(request, number));
        answer!(reply, found, attr => reply.entry(&FOREVER, &attr, Generation(0)));
    }

    fn getattr(&self, request: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        answer!(reply, self.tree().attr(request, number.0), attr => reply.attr(&FOREVER, &attr));
    }

    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut tree = self.tree();
        let changed = (|| {
            if let Some(mode) = mode {
                tree.node(number)?.mode = (mode & 0o7777) as u16;
            }
            if let Some(size) = size {
                let is_index = tree.node(number)?.is_index;
                if tree.trouble == Some(Trouble::ReadOnly) && !is_index {
                    return Err(Errno::EROFS);
                }
                tree.image(number)?.truncate(size as usize);
            }
            tree.attr(request, number.0)
        })();
        answer!(reply, changed, attr => reply.attr(&FOREVER, &attr));
    }

    fn mkdir(&self, request: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, reply: ReplyEntry) {
        let mut tree = self.tree();
        let made = tree.make(parent, name, mode, true).and_then(|number| tree.attr(request, number));
        answer!(reply, made, attr => reply.entry(&FOREVER, &attr, Generation(0)));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut tree = self.tree();
        let gone = match tree.trouble {
            Some(Trouble::ReadOnly) => Err(Errno::EROFS),
            _ => tree.names.remove(&(parent.0, name.to_owned())).ok_or(Errno::ENOENT),
        };
        answer!(reply, gone, _ => reply.ok());
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.unlink(request, parent, name, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let moved = self.tree().rename((parent.0, name.to_owned()), (new_parent.0, new_name.to_owned()));
        answer!(reply, moved, () => reply.ok());
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut tree = self.tree();
        let made = tree.make(parent, name, mode, false).and_then(|number| tree.attr(request, number));
        answer!(reply, made, attr => {
            reply.created(&FOREVER, &attr, Generation(0), FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
        });
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _handle: FileHandle,
        at: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut tree = self.tree();
        answer!(reply, tree.image(number), image => {
            let bytes = image.now().unwrap_or_default();
            let start = (at as usize).min(bytes.len());
            let end = (start + size as usize).min(bytes.len());
            reply.data(&bytes[start..end]);
        });
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _handle: FileHandle,
        at: u64,
        bytes: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        answer!(reply, self.tree().write(number, at, bytes), () => reply.written(bytes.len() as u32));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _is_data_only: bool, reply: ReplyEmpty) {
        answer!(reply, self.tree().sync(Some(number)), () => reply.ok());
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _is_data_only: bool, reply: ReplyEmpty) {
        answer!(reply, self.tree().sync(None), () => reply.ok());
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let tree = self.tree();
        let dots = [(number.0, OsString::from(".")), (number.0, OsString::from(".."))];
        let inside = tree.names.iter().filter(|((parent, _), _)| *parent == number.0);
        let entries = dots.into_iter().chain(inside.map(|((_, name), number)| (*number, name.clone())));
        for (index, (number, name)) in entries.enumerate().skip(offset as usize) {
            let is_folder = tree.nodes.get(&number).is_none_or(|node| node.image.is_none());
            let kind = if is_folder { FileType::Directory } else { FileType::RegularFile };
            if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let free = if self.tree().trouble == Some(Trouble::Full) { 0 } else { 1 << 20 };
        reply.statfs(1 << 21, free, free, 1 << 20, 1 << 20, PAGE, 255, PAGE);
    }
}
