//! WebFetch against a real server on this machine, which only these tests are allowed to reach.

#![allow(clippy::unwrap_used)]

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pod::{Scope, ToolOutcome};
use protocol::PermissionDecision;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tools::{
    Lifeline, Place, Redirects, Tool,
    web::{AddressPolicy, WebFetch, WebOptions},
};

/// A server that answers by path.
struct Site {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl Site {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, address));
            }
        });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> ToolOutcome {
        self.fetch(json!({ "url": self.url(path) })).await
    }

    async fn fetch(&self, arguments: Value) -> ToolOutcome {
        fetch(self.options(), arguments).await
    }

    /// This server may be reached, too.
    fn options(&self) -> WebOptions {
        WebOptions { addresses: AddressPolicy::public().and(self.address), time_limit: Duration::from_secs(60) }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn fetch(options: WebOptions, arguments: Value) -> ToolOutcome {
    fetch_led(options, arguments, None).await
}

async fn fetch_led(options: WebOptions, arguments: Value, redirects: Option<Redirects>) -> ToolOutcome {
    let place = Place {
        worker_id: serde_json::from_value(json!("018f0000-0000-7000-8000-000000000001")).unwrap(),
        call_id: "call-1".to_owned(),
        by: protocol::ToolBy::Model,
        cwd: PathBuf::from("/"),
        scope: Scope::default(),
        leads: None,
        seen: Arc::default(),
        outputs: PathBuf::from("/nonexistent"),
        network: tools::Network::Open,
        way_in: None,
        questions: tools::Questions::none(),
        drain: tools::Drain::none(),
        redirects,
        doors: None,
        lifeline: Lifeline::pair().0,
    };
    WebFetch::new(options).call(&place, arguments, mpsc::channel(1).0).await
}

async fn answer(mut stream: TcpStream, own: SocketAddr) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap();
    let moved = |to: &str| (302, vec![format!("location: {to}")], Vec::new());
    let page = |kind: &str, body: &str| (200, vec![format!("content-type: {kind}")], body.as_bytes().to_vec());
    let (status, headers, body) = match path {
        "/html" => page("text/html; charset=utf-8", "<title>T</title><p>Hello <a href=/next>there</a>, wörld</p>"),
        "/plain" => page("text/plain", "a < b\n  c"),
        "/json" => page("application/json", "{\"a\": 1}"),
        "/latin" => (200, vec!["content-type: text/plain; charset=iso-8859-1".to_owned()], b"caf\xe9".to_vec()),
        "/meta" => (
            200,
            vec!["content-type: text/html".to_owned()],
            b"<meta charset=\"windows-1252\"><p>caf\xe9 \x80".to_vec(),
        ),
        "/bad" => (200, vec!["content-type: text/plain".to_owned()], b"a\xffb\0c".to_vec()),
        "/binary" => (200, vec!["content-type: image/png".to_owned()], vec![0; 34_000]),
        "/untyped" => (200, Vec::new(), b"\x7fELF\0".to_vec()),
        "/untyped-text" => (200, Vec::new(), b"just text".to_vec()),
        "/big" => page("text/plain", &"0123456789".repeat(300_000)),
        "/long" => page("text/plain", &"€".repeat(60_001)),
        "/missing" => (
            404,
            vec!["content-type: text/html".to_owned()],
            format!("<h1>Not here</h1>{}", "x".repeat(9_000)).into_bytes(),
        ),
        "/broken" => (500, vec!["content-type: image/png".to_owned()], vec![0; 10]),
        "/unchanged" => (304, Vec::new(), Vec::new()),
        "/echo" => page("text/plain", &request),
        "/moved" => moved("/html"),
        "/to-private" => moved("http://10.0.0.1/"),
        "/to-loopback" => moved(&format!("http://127.0.0.1:{}/html", own.port() ^ 1)),
        "/to-mapped" => moved(&format!("http://[::ffff:127.0.0.1]:{}/html", own.port())),
        "/to-name" => moved(&format!("http://localhost:{}/html", own.port() ^ 1)),
        "/to-file" => moved("file:///etc/passwd"),
        "/to-user" => moved(&format!("http://me:secret@{own}/html")),
        "/to-nothing" => moved("http://[bad"),
        path if path.starts_with("/hop/") => match path[5..].parse::<u32>().unwrap() {
            0 => page("text/plain", "arrived"),
            left => moved(&format!("/hop/{}", left - 1)),
        },
        "/slow" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nbegin").await;
            tokio::time::sleep(Duration::from_secs(60)).await;
            return;
        }
        _ => panic!("{path}"),
    };
    let headers = headers.iter().map(|header| format!("{header}\r\n")).collect::<String>();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // The client may have read enough.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
}

