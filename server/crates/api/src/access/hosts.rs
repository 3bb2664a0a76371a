//! The names that this server answers to, and its role under each of them.
//!
//! The Host check is what stops a page whose name was rebound to this machine. Browsers share cookies between the ports
//! of a host, so the console has a name that no other server on this machine has: `NAME.localhost`. Under the loopback
//! names that all servers share, only programs are served; pages just redirect.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Version, header, request::Parts};
use protocol::{ApiError, ErrorCode};

/// The names and addresses that `Host` may contain.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    listen: SocketAddr,
    /// The console's own name, such as `yoi-q3k7.localhost`, in lower case.
    own: String,
    /// From `--allow-host`, in lower case: a name, or `name:port`.
    names: Vec<String>,
}

/// The server's role under the name that a request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The console: a login here is a cookie for this host.
    Console,
    /// A name that all servers on this machine share: bearer tokens are accepted, cookies are not, and pages redirect
    /// to the console.
    Shared,
}

/// The validated `Host` of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// In lower case; an IPv6 address in brackets.
    pub(crate) name: String,
    pub(crate) port: Option<u16>,
}

impl AllowedHosts {
    /// `listen` is the server's actual address, including the port. `own` is the console's own name. A name in `names`
    /// allows any port, `name:port` only that one.
    pub fn new(listen: SocketAddr, own: &str, names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { listen, own: own.to_ascii_lowercase(), names }
    }

    /// The name of the login cookie. It contains the port, for hosts that several servers share.
    pub(crate) fn cookie_name(&self) -> String {
        format!("yoi_{}", self.listen.port())
    }

    /// The console's own origin, at the port of a request to a shared name: a tunnel may use a different one.
    pub(crate) fn own_origin(&self, port: Option<u16>) -> String {
        let host = Host { name: self.own.clone(), port: port.filter(|port| *port != HTTP_PORT) };
        format!("http://{host}")
    }

    /// The address of the console for a request under this name. A name without a port comes from a socket that has
    /// none.
    pub(crate) fn console_for(&self, host: &Host) -> String {
        match self.standing(host) {
            Some(Standing::Shared) => self.own_origin(host.port.or(Some(self.listen.port()))),
            _ => format!("http://{host}"),
        }
    }

    /// The address to which a browser comes back after a login elsewhere. Of the names of this machine, authorization
    /// servers accept hardly any but `localhost`.
    pub(crate) fn return_for(&self, host: &Host, headers: &HeaderMap) -> String {
        if host.name == self.own || self.standing(host) == Some(Standing::Shared) {
            let port = host.port.unwrap_or(self.listen.port());
            let host = Host { name: "localhost".to_owned(), port: Some(port).filter(|port| *port != HTTP_PORT) };
            return format!("http://{host}");
        }
        // The origin has been checked: it is this host.
        let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        match origin.filter(|origin| origin.starts_with("https://")) {
            Some(origin) => origin.to_owned(),
            None => format!("http://{host}"),
        }
    }

    pub(crate) fn check_host(&self, parts: &Parts) -> Result<(Host, Standing), ApiError> {
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
        let host = host.filter(|host| target.is_none_or(|target| target.as_ref() == Some(host)));
        host.and_then(|host| self.standing(&host).map(|standing| (host, standing))).ok_or_else(|| {
            let sentence = "this server answers to its own name, loopback names and its listen address only; \
                            `--allow-host NAME` adds one";
            forbidden(sentence.to_owned())
        })
    }

    /// The server's role under this name; `None` if it does not answer to it.
    fn standing(&self, host: &Host) -> Option<Standing> {
        let is_listed = self.names.iter().any(|name| match host.port {
            _ if *name == host.name => true,
            Some(port) => *name == format!("{}:{port}", host.name),
            None => false,
        });
        let own_port = host.port.is_none_or(|port| port == self.listen.port());
        if is_listed || host.name == self.own {
            return Some(Standing::Console);
        }
        if host.address() == Some(self.listen.ip()) && !self.is_at_home() {
            return own_port.then_some(Standing::Console);
        }
        // A tunnel may bring a loopback name here from any port. That is of no use to a page of another server on this
        // machine: its `Origin` has its own port, and its `Host` has this one.
        if host.is_loopback() {
            return Some(Standing::Shared);
        }
        None
    }

