//! What the other pages of the console do in real Chromium: find, search, usage, audit, settings, print, export.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::{Browser, console::page_of},
    scripted_model::ScriptedModel,
    yoi::{Launch, YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The text of the first open element with these words; none while it is closed or out of view.
async fn wait_in_sight(browser: &Browser, css: &str, words: &str) {
    let script = format!(
        "const log = document.getElementById('log').getBoundingClientRect(); \
         return [...document.querySelectorAll('{css}')].some(e => {{ const r = e.getBoundingClientRect(); \
         return e.checkVisibility() && e.innerText.includes('{words}') && r.bottom > log.top && r.top < log.bottom; }})"
    );
    browser.wait_script(&script).await;
}

/// A Pod that has read a file of many lines, one of which has the word, and then said more than fits on a screen.
async fn with_hidden_needle(yoi: &YoiProcess) -> Value {
    let lines: Vec<String> =
        (1..=120).map(|n| if n == 90 { "the needle".to_owned() } else { format!("hay {n}") }).collect();
    std::fs::write(yoi.launch().work_dir().join("hay.txt"), lines.join("\n")).unwrap();
    let pod = yoi.new_pod("ada").await;
    yoi.run(&pod, &format!("call Read {}\nsay that was hay", json!({ "path": "hay.txt" }))).await;
    for number in 0..8 {
        yoi.run(&pod, &format!("stream 300 at 0\nsay end of {number}")).await;
    }
    pod
}

#[tokio::test]
async fn browser_find_counts_the_places_and_opens_a_collapsed_one() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_hidden_needle(&yoi).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.shortcut("/").await;
    browser.wait_focus("find-words").await;
    // Counted while typing; the page does not scroll until Enter.
    browser.keys("needle").await;
    browser.wait_text(".find-told", "in 1 block").await;
    assert!(!browser.url().await.contains("find="));
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".find-told", "1 of 1").await;
    wait_in_sight(&browser, "#log-drawn pre", "the needle").await;
    browser
        .wait_script("return document.querySelector('.is-found') !== null && location.search.includes('find=needle')")
        .await;
    browser.wait_script("return [...CSS.highlights.get('found')].some((range) => range.toString() === 'needle')").await;
    // Other words: the newest place first, then wrapping around.
    browser.shortcut("/").await;
    browser.wait_focus("find-words").await;
    browser.chord(Key::Control, 'a').await;
    browser.keys("end of").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".find-told", " of 16").await;
    let first = browser.texts(".find-told").await.concat();
    browser.keys(Key::Enter + "").await;
    browser.wait_until("it went on", async |browser| browser.texts(".find-told").await.concat() != first).await;
    browser.wait_focus("find-words").await;
    let second = browser.texts(".find-told").await.concat();
    browser.press("#find-next").await;
    browser.wait_until("it went on", async |browser| browser.texts(".find-told").await.concat() != second).await;
    browser.keys(Key::Escape + "").await;
    browser.wait_script("return !location.search.includes('find') && document.activeElement.id === 'log'").await;
    browser.wait_script("return !CSS.highlights.has('found')").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_search_looks_while_one_types_and_a_link_opens_the_place() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_hidden_needle(&yoi).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.shortcut("gs").await;
    browser.wait_focus("search").await;
    browser.keys("need").await;
    browser.wait_text("main [role=status]", "1 match in 1 Pod.").await;
    browser.wait_script("return location.search === '?q=need'").await;
    browser.keys("le zebra").await;
    browser.wait_text("main [role=status]", "No matches.").await;
    for _ in 0.." zebra".len() {
        browser.keys(Key::Backspace + "").await;
    }
    browser.wait_text("main .hit mark", "needle").await;
    browser.wait_script("return location.search === '?q=needle'").await;
    browser.keys(Key::Down + "").await;
    browser.wait_script("return document.activeElement.hasAttribute('data-hit')").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "ada").await;
    wait_in_sight(&browser, "#log-drawn pre", "the needle").await;
    // The same address, reloaded.
    assert!(browser.url().await.starts_with(&page_of(&yoi, &pod)));
    browser.reload().await;
    browser.wait_live().await;
    wait_in_sight(&browser, "#log-drawn pre", "the needle").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_usage_has_figures_after_a_run_and_the_audit_names_who_did_what() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.shortcut("gu").await;
    browser.wait_text("main", "No tokens used yet").await;
    yoi.run(&pod, "say some words that cost something").await;
    browser.wait_text(".usage-figures", "tokens").await;
    browser.wait_text("main .usage-table", "ada").await;
    browser.wait_script("return document.querySelector('main svg') !== null").await;
    browser.shortcut("gl").await;
    browser.wait_text("main .audit-table", "input").await;
    let rows = browser.texts("main .audit-table tbody tr").await;
    let has = |action: &str| rows.iter().any(|row| row.contains(action) && row.contains("ada") && row.contains("done"));
    assert!(has("input") && has("pod create"), "{rows:#?}");
    browser.field("Action").await.send_keys("pod create").await.unwrap();
    browser.press_button("Show").await;
    browser.wait_script("return location.search.includes('action=pod_create')").await;
    browser
        .wait_until("only these rows are there", async |browser| {
            let rows = browser.texts("main .audit-table tbody tr").await;
            !rows.is_empty() && rows.iter().all(|row| row.contains("pod create"))
        })
        .await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_an_answer_in_the_page_is_in_the_audit_with_what_it_was_about() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, r#"call Bash {"command":"ls -l"}"#).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_page(&yoi, "/approvals").await;
    browser.press("main .answers .primary").await;
    browser
        .wait_until("it is answered", async |_| {
            !yoi.get(&pod_path(&pod)).await.expect(200)["needs_you"].as_bool().unwrap()
        })
        .await;
    browser.goto(&format!("{}/audit?action=approve", yoi.console_url())).await;
    browser.wait_text("main .audit-table .audit-about", "allowed Bash: ls -l").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_settings_test_a_provider_in_place_and_sign_another_browser_out() {
    let model = ScriptedModel::start().await;
    let yoi = Launch::new(YOI).env("OPENAI_API_KEY", "k").env("OPENAI_BASE_URL", &model.base_url()).start().await;
    yoi.new_pod("ada").await;
    let (one, other) = tokio::join!(Browser::open(&yoi, 1440, 900), Browser::open(&yoi, 1440, 900));
    one.shortcut("g,").await;
    one.wait_text("main h1", "Settings").await;
    one.press_button("Test openai").await;
    one.wait_text("main .provider-test", "works: answered in").await;
    drop(model);
    one.press_button("Test openai").await;
    one.wait_text("main .provider-test", "unreachable").await;

    one.wait_text("#sessions", "this one").await;
    one.press_button("Sign out all others").await;
    one.wait_text("#sessions", "No other browser is logged in.").await;
    other.wait_until("it is led to the login", async |browser| browser.url().await.contains("/login")).await;
    other.field("Token").await;
    assert!(!one.url().await.contains("/login"));
    one.no_errors().await;
    one.quit().await;
    other.quit().await;
}

