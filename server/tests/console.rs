//! The frame of the console in real Chromium: palette, keys, several Pods at once, the count in the title,
//! notifications outside the page, and the theme.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn state(yoi: &YoiProcess, pod: &Value) -> String {
    let detail = yoi.get(&pod_path(pod)).await.expect(200);
    detail["summary"]["state"].as_str().or(detail["state"].as_str()).unwrap().to_owned()
}

/// Focuses a Pod's row in the list on the left.
async fn focus_row(browser: &Browser, pod: &Value) {
    let worker_id = pod["pod"]["worker_id"].as_str().unwrap();
    browser.find(&format!("aside.pods a[href*='{worker_id}']")).await;
    browser.eval(&format!("document.querySelector(\"aside.pods a[href*='{worker_id}']\").focus()")).await;
}

async fn palette(browser: &Browser) {
    browser.chord(Key::Control, 'k').await;
    browser.wait_focus("palette-field").await;
}

#[tokio::test]
async fn browser_the_palette_opens_pods_and_pages_runs_commands_and_gives_the_focus_back() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, _bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let browser = Browser::open_pod(&yoi, &ada).await;

    // From the composer, and back to it with the draft intact.
    let composer = browser.field("Message").await;
    composer.click().await.unwrap();
    browser.keys("half a thought").await;
    palette(&browser).await;
    browser.keys("zzzz").await;
    browser.wait_text("dialog[open]", "No matches").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.wait_focus("message").await;
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("half a thought"));

    // To a Pod, to a page.
    palette(&browser).await;
    browser.keys("bob").await;
    browser.wait_text("#palette-list [aria-selected=true]", "bob").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "bob").await;
    browser.wait_no_dialog().await;
    browser.shortcut("").await;
    palette(&browser).await;
    browser.keys("usage").await;
    browser.wait_text("#palette-list [aria-selected=true]", "Usage").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "Usage").await;
    browser.wait_no_dialog().await;

    // A command on the current Pod; one that is not possible stays in the list with its reason.
    browser.goto_pod(&yoi, &ada).await;
    palette(&browser).await;
    browser.keys(":res").await;
    browser.wait_text("#palette-list [aria-disabled=true]", ":restore").await;
    browser.keys(Key::Backspace + "").await;
    browser.keys("name carol").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "carol").await;
    browser.wait_no_dialog().await;
    // The same keys close it.
    palette(&browser).await;
    browser.chord(Key::Control, 'k').await;
    browser.wait_no_dialog().await;
    browser.no_errors().await;
    browser.quit().await;
}

/// The code for this part of the page arrives only once `letGo` is called, and until then the page's clock stands
/// still, so that keys waiting with a timeout of ten seconds keep waiting.
async fn slow(browser: &Browser, part: &str) {
    let script = format!(
        "const fetched = window.fetch, clock = performance.now.bind(performance), stopped = clock(); \
         let behind; \
         performance.now = () => behind === undefined ? stopped : clock() - behind; \
         window.letGo = undefined; \
         window.fetch = async (...what) => {{ \
             if (String(what[0].url ?? what[0]).includes('{part}')) {{ \
                 await new Promise(go => window.letGo = go); \
                 behind ??= clock() - stopped; \
             }} \
             return fetched(...what); \
         }}; \
         return true;"
    );
    browser.wait_script(&script).await;
}