    /// Whether it listens at the address to which the console's own name resolves.
    fn is_at_home(&self) -> bool {
        matches!(self.listen.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST) | IpAddr::V6(Ipv6Addr::LOCALHOST))
    }
}

/// The port that browsers leave out of an address.
pub(crate) const HTTP_PORT: u16 = 80;

impl Host {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        if text.contains('@') || authority.host().is_empty() {
            return None;
        }
        let name = authority.host().to_ascii_lowercase();
        // The name must be followed by a port, and not by something that a browser would interpret differently.
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

    /// Whether the name may belong to a proxy. A name that is not local to this machine is only answered if
    /// `--allow-host` lists it, usually for a proxy.
    pub(crate) fn may_be_proxied(&self) -> bool {
        let is_of_this_machine = self.name.rsplit('.').next() == Some("localhost");
        !is_of_this_machine && self.address().is_none()
    }

    fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.address().is_some_and(|address| address.to_canonical().is_loopback())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(formatter, "{}:{port}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> AllowedHosts {
        let names = ["Box.example".to_owned(), "gate.example:8443".to_owned()];
        AllowedHosts::new("127.0.0.1:7474".parse().unwrap(), "yoi-x.localhost", names)
    }

    fn standing(hosts: &AllowedHosts, host: &str) -> Option<Standing> {
        hosts.standing(&Host::parse(host)?)
    }

    #[test]
    fn the_console_has_names_of_its_own_and_shared_ones_lead_there() {
        let hosts = allowed();
        for console in [
            "yoi-x.localhost:7474",
            "YOI-X.localhost",
            "yoi-x.localhost:9",
            "box.example",
            "BOX.EXAMPLE:9",
            "gate.example:8443",
        ] {
            assert_eq!(standing(&hosts, console), Some(Standing::Console), "{console}");
        }
        for shared in [
            "localhost:7474",
            "LOCALHOST:7474",
            "localhost",
            "localhost:7475",
            "127.0.0.1:7474",
            "127.8.9.1:7474",
            "[::1]:7474",
            "[::1]",
            "[::ffff:127.0.0.1]:7474",
        ] {
            assert_eq!(standing(&hosts, shared), Some(Standing::Shared), "{shared}");
        }
        for nobody in [
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
            "yoi-y.localhost:7474",
            "a.yoi-x.localhost:7474",
            "yoi-x.localhost.:7474",
            "yoi-x.localhost.evil.example",
        ] {
            assert_eq!(standing(&hosts, nobody), None, "{nobody}");
        }
        let lan = AllowedHosts::new("192.168.0.9:80".parse().unwrap(), "yoi-x.localhost", ["127.0.0.1".to_owned()]);
        assert_eq!(standing(&lan, "192.168.0.9"), Some(Standing::Console));
        assert_eq!(standing(&lan, "192.168.0.8"), None);
        assert_eq!(standing(&lan, "192.168.0.9:81"), None);
        assert_eq!(standing(&lan, "127.0.0.1:5"), Some(Standing::Console), "who lists it wants the console there");
    }

    #[test]
    fn the_way_to_the_console_keeps_the_port_that_was_asked_for() {
        let hosts = allowed();
        for (host, console) in [
            ("127.0.0.1:9000", "http://yoi-x.localhost:9000"),
            ("localhost", "http://yoi-x.localhost:7474"),
            ("[::1]:80", "http://yoi-x.localhost"),
            ("box.example:81", "http://box.example:81"),
            ("yoi-x.localhost:7474", "http://yoi-x.localhost:7474"),
        ] {
            assert_eq!(hosts.console_for(&Host::parse(host).unwrap()), console);
        }
        assert_eq!(hosts.own_origin(None), "http://yoi-x.localhost");
    }
}
