//! Matches a URL by its parts, and a host by its labels, against rules about the network.

use protocol::PermissionDecision;
use url::{Host, Url};

use super::{
    pattern::{fits, literals, matches},
    public::is_public,
};

/// A host on the network, and one of its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// As in a URL: lower case, ASCII, an IPv6 address in brackets, no trailing dot.
    pub host: String,
    pub port: u16,
}

impl HostPort {
    /// `None` for anything that is no valid host, about which no rule can say anything.
    pub fn parse(host: &str, port: u16) -> Option<Self> {
        Some(Self { host: plain_host(host)?, port })
    }

    /// True if it is an IP address and not a name that resolves to one.
    pub fn is_address(&self) -> bool {
        !matches!(Host::parse(&self.host), Ok(Host::Domain(_)) | Err(_))
    }

    /// As a rule names it: nearby hosts with their port, others without.
    pub(super) fn rule(&self) -> String {
        match self.is_near() {
            true => format!("{}:{}", self.host, self.port),
            false => self.host.clone(),
        }
    }

    /// True for this machine and the addresses of its networks, which have to be named explicitly and are never matched
    /// by a `*`.
    pub(super) fn is_near(&self) -> bool {
        let name = self.host.as_str();
        let address = match Host::parse(name) {
            Ok(Host::Ipv4(address)) => Some(address.into()),
            Ok(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        };
        let is_name = |near: &str| name == near || name.ends_with(&format!(".{near}"));
        address.is_some_and(|address| !is_public(address))
            || ["localhost", "local", "internal"].into_iter().any(is_name)
    }
}

/// Patterns: `host`, `host:port`, `*.example.com`, `*:443`, `*`.
pub(super) fn host_matches(pattern: &str, meant: &HostPort, decision: PermissionDecision) -> bool {
    let (host, port) = split_port(pattern.trim());
    let has_port = match port {
        None | Some("*") => true,
        Some(port) => port.parse() == Ok(meant.port),
    };
    has_port
        && labels_match(host, &meant.host)
        && (decision != PermissionDecision::Allow || !meant.is_near() || !host.contains('*'))
}

/// What a pattern that allows hosts opens beyond what it seems to, or that it matches nothing.
pub(super) fn host_doubt(pattern: &str) -> Option<&'static str> {
    let (host, port) = split_port(pattern.trim());
    let is_port = |port: &str| port == "*" || port.parse::<u16>().is_ok_and(|port| port > 0);
    let named = host.strip_prefix("*.").unwrap_or(host);
    match (host, HostPort::parse(named, 0)) {
        _ if !port.is_none_or(is_port) => Some("it names no port that there is, so it allows nothing"),
        ("*", _) if port.is_none_or(|port| port == "*") => Some("every host of the Internet is open to its commands"),
        ("*", _) => None,
        (_, None) => Some("it names no host, so it allows nothing; HOST, HOST:PORT and *.DOMAIN do"),
        (_, Some(meant)) if meant.is_near() && named != host => {
            Some("no * means this machine or its networks, so it allows nothing; HOST:PORT does")
        }
        (_, Some(meant)) if meant.is_near() && port.is_none_or(|port| port == "*") => {
            Some("every port there is open to its commands, whatever listens; HOST:PORT opens one")
        }
        (_, Some(meant)) if meant.is_address() && named != host => {
            Some("an address has no labels, so it allows nothing; HOST:PORT does")
        }
        _ => None,
    }
}

/// Whether a URL matches the pattern, part by part. A URL with a login never does.
pub(super) fn url_matches(pattern: &str, given: &str) -> bool {
    let Some(url) = parsed(given) else { return false };
    if pattern == "*" {
        return true;
    }
    let (scheme, rest) = pattern.split_once("://").unwrap_or(("http*", pattern));
    let (authority, path) = match rest.find(['/', '?', '#']) {
        Some(at) => rest.split_at(at),
        // "https://docs.rs" and "https://docs.rs*" mean that host, not hosts whose names begin the same way.
        None => (rest.strip_suffix('*').filter(|host| !host.is_empty() && !host.ends_with('.')).unwrap_or(rest), "*"),
    };
    let (host, port) = split_port(authority);
    let has_port = match port {
        None => url.port().is_none(),
        Some("*") => true,
        Some(port) => port.parse().ok() == url.port_or_known_default(),
    };
    let is_meant = url.host_str().is_some_and(|meant| labels_match(host, meant.trim_end_matches('.')));
    !authority.contains('@')
        && matches(&scheme.to_ascii_lowercase(), url.scheme())
        && has_port
        && is_meant
        && path_matches(path, &url)
}

