//! Authentication: who is calling, by a bearer token or a login cookie, and how that cookie is made.

use axum::http::{HeaderMap, HeaderValue, header};
use backend::{Origin, SESSION_SECONDS, Session};
use protocol::ApiError;

use crate::{Api, access::Standing};

/// How many cookies are tried. A browser sends one of ours, but pages of the same host can add others before it.
/// Browsers keep at most about 180 cookies per host, so those cannot lock anybody out.
const COOKIES_MAX: usize = 256;
/// The hex digits of a login's secret.
const SECRET_LENGTH: usize = 64;

/// The caller, if known, with the login if there is one. Under a shared name no cookie is accepted: any server on this
/// machine is sent the same one.
pub(super) async fn caller(
    api: &Api,
    standing: Standing,
    headers: &HeaderMap,
) -> Result<Option<(Origin, Option<Session>)>, ApiError> {
    if let Some(token) = bearer(headers) {
        // A wrong token decides by itself, whatever the cookie says.
        return match api.options().token.is(token) {
            true => Ok(Some((origin(client_name(headers)), None))),
            false => api.attempts().failed().await.map(|()| None),
        };
    }
    match standing {
        Standing::Console => Ok(session(api, headers).await?.map(|session| (origin("console"), Some(session)))),
        Standing::Shared => Ok(None),
    }
}

/// The caller over MCP: with the server's token, or with that of a Pod, which is valid nowhere else.
pub(super) async fn mcp_caller(api: &Api, headers: &HeaderMap) -> Result<Option<mcp_server::Caller>, ApiError> {
    let Some(token) = bearer(headers) else { return Ok(None) };
    if api.options().token.is(token) {
        return Ok(Some(mcp_server::Caller::Person));
    }
    match api.backend().pod_tokens().holder(token) {
        Some(holder) => Ok(Some(mcp_server::Caller::Pod(holder))),
        None => api.attempts().failed().await.map(|()| None),
    }
}

/// The login in a request's cookies, whatever the host.
pub(super) async fn session(api: &Api, headers: &HeaderMap) -> Result<Option<Session>, ApiError> {
    for secret in cookies(headers, &api.options().allowed.cookie_name()).take(COOKIES_MAX) {
        if let Some(session) = api.backend().sessions().of(secret).await? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// Begins a login. Returns its cookie, which is limited to this host.
pub(super) async fn open(api: &Api, headers: &HeaderMap) -> Result<HeaderValue, ApiError> {
    let secret = api.backend().sessions().open(user_agent(headers)).await?;
    api.backend().audit().record(&origin("console"), "login", None, "done", None).await;
    Ok(cookie(api, secret.as_str(), SESSION_SECONDS))
}

/// Removes this host's cookie.
pub(super) fn no_cookie(api: &Api) -> HeaderValue {
    cookie(api, "", 0)
}

fn cookie(api: &Api, value: &str, seconds: u64) -> HeaderValue {
    let name = api.options().allowed.cookie_name();
    let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}");
    HeaderValue::try_from(cookie).expect("a cookie of hex digits is a header value")
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
        // Values that cannot be a secret cost nothing and are not counted.
        .filter(|value| value.len() == SECRET_LENGTH && value.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The browser's description of itself, for the list of logins.
fn user_agent(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Our own programs identify themselves, for the audit.
fn client_name(headers: &HeaderMap) -> &'static str {
    match headers.get("x-yoi-client").map(HeaderValue::as_bytes) {
        Some(b"cli") => "cli",
        Some(b"tui") => "tui",
        // Another server, on behalf of its users.
        Some(b"remote") => "remote",
        _ => "api",
    }
}

pub(super) fn origin(client: &str) -> Origin {
    Origin { by: "operator".to_owned(), client: client.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_and_bearers_are_found_among_others() {
        let mut headers = HeaderMap::new();
        let (one, three) = ("1".repeat(64), "3".repeat(64));
        let all =
            format!("a=b; yoi_7474={one}; yoi_74=two;yoi_7474=short; yoi_7474={};yoi_7474={three}", "z".repeat(64));
        headers.insert(header::COOKIE, all.parse().unwrap());
        assert_eq!(cookies(&headers, "yoi_7474").collect::<Vec<_>>(), [one, three]);
        headers.insert(header::AUTHORIZATION, "bearer  abc".parse().unwrap());
        assert_eq!(bearer(&headers), Some("abc"));
        headers.insert(header::AUTHORIZATION, "Basic abc".parse().unwrap());
        assert_eq!(bearer(&headers), None);
    }
}