fn is_refused(outcome: &ToolOutcome, code: &str) {
    assert_eq!((outcome.is_error, outcome.code.as_deref()), (true, Some(code)), "{outcome:?}");
}

#[tokio::test]
async fn html_comes_as_text_with_its_links() {
    let site = Site::new().await;
    let outcome = site.get("/html").await;
    assert_eq!(outcome.summary, "200 text/html, 60 B from 127.0.0.1");
    assert_eq!(outcome.content.unwrap(), format!("T\n\nHello there <http://{}/next>, wörld", site.address));
    assert!(!outcome.is_error);
}

#[tokio::test]
async fn other_text_comes_as_it_is() {
    let site = Site::new().await;
    for (path, wanted) in [
        ("/plain", "a < b\n  c"),
        ("/json", "{\"a\": 1}"),
        ("/latin", "café"),
        ("/meta", "café €"),
        ("/bad", "a\u{fffd}b\u{fffd}c"),
        ("/untyped-text", "just text"),
        ("/unchanged", ""),
    ] {
        assert_eq!(site.get(path).await.content.as_deref(), Some(wanted), "{path}");
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_with_its_type_and_size() {
    let site = Site::new().await;
    let outcome = site.get("/binary").await;
    is_refused(&outcome, "not_text");
    assert!(outcome.summary.contains("image/png, 34 kB"), "{}", outcome.summary);
    is_refused(&site.get("/untyped").await, "not_text");
}

#[tokio::test]
async fn long_pages_are_cut() {
    let site = Site::new().await;
    let outcome = site.get("/big").await;
    assert_eq!(outcome.summary, "200 text/plain, 2.1 MB from 127.0.0.1");
    let content = outcome.content.unwrap();
    assert!(content.starts_with("0123456789") && content.ends_with("[the page continues; the rest is left out]"));
    assert!(content.chars().count() <= 60_000);
    let content = site.get("/long").await.content.unwrap();
    assert!(content.chars().count() <= 60_000 && content.ends_with("left out]"));
}

#[tokio::test]
async fn an_http_error_comes_with_its_status_and_an_excerpt() {
    let site = Site::new().await;
    let outcome = site.get("/missing").await;
    is_refused(&outcome, "http_error");
    assert_eq!(outcome.summary, "404 text/html, 10 kB from 127.0.0.1");
    let content = outcome.content.unwrap();
    assert!(content.starts_with("# Not here\n\nxxx") && content.chars().count() <= 2_000);
    let outcome = site.get("/broken").await;
    is_refused(&outcome, "http_error");
    assert!(outcome.summary.starts_with("500 image/png"), "{}", outcome.summary);
}

#[tokio::test]
async fn redirects_are_followed_up_to_five() {
    let site = Site::new().await;
    let content = site.get("/moved").await.content.unwrap();
    assert!(content.starts_with(&format!("[redirected to {}]\n\nT", site.url("/html"))), "{content}");
    assert!(site.get("/hop/5").await.content.unwrap().ends_with("arrived"));
    let before = site.requests();
    is_refused(&site.get("/hop/6").await, "http_error");
    assert_eq!(site.requests() - before, 6);
}

#[tokio::test]
async fn where_a_page_leads_is_decided_on_by_the_rules_as_its_address_was() {
    let site = Site::new().await;
    for (decision, code) in [
        (PermissionDecision::Allow, None),
        (PermissionDecision::Ask, Some("permission_denied")),
        (PermissionDecision::Deny, Some("permission_denied")),
    ] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let decide = {
            let asked = Arc::clone(&asked);
            move |url: &str| {
                asked.lock().unwrap().push(url.to_owned());
                decision
            }
        };
        let before = site.requests();
        let arguments = json!({ "url": site.url("/moved") });
        let outcome = fetch_led(site.options(), arguments, Some(Redirects::new(decide))).await;
        assert_eq!(outcome.code.as_deref(), code, "{outcome:?}");
        assert_eq!(*asked.lock().unwrap(), [site.url("/html")]);
        assert_eq!(site.requests() - before, if code.is_none() { 2 } else { 1 }, "{decision:?}");
        assert!(code.is_none() || outcome.summary.contains(&site.url("/html")), "{}", outcome.summary);
    }
}

#[tokio::test]
async fn a_redirect_to_something_that_is_not_public_is_refused_at_that_hop() {
    let site = Site::new().await;
    for path in ["/to-private", "/to-loopback", "/to-mapped", "/to-name"] {
        let before = site.requests();
        let outcome = site.get(path).await;
        is_refused(&outcome, "permission_denied");
        assert!(outcome.content.is_none());
        assert_eq!(site.requests() - before, 1, "{path}");
    }
    for path in ["/to-file", "/to-user", "/to-nothing"] {
        let outcome = site.get(path).await;
        is_refused(&outcome, "invalid_input");
        assert!(!outcome.summary.contains("secret"));
    }
}

#[tokio::test]
async fn no_form_of_a_private_address_is_fetched() {
    let site = Site::new().await;
    let port = site.address.port();
    let hosts = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "127.1",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "192.168.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "１２７.0.0.1",
        "localhost.",
    ];
    for host in hosts {
        let url = format!("http://{host}:{port}/plain");
        // This machine's own address is not excepted here.
        let outcome = fetch(WebOptions::default(), json!({ "url": url })).await;
        // Not every resolver knows `localhost.`.
        if outcome.code.as_deref() != Some("not_found") || host != "localhost." {
            is_refused(&outcome, "permission_denied");
        }
        assert!(!outcome.summary.contains(&port.to_string()), "{}", outcome.summary);
    }
    assert_eq!(site.requests(), 0);
    let outcome = fetch(WebOptions::default(), json!({ "url": "http://localhost/" })).await;
    assert_eq!(outcome.summary, "localhost is not on the public internet, and nothing else is fetched");
}