/// Other spellings of the same URL, which deny rules are matched against besides the given one.
pub(super) fn url_spellings(given: &str) -> Vec<String> {
    let Ok(mut url) = Url::parse(given.trim()) else { return vec![given.to_lowercase()] };
    // If it cannot be set, it is not there.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_fragment(None);
    let whole = url.to_string();
    let dotless = url.host_str().and_then(|host| host.strip_suffix('.')).map(|host| {
        let mut url = url.clone();
        let _ = url.set_host(Some(host));
        url.to_string()
    });
    let decoded = whole.replace("%2f", "/").replace("%2F", "/");
    [Some(whole), dotless, Some(decoded)].into_iter().flatten().collect()
}

fn parsed(given: &str) -> Option<Url> {
    let url = Url::parse(given).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && !given.contains(['\\', '\t', '\n', '\r']);
    is_plain.then_some(url)
}

/// Matches the path as it is sent to a server, with the query. A server may treat an encoded slash as a slash, so a
/// path with one is in no folder that a pattern names.
fn path_matches(pattern: &str, url: &Url) -> bool {
    if pattern == "*" || pattern == "/*" {
        return true;
    }
    let path = url.path().to_ascii_lowercase();
    if ["%2f", "%5c", "%2e", "%00"].iter().any(|hidden| path.contains(hidden)) || path.contains("//") {
        return false;
    }
    let said = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut parts = literals(pattern);
    // Encoded like the URL when it is sent: a pattern may be written in plain characters.
    for part in &mut parts {
        *part = as_sent(part);
    }
    fits(&parts, &said)
}

fn as_sent(part: &str) -> String {
    let plain = |character: char| if character.is_ascii() { character.to_string() } else { encoded(character) };
    part.split('#').next().unwrap_or_default().chars().map(plain).collect()
}

