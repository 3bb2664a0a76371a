//! Who may make requests: hosts, origins, tokens, cookies, bodies, and the headers of every answer.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, TOKEN, answer, quickest_of};
use reqwest::{Method, header};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Sends these bytes and reads until the server closes.
async fn raw(server: &Server, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn only_known_hosts_are_answered_to_and_the_host_is_looked_at_first() {
    let server = Server::start().await;
    let port = server.address.port();
    let own = [format!("localhost:{port}"), format!("127.9.9.9:{port}"), format!("[::1]:{port}")];
    // What a tunnel from another port of the user's own machine sends.
    let tunnelled = ["localhost:1".to_owned(), "127.0.0.1:1".to_owned(), "localhost".to_owned()];
    for host in own.iter().chain(&tunnelled).map(String::as_str).chain(["box.example"]) {
        let answer = server.request(Method::GET, "/api/v1/runtimes").header(header::HOST, host).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{host}");
    }
    for host in ["evil.example", "evil.example:80", "localhost.evil.example", "192.168.1.1"] {
        for path in ["/", "/healthz", "/api/v1/pods", "/login", "/pkg/x.css", "/fn/touch"] {
            let request = server.bare(Method::GET, path).header(header::HOST, host).header(header::ORIGIN, "null");
            let (status, problem) = answer(request).await;
            assert_eq!((status, problem["code"].as_str()), (403, Some("forbidden_host")), "{host} {path}");
        }
    }
    let missing = raw(&server, b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(missing.contains(" 403 ") && missing.contains("forbidden_host"), "{missing}");
    let twice = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(raw(&server, twice.as_bytes()).await.contains(" 403 "));
    let absolute = "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(raw(&server, absolute.as_bytes()).await.contains("forbidden_host"));
}

#[tokio::test]
async fn what_changes_something_comes_from_our_own_origin_or_from_no_page() {
    let server = Server::start().await;
    let own = server.console();
    let shared = format!("http://{}", server.address);
    let foreign = ["null", &shared, "http://evil.example", "http://127.0.0.1:1", &own.replace("http", "https"), ""];
    for origin in foreign {
        for (method, path) in
            [("POST", "/api/v1/pods"), ("DELETE", "/x"), ("GET", "/fn/touch"), ("OPTIONS", "/api/v1/pods")]
        {
            let method: Method = method.parse().unwrap();
            let request = server.bare(method.clone(), path).header(header::ORIGIN, origin);
            let (status, problem) = answer(request).await;
            assert_eq!((status, problem["code"].as_str()), (403, Some("forbidden_origin")), "{origin} {method} {path}");
        }
        let upgrade = server.request(Method::GET, "/api/v1/events").header(header::UPGRADE, "websocket");
        let (status, problem) = answer(upgrade.header(header::ORIGIN, origin)).await;
        assert_eq!((status, problem["code"].as_str()), (403, Some("forbidden_origin")), "{origin}");
        let read = server.request(Method::GET, "/api/v1/runtimes").header(header::ORIGIN, origin).send().await.unwrap();
        assert_eq!(read.status(), 200, "reading is not refused, and not allowed to be read by a page either");
        assert!(!read.headers().keys().any(|name| name.as_str().starts_with("access-control")));
    }
    let request = server.request(Method::POST, "/fn/touch").header(header::ORIGIN, &own).json(&json!({}));
    assert_eq!(request.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn without_login_pages_lead_to_the_login_page_and_all_else_is_unauthorized() {
    let server = Server::start().await;
    for (path, token) in
        [("/", None), ("/pods/x?y=1", None), ("/", Some("wrong")), ("/?token=wrong&x=1", None), ("/?token=", None)]
    {
        let mut request = server.bare(Method::GET, path);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let page = request.send().await.unwrap();
        assert_eq!(
            (page.status().as_u16(), &page.headers()[header::LOCATION]),
            (303, &"/login".parse().unwrap()),
            "{path}"
        );
        assert!(!page.headers().contains_key(header::SET_COOKIE));
    }
    // A browser comes back to the page that was asked for.
    for (path, leads) in
        [("/", "/login"), ("/pods/x?y=1", "/login?to=/pods/x%3Fy%3D1"), ("//evil.example/", "/login?to=/evil.example/")]
    {
        let page = server.bare(Method::GET, path).header("sec-fetch-mode", "navigate").send().await.unwrap();
        assert_eq!(
            (page.status().as_u16(), page.headers()[header::LOCATION].to_str().unwrap()),
            (303, leads),
            "{path}"
        );
        assert!(!page.headers().contains_key(header::SET_COOKIE));
    }
    // The login form marks its requests with `tried`, and is told that the token was wrong.
    for (path, leads) in [
        ("/login?tried=1&token=wrong", "/login?tried=1"),
        ("/login?token=wrong", "/login"),
        ("/pods/x?code=wrong&y=1", "/pods/x?y=1"),
        ("/?tried=1&token=wrong", "/login"),
    ] {
        let page = server.bare(Method::GET, path).send().await.unwrap();
        assert_eq!(
            (page.status().as_u16(), page.headers()[header::LOCATION].to_str().unwrap()),
            (303, leads),
            "{path}"
        );
    }
    for (method, path) in [
        ("GET", "/api/v1/pods"),
        ("GET", "/api/nothing"),
        ("POST", "/api/v1/pods"),
        ("GET", "/metrics"),
        ("GET", "/readyz"),
        ("GET", "/api/docs"),
        ("GET", "/api/v1/openapi.json"),
        ("POST", "/fn/touch"),
        ("GET", "/pkg/x.css"),
        ("POST", "/"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/pods?token=the-right-token"),
        ("POST", "/healthz"),
    ] {
        let (status, problem) = answer(server.bare(method.parse().unwrap(), path)).await;
        assert_eq!((status, problem["code"].as_str()), (401, Some("unauthorized")), "{method} {path}");
    }
    let (status, _) = answer(server.bare(Method::GET, "/api/v1/pods").bearer_auth("wrong")).await;
    assert_eq!(status, 401);
    let health = server.bare(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!((health.status().as_u16(), health.text().await.unwrap().as_str()), (200, "ok"));
    assert_eq!(server.bare(Method::HEAD, "/healthz").send().await.unwrap().status(), 200);
    assert_eq!(server.bare(Method::GET, "/login").send().await.unwrap().text().await.unwrap(), "nobody");
}

#[tokio::test]
async fn the_right_token_in_a_link_becomes_a_cookie_and_leaves_the_address() {
    let server = Server::start().await;
    let link = format!("/pods/x?a=1&token={TOKEN}&b=2");
    let page = server.bare(Method::GET, &link).send().await.unwrap();
    assert_eq!(page.status(), 303);
    assert_eq!(page.headers()[header::LOCATION], "/pods/x?a=1&b=2");
    let cookie = page.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.starts_with(&format!("yoi_{}=", server.address.port())), "{cookie}");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    assert!(!cookie.contains(TOKEN));
    let whose = server.bare(Method::GET, "/").header(header::COOKIE, format!("other=1; {cookie}"));
    assert_eq!(whose.send().await.unwrap().text().await.unwrap(), "operator by console");
    let (status, _) = answer(server.bare(Method::GET, "/api/v1/pods").header(header::COOKIE, cookie)).await;
    assert_eq!(status, 200);
    let wrong = format!("yoi_{}={}", server.address.port(), "0".repeat(64));
    let (status, _) = answer(server.bare(Method::GET, "/api/v1/pods").header(header::COOKIE, wrong)).await;
    assert_eq!(status, 401);
    let by_bearer = server.request(Method::GET, "/").header("x-yoi-client", "tui");
    assert_eq!(by_bearer.send().await.unwrap().text().await.unwrap(), "operator by tui");
    let (_, audit) = server.get("/api/v1/audit").await;
    assert!(
        audit["items"].as_array().unwrap().iter().any(|entry| entry["action"] == "login" && entry["result"] == "done")
    );
    let away = server.bare(Method::GET, &format!("//evil.example/?token={TOKEN}")).send().await.unwrap();
    assert_eq!(away.headers()[header::LOCATION], "/evil.example/");
}

#[tokio::test]
async fn bodies_are_json_and_a_body_that_is_none_needs_no_type() {
    let server = Server::start().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"] {
        let request = server.request(Method::POST, "/fn/touch").header(header::CONTENT_TYPE, kind).body("{}");
        let (status, problem) = answer(request).await;
        assert_eq!((status, problem["code"].as_str()), (400, Some("invalid_input")), "{kind}");
    }
    assert_eq!(answer(server.request(Method::POST, "/fn/touch").body("{}")).await.0, 400);
    for request in [
        server.request(Method::POST, "/fn/touch"),
        server
            .request(Method::POST, "/fn/touch")
            .header(header::CONTENT_TYPE, "application/json; charset=UTF-8")
            .body("{}"),
    ] {
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn a_body_over_4_mib_is_refused_and_the_refusal_arrives() {
    let server = Server::start().await;
    for bytes in [4 * 1024 * 1024 + 1, 30 * 1024 * 1024] {
        let body = vec![b' '; bytes];
        let whole = server
            .request(Method::POST, "/fn/touch")
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.clone());
        let (status, problem) = answer(whole).await;
        assert_eq!((status, problem["code"].as_str()), (413, Some("payload_too_large")), "{bytes}");
        // One after the other on a plain socket: everything is sent before anything is read.
        for head in ["Content-Length", "chunked"] {
            let mut request = format!(
                "POST /fn/touch HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
                 Content-Type: application/json\r\nConnection: close\r\n",
                server.address
            )
            .into_bytes();
            match head {
                "chunked" => {
                    request.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(1 << 20) {
                        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                        request.extend_from_slice(chunk);
                        request.extend_from_slice(b"\r\n");
                    }
                    request.extend_from_slice(b"0\r\n\r\n");
                }
                name => {
                    request.extend_from_slice(format!("{name}: {bytes}\r\n\r\n").as_bytes());
                    request.extend_from_slice(&body);
                }
            }
            let answer = raw(&server, &request).await;
            assert!(answer.contains(" 413 ") && answer.contains("payload_too_large"), "{head} {bytes}");
        }
    }
    // A client that waits for permission is answered before it sends.
    let asking = format!(
        "POST /fn/touch HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: 99999999\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        server.address
    );
    assert!(raw(&server, asking.as_bytes()).await.starts_with("HTTP/1.1 413 "));
    let unknown = server.bare(Method::POST, "/api/v1/pods").header(header::CONTENT_TYPE, "application/json");
    assert_eq!(answer(unknown.body(vec![b' '; 8 << 20])).await.0, 401);
    let fits = server.request(Method::POST, "/fn/touch").header(header::CONTENT_TYPE, "application/json");
    assert_eq!(fits.body(vec![b' '; 4 << 20]).send().await.unwrap().text().await.unwrap().len(), 4 << 20);
}

#[tokio::test]
async fn every_answer_is_guarded_and_every_bare_error_is_a_problem() {
    let server = Server::start().await;
    for (path, status, code) in [
        ("/panic", 500, Some("internal")),
        ("/nowhere", 404, Some("not_found")),
        ("/api/v1/nowhere", 404, Some("not_found")),
        ("/api", 404, Some("not_found")),
        ("/api/", 404, Some("not_found")),
        ("/", 200, None),
        ("/api/v1/pods", 200, None),
    ] {
        let response = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert_eq!(response.headers()["referrer-policy"], "no-referrer");
        if let Some(code) = code {
            let (_, problem) = common::json_of(response).await;
            assert_eq!(problem["code"], code, "{path}");
        }
    }
    let wrong = server.request(Method::PUT, "/api/v1/pods").send().await.unwrap();
    assert_eq!(wrong.headers()[header::ALLOW], "GET,HEAD,POST");
    let (status, problem) = common::json_of(wrong).await;
    assert_eq!((status, problem["code"].as_str()), (405, Some("method_not_allowed")));
}

#[tokio::test]
async fn wrong_tokens_are_slowed_down_and_the_right_one_is_not() {
    let server = Server::start().await;
    let wrong = (0..60).map(|_| answer(server.bare(Method::GET, "/api/v1/pods").bearer_auth("wrong")));
    let wrong = tokio::spawn(futures_util::future::join_all(wrong.collect::<Vec<_>>()));
    // A client that is throttled by then waits for a second each time; a busy machine is only occasionally that slow.
    for _ in 0..3 {
        let quickest = quickest_of(10, async || assert_eq!(server.get("/api/v1/runtimes").await.0, 200));
        assert!(quickest.await < std::time::Duration::from_secs(1));
    }
    assert!(wrong.await.unwrap().iter().all(|(status, _)| *status == 401));
}