#[tokio::test]
async fn browser_a_transcript_prints_without_a_script_and_is_saved_as_a_file() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_hidden_needle(&yoi).await;
    let plain = Browser::start_without_javascript(1000, 800).await;
    plain.goto(&yoi.login_url()).await;
    plain.goto(&format!("{}/print", page_of(&yoi, &pod))).await;
    plain.wait_text("main h1", "ada").await;
    plain.wait_text("main", "the needle").await;
    plain.wait_text("main", "end of 7").await;
    let source = plain.driver.source().await.unwrap();
    assert!(!source.contains("<script src") && !source.contains("import init") && !source.contains(".wasm"));
    plain.quit().await;

    let browser = Browser::open_pod(&yoi, &pod).await;
    let folder = tempfile::tempdir().unwrap();
    let download = json!({ "behavior": "allow", "downloadPath": folder.path() });
    browser.devtools("Page.setDownloadBehavior", download).await;
    browser.press("main .head summary[aria-label=More]").await;
    browser.press_link("Export Markdown").await;
    let file = folder.path().join("ada.md");
    browser.wait_until("the file is there", async |_| file.exists()).await;
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# ada\n"));
    // The page is still there, and so is the link to all of it.
    browser.wait_text("main h1", "ada").await;
    browser.find("main .head summary[aria-label=More]").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_a_pods_page_on_paper_has_whole_outputs_and_nothing_to_press() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, &format!("call Bash {}", json!({ "command": "seq 40" }))).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.press("main article[data-question] button.primary").await;
    browser.wait_text("main .log", "completed").await;
    browser.wait_text("main .output", "35 lines above").await;
    browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" })).await;
    let is_whole = "const pre = document.querySelector('.above pre'); return pre.getBoundingClientRect().height > 500";
    browser.wait_script(is_whole).await;
    let pressed = "return [...document.querySelectorAll('.frame :is(button, .button, .back)')] \
        .filter(it => it.checkVisibility({ visibilityProperty: true })).map(it => it.outerHTML)";
    assert_eq!(browser.eval(pressed).await, json!([]));
    browser.no_errors().await;
    browser.quit().await;
}
