//! Previews, on an origin of their own: nothing of the console can be reached from there, and nobody gets in without a
//! code.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Response, header};
use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path, until},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{Tally, YOI};

const WAIT_MAX: Duration = Duration::from_secs(60);

/// What the Pod serves on port 5173. It reports what it was sent, streams, redirects, sets cookies, and echoes after an
/// upgrade.
const SERVER: &str = r##"
import http.server, json, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def tell(self, body, kind='application/json', status=200, more=()):
        self.send_response(status)
        self.send_header('content-type', kind)
        self.send_header('content-length', str(len(body)))
        for name, value in more: self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.headers.get('upgrade') == 'echo':
            self.send_response(101)
            self.send_header('upgrade', 'echo')
            self.send_header('connection', 'upgrade')
            self.end_headers()
            while True:
                piece = self.connection.recv(100)
                if not piece: return
                self.connection.sendall(piece.upper())
        if self.path == '/page':
            page = b'<!doctype html><title>own</title><h1 id=own>of the Pod</h1><p id=told></p><script>fetch("told").then(r=>r.json()).then(t=>{document.cookie="app=1";told.textContent=t.path})</script>'
            return self.tell(page, 'text/html')
        if self.path == '/hostile':
            return self.tell(HOSTILE.encode(), 'text/html')
        if self.path == '/on':
            return self.tell(b'', status=302, more=[('location', 'http://localhost:5173/page'), ('set-cookie', 'yoi_preview=x'), ('set-cookie', 'app=2')])
        if self.path == '/stream':
            self.send_response(200)
            self.send_header('content-type', 'text/event-stream')
            self.end_headers()
            self.wfile.write(b'data: first\n\n')
            self.wfile.flush()
            time.sleep(3600)
        self.tell(json.dumps({'path': self.path, 'headers': dict(self.headers)}).encode())
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        self.tell(json.dumps({'body': body.decode()}).encode())
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
Server(('127.0.0.1', 5173), Handler).serve_forever()
"##;

