//! Requests spelled in ways that two readers may interpret differently.

use testkit::yoi::{WAIT_MAX, YoiProcess};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::names::cookie_of;
use crate::{Tally, YOI};

/// What a reader of the answer would take for the login page.
const SECRET: &str = "treasure";

async fn raw(yoi: &YoiProcess, request: &str) -> String {
    let address = yoi.base_url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(WAIT_MAX, stream.read_to_end(&mut answer)).await.expect("a request is answered and closed").ok();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Where an answer redirects, if it does.
fn location(answer: &str) -> Option<&str> {
    answer.lines().find_map(|line| line.strip_prefix("location: ")).map(str::trim)
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of attacks")]
async fn no_spelling_of_a_request_gets_around_the_guard() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod(SECRET).await;
    let own = yoi.console_url().trim_start_matches("http://").to_owned();
    let mut tally = Tally::of("spellings of a request without login");
    let smuggled = format!("GET /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer x\r\n\r\n");
    for (attack, request) in [
        ("the host twice", format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\nConnection: close\r\n\r\n")),
        (
            "another host in the request line",
            format!("GET http://evil.example/login HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
        (
            "our host in the request line only",
            format!("GET http://{own}/login HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
        ),
        ("a login in the host", format!("GET /login HTTP/1.1\r\nHost: a@{own}\r\nConnection: close\r\n\r\n")),
        (
            "the host on a second line",
            format!("GET /login HTTP/1.1\r\nHost: evil.example\r\n {own}\r\nConnection: close\r\n\r\n"),
        ),
        ("no host at all", "GET /login HTTP/1.0\r\n\r\n".to_owned()),
        (
            "two lengths",
            format!(
                "POST /login HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{smuggled}"
            ),
        ),
        (
            "a length and chunks",
            format!(
                "POST /login HTTP/1.1\r\nHost: {own}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n{smuggled}"
            ),
        ),
        (
            "chunks under another name",
            format!(
                "POST /login HTTP/1.1\r\nHost: {own}\r\nTransfer-Encoding: xchunked\r\nConnection: close\r\n\r\n0\r\n\r\n{smuggled}"
            ),
        ),
        (
            "a health check that goes on to the API",
            format!("GET /healthz/../api/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
        (
            "a login page that goes on to the API",
            format!("GET /login/../api/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
        (
            "the API with encoded letters",
            format!("GET /%61pi/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
        ("the API with two slashes", format!("GET //api/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n")),
        ("the API in capitals", format!("GET /API/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n")),
        (
            "a rewritten path",
            format!(
                "GET /healthz HTTP/1.1\r\nHost: {own}\r\nX-Original-URL: /api/v1/pods\r\nX-Rewrite-URL: /api/v1/pods\r\nConnection: close\r\n\r\n"
            ),
        ),
        (
            "another method in a header",
            format!(
                "POST /login HTTP/1.1\r\nHost: {own}\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ),
        ),
        (
            "a forwarded host and user",
            format!(
                "GET /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nX-Forwarded-Host: {own}\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-User: operator\r\nConnection: close\r\n\r\n"
            ),
        ),
        (
            "a bearer of another kind",
            format!(
                "GET /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nAuthorization: Basic {}\r\nConnection: close\r\n\r\n",
                yoi.token()
            ),
        ),
        (
            "an empty bearer",
            format!("GET /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer \r\nConnection: close\r\n\r\n"),
        ),
        (
            "the token in the address of the API",
            format!("GET /api/v1/pods?token={} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n", yoi.token()),
        ),
        (
            "the token as a cookie",
            format!(
                "GET /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nCookie: {}={}\r\nConnection: close\r\n\r\n",
                cookie_of(&yoi).await.split('=').next().unwrap(),
                yoi.token()
            ),
        ),
        (
            "a method that nobody knows",
            format!("PEEK /api/v1/pods HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
    ] {
        let answer = raw(&yoi, &request).await;
        let through =
            answer.contains(SECRET) || answer.contains("set-cookie") || answer.matches("HTTP/1.1 ").count() > 1;
        tally.note(attack, through.then(|| answer.lines().next().unwrap_or_default().to_owned()));
    }
    tally.finish(22);
}

/// Headers may have at most 1 MiB and 100 lines. Longer ones are refused before anything about the request is known, by
/// the library that reads them, so the refusal has no body.
#[tokio::test]
async fn a_head_that_is_too_large_is_refused_and_locks_nobody_out() {
    const MIB: usize = 1024 * 1024;
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod(SECRET).await;
    let own = yoi.console_url().trim_start_matches("http://").to_owned();
    let cookie = cookie_of(&yoi).await;
    let head = |path: &str, rest: &str| format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\n{rest}\r\n");
    let mut tally = Tally::of("heads that are too large");
    for (attack, request, expected) in [
        ("a line of 2 MiB", head("/api/v1/pods", &format!("x-long: {}\r\n", "a".repeat(2 * MIB))), "431"),
        ("lines of 2 MiB", head("/api/v1/pods", &format!("x-long: {}\r\n", "a".repeat(64_000)).repeat(33)), "431"),
        ("a name of 2 MiB", head("/api/v1/pods", &format!("{}: a\r\n", "a".repeat(2 * MIB))), "431"),
        ("cookies of 2 MiB", head("/api/v1/pods", &format!("Cookie: {}\r\n", "a=b; ".repeat(420_000))), "431"),
        ("a thousand lines", head("/api/v1/pods", &"x: a\r\n".repeat(1_000)), "431"),
        ("an address of 2 MiB", head(&format!("/api/v1/pods?x={}", "a".repeat(2 * MIB)), ""), "4"),
        ("a head without an end", format!("GET / HTTP/1.1\r\nHost: {own}\r\nx: {}", "a".repeat(2 * MIB)), "431"),
    ] {
        let answer = raw(&yoi, &request).await;
        let is_refused = answer.starts_with(&format!("HTTP/1.1 {expected}")) && !answer.contains(SECRET);
        tally.note(attack, (!is_refused).then(|| answer.lines().next().unwrap_or_default().to_owned()));
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "nothing that follows is answered: {answer}");
    }
    let fits = head("/api/v1/pods", &format!("Connection: close\r\nx-long: {}\r\n", "a".repeat(MIB / 2)));
    assert!(raw(&yoi, &fits).await.contains(SECRET), "half of it is no hindrance");
    tally.finish(7);
}

#[tokio::test]
async fn no_address_leads_a_login_to_another_site() {
    let yoi = YoiProcess::start(YOI).await;
    let own = yoi.console_url().to_owned();
    let mut tally = Tally::of("redirects");
    for (host, prefix) in
        [(own.trim_start_matches("http://"), ""), (yoi.base_url().trim_start_matches("http://"), own.as_str())]
    {
        for path in [
            "//evil.example/",
            "///evil.example/",
            "/\\evil.example/",
            "/%5Cevil.example/",
            "/%2F%2Fevil.example/",
            "/x?next=//evil.example",
            "/login?next=http://evil.example",
            "/@evil.example/",
            "/.evil.example/",
            "/%0d%0aset-cookie:%20a=b",
            "/%0d%0alocation:%20//evil.example",
        ] {
            let separator = if path.contains('?') { '&' } else { '?' };
            let request = format!(
                "GET {path}{separator}token={} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
                yoi.token()
            );
            let answer = raw(&yoi, &request).await;
            let leads = location(&answer).map(str::to_owned);
            // A path of the same origin, and of no other.
            let is_own = |leads: &str| {
                let path = leads.strip_prefix(prefix).unwrap_or("");
                path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/\\")
            };
            let injected =
                answer.lines().any(|line| line.starts_with("set-cookie: a=") || line.starts_with("set-cookie:%20"));
            let through =
                leads.filter(|leads| !is_own(leads)).or(injected.then(|| "a header of the path's own".to_owned()));
            let wall = if prefix.is_empty() { "the console" } else { "a shared name" };
            tally.note(&format!("{path} at {wall}"), through);
        }
    }
    tally.finish(22);
}
