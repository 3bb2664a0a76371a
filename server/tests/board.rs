//! The board in real Chromium: what needs you is answered on the spot, nothing below it moves, and what each Pod did is
//! told in its own words.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    repository::repository,
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn until_status(yoi: &YoiProcess, pod: &Value, state: &str) {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    let is_it = |record: &Value| record["event"]["kind"] == "status" && record["event"]["state"] == state;
    socket.records_until("a", is_it).await;
    socket.close().await;
}

#[tokio::test]
async fn browser_what_needs_you_is_answered_on_the_board_and_nothing_below_it_moves() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, old) = (yoi.new_pod("ada").await, yoi.new_pod("old").await);
    yoi.new_pod("quiet").await;
    yoi.say(&ada, "say First words.\nsay \nsay **All** tests pass. One file is left.").await;
    until_status(&yoi, &ada, "idle").await;
    yoi.say(&ada, &format!("call Write {}", json!({ "path": "a.txt", "content": "one\ntwo\n" }))).await;
    until_status(&yoi, &ada, "waiting").await;
    yoi.say(&old, "fail 401").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.wait_text("main h1", "Two things need you.").await;
    browser.wait_text(".since .pod-row", "All tests pass. One file is left.").await;
    browser.wait_text(".need .failed-card", "401").await;
    browser.wait_script("return !document.querySelector('aside.pods').checkVisibility()").await;

    // Live cards take the place of those that the server has drawn.
    let place = "return document.getElementById('since').getBoundingClientRect().top";
    browser.wait_script("return !document.getElementById('cards')").await;
    let before = browser.eval(place).await;
    browser.press(".need button[data-answer=a]").await;
    let file = yoi.launch().work_dir().join("a.txt");
    browser.wait_until("the file is there", async |_| file.exists()).await;
    browser.wait_text(".need.is-answered", "allowed by you").await;
    browser.wait_text("main h1", "One thing needs you.").await;
    assert_eq!(browser.eval(place).await, before, "nothing below it moves");

    // Retry fails again: its card says so, and there is no other.
    browser.press(".failed-card button[aria-label='Retry old']").await;
    browser
        .wait_until("it has failed twice", async |_| {
            let page = yoi.get(&format!("{}/transcript", pod_path(&old))).await.expect(200);
            page.to_string().matches("\"outcome\":\"error\"").count() == 2
        })
        .await;
    browser.wait_text(".need .failed-card", "Failed again: ").await;
    assert_eq!(browser.eval("return document.querySelectorAll('.failed-card').length").await, 1);

    // By keyboard: a row has the focus and keeps it while the rows change.
    browser.shortcut("j").await;
    browser.wait_script("return document.activeElement.matches('.since [data-row]')").await;
    yoi.say(&ada, "say New words.").await;
    browser.wait_text(".since .pod-row", "New words.").await;
    browser.wait_script("return document.activeElement.matches('.since [data-row]')").await;

    browser.press_link("Table").await;
    browser.wait_text(".pods-table", "quiet").await;
    browser.press_link("Board").await;
    browser.wait_text(".since", "Since you last looked").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_the_board_has_your_time_what_budgets_leave_and_the_lines_that_changed() {
    let launch = Launch::new(YOI);
    let work = launch.work_dir().canonicalize().unwrap();
    let repository = repository(&work, "orchard", &[("a.txt", "one\ntwo\n")]);
    let yoi = launch.start().await;
    let body = json!({ "name": "ada", "provider": "rehearsal", "model": "rehearsal", "cwd": repository,
        "worktree": true, "budget": { "cost": 5, "per": "day" } });
    let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
    let call = json!({ "arguments": { "command": "sed -i /two/d a.txt && printf '1\\n2\\n3\\n' > b.txt" } });
    let done = yoi.post(&format!("{}/tools/Bash", pod_path(&pod)), &call).await.expect(200);
    assert_eq!(done["is_error"], false, "{done}");

    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.emulate_zone("Asia/Kathmandu").await;
    browser.goto_page(&yoi, "/").await;
    let since = "const at = new Date(Number(/yoi-looked=([0-9]+)/.exec(document.cookie)[1])); \
        return `Since ${at.getHours()}:${String(at.getMinutes()).padStart(2, '0')}`";
    let since = browser.eval(since).await;
    browser.wait_text(".lede", since.as_str().unwrap()).await;
    browser.wait_text("#cost", "of $5.00 · resets at 5:45").await;
    browser.wait_text(".pod-row .branch", "+3 −1").await;
    browser.no_errors().await;
    browser.quit().await;
}