struct Stage {
    yoi: YoiProcess,
    pod: Value,
    serving: tokio::task::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Stage {
    /// A Pod with a command that serves, and with no network but its own loopback. `hostile`: one of its pages.
    async fn new(hostile: impl Fn(&YoiProcess) -> String) -> Self {
        let yoi = YoiProcess::start(YOI).await;
        let folder = tempfile::tempdir().unwrap();
        let body = json!({ "name": "ada", "provider": "rehearsal", "cwd": folder.path(), "network": "none" });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        let page = serde_json::to_string(&hostile(&yoi)).unwrap();
        std::fs::write(folder.path().join("serve.py"), format!("HOSTILE = {page}\n{SERVER}")).unwrap();
        let command = json!({ "arguments": { "command": "exec /usr/bin/python3 serve.py", "timeout_s": 600 } });
        let request = yoi.request(Method::POST, &format!("{}/tools/Bash", pod_path(&pod))).json(&command);
        let serving = tokio::spawn(async move { drop(request.send().await) });
        Self { yoi, pod, serving, _folder: folder }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/previews{rest}", pod_path(&self.pod))
    }

    async fn open(&self) -> String {
        let opened = self.yoi.post(&self.path(""), &json!({ "port": 5173 })).await.expect(200);
        assert_eq!(opened["port"], 5173);
        opened["url"].as_str().unwrap().to_owned()
    }

    /// A request to an address of a preview, as a browser sends it: names under localhost resolve to this machine.
    fn request(&self, method: Method, url: &str) -> RequestBuilder {
        let (host, rest) = url.trim_start_matches("http://").split_once('/').unwrap();
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
        client.request(method, format!("{}/{rest}", self.yoi.base_url())).header(header::HOST, host)
    }

    /// Enters the preview; returns its address, and the cookie.
    async fn enter(&self) -> (String, String) {
        let entry = self.open().await;
        let answer = self.request(Method::GET, &entry).send().await.unwrap();
        assert_eq!(answer.status(), 303);
        assert_eq!(answer.headers()[header::LOCATION], "/");
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        let address = entry.split("/.yoi").next().unwrap().to_owned();
        let page = format!("{address}/page");
        until("the Pod serves", async || {
            let shown = self.request(Method::GET, &page).header(header::COOKIE, &cookie).send().await.unwrap();
            match shown.status().as_u16() {
                200 => Some(()),
                502 => None,
                status => panic!("answered with {status}: {}", shown.text().await.unwrap()),
            }
        })
        .await;
        (address, cookie)
    }
}

async fn json_of(answer: Response) -> Value {
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

#[tokio::test]
async fn what_a_command_serves_is_shown_whole_and_told_nothing_of_the_console() {
    let stage = Stage::new(|_| String::new()).await;
    let (address, cookie) = stage.enter().await;
    let get = |path: &str| {
        stage.request(Method::GET, &format!("{address}{path}")).header(header::COOKIE, format!("app=1; {cookie}"))
    };

    let told = json_of(
        get("/told?x=1").header(header::AUTHORIZATION, format!("Bearer {}", stage.yoi.token())).send().await.unwrap(),
    )
    .await;
    assert_eq!((&told["path"], &told["headers"]["host"]), (&json!("/told?x=1"), &json!("localhost:5173")));
    assert_eq!((&told["headers"]["cookie"], &told["headers"]["authorization"]), (&json!("app=1"), &Value::Null));

    let sent = stage.request(Method::POST, &format!("{address}/form")).header(header::COOKIE, &cookie);
    let sent = sent.header(header::ORIGIN, &address).body("a".repeat(3_000_000)).send().await.unwrap();
    assert_eq!(json_of(sent).await["body"].as_str().unwrap().len(), 3_000_000);

    let on = get("/on").send().await.unwrap();
    assert_eq!(on.headers()[header::LOCATION], format!("{address}/page"));
    let set: Vec<_> = on.headers().get_all(header::SET_COOKIE).iter().collect();
    assert_eq!(set, ["app=2"], "its own cookies alone");

    let mut stream = get("/stream").send().await.unwrap();
    let first = timeout(WAIT_MAX, stream.chunk()).await.expect("a stream is not held back").unwrap().unwrap();
    assert_eq!(first, "data: first\n\n");

    // An upgrade goes through, in both directions.
    let host = address.trim_start_matches("http://");
    let mut socket = TcpStream::connect(stage.yoi.base_url().trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "GET /up HTTP/1.1\r\nhost: {host}\r\norigin: {address}\r\ncookie: {cookie}\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(timeout(WAIT_MAX, socket.read_u8()).await.unwrap().unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
    socket.write_all(b"hello").await.unwrap();
    let mut echoed = [0; 5];
    timeout(WAIT_MAX, socket.read_exact(&mut echoed)).await.unwrap().unwrap();
    assert_eq!(&echoed, b"HELLO");

    // Closing it also affects those who were in: open connections end.
    assert_eq!(stage.yoi.get(&stage.path("")).await.expect(200)["items"][0]["url"], format!("{address}/"));
    assert_eq!(stage.yoi.delete(&stage.path("/5173")).await.status, 204);
    assert_eq!(get("/page").send().await.unwrap().status(), 404);
    let ended = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(WAIT_MAX, ended).await.expect("a stream ends with its preview");
    assert_eq!(timeout(WAIT_MAX, socket.read(&mut echoed)).await.unwrap().unwrap_or(0), 0);
    assert_eq!(stage.yoi.delete(&stage.path("/5173")).await.expect_error(404), "not_found");
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of attacks")]
async fn nobody_comes_into_a_preview_without_a_code_and_nothing_of_the_console_is_there() {
    let stage = Stage::new(|_| String::new()).await;
    let mut tally = Tally::of("previews");
    let used = stage.open().await;
    let (address, cookie) = stage.enter().await;
    assert_eq!(stage.request(Method::GET, &used).send().await.unwrap().status(), 303, "each link is good once");
    let bearer = format!("Bearer {}", stage.yoi.token());

    let at = |method: Method, path: &str| stage.request(method, &format!("{address}{path}"));
    let get = |path: &str| at(Method::GET, path);
    let foreign = "http://evil.localhost:1";
    let another = format!("http://p-{}.localhost/page", "0".repeat(32));
    for (name, request, statuses) in [
        ("no cookie", get("/page"), &[401][..]),
        ("another cookie", get("/page").header(header::COOKIE, "yoi_preview=0123456789abcdef0123456789abcdef"), &[401]),
        ("the token", get("/page").header(header::AUTHORIZATION, &bearer), &[401]),
        ("a code again", stage.request(Method::GET, &used), &[401]),
        ("a made-up code", get("/.yoi/enter?code=00"), &[401]),
        ("a code by POST", at(Method::POST, "/.yoi/enter?code=00"), &[401]),
        ("the API by the token", get("/api/v1/pods").header(header::AUTHORIZATION, &bearer), &[401]),
        ("another label", stage.request(Method::GET, &another).header(header::COOKIE, &cookie), &[404]),
        (
            "a post of another page",
            at(Method::POST, "/form").header(header::COOKIE, &cookie).header("origin", foreign),
            &[403],
        ),
        (
            "a post of no origin",
            at(Method::POST, "/form").header(header::COOKIE, &cookie).header("origin", "null"),
            &[403],
        ),
        (
            "an image on another site",
            get("/page")
                .header(header::COOKIE, &cookie)
                .header("sec-fetch-site", "cross-site")
                .header("sec-fetch-dest", "image"),
            &[403],
        ),
        (
            "a frame on another port",
            get("/page")
                .header(header::COOKIE, &cookie)
                .header("sec-fetch-site", "same-site")
                .header("sec-fetch-dest", "iframe"),
            &[403],
        ),
        (
            "a socket of another page",
            get("/up")
                .header(header::COOKIE, &cookie)
                .header("origin", foreign)
                .header("connection", "upgrade")
                .header("upgrade", "echo"),
            &[403],
        ),
    ] {
        let status = request.send().await.unwrap().status().as_u16();
        tally.note(name, (!statuses.contains(&status)).then(|| format!("answered with {status}")));
    }
    // It reaches the Pod's own server, whatever that path is at the console.
    for path in ["/api/v1/pods", "/login", "/fn/list_pods", "/pkg/yoi.js", "/metrics", "/healthz", "/api/v1/events"] {
        let told: Value = json_of(get(path).header(header::COOKIE, &cookie).send().await.unwrap()).await;
        tally.note(&format!("the console's {path}"), (told["path"] != path).then(|| told.to_string()));
    }
    // The preview's cookie is useless at the console.
    let client = stage.yoi.browser_client();
    let pods = format!("{}/api/v1/pods", stage.yoi.console_url());
    let status = client.get(&pods).header(header::COOKIE, &cookie).send().await.unwrap().status().as_u16();
    tally.note("the console by the preview's cookie", (status != 401).then(|| format!("answered with {status}")));
    // No port of the machine is shown, not even yoi's own: the sandbox has its own loopback.
    let own: u16 = stage.yoi.base_url().rsplit(':').next().unwrap().parse().unwrap();
    let entry = stage.yoi.post(&stage.path(""), &json!({ "port": own })).await.expect(200);
    let entry = entry["url"].as_str().unwrap();
    let answer = stage.request(Method::GET, entry).send().await.unwrap();
    let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let root = format!("{}/healthz", entry.split("/.yoi").next().unwrap());
    let status =
        stage.request(Method::GET, &root).header(header::COOKIE, cookie).send().await.unwrap().status().as_u16();
    tally.note("yoi's own port", (status != 502).then(|| format!("answered with {status}")));
    tally.finish(22);
}

#[tokio::test]
async fn a_preview_ends_with_the_login_that_came_in_and_with_its_pod() {
    let stage = Stage::new(|_| String::new()).await;
    let (address, token_cookie) = stage.enter().await;
    let browser = stage.yoi.browser_client();
    let form = browser.post(format!("{}/login", stage.yoi.console_url()));
    let logged_in = form.json(&json!({ "token": stage.yoi.token() })).send().await.unwrap();
    let login = logged_in.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let way = format!("{}{}", stage.yoi.console_url(), stage.path("/5173"));
    let led = browser.get(&way).header(header::COOKIE, &login).send().await.unwrap();
    assert_eq!(led.status(), 303);
    let entry = led.headers()[header::LOCATION].to_str().unwrap().to_owned();
    let entered = stage.request(Method::GET, &entry).send().await.unwrap();
    let cookie = entered.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let get = |cookie: &str| stage.request(Method::GET, &format!("{address}/page")).header(header::COOKIE, cookie);
    assert_eq!(get(&cookie).send().await.unwrap().status(), 200);

    let listed = stage.yoi.get(&stage.path("")).await.expect(200);
    let port = json!({ "port": 5173, "is_open": true, "is_listening": true, "url": format!("{address}/") });
    assert_eq!(listed["items"], json!([port]));

    let others = stage.yoi.delete("/api/v1/sessions").await;
    assert!(others.status < 300, "{}", others.status);
    assert_eq!(get(&cookie).send().await.unwrap().status(), 401);
    assert_eq!(get(&token_cookie).send().await.unwrap().status(), 200, "it came in by the token");

    let gone = stage.yoi.delete(&format!("{}?confirm=ada", pod_path(&stage.pod))).await;
    assert!(gone.status < 300, "{}", gone.status);
    assert_eq!(get(&token_cookie).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_preview_is_refused_where_there_is_nothing_to_show_in_a_room() {
    let yoi = YoiProcess::start(YOI).await;
    let body = json!({ "name": "ada", "provider": "rehearsal", "network": "open" });
    let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
    let path = format!("{}/previews", pod_path(&pod));
    assert_eq!(yoi.post(&path, &json!({ "port": 5173 })).await.expect_error(400), "invalid_input");
    assert_eq!(yoi.post(&path, &json!({ "port": 0 })).await.expect_error(400), "invalid_input");
    assert_eq!(yoi.post(&path, &json!({ "port": 1, "host": "x" })).await.expect_error(400), "invalid_input");
    assert_eq!(yoi.get(&format!("{path}/5173")).await.expect_error(404), "not_found");
    assert_eq!(yoi.get(&path).await.expect(200)["items"], json!([]));
}

/// A page of the Pod that tries to reach the console.
fn trying(yoi: &YoiProcess) -> String {
    let console = yoi.console_url();
    format!(
        r#"<!doctype html><h1 id=tried></h1><script>
        const tries = [
            fetch("{console}/api/v1/pods", {{credentials: "include"}}).then(r => r.text()).then(() => "read"),
            fetch("{console}/api/v1/pods", {{method: "POST", credentials: "include", mode: "no-cors", headers: {{"content-type": "text/plain"}},
                body: '{{"name":"made","provider":"rehearsal"}}'}}).then(() => "sent"),
            new Promise((done, failed) => {{ const socket = new WebSocket("{console}".replace("http", "ws") + "/api/v1/events");
                socket.onopen = () => done("opened"); socket.onerror = () => failed("closed"); }}),
        ];
        Promise.allSettled(tries).then(all => {{ tried.textContent = "tried: " + all.map(one => one.value || "failed").join(" ") + " cookie: " + document.cookie; }});
        </script>"#
    )
}

#[tokio::test]
async fn browser_a_page_of_a_preview_works_and_does_nothing_at_the_console() {
    let stage = Stage::new(trying).await;
    stage.enter().await;
    let browser = Browser::start(1440, 900).await;
    browser.goto(&stage.yoi.login_url()).await;
    browser.wait_text("main", "ada").await;
    assert_eq!(stage.yoi.delete(&stage.path("/5173")).await.status, 204);
    // Its page lists the port, opens it, and links to it in a new tab.
    let pod = stage.pod["pod"].clone();
    let page = format!("/pods/{}/{}", pod["runtime_id"].as_str().unwrap(), pod["worker_id"].as_str().unwrap());
    browser.goto(&format!("{}{page}", stage.yoi.console_url())).await;
    browser.press(".inspect-more > summary").await;
    browser.wait_text(".preview-lines", "5173").await;
    browser.press_button("Open port 5173").await;
    browser.wait_text(".preview-lines", "Close").await;
    let before = browser.driver.windows().await.unwrap();
    browser.press(".preview-lines a").await;
    browser
        .wait_until("the new tab", async |browser| browser.driver.windows().await.unwrap().len() > before.len())
        .await;
    let tabs = browser.driver.windows().await.unwrap();
    let tab = tabs.into_iter().find(|tab| !before.contains(tab)).unwrap();
    browser.driver.switch_to_window(tab).await.unwrap();
    browser.wait_text("body", "x-forwarded-host").await;
    assert_eq!(browser.eval("return window.opener === null").await, true);
    let address = browser.eval("return location.origin").await.as_str().unwrap().to_owned();
    browser.goto(&format!("{address}/page")).await;
    browser.wait_text("#own", "of the Pod").await;
    browser.wait_text("#told", "/told").await;
    browser.goto(&format!("{address}/hostile")).await;
    browser.wait_text("#tried", "tried: failed").await;
    let tried = browser.texts("#tried").await.join(" ");
    assert!(!tried.contains("read") && !tried.contains("opened") && !tried.contains("yoi"), "{tried}");
    let pods = stage.yoi.get("/api/v1/pods").await.expect(200);
    assert_eq!(pods["items"].as_array().unwrap().len(), 1, "the page made no Pod: {pods}");
}
