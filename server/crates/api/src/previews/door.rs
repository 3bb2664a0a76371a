//! Access to previews.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use backend::{Guest, OpenPreview, PREVIEW_ENTER};

use super::forward::{self, Visit};
use crate::{Api, Visitor};

/// The cookie of a preview's host.
pub(super) const COOKIE: &str = "yoi_preview";
/// The number of hex digits in a label.
const LABEL_DIGITS: usize = 32;
/// The policy for pages that this module writes itself.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The label of the preview that a request is for, from its `Host`. `None` if it is not for a preview.
pub(crate) fn label_of(headers: &HeaderMap) -> Option<String> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
    let host = host.to_str().ok()?.to_ascii_lowercase();
    let name = host.split(':').next()?;
    let label = name.strip_suffix(".localhost")?;
    let hex = label.strip_prefix("p-")?;
    (hex.len() == LABEL_DIGITS && hex.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| label.to_owned())
}

/// Answers a request for a preview; nothing of the console is reachable there.
pub(crate) async fn show(api: &Api, label: &str, mut request: Request) -> Response {
    let Some(open) = api.backend().previews().labelled(label) else {
        return page(
            StatusCode::NOT_FOUND,
            "This preview is closed",
            "Open it again from the Pod's page in the console.",
        );
    };
    if request.uri().path() == PREVIEW_ENTER {
        return enter(&open, &request);
    }
    let guest = match guest_of(api, &open, request.headers()).await {
        Ok(guest) => guest,
        Err(refusal) => return *refusal,
    };
    if let Some(visitor) = request.extensions().get::<Visitor>() {
        visitor.is_known();
    }
    if is_sent_by_another_origin(&request) {
        return page(
            StatusCode::FORBIDDEN,
            "This request comes from another page",
            "Open the preview in a window of its own.",
        );
    }
    let Some(permit) = open.admit() else {
        let words = "Close some of its pages and load this one again.";
        return page(StatusCode::SERVICE_UNAVAILABLE, "Too much is open in this preview", words);
    };
    // What is served may have logins of its own, but must not see the console's token.
    if has_token(api, request.headers()) {
        request.headers_mut().remove(header::AUTHORIZATION);
    }
    let port = open.port();
    match api.backend().previews().look_in(&open).await {
        Ok(Some(stream)) => {
            let over = over(api, open, guest);
            forward::forward(stream, port, Visit { over, permit }, request).await
        }
        Ok(None) => nobody(port),
        Err(error) => page(StatusCode::BAD_GATEWAY, "The Pod cannot be reached", &error.detail),
    }
}

/// The guest who sent the request.
async fn guest_of(api: &Api, open: &OpenPreview, headers: &HeaderMap) -> Result<Guest, Box<Response>> {
    let refusal = |status, title, words: &str| Err(Box::new(page(status, title, words)));
    let Some(guest) = known_by_cookie(open, headers) else {
        let words = "Use the link on the Pod's page in the console, or `yoi preview`; it admits one browser.";
        return refusal(StatusCode::UNAUTHORIZED, "This preview is not open to you yet", words);
    };
    match api.backend().previews().stays(open, &guest).await {
        Ok(true) => Ok(guest),
        Ok(false) => {
            let words = "Log in to the console, and use the link on the Pod's page.";
            refusal(StatusCode::UNAUTHORIZED, "The login that opened this preview has ended", words)
        }
        Err(error) => refusal(StatusCode::SERVICE_UNAVAILABLE, "Your login cannot be checked", &error.detail),
    }
}

/// Returns when the browser's connections here have to end.
fn over(api: &Api, open: Arc<OpenPreview>, guest: Guest) -> impl Future<Output = ()> + Send + 'static {
    let backend = api.backend().clone();
    async move { backend.previews().over(&open, &guest).await }
}

