//! What a browser fetches before anybody goes there, because another site's page told it to.

use reqwest::header;
use testkit::yoi::YoiProcess;

use super::{
    hostile::{Stage, TREASURE},
    names::{code_of, cookie_of},
};
use crate::{Tally, YOI};

const PURPOSES: [(&str, &str); 4] = [
    ("sec-purpose", "prefetch"),
    ("sec-purpose", "prefetch;prerender"),
    ("sec-purpose", "prefetch;anonymous-client-ip"),
    ("purpose", "prefetch"),
];

/// Ways in which a page tells a browser that another one may be wanted soon.
const AHEAD: [(&str, &str); 5] = [
    (
        "a link to fetch ahead",
        "return load('link', { rel: 'prefetch', href: T + '/' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    (
        "a document to fetch ahead",
        "return load('link', { rel: 'prefetch', as: 'document', href: T + '/' }).then(end => end === 'loaded' ? 'THROUGH' : end)",
    ),
    ("a link to draw ahead", "return load('link', { rel: 'prerender', href: T + '/' })"),
    (
        "a rule to fetch ahead",
        "document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: [T + '/'], eagerness: 'immediate' }] }) })); return 'told'",
    ),
    (
        "a rule to draw ahead",
        "document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ urls: [T + '/'], eagerness: 'immediate' }] }) })); return 'told'",
    ),
];

#[tokio::test]
async fn what_is_fetched_ahead_begins_no_login_and_shows_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod(TREASURE).await;
    let (client, cookie) = (yoi.browser_client(), cookie_of(&yoi).await);
    let logins = async || yoi.get("/api/v1/sessions").await.expect(200)["items"].as_array().unwrap().len();
    let before = logins().await;
    let mut tally = Tally::of("what is fetched ahead");
    for (name, purpose) in PURPOSES {
        for site in ["cross-site", "same-site"] {
            for path in ["/", "/audit", "/login"] {
                let asked = client.get(format!("{}{path}", yoi.console_url())).header(header::COOKIE, &cookie);
                let asked = asked.header(name, purpose).header("sec-fetch-site", site);
                let answer = asked.header("sec-fetch-dest", "document").send().await.unwrap();
                let (status, body) = (answer.status().as_u16(), answer.text().await.unwrap());
                let through = body.contains(TREASURE) || status != 403;
                tally.note(
                    &format!("{path} for a page that is {site}, {name}: {purpose}"),
                    through.then(|| format!("it was answered with {status}")),
                );
            }
        }
        // Nobody has gone there yet: neither through a link from elsewhere, nor by typing.
        for site in ["cross-site", "none"] {
            let code = code_of(&yoi).await;
            let ahead = client.get(format!("{}/?code={code}", yoi.console_url())).header(name, purpose);
            let answer =
                ahead.header("sec-fetch-site", site).header("sec-fetch-dest", "document").send().await.unwrap();
            let is_in = answer.headers().contains_key(header::SET_COOKIE) || logins().await != before;
            tally.note(&format!("a code, {site}, {name}: {purpose}"), is_in.then(|| "a login began".to_owned()));
        }
    }
    let code = code_of(&yoi).await;
    let ask = || client.get(format!("{}/?code={code}", yoi.console_url()));
    ask().header("sec-purpose", "prefetch;prerender").send().await.unwrap();
    let came = ask().send().await.unwrap();
    assert!(came.headers().contains_key(header::SET_COOKIE), "whoever comes then finds the code good");
    tally.finish(32);
}

#[tokio::test]
async fn browser_pages_of_other_origins_have_nothing_fetched_ahead() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("pages that are asked for ahead");
    for name in ["127.0.0.1", "evil.localhost", &format!("x.{}", stage.own_name())] {
        for (attack, script) in AHEAD {
            stage
                .strike(&mut tally, &format!("{attack} at {name}").replace(stage.own_name(), "NAME"), name, script)
                .await;
        }
    }
    stage.browser.goto(stage.yoi.console_url()).await;
    stage.browser.button("New Pod").await;
    stage.browser.quit().await;
    tally.finish(15);
}