fn encoded(character: char) -> String {
    let mut bytes = [0; 4];
    character.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Matches a host name against a pattern: `*` alone, `*.` before whole labels, or the name itself.
fn labels_match(pattern: &str, host: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    match pattern.strip_prefix("*.") {
        Some(domain) => plain_host(domain).is_some_and(|domain| {
            let is_name = matches!(Host::parse(&domain), Ok(Host::Domain(_)));
            is_name && host.strip_suffix(&domain).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
        }),
        None => plain_host(pattern).is_some_and(|meant| meant == host),
    }
}

/// Normalised as in a URL; `None` for what no URL can name, including a `*`.
fn plain_host(host: &str) -> Option<String> {
    let bare = host.trim_end_matches('.');
    let bracketed = if bare.contains(':') && !bare.starts_with('[') { format!("[{bare}]") } else { bare.to_owned() };
    let host = Host::parse(&bracketed).ok()?.to_string();
    (!host.is_empty() && !host.contains('*')).then_some(host)
}

/// Splits the port off. An IPv6 address contains colons of its own.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_matched_by_its_parts() {
        for (pattern, given, expected) in [
            ("https://docs.rs/*", "https://docs.rs/tokio", true),
            ("https://docs.rs/*", "HTTPS://Docs.RS/tokio", true),
            ("https://docs.rs/*", "https://docs.rs:443/tokio", true),
            ("https://docs.rs/*", "https://docs.rs./tokio", true),
            ("https://docs.rs*", "https://docs.rs/tokio", true),
            ("https://docs.rs", "https://docs.rs/tokio", true),
            ("https://docs.rs/*", "https://docs.rs:8443/tokio", false),
            ("https://docs.rs/*", "http://docs.rs/tokio", false),
            ("https://docs.rs/*", "https://docs.rs.evil.com/", false),
            ("https://docs.rs*", "https://docs.rs.evil.com/", false),
            ("https://docs.rs*", "https://docs.rsx/", false),
            ("https://docs.rs/*", "https://docs.rs@evil.com/", false),
            ("https://docs.rs/*", "https://docs.rs:x@evil.com/", false),
            ("https://docs.rs/*", "https://docs.rs/@evil", true),
            ("https://docs.rs/*", "https://user@docs.rs/", false),
            ("https://docs.rs/*", "https://evil.com/https://docs.rs/", false),
            ("https://docs.rs/*", "https://evil.com\\@docs.rs/", false),
            ("https://docs.rs/tokio/*", "https://docs.rs/tokio/latest", true),
            ("https://docs.rs/tokio/*", "https://docs.rs/tokio/../serde", false),
            ("https://docs.rs/tokio/*", "https://docs.rs/tokio/%2e%2e/serde", false),
            ("https://docs.rs/tokio/*", "https://docs.rs/tokio/..%2fserde", false),
            ("https://docs.rs/tokio/*", "https://docs.rs/tokiox", false),
            ("https://*.example.com/*", "https://a.example.com/", true),
            ("https://*.example.com/*", "https://a.b.example.com/", true),
            ("https://*.example.com/*", "https://example.com/", false),
            ("https://*.example.com/*", "https://evilexample.com/", false),
            ("https://*example.com/*", "https://evilexample.com/", false),
            ("https://bücher.de/*", "https://xn--bcher-kva.de/a", true),
            ("https://apple.com/*", "https://аpple.com/", false),
            ("docs.rs/*", "https://docs.rs/tokio", true),
            ("https://*", "https://docs.rs/tokio", true),
            ("*", "https://docs.rs/tokio", true),
            ("http://127.0.0.1/*", "http://2130706433/", true),
            ("http://127.0.0.1:*/*", "http://127.0.0.1:8000/", true),
            ("https://docs.rs/*", "not a url", false),
            ("https://docs.rs/a?b=c", "https://docs.rs/a?b=c", true),
            ("https://docs.rs/a", "https://docs.rs/a?b=c", false),
            ("https://docs.rs/ä*", "https://docs.rs/%C3%A4b", true),
        ] {
            assert_eq!(url_matches(pattern, given), expected, "{pattern} over {given}");
        }
    }

    #[test]
    fn a_pattern_that_opens_more_than_it_seems_to_or_nothing_says_so() {
        for (pattern, said) in [
            ("*", "every host"),
            ("*:*", "every host"),
            ("*:443", ""),
            ("crates.io", ""),
            (" crates.io:443 ", ""),
            ("*.crates.io", ""),
            ("bücher.de", ""),
            ("127.0.0.1:8080", ""),
            ("[::1]:8080", ""),
            ("127.0.0.1", "every port there"),
            ("localhost", "every port there"),
            ("localhost:*", "every port there"),
            ("::1", "every port there"),
            ("10.0.0.1", "every port there"),
            ("*.localhost", "no * means this machine"),
            ("*.0.0.1", "no * means this machine"),
            ("*.9.9.9.9", "an address has no labels"),
            ("127.0.0.*", "names no host"),
            ("*crates.io", "names no host"),
            ("http://crates.io", "names no"),
            ("crates.io/path", "names no host"),
            ("a b", "names no host"),
            ("crates.io:0", "names no port"),
            ("crates.io:65536", "names no port"),
            ("crates.io:https", "names no port"),
        ] {
            let found = host_doubt(pattern).unwrap_or_default();
            assert!(found.contains(said) && found.is_empty() == said.is_empty(), "{pattern}: {found}");
        }
    }

    #[test]
    fn a_host_is_matched_by_whole_labels_and_what_is_near_only_by_its_name() {
        for (pattern, host, port, expected) in [
            ("crates.io", "crates.io", 443, true),
            ("crates.io", "Crates.IO.", 443, true),
            ("crates.io:443", "crates.io", 443, true),
            ("crates.io:443", "crates.io", 80, false),
            ("*.crates.io", "static.crates.io", 443, true),
            ("*.crates.io", "crates.io", 443, false),
            ("*.crates.io", "evilcrates.io", 443, false),
            ("*crates.io", "evilcrates.io", 443, false),
            ("crates.*", "crates.io", 443, false),
            ("*", "crates.io", 443, true),
            ("*:443", "crates.io", 80, false),
            ("*", "127.0.0.1", 80, false),
            ("*", "localhost", 80, false),
            ("*.localhost", "a.localhost", 80, false),
            ("*", "::1", 80, false),
            ("*", "169.254.169.254", 80, false),
            ("*", "2852039166", 80, false),
            ("*", "10.0.0.1", 80, false),
            ("*", "::ffff:127.0.0.1", 80, false),
            ("*", "metadata.google.internal", 80, false),
            ("169.254.169.254:80", "169.254.169.254", 80, true),
            ("127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("127.0.0.1:8080", "127.0.0.1", 8081, false),
            ("127.0.0.1", "127.0.0.1", 80, true),
            ("127.0.0.1", "127.0.0.2", 80, false),
            ("127.0.0.1:*", "127.0.0.1", 80, true),
            ("localhost", "localhost", 80, true),
            ("localhost", "a.localhost", 80, false),
            ("*:80", "127.0.0.1", 80, false),
            ("*:*", "localhost", 80, false),
            ("127.0.0.1:80", "2130706433", 80, true),
            ("localhost", "127.0.0.1", 80, false),
            ("[::1]:80", "::1", 80, true),
            ("::1", "::1", 80, true),
            ("bücher.de", "xn--bcher-kva.de", 443, true),
        ] {
            let meant = HostPort::parse(host, port).unwrap();
            assert_eq!(
                host_matches(pattern, &meant, PermissionDecision::Allow),
                expected,
                "{pattern} over {host}:{port}"
            );
        }
        let near = HostPort::parse("127.0.0.1", 80).unwrap();
        assert!(host_matches("*", &near, PermissionDecision::Deny), "what is denied is denied here, too");
        assert_eq!(HostPort::parse("a b", 80), None);
        assert_eq!(HostPort::parse("", 80), None);
    }
}
