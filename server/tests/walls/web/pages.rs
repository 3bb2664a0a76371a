//! Pages of other origins in real Chromium, logged in to the console. The most dangerous is one beneath the console's
//! own name: browsers treat it as the same site, and send the console's cookie with its requests to the console.

use axum::http::StatusCode;
use testkit::yoi::until;

use super::hostile::{ELSEWHERE, Stage};
use crate::Tally;

/// Ways to send something that would change something, without seeing the answer.
const SENDING: [(&str, &str); 19] = [
    (
        "a form of plain text",
        "return submit(T + '/api/v1/pods', 'text/plain', '{\"name\":\"intruder\",\"x\":\"', '\"}')",
    ),
    ("a form with parts", "return submit(T + '/api/v1/pods', 'multipart/form-data', 'name', 'intruder')"),
    (
        "a form to a server function",
        "return submit(T + '/fn/create_pod', 'application/x-www-form-urlencoded', 'name', 'intruder')",
    ),
    (
        "a form with a method in a field",
        "return submit(T + '/api/v1/sessions', 'application/x-www-form-urlencoded', '_method', 'DELETE')",
    ),
    (
        "a form in a frame",
        "const frame = document.createElement('iframe'); frame.name = 'inside'; document.body.append(frame); return submit(T + '/api/v1/pods', 'text/plain', json, '', 'inside')",
    ),
    (
        "a form in a sandboxed frame",
        "return load('iframe', { sandbox: 'allow-forms allow-scripts', srcdoc: `<form method=post enctype=text/plain action=${T}/api/v1/pods><input name='x'></form><script>document.forms[0].submit()</script>` })",
    ),
    (
        "a request without an answer",
        "return fetch(T + '/api/v1/pods', { method: 'POST', mode: 'no-cors', credentials: 'include', body: json }).then(read)",
    ),
    (
        "a request that outlives its page",
        "return fetch(T + '/api/v1/pods', { method: 'POST', mode: 'no-cors', credentials: 'include', keepalive: true, body: json }).then(read)",
    ),
    (
        "a request of JSON",
        "return fetch(T + '/api/v1/pods', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: json }).then(read)",
    ),
    (
        "a request to end all logins",
        "return fetch(T + '/api/v1/sessions', { method: 'DELETE', credentials: 'include' }).then(read)",
    ),
    (
        "another method in a header",
        "return fetch(T + '/api/v1/sessions', { credentials: 'include', headers: { 'x-http-method-override': 'DELETE' } }).then(read)",
    ),
    (
        "an old request with credentials",
        "return new Promise(done => { const asked = new XMLHttpRequest(); asked.open('POST', T + '/api/v1/pods'); asked.withCredentials = true; asked.onloadend = () => done(asked.responseText); asked.send(json) })",
    ),
    ("a beacon", "return navigator.sendBeacon(T + '/api/v1/pods', json)"),
    (
        "a beacon of a form",
        "return navigator.sendBeacon(T + '/fn/create_pod', new URLSearchParams({ name: 'intruder' }))",
    ),
    (
        "a ping of a link",
        "const link = Object.assign(document.createElement('a'), { href: '#here', ping: T + '/api/v1/pods' }); document.body.append(link); link.click(); return 'clicked'",
    ),
    ("a redirect that keeps the method", "return submit('/keep', 'text/plain', json, '')"),
    (
        "a fetch over a redirect",
        "return fetch('/keep', { method: 'POST', mode: 'no-cors', credentials: 'include', body: json }).then(read)",
    ),
    (
        "a worker",
        "const code = `fetch('${T}/api/v1/pods', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '${json}' }).finally(() => postMessage('done'))`; const worker = new Worker(URL.createObjectURL(new Blob([code]))); return new Promise(done => worker.onmessage = event => done(event.data))",
    ),
    (
        "a code that is guessed",
        "return submit(T + '/login', 'application/x-www-form-urlencoded', 'code', '0'.repeat(64))",
    ),
];

