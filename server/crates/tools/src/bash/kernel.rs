//! What of the kernel no safe library has: a process in namespaces of its own, the attributes of a tree of mounts, a
//! loopback that is up, and descriptors that end with the next program.

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

/// Namespaces of a process that is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Namespaces(libc::c_int);

impl Namespaces {
    pub(super) const NONE: Self = Self(0);
    /// All but that of the network, and that of groups ([`see_no_other_groups`]).
    pub(super) const BUT_NETWORK: Self =
        Self(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS);

    pub(super) fn with_network(self) -> Self {
        Self(self.0 | libc::CLONE_NEWNET)
    }
}

/// The new process begins in the group that goes with this; `libc` has it as a number that is too small.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// This process twice. None is what the new one gets, which stands in `namespaces` of its own, and in `group` from its first
/// instant. Only for a process without other threads: what they hold would stay held.
pub(super) fn split(namespaces: Namespaces, group: Option<BorrowedFd<'_>>) -> io::Result<Option<Pid>> {
    let pid = match group {
        None => {
            let flags = libc::c_long::from(namespaces.0 | libc::SIGCHLD);
            // SAFETY: without a stack and without shared memory this is a fork; there is one thread, so no lock is held by one
            // that is gone.
            unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) }
        }
        Some(group) => {
            // SAFETY: numbers: all zeros is one.
            let mut asked: libc::clone_args = unsafe { mem::zeroed() };
            asked.flags = u64::from(namespaces.0.unsigned_abs()) | INTO_GROUP;
            asked.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
            asked.cgroup = u64::from(group.as_raw_fd().unsigned_abs());
            // SAFETY: as above; the structure is whole and its size is told.
            unsafe { libc::syscall(libc::SYS_clone3, &raw const asked, mem::size_of::<libc::clone_args>()) }
        }
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(i32::try_from(pid).ok().and_then(Pid::from_raw)),
    }
}

/// From here on the group that this process is in is the first that it can name.
pub(super) fn see_no_other_groups() -> io::Result<()> {
    // SAFETY: touches nothing of this process but that.
    checked(unsafe { libc::unshare(libc::CLONE_NEWCGROUP) }.into())
}

/// Adds attributes to a mount and, where `recursive`, to all beneath it.
pub(super) fn add_attributes(mount: impl AsFd, attributes: MountAttrFlags, recursive: bool) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let set = libc::mount_attr { attr_set: u64::from(attributes.bits()), attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the structure is whole and its size is told; the path is empty and ends with NUL.
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

/// Brings up the loopback of the network that this process is in.
pub(super) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let mut request = loopback();
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is whole, and the kernel reads no more than it.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(done.into())
}

fn loopback() -> libc::ifreq {
    // SAFETY: numbers and arrays of them: all zeros is one.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request
}

/// Every descriptor from the third on is closed when the next program starts.
pub(super) fn close_on_exec() -> io::Result<()> {
    // SAFETY: nothing is closed here and now.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    checked(done)
}

/// Closes every descriptor from the third on but one.
pub(super) fn close_all_but(kept: impl AsFd) -> io::Result<()> {
    let kept = kept.as_fd().as_raw_fd().unsigned_abs();
    let close = |from: libc::c_uint, to: libc::c_uint| {
        // SAFETY: whoever owned one of them does not run in this process any more.
        if from > to { Ok(()) } else { checked(unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) }) }
    };
    close(3, kept.saturating_sub(1))?;
    close(kept + 1, libc::c_uint::MAX)
}

/// The descriptor `number`, which whoever started this process has left open for it, and which nobody else here has.
pub(super) fn inherited(number: i32) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    // SAFETY: fails where it is not open, and changes nothing.
    if number < 3 || unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
        return Err(io::Error::other("a descriptor of the helper is missing"));
    }
    // SAFETY: it is open, and is taken once, at the start.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn checked(done: libc::c_long) -> io::Result<()> {
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