#[tokio::test]
async fn browser_what_is_typed_for_a_dialog_that_is_still_being_fetched_goes_nowhere_else() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, _bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let browser = Browser::open_pod(&yoi, &ada).await;
    slow(&browser, "dialog_view").await;
    let composer = browser.field("Message").await;
    composer.click().await.unwrap();
    browser.keys("half").await;

    // Escape discards it, together with what was typed for it.
    browser.chord(Key::Control, 'k').await;
    browser.wait_script("return !!window.letGo").await;
    browser.keys("ax").await;
    browser.keys(Key::Escape + "").await;
    browser.keys(" a thought").await;

    // No letter acts as a shortcut or becomes part of the message, and Enter does not send it.
    browser.chord(Key::Control, 'k').await;
    browser.keys("bax").await;
    browser.keys(Key::Backspace + Key::Backspace + "ob").await;
    browser.keys(Key::Enter + "").await;
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("half a thought"));
    browser.wait_script("window.letGo(); return true").await;
    browser.wait_text("main h1", "bob").await;
    browser.wait_no_dialog().await;
    let page = yoi.get(&format!("{}/transcript", pod_path(&ada))).await.expect(200);
    assert!(!page.to_string().contains("user_message"), "{page}");
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_who_clicks_into_another_field_gives_up_what_is_still_being_fetched() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &ada).await;
    slow(&browser, "dialog_view").await;
    browser.chord(Key::Control, 'k').await;
    browser.wait_script("return !!window.letGo").await;
    browser.keys("ax").await;
    let composer = browser.field("Message").await;
    composer.click().await.unwrap();
    browser.keys("a thought").await;
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("a thought"));
    browser.wait_script("window.letGo(); return true").await;
    browser.keys(" more").await;
    assert!(browser.is_absent("dialog[open]").await);
    assert_eq!(composer.value().await.unwrap().as_deref(), Some("a thought more"));

    // A page that arrives after the click leaves the focus where it is.
    slow(&browser, "page_view").await;
    browser.shortcut("gs").await;
    browser.wait_script("return !!window.letGo").await;
    browser.keys("zz").await;
    let filter = browser.find("#filter").await;
    filter.click().await.unwrap();
    browser.keys("ad").await;
    browser.wait_script("window.letGo(); return true").await;
    browser.wait_text("main h1", "Search").await;
    browser.keys("a").await;
    assert_eq!(filter.value().await.unwrap().as_deref(), Some("ada"));
    assert_eq!(browser.find("#search").await.value().await.unwrap().as_deref(), Some(""));
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_is_typed_for_a_page_that_begins_in_a_field_waits_for_the_field() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, "say a needle").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.wait_text("main .log", "a needle").await;
    slow(&browser, "page_view").await;
    browser.shortcut("gs").await;
    browser.wait_script("return !!window.letGo").await;
    // No letter acts as a shortcut: `n` would open a dialog, `x` select the Pod.
    browser.keys("nx").await;
    browser.keys(Key::Backspace + "eedle").await;
    assert!(browser.is_absent("dialog[open]").await);
    browser.wait_script("window.letGo(); return true").await;
    browser.wait_focus("search").await;
    assert_eq!(browser.find("#search").await.value().await.unwrap().as_deref(), Some("needle"));
    browser.wait_text("main mark", "needle").await;
    assert!(browser.is_absent(".is-selected").await);

    // Outside the field, letters are shortcuts again; the same keys lead back into it, also if it already has the
    // focus.
    browser.keys(Key::Escape + "").await;
    browser.keys("gu").await;
    browser.wait_text("main h1", "Usage").await;
    for _ in 0..2 {
        browser.keys("gs").await;
        browser.wait_focus("search").await;
        browser.keys(Key::Escape + "").await;
    }
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_several_pods_are_stopped_at_once_and_an_undo_brings_them_back() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob, eve) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await, yoi.new_pod("eve").await);
    let browser = Browser::open_pod(&yoi, &ada).await;
    focus_row(&browser, &eve).await;
    browser.chord(Key::Control, 'a').await;
    browser.wait_text("aside .selection", "3 selected").await;
    browser.hold_time(5_000).await;
    browser.press("aside .selection button[title^=Archive]").await;
    browser.wait_text(".notices", "Archived 3 Pods. Undo brings them back.").await;
    browser.wait_held().await;
    for pod in [&ada, &bob, &eve] {
        assert_eq!(state(&yoi, pod).await, "stopped", "the queue is empty");
    }
    browser.keys(Key::Escape + "").await;
    browser.shortcut("u").await;
    browser.wait_text(".notices", "3 Pods are back").await;
    for pod in [&ada, &bob, &eve] {
        assert_eq!(state(&yoi, pod).await, "idle");
    }
    browser.wait_until("nothing is selected", async |browser| browser.is_absent(".selection").await).await;
    browser.let_time_pass().await;

    // One that nobody restores in time stays stopped.
    focus_row(&browser, &eve).await;
    browser.keys("x").await;
    browser.wait_text("aside .selection", "1 selected").await;
    browser.press("aside .selection button[title^=Archive]").await;
    browser.wait_text(".notices", "Archived eve. Undo brings it back.").await;
    browser.wait_held().await;
    assert_eq!(state(&yoi, &eve).await, "stopped");
    browser.let_time_pass().await;
    let told = async || browser.texts(".notices").await.concat();
    browser.wait_until("the notice is gone", async |_| !told().await.contains("Archived eve")).await;
    browser.wait_text("aside.pods", "Stopped").await;
    assert_eq!((state(&yoi, &ada).await, state(&yoi, &bob).await), ("idle".into(), "idle".into()));

    // With Shift and an arrow key, a second one is selected too.
    browser.keys(Key::Escape + "").await;
    focus_row(&browser, &ada).await;
    browser.chord(Key::Shift, Key::Down).await;
    browser.wait_text("aside .selection", "2 selected").await;
    browser.no_errors().await;
    browser.quit().await;
}