/// Ways to read something, or to keep hold of a window of the console.
const READING: [(&str, &str); 29] = [
    ("a fetch with credentials", "return fetch(T + '/api/v1/pods', { credentials: 'include' }).then(read)"),
    (
        "a fetch without an answer",
        "return fetch(T + '/api/v1/pods', { mode: 'no-cors', credentials: 'include' }).then(read)",
    ),
    ("a fetch of a page", "return fetch(T + '/', { credentials: 'include' }).then(read)"),
    (
        "a fetch of what the browser keeps",
        "return fetch(T + '/', { credentials: 'include', cache: 'force-cache', mode: 'no-cors' }).then(read)",
    ),
    (
        "an event stream",
        "return new Promise(done => { const events = new EventSource(T + '/api/v1/events', { withCredentials: true }); events.onmessage = event => done(event.data); events.onerror = () => done('refused') })",
    ),
    (
        "a socket",
        "return new Promise(done => { const socket = new WebSocket(T.replace('http', 'ws') + '/api/v1/events'); socket.onmessage = event => done('THROUGH ' + event.data); socket.onopen = () => done('THROUGH'); socket.onerror = () => done('refused') })",
    ),
    (
        "a socket under the shared name",
        "return new Promise(done => { const socket = new WebSocket(S.replace('http', 'ws') + '/api/v1/events'); socket.onopen = () => done('THROUGH'); socket.onerror = () => done('refused') })",
    ),
    (
        "the API as a script",
        "return load('script', { src: T + '/api/v1/pods' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    ("a page as a script", "return load('script', { src: T + '/' }).then(end => end === 'loaded' ? 'THROUGH' : end)"),
    ("the API as a module", "return import(T + '/api/v1/pods').then(() => 'THROUGH')"),
    (
        "the API as a picture",
        "return load('img', { src: T + '/api/v1/pods' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    (
        "a page as a style sheet",
        "return load('link', { rel: 'stylesheet', href: T + '/' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    (
        "an import of a style sheet",
        "document.body.append(Object.assign(document.createElement('style'), { textContent: `@import '${T}/'` })); return document.styleSheets[0].cssRules[0].styleSheet?.cssRules.length ? 'THROUGH' : 'nothing'",
    ),
    ("a font", "return new FontFace('stolen', `url(${T}/api/v1/pods)`).load().then(() => 'THROUGH')"),
    ("an object", "return load('object', { data: T + '/' }).then(end => end === 'loaded' ? 'THROUGH' : end)"),
    (
        "an embedded page",
        "return load('embed', { src: T + '/', type: 'text/html' }).then(() => document.querySelector('embed').contentDocument?.body.innerText ?? 'no document')",
    ),
    (
        "a track of a film",
        "const track = Object.assign(document.createElement('track'), { src: T + '/api/v1/pods', default: true }); const film = document.createElement('video'); film.crossOrigin = 'use-credentials'; film.append(track); document.body.append(film); track.track.mode = 'showing'; return new Promise(done => { track.onload = () => done('THROUGH'); track.onerror = () => done('refused') })",
    ),
    (
        "a worker of the console's code",
        "return new Promise(done => { const worker = new Worker(T + '/api/v1/pods'); worker.onmessage = () => done('THROUGH'); worker.onerror = () => done('refused') })",
    ),
    (
        "a service worker over the console",
        "return navigator.serviceWorker.register('/worker.js', { scope: T + '/' }).then(() => 'THROUGH')",
    ),
    (
        "a service worker of the console's code",
        "return navigator.serviceWorker.register(T + '/worker.js').then(() => 'THROUGH')",
    ),
    (
        "what is asked ahead",
        "return load('link', { rel: 'preload', as: 'fetch', crossOrigin: 'use-credentials', href: T + '/api/v1/pods' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    (
        "the size of an answer",
        "await fetch(T + '/api/v1/pods', { mode: 'no-cors', credentials: 'include' }).catch(() => 0); const entry = performance.getEntriesByName(T + '/api/v1/pods')[0]; return entry?.transferSize ? 'THROUGH ' + entry.transferSize : 'unknown'",
    ),
    (
        "a window's document",
        "const window = open(T + '/'); await new Promise(done => { const look = setInterval(() => window.closed && (clearInterval(look), done()), 20) }); return window.document.body.innerText",
    ),
    (
        "a window's address",
        "const window = open(T + '/'); await new Promise(done => { const look = setInterval(() => window.closed && (clearInterval(look), done()), 20) }); return 'THROUGH ' + window.location.href",
    ),
    (
        "a window that is kept",
        "const window = open(T + '/'); return new Promise(done => { let looks = 0; const look = setInterval(() => { if (window.closed) { clearInterval(look); done('let go') } else if (++looks > 150) { clearInterval(look); done('THROUGH') } }, 20) })",
    ),
    (
        "a window that is led elsewhere",
        "const window = open(T + '/', 'named'); await new Promise(done => { const look = setInterval(() => window.closed && (clearInterval(look), done()), 20) }); window.location = '/led'; return 'tried'",
    ),
    (
        "a window's frames",
        "const window = open(T + '/'); await new Promise(done => { const look = setInterval(() => window.closed && (clearInterval(look), done()), 20) }); return window.length ? 'THROUGH' : 'none'",
    ),
    (
        "a message to a window",
        "const window = open(T + '/'); const heard = new Promise(done => onmessage = event => done('THROUGH ' + event.data)); await new Promise(done => { const look = setInterval(() => window.closed && (clearInterval(look), done()), 20) }); window.postMessage('who is there', '*'); return Promise.race([heard, new Promise(done => setTimeout(() => done('silence'), 50))])",
    ),
    (
        "the console's storage",
        "return localStorage.length + ' ' + document.cookie.includes('yoi_') + (document.cookie.includes('yoi_') ? ' THROUGH' : '')",
    ),
];

#[tokio::test]
async fn browser_a_page_of_the_same_site_sends_and_reads_nothing() {
    let stage = Stage::set().await;
    let beneath = format!("x.{}", stage.own_name());
    stage.lead("/keep", StatusCode::TEMPORARY_REDIRECT, &format!("{}/api/v1/pods", stage.yoi.console_url()));
    let mut tally = Tally::of("pages of other origins");
    for (attack, script) in SENDING {
        stage.strike_blindly(&mut tally, attack, &beneath, script).await;
    }
    for (attack, script) in READING {
        stage.strike(&mut tally, attack, &beneath, script).await;
    }
    stage.browser.goto(stage.yoi.console_url()).await;
    stage.browser.button("New Pod").await;
    stage.browser.quit().await;
    tally.finish(48);
}

/// The former hole: one click, and the server of another port had the cookie.
#[tokio::test]
async fn browser_no_other_port_is_sent_the_consoles_cookie() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("other ports and their cookies");
    let pod = stage.yoi.get("/api/v1/pods").await.expect(200)["items"][0].clone();
    for (number, name) in ELSEWHERE.into_iter().enumerate() {
        let path = format!("/clicked-{number}");
        stage.yoi.say(&pod, &format!("say [link {number}]({})", stage.hostile(name, &path))).await;
        stage.browser.goto(&testkit::browser::console::page_of(&stage.yoi, &pod)).await;
        stage.browser.press_link(&format!("link {number}")).await;
        until("the link was followed", async || stage.was_asked(&path).then_some(())).await;
        tally.note(&format!("a link in a Pod's words to {name}"), stage.stolen());
        stage.browser.goto(&stage.hostile(name, &format!("/typed-{number}"))).await;
        tally.note(&format!("an address that is typed at {name}"), stage.stolen());
    }
    // Cookies that others set are not taken for the login, and do not hide it.
    for (name, domain) in [
        ("evil.localhost", "localhost"),
        ("evil.localhost", stage.own_name()),
        ("localhost", "localhost"),
        ("127.0.0.1", ""),
    ] {
        let attribute = if domain.is_empty() { String::new() } else { format!("; domain={domain}") };
        let script = format!(
            "for (let i = 0; i < 200; i++) document.cookie = `yoi_{}=${{'0'.repeat(64)}}; path=/${{i || ''}}{attribute}`; return 'set'",
            stage.own().split(':').nth(1).unwrap()
        );
        stage.run(name, "/", &script).await;
        stage.browser.goto(&format!("{}/", stage.yoi.console_url())).await;
        let is_in = !stage.browser.url().await.contains("/login");
        tally.note(
            &format!("cookies for \"{domain}\" set by {name}"),
            (!is_in).then(|| "the login was lost".to_owned()),
        );
        stage.browser.goto(&format!("{}/", stage.yoi.base_url())).await;
        let is_home = stage.browser.url().await.starts_with(stage.yoi.console_url());
        tally.note(
            &format!("the way home after {name} set some for \"{domain}\""),
            (!is_home).then(|| "it is lost".to_owned()),
        );
    }
    // Names that were rebound to this machine while the page was open.
    for name in ["evil.example", "localhost.evil.example", "yoi.evil.example"] {
        let port = stage.own().split(':').nth(1).unwrap();
        stage.browser.goto(&format!("http://{name}:{port}/")).await;
        let shown = stage.browser.eval("return document.body.innerText").await.to_string();
        tally.note(&format!("a page at {name}"), (!shown.contains("forbidden_host")).then_some(shown));
        let read = stage.browser.eval("return fetch('/api/v1/pods').then(answer => answer.text())").await.to_string();
        tally.note(&format!("the API at {name}"), (!read.contains("forbidden_host")).then_some(read));
    }
    stage.browser.quit().await;
    tally.finish(22);
}

