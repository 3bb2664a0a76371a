//! Forwards one request to what a command serves, and the response back.

use std::{future::Future, pin::Pin};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::Response,
};
use futures_util::{StreamExt, stream};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{io::copy_bidirectional, net::UnixStream, sync::OwnedSemaphorePermit};

use super::door::{COOKIE, cookies, page};

/// A browser's use of a preview, for as long as it is allowed.
pub(super) struct Visit<F> {
    /// Resolves when it has to end.
    pub(super) over: F,
    /// Its slot among the requests being answered.
    pub(super) permit: OwnedSemaphorePermit,
}

/// Headers that concern one connection and not the request.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    HeaderName::from_static("keep-alive"),
];
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Sends the request over the connection, and waits for the response as long as the browser does. What is served is
/// told that it is at `localhost:PORT`, which is what such servers allow.
pub(super) async fn forward<F>(stream: UnixStream, port: u16, visit: Visit<F>, mut request: Request) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let host = request.headers().get(header::HOST).cloned();
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    prepare(request.headers_mut(), host.as_ref(), port, upgrade.is_some());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let Ok(path) = path.parse::<Uri>() else { return lost("its address cannot be passed on") };
    *request.uri_mut() = path;
    *request.version_mut() = axum::http::Version::HTTP_11;

    let (mut sender, connection) = match hyper::client::conn::http1::handshake(TokioIo::new(stream)).await {
        Ok(both) => both,
        Err(error) => return lost(&error.to_string()),
    };
    tokio::spawn(async move {
        // Errors surface in the response.
        let _ = connection.with_upgrades().await;
    });
    let mut over = Box::pin(visit.over);
    let mut answer = tokio::select! {
        answer = sender.send_request(request) => match answer {
            Ok(answer) => answer.map(Body::new),
            Err(error) => return lost(&error.to_string()),
        },
        () = &mut over => return page(StatusCode::GONE, "This preview was closed", "Open it again from the Pod's page in the console."),
    };
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let inner = hyper::upgrade::on(&mut answer);
        if let Some(outer) = upgrade {
            tokio::spawn(join(outer, inner, over, visit.permit));
        }
        keep_own_cookie(answer.headers_mut());
        return answer;
    }
    tidy(answer.headers_mut(), host.as_ref(), port);
    answer.map(|body| until(body, over, visit.permit))
}

/// Copies in both directions until one side closes, or the visit is over.
async fn join(outer: OnUpgrade, inner: OnUpgrade, over: Pin<Box<impl Future<Output = ()>>>, _: OwnedSemaphorePermit) {
    let both = async {
        if let (Ok(outer), Ok(inner)) = tokio::join!(outer, inner) {
            let _ = copy_bidirectional(&mut TokioIo::new(outer), &mut TokioIo::new(inner)).await;
        }
    };
    tokio::select! {
        () = both => (),
        () = over => (),
    }
}

/// The body, which is cut off when the visit is over.
fn until<F>(body: Body, over: Pin<Box<F>>, permit: OwnedSemaphorePermit) -> Body
where
    F: Future<Output = ()> + Send + 'static,
{
    let broken = stream::once(over).map(|()| Err(axum::Error::new(std::io::Error::other("the preview was closed"))));
    let data = body.into_data_stream().map(Some).chain(stream::once(async { None }));
    let whole = stream::select(data, broken.map(Some)).take_while(|piece| std::future::ready(piece.is_some()));
    Body::from_stream(whole.filter_map(std::future::ready).inspect(move |_| {
        let _ = &permit;
    }))
}

/// Prepares the request's headers for what is served: nothing of ours remains.
fn prepare(headers: &mut HeaderMap, host: Option<&HeaderValue>, port: u16, is_upgrade: bool) {
    let upgrade = headers.get(header::UPGRADE).cloned().filter(|_| is_upgrade);
    end_hop(headers);
    headers.remove(header::UPGRADE);
    if let Some(upgrade) = upgrade {
        headers.insert(header::UPGRADE, upgrade);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    let kept: Vec<&[u8]> = cookies(headers).filter(|pair| !is_ours(pair)).collect();
    let kept = HeaderValue::from_bytes(&kept.join(&b"; "[..])).ok().filter(|kept| !kept.is_empty());
    headers.remove(header::COOKIE);
    if let Some(kept) = kept {
        headers.insert(header::COOKIE, kept);
    }
    let own = format!("localhost:{port}");
    if headers.contains_key(header::ORIGIN) {
        // It is the preview's own; any other was refused before.
        headers.insert(header::ORIGIN, value(&format!("http://{own}")));
    }
    headers.insert(header::HOST, value(&own));
    if let Some(host) = host {
        headers.insert(FORWARDED_HOST, host.clone());
        headers.insert(FORWARDED_PROTO, HeaderValue::from_static("http"));
    }
}

/// Prepares the response's headers for the browser.
fn tidy(headers: &mut HeaderMap, host: Option<&HeaderValue>, port: u16) {
    end_hop(headers);
    headers.remove(header::UPGRADE);
    headers.remove(header::STRICT_TRANSPORT_SECURITY);
    keep_own_cookie(headers);
    let host = host.and_then(|host| host.to_str().ok());
    if let (Some(host), Some(to)) = (host, headers.get(header::LOCATION).and_then(|to| to.to_str().ok())) {
        let own =
            [format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}"), format!("http://[::1]:{port}")];
        let rest = own.iter().find_map(|own| to.strip_prefix(own.as_str()));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#'])) {
            let to = value(&format!("http://{host}{rest}"));
            headers.insert(header::LOCATION, to);
        }
    }
}

