//! Builds a sandbox without bubblewrap: this process is in new namespaces and assembles its tree of mounts.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{CWD, Mode, OFlags, openat},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree, unmount,
    },
    process::{Gid, Uid, chdir, fchdir, getegid, geteuid, pivot_root},
};

use super::{
    super::{carve, kernel, limits::Limits},
    Plan, Private,
    identity::Identity,
    place,
    plan::{How, Step},
};

const PLAIN: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
const SEALED: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_RDONLY);

/// The account that these processes belong to, outside the sandbox.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Account {
    uid: Uid,
    gid: Gid,
}

impl Account {
    /// Has to be called outside: in new namespaces the account has no mapping yet.
    pub(in super::super) fn of_this_process() -> Self {
        Self { uid: geteuid(), gid: getegid() }
    }
}

/// Cuts the namespaces in which this process was started off from those outside. Needs no plan. The error is a sentence.
pub(in super::super) fn part(account: Account) -> Result<(), String> {
    be_nobody_else(account).map_err(failed("the account could not be taken along"))?;
    kernel::see_no_other_groups().map_err(failed("other groups could not be hidden"))?;
    // Keeps mounts made here from appearing outside.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| format!("the mounts could not be parted: {error}"))
}

/// Turns the namespaces, which [`part`] has cut off, into the sandbox. The error is a sentence.
pub(in super::super) fn build(plan: &Plan, private: &Private, limits: &Limits) -> Result<(), String> {
    let root = private.root();
    for step in &plan.steps {
        take(step, &root, limits).map_err(failed(&told(step)))?;
    }
    enter(&root).map_err(failed("the room could not be entered"))
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> String {
    let what = what.to_owned();
    move |error| format!("{what}: {error}")
}

/// Maps only this account, to the same ids as outside; files of others belong to nobody.
fn be_nobody_else(Account { uid, gid }: Account) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

fn take(step: &Step, root: &Path, limits: &Limits) -> io::Result<()> {
    match step {
        Step::Memory { at, bytes } => put(memory(*bytes)?, root, at, true),
        Step::Bind { from, at, how, identity } => {
            let tree = bound(from, *how, *identity)?;
            put(tree, root, at, identity.is_folder)
        }
        Step::Link { at, to } => Ok(place::link(root, at, to)?),
        Step::Processes { at } => put(processes(limits)?, root, at, true),
        Step::Seal { at } => Ok(kernel::add_attributes(place::find(root, at, true)?, SEALED, false)?),
    }
}

fn told(step: &Step) -> String {
    match step {
        Step::Memory { at, .. } | Step::Processes { at } => format!("{} could not be mounted", at.display()),
        Step::Bind { at, .. } => format!("{} could not be brought in", at.display()),
        Step::Link { at, .. } => format!("the link {} could not be made", at.display()),
        Step::Seal { at } => format!("{} could not be made read-only", at.display()),
    }
}

fn memory(bytes: u64) -> io::Result<OwnedFd> {
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "mode", "0755")?;
    fsconfig_set_string(&system, "size", bytes.to_string())?;
    fsconfig_create(&system)?;
    Ok(fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, PLAIN)?)
}

/// What is at `from`, with everything that is mounted beneath it.
fn bound(from: &Path, how: How, identity: Identity) -> io::Result<OwnedFd> {
    let file = carve::open(from)?;
    if Identity::of(&file)? != identity {
        return Err(io::Error::other("something else is there now; try again"));
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(file, "", flags)?;
    let attributes = match how {
        How::Read => SEALED,
        How::Write => PLAIN,
        How::Device => MountAttrFlags::MOUNT_ATTR_NOSUID,
    };
    kernel::add_attributes(&tree, attributes, true)?;
    Ok(tree)
}

/// A `/proc` with the processes of this sandbox, limited in number.
fn processes(limits: &Limits) -> io::Result<OwnedFd> {
    let system = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&system)?;
    let processes = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, PLAIN | MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
    limit_processes(&processes, limits)?;
    Ok(processes)
}

fn limit_processes(processes: impl AsFd, limits: &Limits) -> io::Result<()> {
    let Some(numbers) = limits.numbers() else { return Ok(()) };
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(processes, "sys/kernel/pid_max", flags, Mode::empty())?;
    fs::File::from(file).write_all(numbers.to_string().as_bytes())
}

/// What bubblewrap leaves to us, with the capability for it (see [`super::bubblewrap`]).
pub(in super::super) fn finish(limits: &Limits) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // bubblewrap mounts the kernel's settings over themselves, read-only.
    let _ = unmount("/proc/sys", UnmountFlags::DETACH);
    let processes = openat(CWD, "/proc", flags, Mode::empty())?;
    limit_processes(&processes, limits)?;
    kernel::add_attributes(&processes, SEALED, false)
}

fn put(tree: OwnedFd, root: &Path, at: &Path, is_folder: bool) -> io::Result<()> {
    let place = place::find(root, at, is_folder)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree.as_fd(), "", place.as_fd(), "", flags)?)
}

/// Makes `root` the root, and detaches the machine's.
fn enter(root: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fchdir(openat(CWD, root, flags, Mode::empty())?)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}
