//! What is left in a browser: in its history, in its cache, and in the pages that it keeps for going back.

use std::{fs, path::Path};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, until},
};
use tokio::process::Command;

use super::{hostile::TREASURE, names::code_of};
use crate::{Tally, YOI};

/// Shown by every page that is not the console, once it has loaded.
const SHOWN: &str = "return document.readyState === 'complete'";

async fn text(browser: &Browser) -> String {
    browser.eval("return document.title + ' ' + document.body.innerText").await.to_string()
}

/// Ends the logins of all browsers; the one that has a cookie keeps it, but it is useless.
async fn log_out(yoi: &YoiProcess) {
    assert_eq!(yoi.delete("/api/v1/sessions").await.status, 204);
}

#[tokio::test]
async fn browser_going_back_after_a_logout_shows_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod(TREASURE).await;
    let mut tally = Tally::of("after a logout");
    // A page without scripts is the likeliest to be kept by a browser.
    for runs_scripts in [true, false] {
        let browser = match runs_scripts {
            true => Browser::start(1200, 800).await,
            false => Browser::start_without_javascript(1200, 800).await,
        };
        let way = if runs_scripts { "with scripts" } else { "without scripts" };
        browser.goto(&yoi.login_url()).await;
        browser.wait_text("body", TREASURE).await;
        browser.goto(&format!("{}/audit", yoi.console_url())).await;
        browser.goto("about:blank").await;
        log_out(&yoi).await;
        if !runs_scripts {
            // Nothing tells such a page that the login has ended until it requests the next one.
            browser.goto(&format!("{}/usage", yoi.console_url())).await;
        }
        for (attack, is_back) in [("back", true), ("back twice", true), ("back three times", true), ("forth", false)] {
            match is_back {
                true => browser.driver.back().await.unwrap(),
                false => browser.driver.forward().await.unwrap(),
            }
            browser.wait_script(SHOWN).await;
            let shown = text(&browser).await;
            tally.note(&format!("{attack} {way}"), shown.contains(TREASURE).then_some(shown));
        }
        browser.goto(&format!("{}/", yoi.console_url())).await;
        let shown = text(&browser).await;
        tally.note(&format!("the address again {way}"), shown.contains(TREASURE).then_some(shown));
        for cache in ["only-if-cached", "force-cache"].into_iter().filter(|_| runs_scripts) {
            let script = format!(
                "return fetch('/', {{ mode: 'same-origin', cache: '{cache}' }}).then(answer => answer.text()).catch(String)"
            );
            let kept = browser.eval(&script).await.to_string();
            tally.note(&format!("what the browser keeps ({cache})"), kept.contains(TREASURE).then_some(kept));
        }
        browser.quit().await;
    }
    tally.finish(12);
}

#[tokio::test]
async fn browser_no_secret_is_in_an_address_an_argument_or_the_history() {
    let yoi = YoiProcess::start(YOI).await;
    let mut tally = Tally::of("what a login leaves behind");
    let browser = Browser::start(1200, 800).await;
    // Called like the desktop's opener: the page that it is given is opened in this browser.
    let opened = yoi.launch().work_dir().join("opened");
    let opener = yoi.launch().work_dir().join("xdg-open");
    fs::write(
        &opener,
        format!("#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline > {0}.by\nprintf %s \"$*\" > {0}\n", opened.display()),
    )
    .unwrap();
    Command::new("chmod").arg("+x").arg(&opener).status().await.unwrap();
    let path = format!("{}:{}", yoi.launch().work_dir().display(), std::env::var("PATH").unwrap());
    let mut open = yoi.launch().command();
    open.args(["open", "--data"]).arg(yoi.launch().data_dir()).env("PATH", path);
    assert!(open.status().await.unwrap().success());
    let argument =
        until("the opener was called", async || fs::read_to_string(&opened).ok().filter(|text| !text.is_empty())).await;
    let page = fs::read_to_string(&argument).unwrap();
    let (_, code) = page.split_once("name=\"code\" value=\"").unwrap();
    let code = &code[..64];
    let secrets = [yoi.token(), code];
    let holds = |text: &str| secrets.iter().any(|secret| text.contains(secret));
    tally.note("the argument of the opener", holds(&argument).then_some(argument.clone()));

    browser.goto(&format!("file://{argument}")).await;
    browser.button("New Pod").await;
    assert!(browser.url().await.starts_with(yoi.console_url()), "the file logs in");
    let entries = browser.devtools("Page.getNavigationHistory", json!({})).await.to_string();
    tally.note("the entries of the window", holds(&entries).then_some(entries));
    let referrer = browser.eval("return document.referrer").await.to_string();
    tally.note("the referrer of the console", (referrer != "\"\"").then_some(referrer));
    let stored = browser
        .eval("return JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])")
        .await
        .to_string();
    tally.note("what scripts of the page can read", (holds(&stored) || stored.contains("yoi_")).then_some(stored));
    let again = yoi
        .browser_client()
        .request(Method::POST, format!("{}/login", yoi.console_url()))
        .json(&json!({ "code": code }));
    let status = again.send().await.unwrap().status().as_u16();
    tally.note("the file a second time", (status != 401).then(|| format!("it was answered with {status}")));

    // A code in an address is useless once it has been opened.
    let other = code_of(&yoi).await;
    browser.goto(&format!("{}/?code={other}", yoi.console_url())).await;
    let address = browser.url().await;
    tally.note("the address after a code", address.contains(&other).then_some(address));
    browser.driver.clone().quit().await.ok();
    let found = until("the browser has written its history", async || {
        let files = files_with(browser.profile(), yoi.console_url());
        (!files.is_empty()).then(|| files_with(browser.profile(), yoi.token()))
    })
    .await;
    tally.note("the token in a file of the browser", (!found.is_empty()).then(|| found.join(", ")));
    let found = files_with(browser.profile(), code);
    tally.note("the code of the file in a file of the browser", (!found.is_empty()).then(|| found.join(", ")));
    tally.note("the log of the server", yoi.log().into_iter().find(|line| holds(line)));
    let audit: Value = yoi.get("/api/v1/audit").await.expect(200);
    tally.note("the audit", holds(&audit.to_string()).then(|| "it has a secret".to_owned()));
    tally.finish(10);
}

/// Files beneath a folder that contain this text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(files_with(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes())) {
            found.push(path.display().to_string());
        }
    }
    found
}
