//! A program's request to a proxy: where it wants to go, and what to send there first.

use pod::HostPort;

use super::{OWN_URL, Own};

/// The most bytes of a request's first line and headers.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Headers that only concern a proxy and its client.
const HOP_BY_HOP: [&str; 5] = ["proxy-authorization", "proxy-connection", "connection", "keep-alive", "te"];

/// Headers that a program cannot choose when it asks this server: where it asks, and in whose name.
const NOT_OF_THE_PROGRAM: [&str; 4] = ["host", "authorization", "cookie", "upgrade"];

/// A request to a proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) to: HostPort,
    /// For a plain request: its head as the host gets it. `None` for `CONNECT`.
    pub(super) first: Option<Vec<u8>>,
    /// It is for the part of this server that needs no decision.
    pub(super) is_own: bool,
}

impl Request {
    /// Parses a head. `own`: what may be asked of the proxy itself. The error is a sentence.
    pub(super) fn parse(head: &[u8], own: Option<&Own>) -> Result<Self, String> {
        let text = std::str::from_utf8(head).map_err(|_| "the head of the request is not UTF-8".to_owned())?;
        // A server may take a bare line feed for the end of a line, and so find another request in a header.
        if text.replace("\r\n", "").contains(|letter: char| letter.is_control() && letter != '\t') {
            return Err("the head of the request has control characters in a line".to_owned());
        }
        let mut lines = text.trim_end_matches("\r\n").split("\r\n");
        let first = lines.next().unwrap_or_default();
        let words: Vec<&str> = first.split(' ').collect();
        let [method, target, version] = words[..] else {
            return Err(format!("\"{first}\" is not a request to a proxy"));
        };
        if method == "CONNECT" {
            return Ok(Self { to: authority(target, None)?, first: None, is_own: false });
        }
        let of_own = target.strip_prefix(OWN_URL).unwrap_or(target);
        if let Some(own) = own.filter(|_| of_own.starts_with('/')) {
            // A query means nothing there, and is left behind.
            if of_own.split('?').next() != Some(own.path.as_str()) {
                return Err(format!("only {} is here", own.path));
            }
            if !matches!(version, "HTTP/1.0" | "HTTP/1.1") {
                return Err(format!("{version} is not spoken here"));
            }
            let Own { to, path, token } = own;
            let more = format!("Host: {}:{}\r\nAuthorization: Bearer {token}\r\n", to.host, to.port);
            let headers = lines.filter(|line| !is_named(line, &NOT_OF_THE_PROGRAM));
            return Ok(Self {
                to: to.clone(),
                first: Some(passed_on(method, path, version, &more, headers)),
                is_own: true,
            });
        }
        let rest = target
            .strip_prefix("http://")
            .ok_or_else(|| format!("\"{target}\" is not an http:// address; to reach another server, use CONNECT"))?;
        let (host, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let to = authority(host, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { to, first: Some(passed_on(method, &format!("{slash}{path}"), version, "", lines)), is_own: false })
    }
}

/// The head as the host gets it. `more`: headers to add, each with its end of line.
fn passed_on<'a>(
    method: &str,
    path: &str,
    version: &str,
    more: &str,
    headers: impl Iterator<Item = &'a str>,
) -> Vec<u8> {
    let mut sent = format!("{method} {path} {version}\r\n{more}");
    for line in headers.filter(|line| !is_named(line, &HOP_BY_HOP)) {
        sent.push_str(line);
        sent.push_str("\r\n");
    }
    // One request per connection: the next one may be for another host.
    sent.push_str("Connection: close\r\n\r\n");
    sent.into_bytes()
}

