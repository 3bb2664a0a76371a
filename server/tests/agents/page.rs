//! An agent in the page, in real Chromium: at a desk and on a phone.

use serde_json::{Value, json};
use testkit::{browser::Browser, yoi::pod_path};
use thirtyfour::Key;

use crate::house::House;

const CARD: &str = "aside.inspect section[aria-label='Agent']";

/// Keeps a screenshot where `YOI_SHOTS` names a folder.
async fn shot(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("YOI_SHOTS") {
        browser.screenshot(&std::path::Path::new(&folder).join(format!("{name}.png"))).await;
    }
}

async fn say(browser: &Browser, text: &str) {
    browser.press("#message").await;
    browser.keys(text.to_owned() + Key::Enter).await;
}

/// Creates a Pod in the dialog, with the agent that it offers.
async fn made(browser: &Browser, house: &House) -> Value {
    browser.wait_live().await;
    browser.keys("n").await;
    browser.wait_focus("new-pod-name").await;
    browser.keys("ada").await;
    browser.press("#new-pod summary").await;
    browser.find("#new-pod-model").await;
    browser.press("#new-pod-agent option[value='scripted']").await;
    browser.wait_until("no model is asked for", async |browser| browser.is_absent("#new-pod-model").await).await;
    shot(browser, "new-pod").await;
    browser.press("#new-pod button[type='submit']").await;
    browser.wait_text("main h1", "ada").await;
    let pods = house.yoi.get("/api/v1/pods?name=ada").await.expect(200);
    pods["items"][0].clone()
}

async fn mode_shown(browser: &Browser, mode: &str) {
    browser.wait_script(&format!("return document.querySelector(\"{CARD} select\")?.value === '{mode}'")).await;
}

async fn is_within_the_screen(browser: &Browser) {
    assert_eq!(browser.eval("return document.documentElement.scrollWidth <= innerWidth").await, json!(true));
}

#[tokio::test]
async fn browser_an_agent_is_chosen_answers_plans_and_is_led_from_the_page() {
    let house = House::open().await;
    let browser = Browser::open(&house.yoi, 1440, 900).await;
    let pod = made(&browser, &house).await;
    say(&browser, "hello").await;
    browser.wait_text("main .log", "You said: hello").await;
    browser.wait_text(CARD, "Scripted Agent 1.2.3").await;

    say(&browser, "plan").await;
    browser.wait_text(&format!("{CARD} ol[aria-label='Plan']"), "mend").await;
    browser.wait_text(".plan-line", "1 of 2 done, now: mend").await;

    // A person chooses a mode, and so does the agent.
    mode_shown(&browser, "ask").await;
    browser.press(&format!("{CARD} option[value='code']")).await;
    let is_code = async |_: &_| house.detail(&pod).await["session"]["mode"] == "code";
    browser.wait_until("the mode is the Pod's", is_code).await;
    say(&browser, "mode ask").await;
    mode_shown(&browser, "ask").await;
    say(&browser, ":mode co").await;
    mode_shown(&browser, "code").await;

    // The agent's commands are in the palette and after a slash.
    browser.chord(Key::Control, 'k').await;
    browser.wait_focus("palette-field").await;
    browser.keys("/rev").await;
    browser.wait_text("#palette-list", "/review what").await;
    shot(&browser, "palette").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_focus("message").await;
    browser.wait_script("return document.getElementById('message').value === '/review '").await;
    browser.keys("all of it".to_owned() + Key::Enter).await;
    browser.wait_text("main .log", "You said: /review all of it").await;
    browser.keys("/re").await;
    browser.wait_text("#commands", "Looks at the changes").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_script("return document.getElementById('message').value === '/review '").await;
    browser.chord(Key::Control, 'a').await;
    browser.keys(Key::Delete + "").await;
    browser.wait_script("return document.getElementById('message').value === ''").await;

    // Its own options are the answers to its question.
    say(&browser, "tool").await;
    browser.wait_text("[data-question]", "rm -rf all").await;
    browser.find("[data-option='always']").await;
    shot(&browser, "question").await;
    assert_eq!(browser.texts("[data-question] .answers .row button").await, ["Yes", "Always", "No"]);
    browser.press("[data-option='always']").await;
    browser.wait_text("main .log", "You chose always.").await;
    say(&browser, "diff a.txt").await;
    browser.wait_text("main .log .diff", "two").await;

    // What the agent has yoi run is shown while it runs.
    let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    house.yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    say(&browser, "terminal echo first; until [ -e go ]; do sleep 0.05; done; echo second").await;
    browser.wait_text("main .log .tool", "first").await;
    shot(&browser, "terminal").await;
    assert!(!browser.texts("main .log .tool").await.concat().contains("\nsecond"), "it still waits");
    std::fs::write(house.yoi.launch().work_dir().join("go"), "").unwrap();
    browser.wait_text("main .log", "exit 0: first").await;
    browser.wait_text("main .log .tool", "second").await;

    browser.press(&format!("{CARD} summary")).await;
    browser.wait_text(CARD, "It decides by itself what it asks you").await;
    browser.find(CARD).await.scroll_into_view().await.unwrap();
    shot(&browser, "card").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_an_agent_on_a_phone_fits_and_is_led_by_touch() {
    let house = House::open().await;
    let browser = Browser::open(&house.yoi, 360, 740).await;
    browser.emulate_touch().await;
    let pod = made(&browser, &house).await;
    say(&browser, "plan").await;
    browser.wait_text(".plan-line", "1 of 2 done, now: mend").await;
    say(&browser, "diff a.txt").await;
    browser.wait_text("main .log .diff", "two").await;
    say(&browser, "tool").await;
    browser.find("[data-option='no']").await;
    shot(&browser, "phone-question").await;
    is_within_the_screen(&browser).await;
    let too_small = "return [...document.querySelectorAll('[data-option]')].filter(b => b.getBoundingClientRect().height < 43.5).length";
    assert_eq!(browser.eval(too_small).await, json!(0), "each answer is large enough for a thumb");
    browser.press("[data-option='no']").await;
    browser.wait_text("main .log", "You chose no.").await;
    shot(&browser, "phone-log").await;

    let (runtime, worker) = (pod["pod"]["runtime_id"].as_str().unwrap(), pod["pod"]["worker_id"].as_str().unwrap());
    browser.goto_page(&house.yoi, &format!("/pods/{runtime}/{worker}?pane=details")).await;
    browser.wait_text(CARD, "Scripted Agent 1.2.3").await;
    browser.wait_text(&format!("{CARD} ol[aria-label='Plan']"), "mend").await;
    browser.press(&format!("{CARD} option[value='code']")).await;
    let is_code = async |_: &_| house.detail(&pod).await["session"]["mode"] == "code";
    browser.wait_until("the mode is the Pod's", is_code).await;
    browser.press(&format!("{CARD} summary")).await;
    browser.wait_text(CARD, "It decides by itself what it asks you").await;
    browser.find(CARD).await.scroll_into_view().await.unwrap();
    shot(&browser, "phone-card").await;
    is_within_the_screen(&browser).await;
    browser.no_errors().await;
    browser.quit().await;
}