/// Knowing the name gives an attacker a better start; no page is told it.
#[tokio::test]
async fn browser_no_page_is_told_the_consoles_name() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("the console's name");
    let shared = stage.yoi.base_url().to_owned();
    stage.policy("/img", &format!("img-src {shared}"));
    stage.policy("/frame", &format!("frame-src {shared}"));
    stage.policy("/form", &format!("form-action {shared}"));
    stage.policy("/connect", &format!("connect-src {shared}"));
    let watched = |act: &str| {
        format!(
            "const heard = []; document.addEventListener('securitypolicyviolation', event => heard.push(event.blockedURI)); {act}; return JSON.stringify(heard)"
        )
    };
    for (attack, path, script) in [
        ("a picture under a policy", "/img", watched("await load('img', { src: S + '/' })")),
        ("a frame under a policy", "/frame", watched("await load('iframe', { src: S + '/' })")),
        ("a fetch under a policy", "/connect", watched("await fetch(S + '/', { mode: 'no-cors' }).catch(() => 0)")),
        ("a form under a policy", "/form", watched("const frame = document.createElement('iframe'); frame.name = 'inside'; document.body.append(frame); const form = Object.assign(document.createElement('form'), { action: S + '/', target: 'inside' }); document.body.append(form); form.submit(); await new Promise(done => frame.onload = done)")),
        ("a fetch that follows", "/", "return fetch(S + '/').then(answer => answer.url)".to_owned()),
        ("a fetch that does not follow", "/", "return fetch(S + '/', { redirect: 'manual', mode: 'no-cors' }).then(answer => JSON.stringify([answer.type, answer.url, answer.headers.get('location')]))".to_owned()),
        ("the times of what was loaded", "/", "await load('img', { src: S + '/' }); return JSON.stringify(performance.getEntries())".to_owned()),
        ("a frame's own address", "/", "const frame = document.createElement('iframe'); frame.src = S + '/'; document.body.append(frame); await new Promise(done => frame.onload = done); return frame.contentWindow.location.href".to_owned()),
        ("a window's address", "/", "const window = open(S + '/'); await new Promise(done => { let looks = 0; const look = setInterval(() => (window.closed || ++looks > 100) && (clearInterval(look), done()), 20) }); return window.location.href".to_owned()),
        ("an error of a script", "/", "return new Promise(done => { onerror = (...told) => done(JSON.stringify(told)); load('script', { src: S + '/' }).then(done) })".to_owned()),
    ] {
        let result = stage.run("127.0.0.1", path, &script).await.to_string();
        tally.note(attack, result.contains(stage.own_name()).then_some(result));
    }
    // When a person follows a link from the console, nothing says where they came from.
    let pod = stage.yoi.get("/api/v1/pods").await.expect(200)["items"][0].clone();
    stage.yoi.say(&pod, &format!("say [away]({})", stage.hostile("127.0.0.1", "/away"))).await;
    stage.browser.goto(&testkit::browser::console::page_of(&stage.yoi, &pod)).await;
    stage.browser.press_link("away").await;
    until("the link was followed", async || stage.was_asked("/away").then_some(())).await;
    tally.note("the referrer of a link", stage.heard_of(stage.own_name()));
    stage.browser.quit().await;
    tally.finish(11);
}
