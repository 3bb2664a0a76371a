//! The way into a room: connections to ports of its loopback, for whoever looks at what a command serves.
//!
//! The first process makes them, since it is inside, and hands them to the keeper, which passes their bytes on to a Unix socket that yoi
//! alone can connect to. The command has no share in either.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    os::{
        fd::OwnedFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use super::{
    channel::Channel,
    way_out::{CONNECTIONS_MAX, join, run},
};
use crate::preview::{CONNECTED, NOBODY};

/// For one of the two loopback addresses: what listens there takes a connection at once, or is too busy to.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(2);
/// For both, and for the way to the first process and back.
const INNER_WAIT_MAX: Duration = Duration::from_secs(10);
/// For yoi to say which port it means.
const PORT_WAIT_MAX: Duration = Duration::from_secs(5);

/// In the room: connects to each port that is asked for, until nobody asks any more.
pub(super) fn lead_in(channel: Channel) {
    run("way in", move || {
        while let Some(port) = channel.asked_for() {
            let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            let connect = |ip| TcpStream::connect_timeout(&SocketAddr::new(ip, port), CONNECT_WAIT_MAX).ok();
            let connection: Option<OwnedFd> = addresses.into_iter().find_map(connect).map(Into::into);
            channel.give_inner(connection.as_ref());
        }
    });
}

/// Outside: takes connections at this socket. What the first process answers is to be sent on to what comes back; nothing comes back
/// where there is no way in.
pub(super) fn open(socket: &Path, channel: &Channel) -> Option<SyncSender<Option<OwnedFd>>> {
    let (asking, listener) = (channel.again().ok()?, UnixListener::bind(socket).ok()?);
    let (sender, answers) = sync_channel(1);
    let count = Arc::new(AtomicUsize::new(0));
    run("way in", move || {
        for outer in listener.incoming().map_while(Result::ok) {
            if count.load(Ordering::Relaxed) < CONNECTIONS_MAX && pass_in(outer, &asking, &answers, &count).is_none() {
                // An answer that comes later would be taken for that of the next question.
                return;
            }
        }
    })?;
    Some(sender)
}

/// None: the first process does not answer any more.
fn pass_in(
    mut outer: UnixStream,
    asking: &Channel,
    answers: &Receiver<Option<OwnedFd>>,
    count: &Arc<AtomicUsize>,
) -> Option<()> {
    let mut port = [0; 2];
    let is_said = outer.set_read_timeout(Some(PORT_WAIT_MAX)).and_then(|()| outer.read_exact(&mut port));
    if is_said.and_then(|()| outer.set_read_timeout(None)).is_err() {
        return Some(());
    }
    asking.ask_for(u16::from_be_bytes(port));
    match answers.recv_timeout(INNER_WAIT_MAX).ok()? {
        Some(inner) if outer.write_all(&[CONNECTED]).is_ok() => {
            join(inner.into(), outer, count);
        }
        Some(_) => (),
        None => drop(outer.write_all(&[NOBODY])),
    }
    Some(())
}
