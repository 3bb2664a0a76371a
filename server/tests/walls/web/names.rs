//! The names under which the server answers, and for whose pages; and that no other program can impersonate it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use reqwest::{Method, header};
use serde_json::Value;
use testkit::yoi::{Launch, YoiProcess};

use crate::{Tally, YOI};

/// Requests with the right token that another site's page could have made somebody's browser send.
#[tokio::test]
async fn requests_of_other_sites_are_refused_whatever_they_carry() {
    let yoi = YoiProcess::start(YOI).await;
    let own = yoi.console_url().trim_start_matches("http://").to_owned();
    let (name, port) = own.split_once(':').unwrap();
    let mut tally = Tally::of("requests of other sites");
    for (attack, host, origin) in [
        ("a page of another site", own.as_str(), "http://evil.example"),
        ("a page of another port of the console's name", own.as_str(), &format!("http://{name}:1")),
        ("a page of a shared name", own.as_str(), &format!("http://127.0.0.1:{port}")),
        ("a page beneath the console's name", own.as_str(), &format!("http://x.{own}")),
        ("a page of the same name with another scheme", own.as_str(), &format!("https://{own}")),
        ("a page without an origin of its own", own.as_str(), "null"),
        ("an empty origin", own.as_str(), ""),
        ("an origin with a path", own.as_str(), &format!("http://{own}/")),
        ("a name that was rebound", "evil.example", "http://evil.example"),
        ("a name that only ends like ours", "localhost.evil.example", "http://localhost.evil.example"),
        ("another name under localhost", &format!("evil.localhost:{port}"), &format!("http://evil.localhost:{port}")),
        ("a name beneath the console's", &format!("x.{own}"), &format!("http://x.{own}")),
        ("the console's name with a dot at its end", &format!("{name}.:{port}"), &format!("http://{name}.:{port}")),
        (
            "the console's name in another domain",
            &format!("{name}.evil.example"),
            &format!("http://{name}.evil.example"),
        ),
        ("an address written as one number", "2130706433", "http://2130706433"),
        ("the address that means all", &format!("0.0.0.0:{port}"), &format!("http://0.0.0.0:{port}")),
    ] {
        let request = yoi
            .request(Method::POST, "/api/v1/pods")
            .header(header::HOST, host)
            .header(header::ORIGIN, origin)
            .header(header::CONTENT_TYPE, "application/json")
            .body(r#"{"name":"intruder"}"#);
        let status = request.send().await.unwrap().status().as_u16();
        tally.note(attack, (status != 403).then(|| format!("it was answered with {status}")));
    }
    tally.finish(16);
}

/// The console's cookie, sent under every other name that the server answers to.
#[tokio::test]
async fn the_consoles_cookie_is_worth_nothing_under_a_shared_name() {
    let yoi = YoiProcess::start(YOI).await;
    let cookie = cookie_of(&yoi).await;
    let port = yoi.console_url().rsplit(':').next().unwrap();
    let here = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let mut tally = Tally::of("the cookie under shared names");
    for name in ["127.0.0.1", "localhost", "[::1]", "127.0.0.2", "LOCALHOST", "[::ffff:127.0.0.1]"] {
        for (method, path) in
            [("GET", "/api/v1/pods"), ("POST", "/api/v1/login-codes"), ("GET", "/metrics"), ("POST", "/fn/list_pods")]
        {
            let asked = here.request(method.parse().unwrap(), format!("{}{path}", yoi.base_url()));
            let asked = asked.header(header::HOST, format!("{name}:{port}")).header(header::COOKIE, &cookie);
            let status = asked.send().await.unwrap().status().as_u16();
            tally.note(
                &format!("{method} {path} at {name}"),
                (status != 401).then(|| format!("it was answered with {status}")),
            );
        }
    }
    let at_home =
        yoi.browser_client().get(format!("{}/api/v1/pods", yoi.console_url())).header(header::COOKIE, &cookie);
    assert_eq!(at_home.send().await.unwrap().status(), 200, "the cookie is a good one");
    tally.finish(24);
}

/// A program that holds the other address of the port would be sent what is meant for the console.
#[tokio::test]
async fn no_other_program_has_the_port_on_another_address_of_this_machine() {
    let yoi = YoiProcess::start(YOI).await;
    let port: u16 = yoi.console_url().rsplit(':').next().unwrap().parse().unwrap();
    let mut tally = Tally::of("the same port elsewhere");
    let has_v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    let addresses: [SocketAddr; 4] = [
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv4Addr::UNSPECIFIED, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
        (Ipv6Addr::UNSPECIFIED, port).into(),
    ];
    for address in addresses.into_iter().filter(|address| has_v6 || address.is_ipv4()) {
        // Rust sets SO_REUSEADDR, which is the most that another account can do.
        let bound = TcpListener::bind(address);
        tally.note(
            &format!("listening on {address}").replace(&port.to_string(), "PORT"),
            bound.ok().map(|_| "it was taken".to_owned()),
        );
    }
    let squatter = TcpListener::bind((Ipv6Addr::LOCALHOST, 0));
    if let Ok(squatter) = squatter {
        let address = format!("127.0.0.1:{}", squatter.local_addr().unwrap().port());
        let started = Launch::new(YOI).listen(&address).try_start().await;
        let refusal = started.as_ref().err().map(|failed| failed.stderr.join("\n")).unwrap_or_default();
        tally.note("being there first on [::1]", started.is_ok().then(|| "yoi started beside it".to_owned()));
        assert!(refusal.contains("cannot listen on [::1]:") && refusal.contains("--listen"), "{refusal}");
    }
    tally.finish(2);
}

/// What a logged-in browser sends.
pub(super) async fn cookie_of(yoi: &YoiProcess) -> String {
    let page = yoi.browser_client().get(yoi.login_url()).send().await.unwrap();
    page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// A code for one login.
pub(super) async fn code_of(yoi: &YoiProcess) -> String {
    yoi.post("/api/v1/login-codes", &Value::Null).await.expect(201)["code"].as_str().unwrap().to_owned()
}
