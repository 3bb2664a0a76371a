//! Where the server listens: on both loopback addresses of its port, or on neither.
//!
//! Browsers take `[::1]` and `127.0.0.1` for the same machine. If one of them were another program's, it would be handed what is
//! meant for the console.

use std::{
    io::{Error, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use anyhow::{Context, Result, anyhow, bail};
use tokio::net::TcpListener;

/// A port that the system chose is given back this often when the other loopback address does not have it free.
const FREE_PORT_TRIES_MAX: usize = 64;

/// The sockets of the server.
#[derive(Debug)]
pub(super) struct Listeners {
    /// Of the address that was asked for, with the port that it got.
    pub(super) address: SocketAddr,
    pub(super) all: Vec<TcpListener>,
}

/// Listens on this address, and on the loopback address that browsers may take in its place.
///
/// # Errors
/// When one of them cannot be had; the sentence says which, and the way out.
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

/// The loopback address that browsers take for the same machine as this one.
fn twin(address: SocketAddr) -> Option<SocketAddr> {
    let ip: IpAddr = match address.ip() {
        IpAddr::V4(Ipv4Addr::LOCALHOST | Ipv4Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Ipv4Addr::LOCALHOST.into(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, address.port()))
}

/// A machine without IPv6, or without IPv4, has nobody there either.
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
