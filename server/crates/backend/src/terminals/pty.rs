//! Opening a pseudoterminal.

use std::io;

use pty_process::{Pts, Pty};

/// A pseudoterminal that no other program inherits, not even one that is started while this runs: whoever has its
/// first half reads everything on the screen and types into the shell.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the descriptors were made here, are open, and belong to one pseudoterminal")]
pub(super) fn open() -> io::Result<(Pty, Pts)> {
    use rustix::{
        fs::{OFlags, fcntl_getfl, fcntl_setfl},
        pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    };

    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let first = openpt(flags)?;
    grantpt(&first)?;
    unlockpt(&first)?;
    let second = ioctl_tiocgptpeer(&first, flags)?;
    fcntl_setfl(&first, fcntl_getfl(&first)? | OFlags::NONBLOCK)?;
    let pty = unsafe { Pty::from_fd(first) }.map_err(super::io_error)?;
    Ok((pty, unsafe { Pts::from_fd(second) }))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open() -> io::Result<(Pty, Pts)> {
    pty_process::open().map_err(super::io_error)
}