/// A click with Shift held, as with a hand.
async fn shift_click(browser: &Browser, css: &str) {
    let element = browser.find(css).await;
    let click = browser.driver.action_chain().key_down(Key::Shift).click_element(&element).key_up(Key::Shift);
    click.perform().await.unwrap();
}

#[tokio::test]
async fn browser_a_click_with_shift_selects_all_rows_up_to_there_and_opens_none() {
    let yoi = YoiProcess::start(YOI).await;
    let mut pods = Vec::new();
    for name in ["ada", "bob", "cat", "dan", "eve"] {
        pods.push(yoi.new_pod(name).await);
    }
    let row = |pod: &Value| format!("[data-row][href*='{}']", pod["pod"]["worker_id"].as_str().unwrap());
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_page(&yoi, "/?view=table").await;
    let chosen = "return [...document.querySelectorAll('main tr.is-selected th a')].map(a => a.textContent)";

    // In the table: from the ticked box to the clicked row.
    browser.press("main input[aria-label='Select bob']").await;
    browser.wait_text("main .selection", "1 selected").await;
    shift_click(&browser, &format!("main {}", row(&pods[3]))).await;
    browser.wait_text("main .selection", "3 selected").await;
    assert_eq!(browser.eval(chosen).await, json!(["bob", "cat", "dan"]));
    // The other way, it extends from the same box.
    shift_click(&browser, &format!("main {}", row(&pods[0]))).await;
    browser.wait_text("main .selection", "4 selected").await;
    assert_eq!(browser.eval(chosen).await, json!(["ada", "bob", "cat", "dan"]));
    browser.wait_text("main h1", "Pods").await;
    assert!(!browser.url().await.contains("/pods/"), "no Pod was opened");
    // By keyboard: the row keeps the focus while the bar comes, even where its code is fetched only now.
    browser.keys(Key::Escape + "").await;
    browser.reload().await;
    browser.wait_live().await;
    browser.eval(&format!("document.querySelector(\"main {}\").focus()", row(&pods[1]))).await;
    browser.keys("x").await;
    browser.wait_text("main .selection", "1 selected").await;
    browser.keys("jx").await;
    browser.wait_text("main .selection", "2 selected").await;
    browser.chord(Key::Shift, Key::Down).await;
    browser.chord(Key::Shift, Key::Down).await;
    browser.wait_text("main .selection", "4 selected").await;
    assert_eq!(browser.eval(chosen).await, json!(["bob", "cat", "dan", "eve"]));
    browser.keys(Key::Escape + "").await;
    // Without Shift, a click opens the Pod.
    browser.press(&format!("main {}", row(&pods[4]))).await;
    browser.wait_text("main h1", "eve").await;
    browser.no_errors().await;
    browser.quit().await;
}

/// Records what the page shows outside of itself, and makes it think that nobody is looking at it.
const WATCH_NOTICES: &str = "window.told = []; const Real = window.Notification; \
    window.Notification = class extends Real { constructor(words, options) { super(words, options); told.push([words, this]); } }; \
    document.hasFocus = () => window.looksAtIt === true; return Real.permission";

