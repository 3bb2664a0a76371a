//! Connects to an allowed host. The name is resolved once, and the connection goes to the addresses that were found.

use std::{net::SocketAddr, time::Duration};

use pod::{HostPort, is_public};
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

/// The time limit for resolving the name, and for connecting.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(30);

/// Why there is no connection.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) why: String,
}

/// Connects to an allowed host. A name may only resolve to public addresses: its owner decides where it leads and could
/// point it at this machine. `localhost` and plain addresses were allowed as such.
pub(super) async fn connect(to: &HostPort) -> Result<TcpStream, Refused> {
    let HostPort { host, port } = to;
    let failed = |why: String| Refused { status: 502, why };
    let name = host.trim_matches(['[', ']']);
    let found = timeout(CONNECT_WAIT_MAX, lookup_host((name, *port))).await;
    let found = found.map_err(|_| failed(format!("{host} was not found in time")))?;
    let found: Vec<SocketAddr> = found.map_err(|error| failed(format!("{host} was not found: {error}")))?.collect();
    let addresses = reachable(to, &found)?;
    match timeout(CONNECT_WAIT_MAX, TcpStream::connect(&addresses[..])).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(failed(format!("{host}:{port} did not take the connection: {error}"))),
        Err(_) => Err(failed(format!("{host}:{port} did not answer in time"))),
    }
}

/// Those of the resolved addresses that the name may lead to.
fn reachable(to: &HostPort, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, Refused> {
    let HostPort { host, port } = to;
    let is_here = host == "localhost" || host.ends_with(".localhost");
    let may = |address: &&SocketAddr| match is_here {
        true => address.ip().is_loopback(),
        false => to.is_address() || is_public(address.ip()),
    };
    let addresses: Vec<SocketAddr> = found.iter().filter(may).copied().collect();
    match (addresses.is_empty(), found.first()) {
        (false, _) => Ok(addresses),
        (true, Some(near)) => Err(Refused {
            status: 403,
            why: format!(
                "{host} leads to {}, which is no address of the Internet; a rule for Network {near} allows that one, by its address",
                near.ip()
            ),
        }),
        (true, None) => Err(Refused { status: 502, why: format!("{host}:{port} was not found") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_the_internet_alone() {
        for (host, found, expected) in [
            ("crates.io", &["1.1.1.1:443"][..], Some(1)),
            ("crates.io", &["127.0.0.1:443"], None),
            ("crates.io", &["10.0.0.1:443", "1.1.1.1:443"], Some(1)),
            ("crates.io", &["[::ffff:127.0.0.1]:443"], None),
            ("crates.io", &["169.254.169.254:443"], None),
            ("crates.io", &[], None),
            ("127.0.0.1", &["127.0.0.1:443"], Some(1)),
            ("10.0.0.1", &["10.0.0.1:443"], Some(1)),
            ("[::1]", &["[::1]:443"], Some(1)),
            ("localhost", &["127.0.0.1:443"], Some(1)),
            ("a.localhost", &["10.0.0.1:443"], None),
        ] {
            let found: Vec<SocketAddr> = found.iter().map(|address| address.parse().unwrap()).collect();
            let to = HostPort::parse(host, 443).unwrap();
            assert_eq!(reachable(&to, &found).ok().map(|addresses| addresses.len()), expected, "{host} {found:?}");
        }
    }
}
