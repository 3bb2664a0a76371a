//! What is dragged into a page of the console: a link, an address, a fragment of a page.

use serde_json::json;
use testkit::{
    browser::{Browser, console},
    yoi::{pod_path, until},
};

use super::hostile::{Stage, TREASURE};
use crate::Tally;

/// What is dropped, with the type that the browser is told.
const DRAGGED: [(&str, &[&str]); 4] = [
    ("a link", &["text/uri-list", "text/plain", "text/html"]),
    ("an address without a text", &["text/uri-list"]),
    ("an address as a text", &["text/plain"]),
    ("a piece of a page", &["text/html"]),
];

async fn drop_at(browser: &Browser, kinds: &[&str], address: &str, (x, y): (i64, i64)) {
    let item = |kind: &&str| {
        let text = if *kind == "text/html" { format!("<a href=\"{address}\">x</a>") } else { address.to_owned() };
        json!({ "mimeType": kind, "data": text })
    };
    let items: Vec<_> = kinds.iter().map(item).collect();
    let data = json!({ "items": items, "dragOperationsMask": 19 });
    for step in ["dragEnter", "dragOver", "drop"] {
        let event = json!({ "type": step, "x": x, "y": y, "data": data });
        browser.devtools("Input.dispatchDragEvent", event).await;
    }
}

#[tokio::test]
async fn browser_what_is_dragged_into_the_console_does_nothing_by_itself() {
    let stage = Stage::set().await;
    let browser = &stage.browser;
    let mut tally = Tally::of("what is dragged into the console");
    let pod = stage.yoi.get("/api/v1/pods").await.expect(200)["items"][0].clone();
    let page = console::page_of(&stage.yoi, &pod);
    browser.goto(&page).await;
    browser.wait_script("return document.readyState === 'complete' && !!document.getElementById('message')").await;
    let own = stage.yoi.console_url().to_owned();
    let targets = [
        ("to another site", stage.hostile("127.0.0.1", "/PATH")),
        ("that is a script", "javascript:document.title='THROUGH'".to_owned()),
        ("that makes a Pod", format!("{own}/?new=intruder")),
        ("with a code", format!("{own}/?code={}", "0".repeat(64))),
    ];
    // In the middle of the list and of the transcript, in the bar, and in the message field.
    let field = browser
        .eval("const field = document.getElementById('message'); field.scrollIntoView({ block: 'center' }); const box = field.getBoundingClientRect(); return [Math.round(box.x + 20), Math.round(box.y + 10)]")
        .await;
    let field = (field[0].as_i64().unwrap(), field[1].as_i64().unwrap());
    let mut tried = 0;
    for (at, place) in
        [("the page", (600, 300)), ("the list", (60, 300)), ("the bar", (600, 12)), ("the message", field)]
    {
        for (what, kinds) in DRAGGED {
            for (target, address) in &targets {
                tried += 1;
                let path = format!("dropped-{tried}");
                let address = &address.replace("PATH", &path);
                drop_at(browser, kinds, address, place).await;
                // The page responds, so earlier drops have been handled.
                let shown = browser.eval("return location.href + ' ' + document.title").await.to_string();
                let windows = browser.driver.windows().await.unwrap().len();
                let is_away = !shown.contains(&page) || shown.contains("THROUGH") || windows > 1;
                let through = is_away.then_some(shown).or(stage.through("").await);
                let through = through.or(stage.was_asked(&format!("/{path}")).then(|| "it was fetched".to_owned()));
                let is_through = through.is_some();
                tally.note(&format!("{what} {target}, onto {at}"), through);
                if is_through {
                    browser.goto(&page).await;
                }
            }
        }
    }
    // Nothing was sent, and the page still works.
    let said = stage.yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
    assert!(!said.contains("dropped"), "{said}");
    until("the console answers", async || {
        let shown = browser.eval("return document.body.innerText").await.to_string();
        shown.contains(TREASURE).then_some(())
    })
    .await;
    stage.browser.quit().await;
    tally.finish(64);
}