/// Whether the header has one of these names.
fn is_named(line: &str, names: &[&str]) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim();
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Parses `host:port`, with a default port if none is given.
fn authority(text: &str, default: Option<u16>) -> Result<HostPort, String> {
    let wrong = || format!("\"{text}\" names no host and port");
    if text.contains('@') {
        return Err("a login in an address is not passed on".to_owned());
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => (host, port.parse().map_err(|_| wrong())?),
        _ => (text, default.ok_or_else(wrong)?),
    };
    HostPort::parse(host, port).filter(|to| to.port != 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Result<(String, u16, Option<String>), String> {
        let Request { to, first, is_own } = Request::parse(head.as_bytes(), None)?;
        assert!(!is_own);
        Ok((to.host, to.port, first.map(|first| String::from_utf8(first).unwrap())))
    }

    fn own() -> Own {
        Own { to: HostPort::parse("127.0.0.1", 7474).unwrap(), path: "/mcp".to_owned(), token: "pod-1".to_owned() }
    }

    #[test]
    fn a_request_says_where_it_goes() {
        for (head, host, port) in [
            ("CONNECT Crates.IO:443 HTTP/1.1\r\n\r\n", "crates.io", 443),
            ("CONNECT crates.io.:443 HTTP/1.1\r\nHost: evil\r\n\r\n", "crates.io", 443),
            ("CONNECT [::1]:8080 HTTP/1.1\r\n\r\n", "[::1]", 8080),
            ("CONNECT 2130706433:80 HTTP/1.1\r\n\r\n", "127.0.0.1", 80),
            ("GET http://a.example HTTP/1.1\r\n\r\n", "a.example", 80),
            ("GET http://a.example:81/x?y HTTP/1.1\r\n\r\n", "a.example", 81),
            ("GET http://a.example?http://b/ HTTP/1.1\r\n\r\n", "a.example", 80),
        ] {
            let (given, given_port, _) = parsed(head).unwrap();
            assert_eq!((given.as_str(), given_port), (host, port), "{head}");
        }
        for head in [
            "CONNECT crates.io HTTP/1.1\r\n\r\n",
            "CONNECT a@b:443 HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "CONNECT a:0 HTTP/1.1\r\n\r\n",
            "CONNECT a:99999 HTTP/1.1\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET /x HTTP/1.1\r\n\r\n",
            "GET http://me:secret@a.example/ HTTP/1.1\r\n\r\n",
            "GET http://a.example/x y HTTP/1.1\r\n\r\n",
            "GET\r\n\r\n",
        ] {
            assert!(parsed(head).is_err(), "{head}");
        }
    }

    #[test]
    fn of_this_server_one_path_is_there_and_nothing_else() {
        let own = own();
        for target in ["/mcp", "/mcp?", "/mcp?code=1", "http://127.0.0.1:3128/mcp"] {
            let head = format!(
                "POST {target} HTTP/1.1\r\nHost: 127.0.0.1:3128\r\nauthorization : Bearer of-a-person\r\nCookie: a=b\r\n\
                 Accept: x\r\n\r\n"
            );
            let request = Request::parse(head.as_bytes(), Some(&own)).unwrap();
            let sent = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:7474\r\nAuthorization: Bearer pod-1\r\nAccept: x\r\n\
                        Connection: close\r\n\r\n";
            assert_eq!((request.is_own, &request.to), (true, &own.to), "{target}");
            assert_eq!(String::from_utf8(request.first.unwrap()).unwrap(), sent);
        }
        for target in ["/", "/mcp/..", "/mcpx", "/api/v1/pods", "http://127.0.0.1:3128/api/v1/pods"] {
            let head = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
            assert!(Request::parse(head.as_bytes(), Some(&own)).is_err(), "{target}");
        }
        assert!(!format!("{own:?}").contains("pod-1"), "{own:?}");
        // By its own address it is asked for like any other.
        let request = Request::parse(b"GET http://127.0.0.1:7474/mcp HTTP/1.1\r\n\r\n", Some(&own)).unwrap();
        assert!(!request.is_own);
    }

    #[test]
    fn no_other_request_hides_in_a_line() {
        for head in [
            "POST /mcp HTTP/1.1\r\nA: b\n\nGET /api/v1/pods HTTP/1.1\nHost: 127.0.0.1:7474\n\r\n\r\n",
            "POST /mcp HTTP/1.1\n\nGET\t/healthz\tHTTP/1.1\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nA: b\rConnection: keep-alive\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nA: b\0\r\n\r\n",
            "POST /mcp HTTP/2.0\r\nA: b\r\n\r\n",
        ] {
            assert!(Request::parse(head.as_bytes(), Some(&own())).is_err(), "{head:?}");
        }
    }

    #[test]
    fn a_plain_request_goes_on_without_what_is_the_proxys() {
        let head = "POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nA: b\r\n\r\n";
        let sent = "POST /x HTTP/1.1\r\nHost: a.example\r\nA: b\r\nConnection: close\r\n\r\n";
        assert_eq!(parsed(head).unwrap().2.unwrap(), sent);
    }
}
