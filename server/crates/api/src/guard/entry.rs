//! How browsers get in: an address with a secret, the form of the login page, and a shared name that redirects to the
//! console.

use std::sync::Once;

use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use protocol::{ApiError, ErrorCode};
use serde::Deserialize;

use super::{
    address::{self, Secret},
    login, origin,
};
use crate::{Api, access::Host, answer::problem, media::Media};

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
/// The most bytes of the form, which has one short field.
const FORM_BYTES_MAX: usize = 4 * 1024;

/// The page that is returned to a form of another origin. It navigates on from our own origin, so that the browser
/// sends the new cookie, which it would not do after a redirect.
const ENTER: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>yoi</title>\
    <meta http-equiv=\"refresh\" content=\"0;url=/\"></head><body><p><a href=\"/\">Open the console</a></p></body></html>";
const ENTER_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Logged once.
static TOKEN_IN_ADDRESS: Once = Once::new();

/// What the form, or a program, sends to `/login`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Form {
    token: Option<String>,
    code: Option<String>,
    /// The page to go to.
    to: Option<String>,
}

/// Answers an address with a secret: the right one begins a login and redirects to the same page without it.
pub(super) async fn by_link(api: &Api, parts: &Parts, secret: &Secret) -> Response {
    if !is_right(api, secret) {
        if let Err(error) = refused(api).await {
            return problem(error);
        }
        // A code that has been used, for example by going back, is no reason to complain: a logged-in browser sees the
        // page.
        return match secret {
            Secret::Code(_) => redirect(&address::without_secret(&parts.uri)),
            Secret::Token(_) => redirect(if address::is_tried(&parts.uri) { "/login?tried=1" } else { "/login" }),
        };
    }
    let target = match parts.uri.path() {
        "/login" => "/".to_owned(),
        _ => address::without_secret(&parts.uri),
    };
    match login::open(api, &parts.headers).await {
        Ok(cookie) => with_cookie(redirect(&target), cookie),
        Err(error) => problem(error),
    }
}

/// Answers the form of the login page, the file that `yoi open` writes, and programs.
pub(super) async fn by_form(api: &Api, host: &Host, parts: &Parts, body: Body) -> Response {
    let is_json = Media::of(&parts.headers) == Some(Media::Json);
    let Some(form) = read(is_json, body).await else {
        return problem(ApiError::invalid("a login is a form, or JSON, with a `token` or a `code`"));
    };
    let page = form.to.as_deref().and_then(address::page);
    // Any page may send it: whoever has a secret of this server does not need somebody else's browser.
    let is_right = match form {
        // The field of the page accepts both.
        Form { token: Some(text), .. } => api.options().token.is(&text) || api.codes().redeem(&text).is_some(),
        Form { code, .. } => code.is_some_and(|code| api.codes().redeem(&code).is_some()),
    };
    if !is_right {
        return match refused(api).await {
            Err(error) => problem(error),
            Ok(()) if is_json => {
                problem(ApiError::new(ErrorCode::Unauthorized, "this is not a token or code of this server"))
            }
            Ok(()) => redirect(&address::tried(page.as_deref())),
        };
    }
    let answer = match comes_from_elsewhere(host, &parts.headers) {
        true => entered(),
        false => redirect(page.as_deref().unwrap_or("/")),
    };
    match login::open(api, &parts.headers).await {
        Ok(cookie) => with_cookie(answer, cookie),
        Err(error) => problem(error),
    }
}

/// Whether a redirect would lose the new cookie. Our own form sends no `Origin`, because its page sends no referrer;
/// `Sec-Fetch-Site` tells it from others.
fn comes_from_elsewhere(host: &Host, headers: &HeaderMap) -> bool {
    match headers.contains_key(origin::FETCH_SITE) {
        true => origin::is_foreign(headers),
        false => !origin::is_own(host, headers),
    }
}

