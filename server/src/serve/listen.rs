//! Where the server listens: on both loopback addresses of its port, or on neither.
//!
//! Browsers treat `[::1]` and `127.0.0.1` as the same machine. If another program had one of them, it would receive
//! what is meant for the console.

use std::{
    io::{Error, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use anyhow::{Context, Result, anyhow, bail};
use tokio::net::TcpListener;

/// How often to try another port if the one that the system chose is taken on the other loopback address.
const FREE_PORT_TRIES_MAX: usize = 64;

/// The sockets of the server.
#[derive(Debug)]
pub(super) struct Listeners {
    /// The requested address, with the actual port.
    pub(super) address: SocketAddr,
    pub(super) all: Vec<TcpListener>,
}

/// Listens on this address, and on the loopback address that browsers may use instead.
///
/// # Errors
/// One of them is not available; the message says which, and what to do.
pub(super) async fn listen(wanted: SocketAddr) -> Result<Listeners> {
    for _ in 0..FREE_PORT_TRIES_MAX {
        let first = TcpListener::bind(wanted).await.map_err(|error| refused(wanted, &error))?;
        let address = first.local_addr().context("the socket has no address")?;
        let Some(twin) = twin(address) else { return Ok(Listeners { address, all: vec![first] }) };
        match TcpListener::bind(twin).await {
            Ok(second) => return Ok(Listeners { address, all: vec![first, second] }),
            Err(error) if is_missing(&error) => return Ok(Listeners { address, all: vec![first] }),
            Err(error) if error.kind() == ErrorKind::AddrInUse && wanted.port() == 0 => {}
            Err(error) => bail!(
                "{}; browsers go there too, so it must not be another program's: end that one, or choose another port \
                 with --listen",
                told(twin, &error)
            ),
        }
    }
    bail!("no port was free on both loopback addresses; choose one with --listen")
}

/// The loopback address that browsers treat as the same machine as this one.
fn twin(address: SocketAddr) -> Option<SocketAddr> {
    let ip: IpAddr = match address.ip() {
        IpAddr::V4(Ipv4Addr::LOCALHOST | Ipv4Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Ipv4Addr::LOCALHOST.into(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, address.port()))
}

/// On a machine without IPv6, or without IPv4, nobody else can be there either.
fn is_missing(error: &Error) -> bool {
    let is_unknown_family = error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error());
    is_unknown_family || matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported)
}

fn refused(address: SocketAddr, error: &Error) -> anyhow::Error {
    anyhow!("{}; choose another address with --listen", told(address, error))
}

fn told(address: SocketAddr, error: &Error) -> String {
    format!("cannot listen on {address}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_loopback_addresses_are_held_or_none_is() {
        let held = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let port = held.address.port();
        assert!(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
        if held.all.len() == 1 {
            return; // This machine has no IPv6.
        }
        assert!(std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_err());
        drop(held);
        let other = std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, port)).unwrap();
        let wanted = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        let refusal = listen(wanted).await.unwrap_err().to_string();
        assert!(
            refusal.contains(&format!("cannot listen on [::1]:{port}")) && refusal.contains("--listen"),
            "{refusal}"
        );
        drop(other);
        let turned = listen(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)).await.unwrap();
        assert_eq!(turned.all.len(), 2);
    }
}
