//! Which page a request comes from. Requests that change or stream something are only for the console's own pages and
//! for programs.

use axum::http::{HeaderMap, Method, header, request::Parts};
use protocol::{ApiError, ErrorCode};

use super::{MCP_PATH, Place, address};
use crate::access::{HTTP_PORT, Host};

/// Where a browser says that a request comes from.
pub(super) const FETCH_SITE: &str = "sec-fetch-site";
const HTTPS_PORT: u16 = 443;
/// What it says that the response is for.
const FETCH_DEST: &str = "sec-fetch-dest";
/// How it says that it asks.
const FETCH_MODE: &str = "sec-fetch-mode";

/// The headers with which a browser marks a fetch before any navigation: `prefetch`, or `prefetch;prerender`. The
/// second header is an older name.
const PURPOSES: [&str; 2] = ["sec-purpose", "purpose"];

/// Refuses what pages of other origins send. `Origin` is checked for requests that may change something or open a
/// socket, and `Sec-Fetch-Site`, which no page can forge, wherever it is sent.
pub(super) fn check(host: &Host, place: Place, parts: &Parts) -> Result<(), ApiError> {
    let is_of_a_file = place == Place::Submit && is_of_no_site(&parts.headers);
    if needs_own_origin(parts) && !is_of_a_file {
        check_origin(host, &parts.headers)?;
    }
    if is_ahead(&parts.headers) && (is_foreign(&parts.headers) || address::secret_in(&parts.uri).is_some()) {
        return Err(nobody_came());
    }
    let is_refused = match place {
        Place::Health => false,
        // A login may come from the file that `yoi open` writes: it carries a secret that no page has. Other sites were
        // refused above.
        Place::Submit => false,
        // A link may lead to a page, but nothing may embed one or load it as something else.
        Place::Login | Place::Page | Place::OAuth => is_foreign(&parts.headers) && !is_for_a_window(&parts.headers),
        Place::Machine | Place::Mcp => is_foreign(&parts.headers),
    };
    match is_refused {
        true => Err(forbidden("the request comes from a page of another origin; open the console and do it there")),
        false => Ok(()),
    }
}

/// Whether a page of another origin sent it. Without the header it is a program, or a browser from before 2023, for
/// which `Origin` is checked.
pub(super) fn is_foreign(headers: &HeaderMap) -> bool {
    headers.get_all(FETCH_SITE).iter().any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// Whether a browser opens it in a window or a tab.
pub(super) fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get(FETCH_MODE).is_some_and(|mode| mode == "navigate")
}

/// Whether a browser fetches it in advance of a possible navigation. An actual navigation requests it again.
pub(super) fn is_ahead(headers: &HeaderMap) -> bool {
    let mut values = PURPOSES.into_iter().flat_map(|name| headers.get_all(name));
    let is_one =
        |purpose: &str| ["prefetch", "prerender"].iter().any(|ahead| purpose.trim().eq_ignore_ascii_case(ahead));
    values.any(|value| value.to_str().is_ok_and(|purposes| purposes.split([';', ',']).any(is_one)))
}

pub(super) fn nobody_came() -> ApiError {
    forbidden("prefetched requests start no login and are only for the console's own pages")
}

fn is_for_a_window(headers: &HeaderMap) -> bool {
    headers.get(FETCH_DEST).is_none_or(|dest| dest == "document")
}

/// Requests that another site's page could send with the person's cookie: everything that may change something, and
/// sockets, which browsers let any page open.
fn needs_own_origin(parts: &Parts) -> bool {
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    let path = parts.uri.path();
    let is_upgrade = parts.headers.contains_key(header::UPGRADE);
    // Reading there can begin a stream, and the protocol requires the check.
    let is_mcp = path == MCP_PATH;
    !reads || is_mcp || path == "/fn" || path.starts_with("/fn/") || is_upgrade
}

/// Whether the request comes from a page that belongs to no site, such as a file.
fn is_of_no_site(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.next().is_some_and(|origin| origin == "null") && origins.next().is_none()
}

/// `Origin`, if present, has to be exactly `http://` and the request's own `Host`; for a host from `--allow-host`,
/// which may be behind a TLS proxy, also `https://`.
fn check_origin(host: &Host, headers: &HeaderMap) -> Result<(), ApiError> {
    match is_own(host, headers) {
        true => Ok(()),
        false => Err(forbidden("only pages of this server may do this; the request's `Origin` is another one")),
    }
}

