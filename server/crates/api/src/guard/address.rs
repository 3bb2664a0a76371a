//! Finds secrets in addresses, and removes them.

use std::fmt::Write as _;

use axum::{
    extract::Query,
    http::{Method, Uri},
};

use super::Place;

/// A secret in an address that logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Secret {
    /// The server's token; accepted for one more release.
    Token(String),
    /// A code for one login.
    Code(String),
}

/// The first secret in a query, decoded. If it cannot be decoded, the result matches no secret.
pub(super) fn secret_in(uri: &Uri) -> Option<Secret> {
    let pair = uri.query()?.split('&').find(|pair| is_secret(pair))?;
    let value = values(pair).into_iter().next().map(|(_, value)| value).unwrap_or_default();
    Some(match name(pair) {
        TOKEN => Secret::Token(value),
        _ => Secret::Code(value),
    })
}

/// The fields of a form or a query. Empty if they are malformed.
pub(super) fn values(encoded: &str) -> Vec<(String, String)> {
    let uri = format!("/?{encoded}").parse::<Uri>().ok();
    let fields = uri.and_then(|uri| Query::<Vec<(String, String)>>::try_from_uri(&uri).ok());
    fields.map(|Query(fields)| fields).unwrap_or_default()
}

/// The address of the page without secrets. Never another site, which `//name` would be.
pub(super) fn without_secret(uri: &Uri) -> String {
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let query: Vec<&str> =
        uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty() && !is_secret(pair)).collect();
    match query.is_empty() {
        true => path,
        false => format!("{path}?{}", query.join("&")),
    }
}

/// The same address with a code.
pub(super) fn with_code(address: &str, code: &str) -> String {
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}{CODE}={code}")
}

/// Whether the request is a failed attempt of the login form, which marks it; the page then says that the token was
/// wrong.
pub(super) fn is_tried(uri: &Uri) -> bool {
    uri.path() == "/login" && uri.query().unwrap_or_default().split('&').any(|pair| pair == "tried=1")
}

/// The page of this server that `text` names, without secrets: a path with its query. `None` for anything else, and for
/// what a login leads to anyway.
pub(super) fn page(text: &str) -> Option<String> {
    let is_plain = text.len() <= PAGE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_path = text.starts_with('/') && !text.starts_with("//");
    let uri: Uri = (is_plain && is_path).then(|| text.parse().ok()).flatten()?;
    let page = without_secret(&uri);
    (Place::of(&Method::GET, uri.path()) == Place::Page && page != "/").then_some(page)
}

/// The login page that leads on to this page, which is one of [`page`].
pub(super) fn login_for(page: Option<&str>) -> String {
    let to = page.map(|page| format!("?{TO}={}", escaped(page)));
    format!("/login{}", to.unwrap_or_default())
}

/// The same, after a failed attempt.
pub(super) fn tried(page: Option<&str>) -> String {
    let to = page.map(|page| format!("&{TO}={}", escaped(page)));
    format!("/login?tried=1{}", to.unwrap_or_default())
}

/// As the value of a field in a query.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => escaped.push(byte.into()),
            _ => drop(write!(escaped, "%{byte:02X}")),
        }
        escaped
    })
}

pub(super) const TOKEN: &str = "token";
pub(super) const CODE: &str = "code";
/// The field for the page that a login leads to.
pub(super) const TO: &str = "to";
/// Escaped, it still leaves room in a form for the secret.
const PAGE_BYTES_MAX: usize = 1024;

fn is_secret(pair: &str) -> bool {
    matches!(name(pair), TOKEN | CODE)
}

fn name(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_of_the_query_and_the_rest_stays() {
        let token = |text: &str| Secret::Token(text.to_owned());
        let code = |text: &str| Secret::Code(text.to_owned());
        for (given, secret, left) in [
            ("/?token=abc", token("abc"), "/"),
            ("/pods?x=1&token=a%2Bb&y=%20", token("a+b"), "/pods?x=1&y=%20"),
            ("/?token=", token(""), "/"),
            ("/?token", token(""), "/"),
            ("/?token=%ff", token("\u{fffd}"), "/"),
            ("/?token=a&token=b", token("a"), "/"),
            ("/?code=a&token=b&z", code("a"), "/?z"),
            ("//evil.example/?token=a", token("a"), "/evil.example/"),
            ("/login?code=a", code("a"), "/login"),
        ] {
            let uri: Uri = given.parse().unwrap();
            assert_eq!(secret_in(&uri), Some(secret), "{given}");
            assert_eq!(without_secret(&uri), left, "{given}");
        }
        for none in ["/", "/?tokens=1", "/?x=token=1", "/?decode=1"] {
            assert_eq!(secret_in(&none.parse().unwrap()), None, "{none}");
        }
        assert_eq!((with_code("/", "a"), with_code("/?x", "a")), ("/?code=a".to_owned(), "/?x&code=a".to_owned()));
    }

    #[test]
    fn a_login_leads_on_to_pages_of_this_server_and_to_nothing_else() {
        for (text, led) in [
            ("/pods/local/ada?x=1&y=a%20b", "/pods/local/ada?x=1&y=a%20b"),
            ("/?view=table", "/?view=table"),
            ("/audit?token=a&z=1", "/audit?z=1"),
        ] {
            assert_eq!(page(text).as_deref(), Some(led), "{text}");
            let (login, again) = (login_for(Some(led)), tried(Some(led)));
            for address in [&login, &again] {
                let fields = values(address.split_once('?').unwrap().1);
                assert!(fields.contains(&(TO.to_owned(), led.to_owned())), "{address}");
            }
            assert!(login.starts_with("/login?") && is_tried(&again.parse().unwrap()), "{login} {again}");
        }
        for other in [
            "",
            "/",
            "//evil.example/",
            "///evil.example/",
            "/\\evil.example/",
            "\\\\evil.example",
            "http://evil.example/",
            "javascript:alert(1)",
            "evil.example",
            "@evil.example",
            "/a\\b",
            "/a\nb",
            "/a b",
            "/%zz\u{e9}",
            "/login",
            "/login?to=/audit",
            "/api/v1/pods",
            "/fn/x",
            "/pkg/yoi.js",
            "/?token=a",
            "/?code=a",
        ] {
            assert_eq!(page(other), None, "{other:?}");
        }
        assert_eq!(page(&format!("/{}", "a".repeat(PAGE_BYTES_MAX))), None);
        assert_eq!((login_for(None), tried(None)), ("/login".to_owned(), "/login?tried=1".to_owned()));
    }
}
