//! Finds secrets in addresses, and removes them.

use axum::{extract::Query, http::Uri};

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

pub(super) const TOKEN: &str = "token";
pub(super) const CODE: &str = "code";

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
}