/// Exchanges a code for the cookie, once.
fn enter(open: &OpenPreview, request: &Request) -> Response {
    let code = request.uri().query().and_then(|query| query.strip_prefix("code="));
    let secret = match code.filter(|_| request.method() == Method::GET).map(|code| open.let_in(code)) {
        Some(Ok(secret)) => secret,
        None => None,
        Some(Err(error)) => {
            return page(StatusCode::INTERNAL_SERVER_ERROR, "This preview cannot be opened", &error.detail);
        }
    };
    if secret.is_none() && known_by_cookie(open, request.headers()).is_none() {
        let words =
            "A link to a preview works once and within a minute. Open it again from the Pod's page in the console.";
        return page(StatusCode::UNAUTHORIZED, "This link was already used, or has expired", words);
    }
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let headers = answer.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(secret) = secret {
        let cookie = format!("{COOKIE}={secret}; HttpOnly; SameSite=Lax; Path=/");
        headers.insert(header::SET_COOKIE, HeaderValue::try_from(cookie).expect("hex digits are a header's value"));
    }
    answer
}

fn known_by_cookie(open: &OpenPreview, headers: &HeaderMap) -> Option<Guest> {
    cookies(headers).find_map(|pair| open.guest(pair.strip_prefix(COOKIE.as_bytes())?.strip_prefix(b"=")?))
}

fn has_token(api: &Api, headers: &HeaderMap) -> bool {
    let mut words = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
    words.any(|words| words.split_whitespace().any(|word| api.options().token.is(word)))
}

/// `name=value` of every cookie. As bytes, because what is served may have set anything.
pub(super) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let values = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes);
    values.flat_map(|value| value.split(|byte| *byte == b';')).map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty())
}

/// Whether another origin sent it. Other pages may navigate a window here and nothing else; requests and sockets that
/// they open are recognisable as theirs.
fn is_sent_by_another_origin(request: &Request) -> bool {
    let headers = request.headers();
    let own = headers.get(header::HOST).and_then(|host| host.to_str().ok()).map(|host| format!("http://{host}"));
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let is_upgrade = headers.contains_key(header::UPGRADE);
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_foreign_origin = origins.any(|origin| origin.to_str().ok() != own.as_deref());
    let is_foreign_site =
        headers.get_all("sec-fetch-site").iter().any(|site| site == "cross-site" || site == "same-site");
    let is_window = headers.get("sec-fetch-dest").is_none_or(|dest| dest == "document");
    (is_foreign_origin && (!reads || is_upgrade)) || (is_foreign_site && !(reads && is_window))
}

/// The page for a port that no command of the Pod serves now.
pub(super) fn nobody(port: u16) -> Response {
    let title = format!("Nothing listens on port {port}");
    page(
        StatusCode::BAD_GATEWAY,
        &title,
        "Have the Pod start its server in a command that keeps running, and reload this page.",
    )
}

/// A page of our own. All of its text is ours, except that of errors.
pub(crate) fn page(status: StatusCode, title: &str, words: &str) -> Response {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let (title, words) = (escaped(title), escaped(words));
    let body = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title></head>\
         <body><main><h1>{title}</h1><p>{words}</p></main></body></html>"
    );
    let mut answer = (status, Body::from(body)).into_response();
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_label_is_a_preview() {
        let label = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            label_of(&headers)
        };
        let own = format!("p-{}", "0a".repeat(16));
        assert_eq!(label(&format!("{own}.localhost:7474")), Some(own.clone()));
        assert_eq!(label(&format!("{own}.LOCALHOST")), Some(own.clone()));
        for host in [
            "localhost",
            "127.0.0.1:7474",
            "yoi-q3k7.localhost:7474",
            "p-.localhost",
            "p-0a.localhost",
            &format!("{own}.localhost.evil.example"),
            &format!("x.{own}.localhost"),
            &format!("{own}0.localhost"),
        ] {
            assert_eq!(label(host), None, "{host}");
        }
        let mut two = HeaderMap::new();
        two.append(header::HOST, format!("{own}.localhost").parse().unwrap());
        two.append(header::HOST, "localhost".parse().unwrap());
        assert_eq!(label_of(&two), None);
    }
}