/// Redirects from a shared name to the same page of the console. A request with the token, or with the cookie that an
/// older yoi set there, gets a code that logs it in; that cookie is then removed.
pub(super) async fn lead_on(api: &Api, host: &Host, parts: &Parts) -> Response {
    match code_for(api, parts).await {
        Err(error) => problem(error),
        Ok(code) => {
            let page =
                format!("{}{}", api.options().allowed.own_origin(host.port), address::without_secret(&parts.uri));
            let answer = redirect(&code.map_or_else(|| page.clone(), |code| address::with_code(&page, &code)));
            match parts.headers.contains_key(header::COOKIE) {
                true => with_cookie(answer, login::no_cookie(api)),
                false => answer,
            }
        }
    }
}

async fn code_for(api: &Api, parts: &Parts) -> Result<Option<String>, ApiError> {
    match address::secret_in(&parts.uri) {
        Some(Secret::Code(_)) => return Ok(None),
        Some(secret) if is_right(api, &secret) => return api.codes().issue(()).map(Some),
        Some(_) => return refused(api).await.map(|()| None),
        None => (),
    }
    let Some(session) = login::session(api, &parts.headers).await? else { return Ok(None) };
    api.backend().sessions().end(&login::origin("console"), &session.id()).await?;
    api.codes().issue(()).map(Some)
}

/// Redirects to the login page; a browser in which a person opened a page is to come back to that page. Removes an
/// invalid cookie, together with the pages that a browser keeps for going back: some keep them in spite of `no-store`.
pub(super) fn to_login(api: &Api, Parts { headers, uri, .. }: &Parts) -> Response {
    let page = origin::is_navigation(headers).then(|| address::page(&address::without_secret(uri))).flatten();
    let answer = redirect(&address::login_for(page.as_deref()));
    if !headers.contains_key(header::COOKIE) {
        return answer;
    }
    let mut answer = with_cookie(answer, login::no_cookie(api));
    answer.headers_mut().insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    answer
}

/// Redirects to the console's login page.
pub(super) fn lead_to_login(api: &Api, host: &Host) -> Response {
    redirect(&format!("{}/login", api.options().allowed.own_origin(host.port)))
}

/// A 303 that no cache may store.
pub(crate) fn redirect(location: &str) -> Response {
    let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/"));
    let headers = [(header::LOCATION, location), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (StatusCode::SEE_OTHER, headers).into_response()
}

fn is_right(api: &Api, secret: &Secret) -> bool {
    match secret {
        Secret::Code(code) => api.codes().redeem(code).is_some(),
        Secret::Token(token) if api.options().token.is(token) => {
            TOKEN_IN_ADDRESS.call_once(|| {
                tracing::warn!(
                    "a login came with the token in its address; the next release takes codes there: `yoi open`"
                );
            });
            true
        }
        Secret::Token(_) => false,
    }
}

/// A wrong secret costs time, and is audited within limits.
async fn refused(api: &Api) -> Result<(), ApiError> {
    api.attempts().failed().await?;
    if let Some(unsaid) = api.attempts().to_be_told() {
        let unsaid = (unsaid > 0).then(|| format!("and {unsaid} more before"));
        let code = Some(ErrorCode::Unauthorized);
        api.backend().audit().record(&login::origin("console"), "login", unsaid, "refused", code).await;
    }
    Ok(())
}

async fn read(is_json: bool, body: Body) -> Option<Form> {
    let bytes = to_bytes(body, FORM_BYTES_MAX).await.ok()?;
    if is_json {
        return serde_json::from_slice(&bytes).ok();
    }
    let mut form = Form::default();
    for (name, value) in address::values(std::str::from_utf8(&bytes).ok()?) {
        match name.as_str() {
            address::TOKEN => form.token = Some(value),
            address::CODE => form.code = Some(value),
            address::TO => form.to = Some(value),
            _ => (),
        }
    }
    Some(form)
}

fn entered() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, ENTER_POLICY),
    ];
    (headers, ENTER).into_response()
}

fn with_cookie(mut answer: Response, cookie: HeaderValue) -> Response {
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    answer
}
