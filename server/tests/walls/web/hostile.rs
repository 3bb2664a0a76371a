//! A hostile server on another port of this machine, and a browser that is logged in to the console.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use serde_json::Value;
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, until},
};
use tokio::net::TcpListener;

use crate::{Tally, YOI};

/// The name of a Pod: an attack that reads it has read what only the person may.
pub(super) const TREASURE: &str = "treasure";
/// Names that another site's page may have, all resolving to this machine.
pub(super) const ELSEWHERE: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "evil.localhost"];

/// What every attack may use: the console `T`, its shared name `S`, and ways to load things.
const PRELUDE: &str = r"
const load = (tag, fields) => new Promise(done => {
  const element = Object.assign(document.createElement(tag), fields);
  element.onload = () => done('loaded'); element.onerror = () => done('failed');
  document.body.append(element);
});
const told = work => Promise.race([
  Promise.resolve().then(work).catch(error => 'refused: ' + error),
  new Promise(done => setTimeout(() => done('nothing came'), 4000)),
]);
const read = answer => answer.text();
const submit = (action, type, name, value, target) => {
  const form = Object.assign(document.createElement('form'), { method: 'post', action, enctype: type });
  if (target) form.target = target;
  form.append(Object.assign(document.createElement('input'), { name, value }));
  document.body.append(form); form.submit(); return 'sent';
};
const json = JSON.stringify({ name: 'intruder' });
";

/// What the hostile server was sent: the headers of each request.
#[derive(Debug, Default)]
struct Heard {
    heads: Mutex<Vec<String>>,
    /// Where a path redirects, and with which status.
    leads: Mutex<BTreeMap<String, (StatusCode, String)>>,
    /// The policy of its pages.
    policies: Mutex<BTreeMap<String, String>>,
}

