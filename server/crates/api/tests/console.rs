//! The console's own name: what is answered there, and what under the names that all servers of the machine share.

#![allow(clippy::unwrap_used)]

mod common;

use common::{OWN_NAME, Server, TOKEN, answer, code};
use reqwest::{Method, RequestBuilder, Response, header};
use serde_json::json;

fn location(page: &Response) -> &str {
    page.headers()[header::LOCATION].to_str().unwrap()
}

/// The cookie that an answer sets, as a browser sends it back.
fn cookie(page: &Response) -> String {
    page.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned()
}

async fn log_in(server: &Server) -> String {
    cookie(&server.bare(Method::GET, &format!("/?token={TOKEN}")).send().await.unwrap())
}

fn at(server: &Server, host: &str, method: Method, path: &str) -> RequestBuilder {
    server.bare(method, path).header(header::HOST, format!("{host}:{}", server.address.port()))
}

#[tokio::test]
async fn pages_under_a_shared_name_lead_to_the_console_and_the_api_there_takes_a_bearer_token_only() {
    let server = Server::start().await;
    let (cookie, port) = (log_in(&server).await, server.address.port());
    for host in ["127.0.0.1", "localhost", "[::1]", "127.1.2.3"] {
        for (method, path) in
            [("GET", "/"), ("HEAD", "/pods/local/x?y=1"), ("GET", "/login"), ("GET", "//evil.example/x")]
        {
            let page = at(&server, host, method.parse().unwrap(), path).send().await.unwrap();
            let expected = format!("http://{OWN_NAME}:{port}{}", path.replace("//", "/"));
            assert_eq!((page.status().as_u16(), location(&page)), (303, expected.as_str()), "{host} {path}");
            assert!(!page.headers().contains_key(header::SET_COOKIE));
        }
        for (method, path) in
            [("GET", "/api/v1/pods"), ("POST", "/fn/touch"), ("GET", "/pkg/x.css"), ("GET", "/metrics")]
        {
            let asked = at(&server, host, method.parse().unwrap(), path).header(header::COOKIE, &cookie);
            assert_eq!(code(&answer(asked).await), (401, "unauthorized"), "{host} {path}");
        }
        let by_token = at(&server, host, Method::GET, "/api/v1/pods").bearer_auth(TOKEN);
        assert_eq!(by_token.send().await.unwrap().status(), 200);
        assert_eq!(at(&server, host, Method::GET, "/healthz").send().await.unwrap().status(), 200);
    }
    let tunnel = server.bare(Method::GET, "/x").header(header::HOST, "localhost:8000").send().await.unwrap();
    assert_eq!(location(&tunnel), format!("http://{OWN_NAME}:8000/x"), "the port of the tunnel is kept");
    let form = at(&server, "127.0.0.1", Method::POST, "/login").send().await.unwrap();
    assert_eq!(location(&form), format!("http://{OWN_NAME}:{port}/login"));
    assert_eq!(server.bare(Method::GET, "/").header(header::COOKIE, &cookie).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_login_under_a_shared_name_is_redirected_with_a_code_that_works_once() {
    let server = Server::start().await;
    let old = log_in(&server).await;
    for by_cookie in [true, false] {
        let query = if by_cookie { "?y=1".to_owned() } else { format!("?y=1&token={TOKEN}") };
        let asked = at(&server, "localhost", Method::GET, &format!("/pods/x{query}")).header(header::COOKIE, &old);
        let page = asked.send().await.unwrap();
        let target = location(&page).to_owned();
        let (before, secret) = target.split_once("&code=").unwrap();
        assert_eq!(before, format!("http://{OWN_NAME}:{}/pods/x?y=1", server.address.port()));
        assert!(cookie(&page).ends_with('='), "the cookie there is taken away");
        assert!(page.headers()[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
        let path = format!("/pods/x?y=1&code={secret}");
        let entered = server.bare(Method::GET, &path).send().await.unwrap();
        assert_eq!((entered.status().as_u16(), location(&entered)), (303, "/pods/x?y=1"));
        let new = cookie(&entered);
        assert_eq!(server.bare(Method::GET, "/").header(header::COOKIE, &new).send().await.unwrap().status(), 200);
        let again = server.bare(Method::GET, &path).send().await.unwrap();
        assert_eq!((location(&again), again.headers().get(header::SET_COOKIE)), ("/pods/x?y=1", None));
    }
    let ended = server.bare(Method::GET, "/").header(header::COOKIE, &old).send().await.unwrap();
    assert_eq!(location(&ended), "/login", "the login of the shared name has ended");
}

#[tokio::test]
async fn a_code_is_made_with_the_token_and_taken_by_the_form_from_any_page() {
    let server = Server::start().await;
    let make = async |host: &str| {
        let made = server.request(Method::POST, "/api/v1/login-codes").header(header::HOST, host);
        let (status, made) = answer(made).await;
        assert_eq!(status, 201, "{made}");
        made
    };
    let own = format!("http://{OWN_NAME}:{}", server.address.port());
    for (host, address) in [
        (format!("127.0.0.1:{}", server.address.port()), own.clone()),
        ("localhost".to_owned(), own.clone()),
        ("localhost:99".to_owned(), format!("http://{OWN_NAME}:99")),
        ("box.example".to_owned(), "http://box.example".to_owned()),
    ] {
        assert_eq!(make(&host).await["address"], address);
    }
    let cookie_of = log_in(&server).await;
    let by_login = server.bare(Method::POST, "/api/v1/login-codes").header(header::COOKIE, &cookie_of);
    assert_eq!(code(&answer(by_login).await), (403, "permission_denied"));
    let form = |field: &str, value: &str| {
        let form =
            server.bare(Method::POST, "/login").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        form.body(format!("{field}={value}"))
    };
    let fresh = async || make("localhost").await["code"].as_str().unwrap().to_owned();
    for (field, secret) in [("token", TOKEN.to_owned()), ("code", fresh().await), ("token", fresh().await)] {
        let page = form(field, &secret).header(header::ORIGIN, &own).send().await.unwrap();
        assert_eq!((page.status().as_u16(), location(&page)), (303, "/"), "{field}");
        assert_eq!(
            server.bare(Method::GET, "/").header(header::COOKIE, cookie(&page)).send().await.unwrap().status(),
            200
        );
        if field == "code" || secret != TOKEN {
            assert_eq!(location(&form(field, &secret).send().await.unwrap()), "/login?tried=1", "it works once");
        }
    }
    for (to, leads, refused) in [
        ("%2Fpods%2Fx%3Fy%3D1", "/pods/x?y=1", "/login?tried=1&to=/pods/x%3Fy%3D1"),
        ("%2F%2Fevil.example%2F", "/", "/login?tried=1"),
        ("http%3A%2F%2Fevil.example%2F", "/", "/login?tried=1"),
    ] {
        for (secret, leads) in [(TOKEN, leads), ("wrong", refused)] {
            let page = form("token", &format!("{secret}&to={to}")).header(header::ORIGIN, &own).send().await.unwrap();
            assert_eq!((page.status().as_u16(), location(&page)), (303, leads), "{to}");
        }
    }
    // The file that `yoi open` writes has its own origin. A redirect would lose the cookie there, so a page redirects
    // instead.
    let page = form("code", &fresh().await).header(header::ORIGIN, "null").header("sec-fetch-site", "cross-site");
    let page = page.send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(cookie(&page).len() > 64);
    assert!(page.text().await.unwrap().contains("http-equiv=\"refresh\""));
    let token = form("token", TOKEN).header(header::ORIGIN, "null").send().await.unwrap();
    assert_eq!(token.status(), 200);
    let own_page = form("token", TOKEN).header(header::ORIGIN, "null").header("sec-fetch-site", "same-origin");
    assert_eq!(location(&own_page.send().await.unwrap()), "/", "a page that sends no referrer sends no origin either");
    let program = server.bare(Method::POST, "/login");
    assert_eq!(program.json(&json!({ "code": fresh().await })).send().await.unwrap().status(), 303);
    assert_eq!(
        code(&answer(server.bare(Method::POST, "/login").json(&json!({ "code": "x" }))).await),
        (401, "unauthorized")
    );
    let too_much = server.bare(Method::POST, "/login").body(format!("code={}", "x".repeat(9_000)));
    assert_eq!(code(&answer(too_much).await), (400, "invalid_input"));
}

#[tokio::test]
async fn what_a_browser_says_of_another_origin_ends_all_but_links_to_pages() {
    let server = Server::start().await;
    let cookie = log_in(&server).await;
    let ask = |method: &str, path: &str, site: &str, dest: &str| {
        let asked = server.bare(method.parse().unwrap(), path).header(header::COOKIE, &cookie);
        asked.header("sec-fetch-site", site).header("sec-fetch-dest", dest)
    };
    for site in ["cross-site", "same-site", "other"] {
        for (method, path, dest) in [
            ("GET", "/api/v1/pods", "empty"),
            ("GET", "/api/v1/events", "empty"),
            ("GET", "/api/v1/runtimes/local/workers/x/export", "document"),
            ("POST", "/api/v1/pods", "empty"),
            ("GET", "/fn/touch", "script"),
            ("POST", "/fn/touch", "empty"),
            ("GET", "/pkg/x.css", "style"),
            ("GET", "/", "iframe"),
            ("GET", "/", "image"),
            ("GET", "/login", "object"),
        ] {
            assert_eq!(
                code(&answer(ask(method, path, site, dest)).await),
                (403, "forbidden_origin"),
                "{site} {method} {path}"
            );
        }
        assert_eq!(ask("GET", "/", site, "document").send().await.unwrap().status(), 200, "a link leads to a page");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(ask("GET", "/api/v1/pods", site, "empty").send().await.unwrap().status(), 200);
        assert_eq!(ask("GET", "/pkg/x.css", site, "style").send().await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn cookies_that_others_have_set_lock_nobody_out() {
    let server = Server::start().await;
    let good = log_in(&server).await;
    let name = good.split('=').next().unwrap();
    let many = |one: &str, count: usize| (0..count).map(|_| format!("{name}={one}; ")).collect::<String>();
    // As many cookies as a browser keeps for one host, of every kind, and as large as they can be.
    for junk in [
        many(&"0".repeat(64), 179),
        many("x", 179),
        many("", 179),
        many(&"f".repeat(4_000), 179),
        (0..179).map(|number| format!("other{number}={}; ", "y".repeat(4_000))).collect(),
    ] {
        for cookies in [format!("{junk}{good}"), format!("{good}; {}", junk.trim_end_matches("; "))] {
            let page = server.bare(Method::GET, "/").header(header::COOKIE, cookies).send().await.unwrap();
            assert_eq!(page.text().await.unwrap(), "operator by console");
        }
    }
}

#[tokio::test]
async fn a_head_that_no_browser_sends_is_told_to_be_too_large() {
    let server = Server::start().await;
    let junk = format!("x={}", "y".repeat(2 << 20));
    // The connection may end while the rest is still being sent.
    if let Ok(answer) = server.bare(Method::GET, "/login").header(header::COOKIE, junk).send().await {
        assert_eq!(answer.status(), 431);
    }
    assert_eq!(server.bare(Method::GET, "/login").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn every_answer_belongs_to_its_own_origin() {
    let server = Server::start().await;
    for (path, host) in
        [("/", OWN_NAME), ("/login", OWN_NAME), ("/", "127.0.0.1"), ("/api/v1/pods", OWN_NAME), ("/nowhere", "x.y")]
    {
        let answer = at(&server, host, Method::GET, path).send().await.unwrap();
        assert_eq!(answer.headers()["cross-origin-opener-policy"], "same-origin", "{path}");
        assert_eq!(answer.headers()["cross-origin-resource-policy"], "same-origin", "{path}");
    }
}