/// Removes the headers that concern one connection: the standard ones, and those that `Connection` names.
fn end_hop(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|names| names.to_str().ok());
    let named: Vec<HeaderName> =
        named.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    HOP_BY_HOP.iter().chain(&named).for_each(|name| drop(headers.remove(name)));
}

/// What is served may set cookies of its own, but not the one that lets the browser in.
fn keep_own_cookie(headers: &mut HeaderMap) {
    let set: Vec<HeaderValue> =
        headers.get_all(header::SET_COOKIE).iter().filter(|set| !is_ours(set.as_bytes())).cloned().collect();
    headers.remove(header::SET_COOKIE);
    for set in set {
        headers.append(header::SET_COOKIE, set);
    }
}

fn is_ours(pair: &[u8]) -> bool {
    pair.split(|byte| *byte == b'=').next().is_some_and(|name| name.trim_ascii() == COOKIE.as_bytes())
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("localhost"))
}

fn lost(why: &str) -> Response {
    page(StatusCode::BAD_GATEWAY, "The Pod's server did not answer", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let name = |name: &str| name.parse::<HeaderName>().unwrap();
        lines.iter().map(|(key, text)| (name(key), text.parse().unwrap())).collect()
    }

    #[test]
    fn what_is_served_sees_nothing_of_ours_and_believes_to_be_at_its_own_port() {
        let mut sent = headers(&[
            ("host", "p-0a.localhost:7474"),
            ("cookie", "a=1; yoi_preview=secret; b=2"),
            ("x-hop", "1"),
            ("origin", "http://p-0a.localhost:7474"),
            ("connection", "keep-alive, x-hop"),
            ("upgrade", "h2c"),
            ("accept", "*/*"),
        ]);
        let host = sent.get(header::HOST).cloned();
        prepare(&mut sent, host.as_ref(), 5173, false);
        let expected = headers(&[
            ("host", "localhost:5173"),
            ("cookie", "a=1; b=2"),
            ("origin", "http://localhost:5173"),
            ("x-forwarded-host", "p-0a.localhost:7474"),
            ("x-forwarded-proto", "http"),
            ("accept", "*/*"),
        ]);
        assert_eq!(sent, expected);
        let mut foreign = headers(&[]);
        foreign.insert(header::COOKIE, HeaderValue::from_bytes(b"a=\xc3\xa9; yoi_preview=secret").unwrap());
        prepare(&mut foreign, None, 1, false);
        assert_eq!(foreign[header::COOKIE].as_bytes(), b"a=\xc3\xa9");
        let mut alone = headers(&[("host", "h"), ("cookie", "yoi_preview=secret")]);
        prepare(&mut alone, None, 1, false);
        assert!(!alone.contains_key(header::COOKIE), "{alone:?}");
    }

    #[test]
    fn an_answer_sets_no_cookie_of_ours_and_leads_to_the_preview_itself() {
        let mut sent =
            headers(&[("location", "http://localhost:5173/next?x=1"), ("strict-transport-security", "max-age=9")]);
        for set in ["yoi_preview=taken", "yoi_preview =taken", "own=1; Path=/"] {
            sent.append(header::SET_COOKIE, set.parse().unwrap());
        }
        let host = HeaderValue::from_static("p-0a.localhost:7474");
        tidy(&mut sent, Some(&host), 5173);
        let expected = headers(&[("location", "http://p-0a.localhost:7474/next?x=1"), ("set-cookie", "own=1; Path=/")]);
        assert_eq!(sent, expected);
        for own in ["http://127.0.0.1:5173?x=1", "http://[::1]:5173?x=1"] {
            let mut sent = headers(&[("location", own)]);
            tidy(&mut sent, Some(&host), 5173);
            assert_eq!(sent[header::LOCATION], "http://p-0a.localhost:7474?x=1");
        }
        for elsewhere in ["http://localhost:51733/", "https://example.com/", "/here"] {
            let mut sent = headers(&[("location", elsewhere)]);
            tidy(&mut sent, Some(&host), 5173);
            assert_eq!(sent[header::LOCATION], elsewhere);
        }
    }
}