#[tokio::test]
async fn browser_notices_outside_of_the_page_tell_what_was_chosen_while_nobody_looks() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let browser = Browser::open(&yoi, 1440, 900).await;
    let granted = json!({ "origin": yoi.console_url(), "permissions": ["notifications"] });
    browser.devtools("Browser.grantPermissions", granted).await;
    browser.goto_page(&yoi, "/settings").await;
    for title in ["A Pod asks for permission", "A Pod has finished its work"] {
        browser.field(title).await.click().await.unwrap();
    }
    browser.button("Show an example").await;
    assert_eq!(browser.eval(WATCH_NOTICES).await, json!("granted"));
    let told = "return window.told.map(([words]) => words)";

    // The title counts in any case; a notification is shown once, and again only for something else.
    let write = format!("call Write {}", json!({ "path": "a.txt", "content": "x" }));
    yoi.say(&ada, &write).await;
    browser.wait_script("return document.title === 'Settings · (1) yoi'").await;
    browser.wait_script("return window.told.length === 1").await;
    yoi.say(&bob, &write).await;
    browser.wait_script("return document.title === 'Settings · (2) yoi' && window.told.length === 2").await;
    assert_eq!(browser.eval(told).await, json!(["ada asks for permission", "bob asks for permission"]));

    // What was not chosen is not notified, nor is what happens while the page is in view.
    let eve = yoi.new_pod("eve").await;
    yoi.say(&eve, "fail 401").await;
    browser.wait_script("return document.title === 'Settings · (3) yoi'").await;
    browser.eval("window.looksAtIt = true").await;
    let dan = yoi.new_pod("dan").await;
    yoi.say(&dan, &write).await;
    browser.wait_script("return document.title === 'Settings · (4) yoi'").await;
    let asked = yoi.get(&format!("{}/approvals", pod_path(&dan))).await.expect(200);
    let answer = format!("{}/approvals/{}", pod_path(&dan), asked["items"][0]["id"].as_str().unwrap());
    yoi.post(&answer, &json!({ "decision": "deny" })).await.expect(200);
    browser.wait_script("return document.title === 'Settings · (3) yoi'").await;
    browser
        .wait_until("dan has finished", async |browser| {
            let rows = browser.texts("aside.pods").await.concat();
            rows.contains("dan") && !rows.contains("Working")
        })
        .await;
    browser.eval("window.looksAtIt = false").await;
    yoi.say(&dan, "wait 5\nsay done again").await;
    browser
        .wait_until("dan works", async |browser| browser.texts("aside.pods").await.concat().contains("Working"))
        .await;
    browser.wait_script("return window.told.length === 3").await;
    assert_eq!(browser.eval(told).await[2], json!("dan has finished"));

    // It leads to its Pod.
    browser.eval("window.told[0][1].onclick()").await;
    browser.wait_text("main h1", "ada").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_every_page_is_two_keys_away_and_the_help_lists_them() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    let pages = [
        ("gs", "Search"),
        ("gu", "Usage"),
        ("gl", "Audit"),
        ("g,", "Settings"),
        ("gm", "Map"),
        ("ga", "Approvals"),
        ("gp", "Nothing needs you"),
    ];
    for (keys, title) in pages {
        browser.shortcut(keys).await;
        browser.wait_text("main h1", title).await;
        let is_titled = format!("return document.title.startsWith('{title}') || '{title}' === 'Nothing needs you'");
        browser.wait_script(&is_titled).await;
        browser.wait_script("return document.querySelectorAll('main').length === 1").await;
        // Otherwise it would get the focus after the Escape that leaves it.
        if title == "Search" {
            browser.wait_focus("search").await;
        }
    }
    browser.shortcut("?").await;
    browser.wait_dialog("Keys and commands").await;
    let help = browser.texts("dialog[open]").await.join("\n");
    for word in ["g s", "g u", "g l", "g ,", "Ctrl-K", ":compact", ":export"] {
        assert!(help.contains(word), "{word} is not in the help:\n{help}");
    }
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_title_counts_who_needs_a_person_and_the_theme_stays_over_a_reload() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.wait_script("return document.title === 'yoi'").await;
    yoi.say(&ada, &format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    browser.wait_script("return document.title.includes('(1) yoi')").await;
    browser.wait_text("main h1", "One thing needs you").await;
    browser.shortcut("ga").await;
    browser.wait_text("main", "1 approval pending").await;
    browser.wait_script("return document.title === 'Approvals · (1) yoi'").await;
    browser.press("main article[data-question] button.primary").await;
    browser.wait_script("return document.title === 'Approvals · yoi'").await;

    let colour = "return getComputedStyle(document.body).backgroundColor";
    let before = browser.eval(colour).await;
    browser.press("#more-pages summary").await;
    browser.press_button("Light or dark").await;
    browser.wait_until("the colours have changed", async |browser| browser.eval(colour).await != before).await;
    let chosen = browser.eval(colour).await;
    browser.reload().await;
    assert_eq!(browser.eval(colour).await, chosen, "before any script of ours has run");
    browser.wait_live().await;
    browser.shortcut("g,").await;
    browser.wait_text("main h1", "Settings").await;
    browser.wait_script("return document.querySelector('fieldset input[name=theme]:checked').parentElement.textContent.trim() === 'Dark'").await;
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_no_state_is_cut_in_the_table_in_a_window_of_any_width() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("migrator").await;
    yoi.say(&pod, &format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_page(&yoi, "/?view=table").await;
    browser.wait_text(".cell-state", "waiting").await;
    for width in [1440, 1101, 1000, 901, 801, 721, 360] {
        browser.set_viewport(width, 900).await;
        let is_whole = format!(
            "const cell = document.querySelector('.cell-state'), name = document.querySelector('.pods-table tbody th'); \
             return innerWidth === {width} && cell.scrollWidth <= cell.clientWidth && name.scrollWidth <= name.clientWidth"
        );
        browser.wait_script(&is_whole).await;
    }
    browser.no_errors().await;
    browser.quit().await;
}