/// A person's browser, their console, and a hostile page's server.
pub(super) struct Stage {
    pub(super) yoi: YoiProcess,
    pub(super) browser: Browser,
    port: u16,
    heard: Arc<Heard>,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let names = ["evil.example", "localhost.evil.example", "yoi.evil.example"];
        let (yoi, browser) = tokio::join!(YoiProcess::start(YOI), Browser::start_misled(1200, 800, &names));
        yoi.new_pod(TREASURE).await;
        let heard = Arc::<Heard>::default();
        let port = serve(heard.clone()).await;
        browser.goto(&yoi.login_url()).await;
        browser.button("New Pod").await;
        Self { yoi, browser, port, heard }
    }

    /// The host and port of the console's own name.
    pub(super) fn own(&self) -> &str {
        self.yoi.console_url().trim_start_matches("http://")
    }

    pub(super) fn own_name(&self) -> &str {
        self.own().split(':').next().unwrap()
    }

    /// An address of the hostile server.
    pub(super) fn hostile(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port)
    }

    /// From now on, this path of the hostile server redirects there.
    pub(super) fn lead(&self, path: &str, status: StatusCode, target: &str) {
        self.heard.leads.lock().unwrap().insert(path.to_owned(), (status, target.to_owned()));
    }

    pub(super) fn policy(&self, path: &str, policy: &str) {
        self.heard.policies.lock().unwrap().insert(path.to_owned(), policy.to_owned());
    }

    /// Runs a script in a page of the hostile server; returns its result.
    pub(super) async fn run(&self, name: &str, path: &str, script: &str) -> Value {
        self.browser.goto(&self.hostile(name, path)).await;
        let (console, shared) = (self.yoi.console_url(), self.yoi.base_url());
        let script = format!("const T = '{console}', S = '{shared}';{PRELUDE}return told(async () => {{ {script} }});");
        self.browser.eval(&script).await
    }

    /// An attack that tries to read something, or to do something and see the result.
    pub(super) async fn strike(&self, tally: &mut Tally, attack: &str, name: &str, script: &str) {
        let result = self.run(name, "/", script).await.to_string();
        tally.note(attack, self.through(&result).await);
        self.close_others().await;
    }

    /// An attack that sends something without seeing the result: the server has to have refused it.
    pub(super) async fn strike_blindly(&self, tally: &mut Tally, attack: &str, name: &str, script: &str) {
        let before = self.refusals().await;
        let result = self.run(name, "/", script).await.to_string();
        until(&format!("the server has answered: {attack} ({result})"), async || {
            (self.refusals().await > before).then_some(())
        })
        .await;
        tally.note(attack, self.through(&result).await);
        self.close_others().await;
    }

    /// What an attack has reached, if anything.
    pub(super) async fn through(&self, result: &str) -> Option<String> {
        if result.contains(TREASURE) || result.contains(self.yoi.token()) || result.contains("THROUGH") {
            return Some(format!("it read {result}"));
        }
        let pods = self.yoi.get("/api/v1/pods").await.expect(200)["items"].as_array().unwrap().len();
        if pods != 1 {
            return Some(format!("there are {pods} Pods"));
        }
        let logins = self.yoi.get("/api/v1/sessions").await.expect(200)["items"].as_array().unwrap().len();
        if logins != 1 {
            return Some(format!("there are {logins} logins"));
        }
        self.stolen()
    }

    /// A console cookie that the hostile server was sent.
    pub(super) fn stolen(&self) -> Option<String> {
        let heads = self.heard.heads.lock().unwrap();
        heads.iter().find(|head| head.contains("cookie: ") && head.contains("yoi_")).cloned()
    }

    /// Whether the hostile server got a request for this path.
    pub(super) fn was_asked(&self, path: &str) -> bool {
        self.heard.heads.lock().unwrap().iter().any(|head| head.starts_with(&format!("{path}\n")))
    }

    /// Request headers in which the hostile server received this.
    pub(super) fn heard_of(&self, text: &str) -> Option<String> {
        self.heard.heads.lock().unwrap().iter().find(|head| head.contains(text)).cloned()
    }

    /// Requests that were refused or redirected.
    pub(super) async fn refusals(&self) -> u64 {
        let metrics = self.yoi.get("/metrics").await.expect(200);
        let lines = metrics.as_str().unwrap().lines().filter(|line| line.starts_with("yoi_http_requests_total{"));
        let refused = lines.filter(|line| ["status=\"3", "status=\"4"].iter().any(|status| line.contains(status)));
        refused.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    }

    /// Closes the windows that an attack has opened.
    async fn close_others(&self) {
        let driver = &self.browser.driver;
        let all = driver.windows().await.unwrap();
        for other in &all[1..] {
            driver.switch_to_window(other.clone()).await.unwrap();
            driver.close_window().await.unwrap();
        }
        driver.switch_to_window(all[0].clone()).await.unwrap();
    }
}

async fn serve(heard: Arc<Heard>) -> u16 {
    let router = Router::new().fallback(answer).with_state(heard);
    loop {
        let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = v4.local_addr().unwrap().port();
        let Ok(v6) = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await else { continue };
        for listener in [v4, v6] {
            let router = router.clone();
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        return port;
    }
}

async fn answer(State(heard): State<Arc<Heard>>, request: Request<Body>) -> Response {
    let path = request.uri().path().to_owned();
    let fields = request.headers().iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap_or("?")));
    heard.heads.lock().unwrap().push(format!("{path}\n{}", fields.collect::<String>()));
    if let Some((status, target)) = heard.leads.lock().unwrap().get(&path) {
        return (*status, [(header::LOCATION, target.clone())]).into_response();
    }
    if path.ends_with(".js") {
        let script = "self.addEventListener('fetch', event => event.respondWith(fetch(event.request)));\
                      self.onmessage = async event => self.postMessage(await event.data);";
        return ([(header::CONTENT_TYPE, "text/javascript")], script).into_response();
    }
    let mut page = Html("<!doctype html><title>hostile</title><body>hostile</body>").into_response();
    if let Some(policy) = heard.policies.lock().unwrap().get(&path) {
        let name = HeaderName::from_static("content-security-policy");
        page.headers_mut().insert(name, HeaderValue::from_str(policy).unwrap());
    }
    page
}
