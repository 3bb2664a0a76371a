//! Codes and tokens that are invalid, or no longer valid.

use reqwest::{Client, header};
use serde_json::Value;
use testkit::yoi::YoiProcess;

use super::names::{code_of, cookie_of};
use crate::{Tally, YOI};

/// Whether this code logs in, by the form or by an address.
async fn logs_in(yoi: &YoiProcess, client: &Client, code: &str, by_form: bool) -> bool {
    let asked = match by_form {
        true => client
            .post(format!("{}/login", yoi.console_url()))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(format!("code={code}")),
        false => client.get(format!("{}/?code={code}", yoi.console_url())),
    };
    asked.send().await.unwrap().headers().contains_key(header::SET_COOKIE)
}

#[tokio::test]
async fn only_a_fresh_code_of_this_server_logs_in() {
    let (yoi, other) = tokio::join!(YoiProcess::start(YOI), YoiProcess::start(YOI));
    let client = yoi.browser_client();
    let mut tally = Tally::of("codes");
    for by_form in [true, false] {
        let way = if by_form { "by the form" } else { "by an address" };
        let used = code_of(&yoi).await;
        assert!(logs_in(&yoi, &client, &used, by_form).await, "a fresh code is good");
        let fresh = code_of(&yoi).await;
        for (attack, code) in [
            ("a code that was used", used.clone()),
            ("a code of another server", code_of(&other).await),
            ("a code without its end", fresh[..63].to_owned()),
            ("a code in capitals", fresh.to_uppercase().replace(|letter: char| letter.is_ascii_digit(), "A")),
            ("a code and more", format!("{fresh}0")),
            ("an empty code", String::new()),
            ("the token as a code", yoi.token().to_owned()),
            ("a wildcard", "%25".to_owned()),
        ] {
            let through = logs_in(&yoi, &client, &code, by_form).await;
            tally.note(&format!("{attack} {way}"), through.then(|| "it logged in".to_owned()));
        }
        let racing = (0..16).map(|_| logs_in(&yoi, &client, &fresh, by_form));
        let won = futures_util::future::join_all(racing).await.into_iter().filter(|won| *won).count();
        tally.note(&format!("the same code many times at once {way}"), (won != 1).then(|| format!("{won} logins")));
    }
    // The oldest codes are removed when there are too many: nobody can fill the memory with them.
    let first = code_of(&yoi).await;
    for _ in 0..64 {
        code_of(&yoi).await;
    }
    let through = logs_in(&yoi, &client, &first, true).await;
    tally.note("a code that newer ones have pushed out", through.then(|| "it logged in".to_owned()));
    let cookie = cookie_of(&yoi).await;
    let by_cookie = client.post(format!("{}/api/v1/login-codes", yoi.console_url())).header(header::COOKIE, &cookie);
    let status = by_cookie.send().await.unwrap().status().as_u16();
    tally.note("a code made with a cookie", (status != 403).then(|| format!("it was answered with {status}")));
    tally.finish(20);
}

#[tokio::test]
async fn wrong_logins_do_not_fill_the_audit_and_junk_locks_nobody_out() {
    let yoi = YoiProcess::start(YOI).await;
    let client = yoi.browser_client();
    let cookie = cookie_of(&yoi).await;
    let name = cookie.split('=').next().unwrap();
    let mut tally = Tally::of("junk");
    // As many as are allowed before callers have to wait, and some more.
    let wrong = (0..40).map(|number| {
        let path = if number % 2 == 0 { "/?token=wrong" } else { "/?code=wrong" };
        client.get(format!("{}{path}", yoi.console_url())).send()
    });
    assert!(futures_util::future::join_all(wrong).await.into_iter().all(|answer| answer.is_ok()));
    let audit = yoi.get("/api/v1/audit?action=login&limit=1000").await.expect(200);
    let refused = |row: &&Value| row["result"] == "refused";
    let rows = audit["items"].as_array().unwrap().iter().filter(refused).count();
    tally.note("rows of the audit for wrong logins", (rows > 20).then(|| format!("{rows} rows")));
    assert!(rows > 0, "some are told");
    for (attack, junk) in [
        ("cookies of our name that look good", format!("{name}={}; ", "0".repeat(64)).repeat(179)),
        ("cookies of our name that are empty", format!("{name}=; ").repeat(179)),
        ("cookies that are as long as can be", format!("{name}={}; ", "f".repeat(4_000)).repeat(179)),
        ("cookies that only begin like ours", format!("{name}0={}; ", "0".repeat(64)).repeat(179)),
    ] {
        let page =
            client.get(format!("{}/api/v1/pods", yoi.console_url())).header(header::COOKIE, format!("{junk}{cookie}"));
        let status = page.send().await.unwrap().status().as_u16();
        tally.note(attack, (status != 200).then(|| format!("the right one was answered with {status}")));
    }
    tally.finish(5);
}
