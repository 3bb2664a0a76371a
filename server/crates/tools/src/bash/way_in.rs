//! The way into a sandbox: connections to ports of its loopback, for people who look at what a command serves.
//!
//! The first process makes the connections, because it is inside, and hands them to the keeper, which connects them to
//! a Unix socket that only yoi can connect to. The command has no access to either.

use std::{
    fs,
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
    time::{Duration, Instant},
};

use super::{
    channel::{Asked, Channel},
    kernel,
    way_out::{CONNECTIONS_MAX, join, run},
};
use crate::preview::{CONNECTED, LIST, NOBODY};

/// For each of the two loopback addresses: a listener accepts at once, or is too busy to.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(2);
/// For both, including the way to the first process and back.
const INNER_WAIT_MAX: Duration = Duration::from_secs(10);
/// The most answers that may be late; while there are that many, nobody is let in.
const OWED_MAX: usize = 16;
/// How long yoi may take to say which port it wants.
const PORT_WAIT_MAX: Duration = Duration::from_secs(5);

/// Inside the sandbox: connects to each requested port, and tells everything to end if that is asked, until nobody can
/// ask any more. `own` is the port of the way out, which is not the command's.
pub(super) fn lead_in(channel: Channel, own: Option<u16>) {
    run("way in", move || {
        while let Some(asked) = channel.asked_for() {
            match asked {
                Asked::End => kernel::tell_all_to_end(),
                Asked::Port(LIST) => channel.give_inner(list(own).as_ref()),
                Asked::Port(port) => channel.give_inner(connection(port).as_ref()),
            }
        }
    });
}

fn connection(port: u16) -> Option<OwnedFd> {
    let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let connect = |ip| TcpStream::connect_timeout(&SocketAddr::new(ip, port), CONNECT_WAIT_MAX).ok();
    addresses.into_iter().find_map(connect).map(Into::into)
}

/// A descriptor from which the ports can be read, one per line.
fn list(own: Option<u16>) -> Option<OwnedFd> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let ports = tables.iter().flat_map(|table| table.lines().filter_map(listening_port));
    let text: String = ports.filter(|port| Some(*port) != own).map(|port| format!("{port}\n")).collect();
    let (mut from, to) = UnixStream::pair().ok()?;
    run("list of ports", move || drop(from.write_all(text.as_bytes())))?;
    Some(to.into())
}

/// Parses a line of `/proc/net/tcp` (proc(5)): `0: 0100007F:1435 00000000:0000 0A …`, where `0A` is a listening socket.
fn listening_port(line: &str) -> Option<u16> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (address, state) = (words.next()?, words.nth(1)?);
    let port = u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()?;
    (state == "0A").then_some(port)
}

/// Outside: takes connections on this socket. The first process's answers have to be sent to the returned sender;
/// `None` if there is no way in.
pub(super) fn open(socket: &Path, channel: &Channel) -> Option<SyncSender<Option<OwnedFd>>> {
    let (asking, listener) = (channel.again().ok()?, UnixListener::bind(socket).ok()?);
    let (sender, answers) = sync_channel(OWED_MAX + 1);
    let (mut asking, count) = (Asking { asking, answers, owed: 0 }, Arc::new(AtomicUsize::new(0)));
    run("way in", move || {
        for outer in listener.incoming().map_while(Result::ok) {
            if count.load(Ordering::Relaxed) < CONNECTIONS_MAX {
                pass_in(outer, &mut asking, &count);
            }
        }
    })?;
    Some(sender)
}

fn pass_in(mut outer: UnixStream, asking: &mut Asking, count: &Arc<AtomicUsize>) {
    let mut port = [0; 2];
    let is_said = outer.set_read_timeout(Some(PORT_WAIT_MAX)).and_then(|()| outer.read_exact(&mut port));
    if is_said.and_then(|()| outer.set_read_timeout(None)).is_err() {
        return;
    }
    match asking.ask(u16::from_be_bytes(port)) {
        Some(inner) if outer.write_all(&[CONNECTED]).is_ok() => join(inner.into(), outer, count),
        Some(_) => (),
        None => drop(outer.write_all(&[NOBODY])),
    }
}

/// Requests to the first process, which answers in the order of the requests.
struct Asking {
    asking: Channel,
    answers: Receiver<Option<OwnedFd>>,
    /// Answers that nobody waits for any more.
    owed: usize,
}

impl Asking {
    /// `None`: nobody listens there, or there is no answer in time.
    fn ask(&mut self, port: u16) -> Option<OwnedFd> {
        while self.owed > 0 && self.answers.try_recv().is_ok() {
            self.owed -= 1;
        }
        if self.owed >= OWED_MAX {
            return None;
        }
        self.asking.ask_for(port);
        self.owed += 1;
        let until = Instant::now() + INNER_WAIT_MAX;
        loop {
            let answer = self.answers.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            self.owed -= 1;
            if self.owed == 0 {
                return answer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_tells_a_port_that_is_listened_on() {
        let listening = "   0: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0";
        let connected = "   1: 0100007F:1435 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0";
        let six =
            "   0: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000";
        assert_eq!(listening_port(listening), Some(5173));
        assert_eq!(listening_port(connected), None);
        assert_eq!(listening_port(six), Some(3000));
        assert_eq!(listening_port("  sl  local_address rem_address   st tx_queue"), None);
    }

    #[test]
    fn an_answer_that_comes_too_late_is_not_taken_for_the_next_ones() {
        let (ours, theirs) = Channel::pair().unwrap();
        let (sender, answers) = sync_channel(OWED_MAX + 1);
        let mut asking = Asking { asking: ours, answers, owed: 1 };
        let one = UnixStream::pair().unwrap().0;
        sender.send(Some(one.into())).unwrap();
        sender.send(None).unwrap();
        assert!(asking.ask(5173).is_none());
        assert_eq!((theirs.asked_for(), asking.owed), (Some(Asked::Port(5173)), 0));
        asking.owed = OWED_MAX;
        assert!(asking.ask(5173).is_none());
        assert_eq!(asking.owed, OWED_MAX);
    }
}
