//! Login: a bearer token, or the cookie that `?token=…` is exchanged for.

use axum::{
    extract::Query,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use backend::{Origin, SESSION_SECONDS, Session};
use protocol::{ApiError, ErrorCode};

use crate::{Api, answer::problem};

/// A browser sends one; a few more come from stale paths or domains. The rest is not looked at.
const COOKIES_MAX: usize = 4;

/// Who asks, if it can be told, and with which login, if it is one.
pub(super) async fn caller(api: &Api, headers: &HeaderMap) -> Result<Option<(Origin, Option<Session>)>, ApiError> {
    if let Some(token) = bearer(headers) {
        // A token that was sent and is wrong is an answer in itself, whatever the cookie says.
        return match api.options().token.is(token) {
            true => Ok(Some((origin(client_name(headers)), None))),
            false => api.attempts().failed().await.map(|()| None),
        };
    }
    for secret in cookies(headers, &api.options().allowed.cookie_name()).take(COOKIES_MAX) {
        if let Some(session) = api.backend().session_of(secret).await? {
            return Ok(Some((origin("console"), Some(session))));
        }
    }
    Ok(None)
}

/// Answers `?token=…`: the right one opens a session and leads to the same page without it.
pub(super) async fn by_link(api: &Api, parts: &Parts, token: &str) -> Response {
    let origin = origin("console");
    if !api.options().token.is(token) {
        if let Err(error) = api.attempts().failed().await {
            return problem(error);
        }
        api.backend().record_audit(&origin, "login", None, "refused", Some(ErrorCode::Unauthorized)).await;
        return redirect(if is_tried(&parts.uri) { "/login?tried=1" } else { "/login" });
    }
    let secret = match api.backend().session_open(user_agent(&parts.headers)).await {
        Ok(secret) => secret,
        Err(error) => return problem(error),
    };
    api.backend().record_audit(&origin, "login", None, "done", None).await;
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION_SECONDS}",
        api.options().allowed.cookie_name(),
        secret.as_str()
    );
    let mut response = redirect(&without_token(&parts.uri));
    let cookie = HeaderValue::try_from(cookie).expect("a cookie of hex digits is a header value");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

/// 303, not to be kept by any cache.
pub(super) fn redirect(location: &str) -> Response {
    let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/"));
    let headers = [(header::LOCATION, location), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// The value of `token` in a query, decoded. What cannot be decoded reads as something that is no token.
pub(super) fn token_in_query(uri: &Uri) -> Option<String> {
    let pair = uri.query()?.split('&').find(|pair| is_token(pair))?;
    let decoded = format!("/?{pair}")
        .parse::<Uri>()
        .ok()
        .and_then(|uri| Query::<Vec<(String, String)>>::try_from_uri(&uri).ok())
        .and_then(|Query(pairs)| pairs.into_iter().next());
    Some(decoded.map(|(_, value)| value).unwrap_or_default())
}

fn is_token(pair: &str) -> bool {
    pair.split('=').next() == Some("token")
}

/// Whether the form of the login page asks, which says so: then that page tells that the token is another one.
fn is_tried(uri: &Uri) -> bool {
    uri.path() == "/login" && uri.query().unwrap_or_default().split('&').any(is_trial)
}

fn is_trial(pair: &str) -> bool {
    pair == "tried=1"
}

/// Where the page is without its token. Never another site: `//name` would be one.
fn without_token(uri: &Uri) -> String {
    if uri.path() == "/login" {
        return "/".to_owned();
    }
    let path = uri.path();
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let query: Vec<&str> =
        uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty() && !is_token(pair)).collect();
    match query.is_empty() {
        true => path,
        false => format!("{path}?{}", query.join("&")),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// What a browser calls itself, for the list of logins.
fn user_agent(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Our own programs say which they are; the audit shows it.
fn client_name(headers: &HeaderMap) -> &'static str {
    match headers.get("x-yoi-client").map(HeaderValue::as_bytes) {
        Some(b"cli") => "cli",
        Some(b"tui") => "tui",
        // Another server, for the people who use that one.
        Some(b"remote") => "remote",
        _ => "api",
    }
}

fn origin(client: &str) -> Origin {
    Origin { by: "operator".to_owned(), client: client.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_taken_out_of_the_query_and_the_rest_stays() {
        for (given, token, left) in [
            ("/?token=abc", "abc", "/"),
            ("/pods?x=1&token=a%2Bb&y=%20", "a+b", "/pods?x=1&y=%20"),
            ("/?token=", "", "/"),
            ("/?token", "", "/"),
            ("/?token=%ff", "\u{fffd}", "/"),
            ("/?token=a&token=b", "a", "/"),
            ("//evil.example/?token=a", "a", "/evil.example/"),
            ("/login?token=a", "a", "/"),
            ("/login?tried=1&token=a", "a", "/"),
        ] {
            let uri: Uri = given.parse().unwrap();
            assert_eq!(token_in_query(&uri).as_deref(), Some(token), "{given}");
            assert_eq!(without_token(&uri), left, "{given}");
        }
        for none in ["/", "/?tokens=1", "/?x=token=1"] {
            assert_eq!(token_in_query(&none.parse().unwrap()), None, "{none}");
        }
    }

    #[test]
    fn cookies_and_bearers_are_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=b; yoi_7474=one; yoi_74=two;yoi_7474=three".parse().unwrap());
        assert_eq!(cookies(&headers, "yoi_7474").collect::<Vec<_>>(), ["one", "three"]);
        headers.insert(header::AUTHORIZATION, "bearer  abc".parse().unwrap());
        assert_eq!(bearer(&headers), Some("abc"));
        headers.insert(header::AUTHORIZATION, "Basic abc".parse().unwrap());
        assert_eq!(bearer(&headers), None);
    }
}