/// Whether there is no `Origin`, or it is the request's own.
pub(super) fn is_own(host: &Host, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| {
            is_at(origin, "http://", HTTP_PORT, host)
                || (host.may_be_proxied() && is_at(origin, "https://", HTTPS_PORT, host))
        }),
        _ => false,
    }
}

/// Whether an origin is this host under this scheme, whose default port browsers leave out.
fn is_at(origin: &str, scheme: &str, default: u16, host: &Host) -> bool {
    let origin = origin.strip_prefix(scheme).and_then(Host::parse);
    origin.is_some_and(|origin| {
        origin.name == host.name && origin.port.unwrap_or(default) == host.port.unwrap_or(default)
    })
}

fn forbidden(why: &str) -> ApiError {
    ApiError::new(ErrorCode::ForbiddenOrigin, why)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (host, origin, is_own) in [
            ("box.example", "https://box.example", true),
            ("box.example:8443", "https://box.example:8443", true),
            ("box.example:443", "https://box.example", true),
            ("box.example", "http://box.example", true),
            ("box.example", "https://box.example:8443", false),
            ("box.example", "https://evil.example", false),
            ("yoi-x.localhost", "https://yoi-x.localhost", false),
            ("192.168.0.9", "https://192.168.0.9", false),
        ] {
            assert_eq!(check(host, &[origin]), is_own, "{host} {origin}");
        }
    }

    #[test]
    fn a_page_of_another_origin_may_lead_to_a_page_and_do_nothing_else() {
        let check = |place, site: &str, dest: &str| {
            let request = axum::http::Request::get("/x").header(FETCH_SITE, site).header(FETCH_DEST, dest);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            check(&Host::parse("yoi-x.localhost:1").unwrap(), place, &parts).is_ok()
        };
        for (place, site, dest, is_let_in) in [
            (Place::Machine, "same-origin", "empty", true),
            (Place::Machine, "none", "document", true),
            (Place::Machine, "same-site", "empty", false),
            (Place::Machine, "cross-site", "document", false),
            (Place::Machine, "nonsense", "empty", false),
            (Place::Page, "cross-site", "document", true),
            (Place::Page, "cross-site", "iframe", false),
            (Place::Page, "same-site", "image", false),
            (Place::Page, "same-origin", "iframe", true),
            (Place::Login, "cross-site", "script", false),
            (Place::Health, "cross-site", "empty", true),
        ] {
            assert_eq!(check(place, site, dest), is_let_in, "{place:?} {site} {dest}");
        }
    }

    #[test]
    fn a_login_is_brought_by_the_login_page_a_file_or_a_program_and_by_no_other_site() {
        let check = |origins: &[&str]| {
            let mut request = axum::http::Request::post("/login").header(FETCH_SITE, "cross-site");
            for origin in origins {
                request = request.header(header::ORIGIN, *origin);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            check(&Host::parse("yoi-x.localhost:1").unwrap(), Place::Submit, &parts).is_ok()
        };
        assert!(check(&[]) && check(&["null"]) && check(&["http://yoi-x.localhost:1"]));
        for foreign in [&["http://evil.example"][..], &["http://yoi-x.localhost:2"], &["null", "http://evil.example"]] {
            assert!(!check(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn what_is_fetched_ahead_begins_no_login_and_is_for_no_other_origin() {
        let check = |name: &str, purpose: &str, site: &str, path: &str| {
            let request = axum::http::Request::get(path).header(FETCH_SITE, site).header(FETCH_DEST, "document");
            let (parts, ()) = request.header(name, purpose).body(()).unwrap().into_parts();
            check(&Host::parse("yoi-x.localhost:1").unwrap(), Place::Page, &parts).is_ok()
        };
        for (name, purpose) in [
            ("sec-purpose", "prefetch"),
            ("sec-purpose", "prefetch;prerender"),
            ("sec-purpose", "prefetch;anonymous-client-ip"),
            ("purpose", "Prefetch"),
        ] {
            for (site, path, is_let_in) in [
                ("cross-site", "/", false),
                ("same-site", "/", false),
                ("same-origin", "/", true),
                ("none", "/", true),
                ("none", "/?code=a", false),
                ("same-origin", "/?token=a", false),
            ] {
                assert_eq!(check(name, purpose, site, path), is_let_in, "{name}: {purpose}, {site} {path}");
            }
        }
        assert!(check("sec-purpose", "", "cross-site", "/"), "a link leads here");
        assert!(check("purpose", "fetch", "none", "/?code=a"));
    }
}
