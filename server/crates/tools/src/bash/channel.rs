//! Messages from a command's first process, inside the sandbox, to the keeper outside: that it has started, the socket
//! for network access, and how it ended. The command has no access to it.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::{AsFd, OwnedFd},
    io::{Errno, retry_on_intr},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketFlags, SocketType, recv, recvmsg, sendmsg, socketpair,
    },
};

use super::order::Report;

/// The most bytes of one message; a report contains one sentence.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;
const HERE: &[u8] = b"here";
const ALONE: &[u8] = b"alone";
const DOOR: &[u8] = b"door";
/// The first process's answer to a request for a port: with a connection, or without one.
const INNER: &[u8] = b"inner";
const NOBODY: &[u8] = b"nobody";
/// Asks the first process to tell everything in the sandbox to end.
const END: &[u8] = b"end";

/// One end.
#[derive(Debug)]
pub(super) struct Channel(OwnedFd);

/// What the keeper asks of the first process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A connection to this port of its loopback.
    Port(u16),
    /// To tell everything in the sandbox to end.
    End,
}

/// A received message.
#[derive(Debug)]
pub(super) enum Message {
    /// The first process is running, and the sandbox is set up.
    Here,
    /// A listening socket from inside.
    Door(OwnedFd),
    /// A connection to the port that was last requested; `None` if nobody listens there.
    Inner(Option<OwnedFd>),
    Report(Report),
    /// After its report: nothing else is left in the sandbox.
    Alone,
    /// The other end is closed.
    End,
}

impl Channel {
    /// Creates both ends. Both are closed on exec.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    /// A duplicate of this end.
    pub(super) fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    pub(super) fn of(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    /// Failures are ignored here: they mean that nobody listens any more.
    pub(super) fn say_here(&self) {
        self.send(HERE, None);
    }

    pub(super) fn say_alone(&self) {
        self.send(ALONE, None);
    }

    pub(super) fn give_door(&self, listener: &OwnedFd) {
        self.send(DOOR, Some(listener));
    }

    /// Requests a connection to a port of the first process's loopback.
    pub(super) fn ask_for(&self, port: u16) {
        self.send(&port.to_be_bytes(), None);
    }

    /// Asks the first process to tell everything in the sandbox to end.
    pub(super) fn ask_to_end(&self) {
        self.send(END, None);
    }

    /// The next thing that is asked; `None` once nobody can ask any more.
    pub(super) fn asked_for(&self) -> Option<Asked> {
        let mut bytes = [0; END.len()];
        let (_, count) = retry_on_intr(|| recv(&self.0, &mut bytes[..], RecvFlags::empty())).ok()?;
        match &bytes[..count.min(bytes.len())] {
            END => Some(Asked::End),
            &[high, low] => Some(Asked::Port(u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }

    pub(super) fn give_inner(&self, connection: Option<&OwnedFd>) {
        self.send(if connection.is_some() { INNER } else { NOBODY }, connection);
    }

    pub(super) fn report(&self, report: &Report) {
        if let Ok(text) = serde_json::to_vec(report) {
            self.send(&text, None);
        }
    }

    /// Whether the other end is closed.
    pub(super) fn is_over(&self) -> bool {
        let mut ends = [PollFd::new(&self.0, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        retry_on_intr(|| poll(&mut ends, Some(&at_once))).is_ok_and(|count| count > 0)
    }

    /// Waits for the next message.
    pub(super) fn next(&self) -> Message {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        loop {
            let mut beside = RecvAncillaryBuffer::new(&mut space);
            let read = recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC);
            let count = match read {
                Err(Errno::INTR) => continue,
                Err(_) => return Message::End,
                Ok(read) => read.bytes,
            };
            let door = beside.drain().find_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                _ => None,
            });
            return match (&bytes[..count], door) {
                ([], _) => Message::End,
                (HERE, _) => Message::Here,
                (ALONE, _) => Message::Alone,
                (NOBODY, _) => Message::Inner(None),
                (INNER, Some(connection)) => Message::Inner(Some(connection)),
                (_, Some(door)) => Message::Door(door),
                (text, None) => match serde_json::from_slice(text) {
                    Ok(report) => Message::Report(report),
                    Err(_) => continue,
                },
            };
        }
    }

    fn send(&self, bytes: &[u8], beside: Option<&OwnedFd>) {
        let descriptors = beside.map(|descriptor| [descriptor.as_fd()]);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if let Some(descriptors) = &descriptors {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let _ = retry_on_intr(|| sendmsg(&self.0, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL));
    }
}
