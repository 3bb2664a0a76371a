//! Which names this server answers to, and which origin is its own.
//!
//! The Host check is what stops a page whose name was rebound to this machine; the Origin check stops pages of
//! other sites, and of other servers on this machine.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Version, header, request::Parts, uri::Authority};
use protocol::{ApiError, ErrorCode};

/// Names and addresses that may stand in `Host`.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    listen: SocketAddr,
    /// Of `--allow-host`, lower-cased: a name, or `name:port`.
    names: Vec<String>,
}

/// The `Host` of a request, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    /// Lower-cased; an IPv6 address in brackets.
    name: String,
    port: Option<u16>,
}

impl AllowedHosts {
    /// `listen` is the address that the server got, port included. A name in `names` stands for any port of it,
    /// `name:port` for that one.
    pub fn new(listen: SocketAddr, names: impl IntoIterator<Item = String>) -> Self {
        Self { listen, names: names.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// The cookie of a login. Browsers share cookies between the ports of a host, so the port is part of its name.
    pub(super) fn cookie_name(&self) -> String {
        format!("yoi_{}", self.listen.port())
    }

    pub(super) fn check_host(&self, parts: &Parts) -> Result<Host, ApiError> {
        let forbidden = |why: String| ApiError::new(ErrorCode::ForbiddenHost, why);
        let mut named = parts.headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Err(forbidden("a request needs exactly one `Host`".to_owned()));
        };
        let host = host.to_str().ok().and_then(Host::parse);
        // `GET http://name/path` names the host a second time; both have to be allowed.
        let target = match parts.uri.authority() {
            Some(authority) if parts.version <= Version::HTTP_11 => Some(Host::parse(authority.as_str())),
            _ => None,
        };
        match (host, target) {
            (Some(host), None) if self.allows(&host) => Ok(host),
            (Some(host), Some(Some(target))) if self.allows(&host) && host == target => Ok(host),
            _ => Err(forbidden(
                "this server answers to loopback names and its listen address only; `--allow-host NAME` adds one"
                    .to_owned(),
            )),
        }
    }

    fn allows(&self, host: &Host) -> bool {
        let listed = self.names.iter().any(|name| match host.port {
            _ if *name == host.name => true,
            Some(port) => *name == format!("{}:{port}", host.name),
            None => false,
        });
        let own_port = host.port.is_none_or(|port| port == self.listen.port());
        // A tunnel may bring a loopback name here from any port. A page of another server on this machine gains nothing by
        // it: its `Origin` has its own port, and its `Host` has this one.
        listed || host.is_loopback() || (own_port && host.address() == Some(self.listen.ip()))
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        if text.contains('@') || authority.host().is_empty() {
            return None;
        }
        let name = authority.host().to_ascii_lowercase();
        // What follows the name has to be a port, and not something that a browser reads otherwise.
        let port = match text.get(name.len()..)? {
            "" => None,
            rest => Some(rest.strip_prefix(':')?.parse().ok()?),
        };
        Some(Self { name, port })
    }

    fn address(&self) -> Option<IpAddr> {
        let bare = self.name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match bare {
            Some(v6) => v6.parse().ok().map(IpAddr::V6),
            None => self.name.parse().ok().map(IpAddr::V4),
        }
    }

    fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.address().is_some_and(|address| address.to_canonical().is_loopback())
    }
}

/// An `Origin`, where there is one, has to be exactly `http://` and the request's own `Host`.
pub(super) fn check_origin(host: &Host, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let own = match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => origin
            .to_str()
            .ok()
            .and_then(origin_host)
            .is_some_and(|origin| origin.name == host.name && origin.port.unwrap_or(80) == host.port.unwrap_or(80)),
        _ => false,
    };
    match own {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::ForbiddenOrigin,
            "only pages of this server may do this; the request's `Origin` is another one",
        )),
    }
}

fn origin_host(origin: &str) -> Option<Host> {
    Host::parse(origin.strip_prefix("http://")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> AllowedHosts {
        AllowedHosts::new("127.0.0.1:7474".parse().unwrap(), ["Box.example".to_owned(), "gate.example:8443".to_owned()])
    }

    fn is_allowed(hosts: &AllowedHosts, host: &str) -> bool {
        Host::parse(host).is_some_and(|host| hosts.allows(&host))
    }

    #[test]
    fn loopback_the_listen_address_and_listed_names_are_answered_to() {
        let hosts = allowed();
        for good in [
            "localhost:7474",
            "LOCALHOST:7474",
            "localhost",
            "localhost:7475",
            "127.0.0.1:7474",
            "127.8.9.1:7474",
            "[::1]:7474",
            "[::1]",
            "box.example",
            "box.example:7474",
            "BOX.EXAMPLE:9",
            "gate.example:8443",
        ] {
            assert!(is_allowed(&hosts, good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "evil.example:7474",
            "localhost.evil.example:7474",
            "127.0.0.1.evil.example",
            "127.1",
            "2130706433",
            "0.0.0.0:7474",
            "192.168.0.9:7474",
            "a@localhost:7474",
            "localhost:7474@evil.example",
            "localhost:",
            "localhost:07474x",
            "gate.example",
            "gate.example:7474",
            "[::2]:7474",
        ] {
            assert!(!is_allowed(&hosts, bad), "{bad}");
        }
        let lan = AllowedHosts::new("192.168.0.9:80".parse().unwrap(), []);
        assert!(is_allowed(&lan, "192.168.0.9"));
        assert!(!is_allowed(&lan, "192.168.0.8"));
        assert!(!is_allowed(&lan, "192.168.0.9:81"));
    }

    #[test]
    fn an_origin_is_ones_own_or_foreign() {
        let check = |host: &str, origins: &[&str]| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(header::ORIGIN, origin.parse().unwrap());
            }
            check_origin(&Host::parse(host).unwrap(), &headers).is_ok()
        };
        assert!(check("127.0.0.1:7474", &[]));
        assert!(check("127.0.0.1:7474", &["http://127.0.0.1:7474"]));
        assert!(check("localhost", &["http://localhost"]));
        assert!(check("localhost:80", &["http://localhost"]));
        for foreign in [
            "null",
            "",
            "http://127.0.0.1:7475",
            "http://127.0.0.1",
            "https://127.0.0.1:7474",
            "http://localhost:7474",
            "http://evil.example",
            "http://127.0.0.1:7474/",
            "http://127.0.0.1:7474.evil.example",
            "127.0.0.1:7474",
        ] {
            assert!(!check("127.0.0.1:7474", &[foreign]), "{foreign}");
        }
        assert!(!check("localhost:1", &["http://localhost:1", "http://localhost:1"]));
    }
}