#[test]
fn an_address_that_is_never_fetched_is_known_without_a_call() {
    let tool = |addresses| WebFetch::new(WebOptions { addresses, ..WebOptions::default() });
    let misfit = |url: &str| tool(AddressPolicy::public()).misfit(&json!({ "url": url }));
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "localhost:3000",
        "a.localhost",
    ];
    for host in hosts {
        let sentence = misfit(&format!("http://{host}/x")).unwrap();
        assert!(sentence.ends_with("is not on the public internet, and nothing else is fetched"), "{sentence}");
    }
    for (url, wanted) in [
        ("not a url", "the url cannot be read"),
        ("ftp://example.com/", "only http and https are fetched"),
        ("https://a:b@example.com/", "a user name or a password"),
    ] {
        assert!(misfit(url).unwrap().contains(wanted), "{url}: {:?}", misfit(url));
    }
    assert!(tool(AddressPolicy::public()).misfit(&json!({ "uri": "x" })).unwrap().ends_with("it takes {url}"));
    for url in
        ["https://example.com/a?b#c", "http://1.1.1.1/", "http://[2606:4700::1111]/", "http://localhost.example/"]
    {
        assert_eq!(misfit(url), None, "{url}");
    }
    let excepted = tool(AddressPolicy::public().and("127.0.0.1:80".parse().unwrap()));
    assert_eq!(excepted.misfit(&json!({ "url": "http://127.0.0.1/" })), None);
    assert!(excepted.misfit(&json!({ "url": "http://127.0.0.1:81/" })).is_some());
}

#[tokio::test]
async fn other_schemes_and_bad_arguments_are_refused() {
    let site = Site::new().await;
    let urls = [
        "file:///etc/passwd",
        "ftp://example.com/",
        "data:text/plain,x",
        "unix:/run/x",
        "javascript:1",
        "example.com",
        "//example.com",
        "http://",
        "",
        "http://me@127.0.0.1/",
        "http://:pw@127.0.0.1/",
        "https://me:pw@example.com/",
    ];
    for url in urls {
        is_refused(&site.fetch(json!({ "url": url })).await, "invalid_input");
    }
    for arguments in [json!({}), json!({ "url": 1 }), json!({ "url": site.url("/plain"), "more": 1 }), json!("x")] {
        is_refused(&site.fetch(arguments).await, "invalid_input");
    }
    assert_eq!(site.requests(), 0);
}

#[tokio::test]
async fn a_slow_page_is_given_up() {
    let site = Site::new().await;
    let addresses = AddressPolicy::public().and(site.address);
    let options = WebOptions { addresses, time_limit: Duration::from_millis(300) };
    is_refused(&fetch(options, json!({ "url": site.url("/slow") })).await, "timeout");
}

#[tokio::test]
async fn nothing_of_ours_is_sent() {
    let site = Site::new().await;
    let request = site.get("/echo").await.content.unwrap().to_lowercase();
    let names = request.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0)).collect::<Vec<_>>();
    assert!(names.iter().all(|name| ["accept", "accept-encoding", "host", "user-agent"].contains(name)), "{request}");
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_named() {
    let site = Site::new().await;
    let closed = SocketAddr::from(([127, 0, 0, 1], 1));
    let addresses = AddressPolicy::public().and(closed);
    let options = WebOptions { addresses, time_limit: Duration::from_secs(60) };
    let outcome = fetch(options, json!({ "url": format!("http://{closed}/") })).await;
    is_refused(&outcome, "io_failed");
    assert!(outcome.summary.starts_with("127.0.0.1 did not answer"), "{}", outcome.summary);
    assert_eq!(site.requests(), 0);
    let outcome = fetch(WebOptions::default(), json!({ "url": "http://no-such-host.invalid/" })).await;
    is_refused(&outcome, "not_found");
}
