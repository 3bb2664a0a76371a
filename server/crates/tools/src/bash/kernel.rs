//! Kernel features that no safe library offers: a process in new namespaces, attributes of a tree of mounts, bringing
//! up a loopback, and file descriptors that close on exec.

#![allow(unsafe_code, reason = "these calls have no safe form")]

use std::{
    io, mem,
    os::fd::{AsRawFd, BorrowedFd},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    mount::MountAttrFlags,
    process::Pid,
};

/// Namespaces for a new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Namespaces(libc::c_int);

impl Namespaces {
    pub(super) const NONE: Self = Self(0);
    /// All but the network namespace and the cgroup namespace ([`see_no_other_groups`]).
    pub(super) const BUT_NETWORK: Self =
        Self(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS);

    pub(super) fn with_network(self) -> Self {
        Self(self.0 | libc::CLONE_NEWNET)
    }
}

/// CLONE_INTO_CGROUP: the new process begins in the given group. The constant in `libc` has too small a type.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// Forks this process. Returns `None` in the child, which is in `namespaces` of its own, and in `group` from its first
/// instant. Only for a process without other threads: locks that those hold would stay locked.
pub(super) fn split(namespaces: Namespaces, group: Option<BorrowedFd<'_>>) -> io::Result<Option<Pid>> {
    let pid = match group {
        None => {
            let flags = libc::c_long::from(namespaces.0 | libc::SIGCHLD);
            // SAFETY: without a stack and without shared memory this is a fork; there is only one thread, so no lock is
            // held by a thread that does not exist in the child.
            unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) }
        }
        Some(group) => {
            // SAFETY: it consists of integers, for which all zeros is valid.
            let mut asked: libc::clone_args = unsafe { mem::zeroed() };
            asked.flags = u64::from(namespaces.0.unsigned_abs()) | INTO_GROUP;
            asked.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
            asked.cgroup = u64::from(group.as_raw_fd().unsigned_abs());
            // SAFETY: as above; the structure is complete and its size is passed.
            unsafe { libc::syscall(libc::SYS_clone3, &raw const asked, mem::size_of::<libc::clone_args>()) }
        }
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(i32::try_from(pid).ok().and_then(Pid::from_raw)),
    }
}

/// Sends SIGKILL to every process in this one's PID namespace, of which it must be the first.
pub(super) fn kill_all_others() {
    // SAFETY: affects nothing in this process. It fails if there are none.
    let _ = unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// Makes this process's current group the root of what it can see of the cgroup tree.
pub(super) fn see_no_other_groups() -> io::Result<()> {
    // SAFETY: affects nothing else in this process.
    checked(unsafe { libc::unshare(libc::CLONE_NEWCGROUP) }.into())
}

/// Adds attributes to a mount and, if `recursive`, to everything beneath it.
pub(super) fn add_attributes(mount: impl AsFd, attributes: MountAttrFlags, recursive: bool) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let set = libc::mount_attr { attr_set: u64::from(attributes.bits()), attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the structure is complete and its size is passed; the path is empty and NUL-terminated.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const set,
            mem::size_of::<libc::mount_attr>(),
        )
    };
    checked(done)
}

/// Brings up the loopback of this process's network namespace.
pub(super) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let mut request = loopback();
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is complete, and the kernel reads no more than that.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(done.into())
}

fn loopback() -> libc::ifreq {
    // SAFETY: it consists of integers and arrays of them, for which all zeros is valid.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request
}

/// Marks every descriptor from 3 on as close-on-exec.
pub(super) fn close_on_exec() -> io::Result<()> {
    // SAFETY: nothing is closed now.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    checked(done)
}

/// Closes every descriptor from 3 on except one.
pub(super) fn close_all_but(kept: impl AsFd) -> io::Result<()> {
    let kept = kept.as_fd().as_raw_fd().unsigned_abs();
    let close = |from: libc::c_uint, to: libc::c_uint| {
        // SAFETY: the owners of these descriptors no longer run in this process.
        if from > to { Ok(()) } else { checked(unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) }) }
    };
    close(3, kept.saturating_sub(1))?;
    close(kept + 1, libc::c_uint::MAX)
}

/// Takes the descriptor `number`, which this process inherited and which nothing else here owns.
pub(super) fn inherited(number: i32) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    // SAFETY: fails if it is not open, and changes nothing.
    if number < 3 || unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
        return Err(io::Error::other("a descriptor of the helper is missing"));
    }
    // SAFETY: it is open, and is taken once, at the start.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Sends SIGTERM to every other process of this process's own PID namespace. Does nothing in any other namespace, where
/// it would reach strangers.
pub(super) fn tell_all_to_end() {
    if rustix::process::getpid() == Pid::INIT {
        // SAFETY: a signal to other processes changes nothing in this one, which is left out.
        let _ = unsafe { libc::kill(-1, libc::SIGTERM) };
    }
}

fn checked(done: libc::c_long) -> io::Result<()> {
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
