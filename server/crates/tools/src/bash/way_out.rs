//! The way out of a sandbox to the network, if it has one.
//!
//! A sandbox has a network of its own: a loopback and nothing else. The way out is a socket that listens on this
//! loopback and is held outside by the keeper, which forwards connections to a Unix socket of the server. So no part of
//! it runs where the command could end, read or replace it.

use std::{
    fs::File,
    io,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rustix::fd::OwnedFd;

use crate::network::PORT;

/// The most connections of one command; a further one is closed at once.
pub(super) const CONNECTIONS_MAX: usize = 256;
/// The stack of a thread that copies bytes.
const STACK_BYTES: usize = 128 * 1024;

/// The inner end of the way out. Only in a network of its own.
pub(super) fn listen() -> io::Result<OwnedFd> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))?.into())
}

/// Forwards connections until this process ends.
pub(super) fn forward(door: OwnedFd, socket: PathBuf) {
    let listener = TcpListener::from(door);
    let count = Arc::new(AtomicUsize::new(0));
    run("way out", move || {
        for inner in listener.incoming().map_while(Result::ok) {
            if count.load(Ordering::Relaxed) < CONNECTIONS_MAX {
                pass_on(inner, &socket, &count);
            }
        }
    });
}

fn pass_on(inner: TcpStream, socket: &Path, count: &Arc<AtomicUsize>) {
    if let Ok(outer) = UnixStream::connect(socket) {
        join(inner, outer, count);
    }
}

/// One connection on two threads, one for each direction.
pub(super) fn join(inner: TcpStream, outer: UnixStream, count: &Arc<AtomicUsize>) {
    let (Ok(from), Ok(to)) = (outer.try_clone(), inner.try_clone()) else { return };
    count.fetch_add(1, Ordering::Relaxed);
    let count = Arc::clone(count);
    run("to the server", move || {
        let answering = run("to the command", move || {
            copy(from.into(), to.try_clone().map(Into::into));
            let _ = to.shutdown(Shutdown::Write);
        });
        copy(inner.into(), outer.try_clone().map(Into::into));
        let _ = outer.shutdown(Shutdown::Write);
        if let Some(answering) = answering {
            let _ = answering.join();
        }
        count.fetch_sub(1, Ordering::Relaxed);
    });
}

/// As files, so that the kernel moves the bytes.
fn copy(from: OwnedFd, to: io::Result<OwnedFd>) {
    if let Ok(to) = to {
        let _ = io::copy(&mut File::from(from), &mut File::from(to));
    }
}

pub(super) fn run(name: &str, work: impl FnOnce() + Send + 'static) -> Option<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work).ok()
}
