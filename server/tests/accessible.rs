//! Every page and dialog under axe-core, in both themes, wide and narrow; and the main paths with the keyboard alone.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    axe::Axe,
    browser::{Browser, console::page_of},
    yoi::{YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The findings, by place and appearance; reported all at once.
#[derive(Debug, Default)]
struct Report(Vec<String>);

impl Report {
    /// Checks what is shown now, in light and dark, wide and narrow.
    async fn look(&mut self, axe: &Axe, browser: &Browser, place: &str) {
        for (width, is_dark) in [(1440, false), (1440, true), (360, true), (360, false)] {
            browser.set_viewport(width, 900).await;
            browser.emulate_dark(is_dark).await;
            browser.wait_script(&format!("return innerWidth === {width}")).await;
            let theme = if is_dark { "dark" } else { "light" };
            for finding in axe.findings(browser).await.into_iter().filter(testkit::axe::Finding::is_serious) {
                let line =
                    format!("{place}, {theme}, {width} px: {} {}: {:#?}", finding.impact, finding.rule, finding.places);
                self.0.push(line);
            }
        }
        browser.set_viewport(1440, 900).await;
    }

    fn assert_none(self) {
        assert!(self.0.is_empty(), "{} findings\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Two peers, a child, a stopped Pod and one that asks; a transcript with every kind of block that is easy to produce.
async fn furnished(yoi: &YoiProcess) -> (Value, Value) {
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    std::fs::write(yoi.launch().work_dir().join("hay.txt"), "hay\n".repeat(60)).unwrap();
    yoi.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await.expect(201);
    yoi.post(&format!("{}/messages", pod_path(&ada)), &json!({ "to": "bob", "text": "say hello ada" }))
        .await
        .expect(202);
    let lines = [
        "think about it for a while".to_owned(),
        "say # A plan\nsay with `code`, **words** and [a link](https://example.org/).".to_owned(),
        "say ```rust\nsay fn main() { println!(\"hello\"); }\nsay ```".to_owned(),
        format!("call Read {}", json!({ "path": "hay.txt" })),
        format!("call Read {}", json!({ "path": "missing.txt" })),
        format!("call Write {}", json!({ "path": "a.txt", "content": "one\ntwo\n" })),
    ];
    yoi.say(&ada, &lines.join("\n")).await;
    let old = yoi.new_pod("old").await;
    yoi.say(&old, "fail 401").await;
    let gone = yoi.new_pod("gone").await;
    yoi.post(&format!("{}/stop", pod_path(&gone)), &json!({})).await;
    until_asked(yoi, &ada).await;
    (ada, bob)
}

async fn until_asked(yoi: &YoiProcess, pod: &Value) {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    let is_waiting = |record: &Value| record["event"]["kind"] == "status" && record["event"]["state"] == "waiting";
    socket.records_until("a", is_waiting).await;
    socket.close().await;
}

#[tokio::test]
async fn browser_no_page_has_a_serious_finding() {
    let yoi = YoiProcess::start(YOI).await;
    furnished(&yoi).await;
    let (axe, mut report) = (Axe::load().await, Report::default());
    let browser = Browser::open(&yoi, 1440, 900).await;
    for path in
        ["/", "/?view=table", "/map", "/approvals", "/audit", "/settings", "/search?q=hello", "/usage", "/nowhere"]
    {
        browser.goto_page(&yoi, path).await;
        browser.find("main h1").await;
        report.look(&axe, &browser, path).await;
    }
    report.assert_none();
    browser.quit().await;
}

/// What a screen reader says of every element on the page with one of these roles.
async fn heard(browser: &Browser, roles: &[&str]) -> Vec<String> {
    let tree = browser.devtools("Accessibility.getFullAXTree", json!({})).await;
    let nodes = tree["nodes"].as_array().unwrap().iter();
    let wanted = nodes.filter(|node| node["role"]["value"].as_str().is_some_and(|role| roles.contains(&role)));
    wanted.filter_map(|node| node["name"]["value"].as_str().map(str::to_owned)).collect()
}

/// `Approvals2`: two texts read out as one word. The names of the Pods here end in letters; a path may have any.
fn runs_on(name: &str) -> bool {
    let runs_on = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        letters.windows(2).any(|pair| pair[0].is_alphabetic() && pair[1].is_ascii_digit())
    };
    name.split_whitespace().filter(|word| !word.contains('/')).any(runs_on)
}

#[tokio::test]
async fn browser_every_figure_beside_a_name_is_heard_with_what_it_counts() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = furnished(&yoi).await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    let roles = ["link", "button", "heading", "rowheader", "columnheader", "tab", "DisclosureTriangle"];
    let pods = [page_of(&yoi, &ada), format!("{}?pane=details", page_of(&yoi, &bob))];
    let pages = ["/", "/map", "/approvals", "/audit", "/settings", "/search?q=hello", "/usage"];
    let pages = pages.map(|path| format!("{}{path}", yoi.console_url()));
    for (width, bar) in [(1440, "top"), (360, "bottom")] {
        browser.set_viewport(width, 900).await;
        for page in pods.iter().chain(&pages) {
            browser.goto(page).await;
            browser.wait_live().await;
            browser.find("main h1, .inspect h2").await;
            let names = heard(&browser, &roles).await;
            let heard = if bar == "top" { "Board, 2 waiting for you" } else { "Approvals, 1 waiting" };
            assert!(names.iter().any(|name| name == heard), "{bar} of {page}: {names:#?}");
            let run_on: Vec<_> = names.iter().filter(|name| runs_on(name)).collect();
            assert!(run_on.is_empty(), "{page} at {width} px: {run_on:#?}");
        }
    }
    browser.quit().await;
}

#[tokio::test]
async fn browser_no_page_about_a_pod_has_a_serious_finding() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = furnished(&yoi).await;
    let (axe, mut report) = (Axe::load().await, Report::default());
    let browser = Browser::open_pod(&yoi, &ada).await;
    browser.wait_text("main article", "asks for permission").await;
    report.look(&axe, &browser, "a Pod").await;
    browser.eval("document.querySelectorAll('main details').forEach(d => d.open = true)").await;
    report.look(&axe, &browser, "a Pod with everything open").await;
    let part = |name: &str| bob["pod"][name].as_str().unwrap().to_owned();
    let with = format!("{}/with/{}/{}", page_of(&yoi, &ada), part("runtime_id"), part("worker_id"));
    for (path, place) in [
        (format!("{}?pane=details", page_of(&yoi, &ada)), "the details of a Pod"),
        (format!("{}?find=hay", page_of(&yoi, &ada)), "finding in a Pod"),
        (page_of(&yoi, &bob), "a Pod that was written to"),
        (with, "an exchange"),
        (format!("{}/print", page_of(&yoi, &ada)), "a printed Pod"),
    ] {
        browser.goto(&path).await;
        browser.find("main h1").await;
        report.look(&axe, &browser, place).await;
    }
    report.assert_none();
    browser.quit().await;
}

#[tokio::test]
async fn browser_the_first_minute_and_the_login_have_no_serious_finding() {
    let yoi = YoiProcess::start(YOI).await;
    let (axe, mut report) = (Axe::load().await, Report::default());
    let browser = Browser::start(1440, 900).await;
    browser.goto(&format!("{}/login", yoi.console_url())).await;
    browser.field("Token").await;
    report.look(&axe, &browser, "the login").await;
    browser.goto(&yoi.login_url()).await;
    browser.wait_live().await;
    report.look(&axe, &browser, "the first minute").await;
    browser.press_button("New Pod").await;
    browser.wait_dialog("Name").await;
    report.look(&axe, &browser, "a new Pod").await;
    report.assert_none();
    browser.quit().await;
}

#[tokio::test]
async fn browser_no_dialog_has_a_serious_finding() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = furnished(&yoi).await;
    let (axe, mut report) = (Axe::load().await, Report::default());
    let browser = Browser::open_pod(&yoi, &bob).await;
    browser.wait_text("main .log .block-assistant", "hello ada").await;
    browser.wait_text("main .head", "idle").await;
    browser.send("say something that can be taken back").await;
    browser.wait_text("main .log .block-assistant", "something that can be taken back").await;
    browser.wait_text("main .head", "idle").await;
    for (keys, text) in [("?", "Keys and commands"), ("p", "Add a peer to bob")] {
        browser.shortcut(keys).await;
        browser.wait_dialog(text).await;
        report.look(&axe, &browser, text).await;
        browser.keys(Key::Escape + "").await;
        browser.wait_no_dialog().await;
    }
    browser.chord(Key::Control, 'k').await;
    browser.wait_focus("palette-field").await;
    report.look(&axe, &browser, "the palette").await;
    browser.keys(":").await;
    browser.wait_text("#palette-list", ":compact").await;
    report.look(&axe, &browser, "the palette with commands").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;
    browser.shortcut(":").await;
    browser.wait_text("#commands", ":compact").await;
    report.look(&axe, &browser, "the commands").await;
    browser.keys(Key::Escape + "").await;
    for (command, text) in [
        (":spawn kid", "Task"),
        (":compact", "summary"),
        (":rewind", "context"),
        (":help peer", "peer"),
        (":peer old", "will see each other"),
    ] {
        browser.shortcut(command).await;
        browser.keys(Key::Enter + "").await;
        browser.wait_dialog(text).await;
        report.look(&axe, &browser, command).await;
        browser.keys(Key::Escape + "").await;
        browser.wait_no_dialog().await;
    }
    for name in ["Rename…", "Delete…"] {
        browser.press("main .head summary[aria-label=More]").await;
        browser.press_button(name).await;
        browser.wait_dialog("bob").await;
        report.look(&axe, &browser, name).await;
        browser.keys(Key::Escape + "").await;
        browser.wait_no_dialog().await;
    }
    // A selection has its own bar.
    browser.goto_pod(&yoi, &ada).await;
    browser.shortcut("x").await;
    browser.wait_text(".selection", "1 selected").await;
    report.look(&axe, &browser, "a selection").await;
    report.assert_none();
    browser.quit().await;
}

#[tokio::test]
async fn browser_nothing_that_asks_before_it_acts_has_a_serious_finding() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = furnished(&yoi).await;
    let spawn = json!({ "arguments": { "name": "kid", "task": "say hello", "scope": [] } });
    yoi.post(&format!("{}/tools/SpawnPod", pod_path(&bob)), &spawn).await.expect(200);
    let (axe, mut report) = (Axe::load().await, Report::default());
    let browser = Browser::open_pod(&yoi, &ada).await;

    // An approval that is about to be denied with a reason.
    browser.find("article[data-question]").await;
    browser.press("article[data-question] .answers .row button:last-child").await;
    browser.find("main input[aria-label^=Reason]").await;
    report.look(&axe, &browser, "a denial").await;

    // A run that has just ended, with the way to undo it.
    browser.goto_pod(&yoi, &bob).await;
    browser.press("#pod-more-summary").await;
    browser.press_button("Archive").await;
    browser.wait_text(".notices", "Undo").await;
    report.look(&axe, &browser, "a stop that can be undone").await;
    browser.wait_text("main .head", "stopped").await;

    // A Pod with children is restored with or without them.
    for child in yoi.get("/api/v1/pods").await.expect(200)["items"].as_array().unwrap() {
        if child["name"] == "kid" && child["state"] != "stopped" {
            yoi.post(&format!("{}/stop", pod_path(child)), &json!({})).await;
        }
    }
    browser.press_button("Restore").await;
    browser.wait_dialog("with its children").await;
    report.look(&axe, &browser, "a restore").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("dialog[open]", "is live again").await;
    report.look(&axe, &browser, "what was restored").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;

    // The name has to be typed before anything is deleted; a wrong name is refused in the dialog.
    browser.press("main .head summary[aria-label=More]").await;
    browser.press_button("Delete…").await;
    browser.wait_dialog("bob").await;
    browser.keys("eve").await;
    browser.keys(Key::Enter + "").await;
    report.look(&axe, &browser, "a refused deletion").await;
    report.assert_none();
    browser.quit().await;
}

/// Asserts that the focused element is shown as focused and is in view.
async fn assert_focus_is_seen(browser: &Browser) {
    let seen = "const at = document.activeElement; if (at === document.body) return 'nothing has the focus'; \
        const shown = e => { const s = getComputedStyle(e); \
            return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none'; }; \
        const r = at.getBoundingClientRect(); const name = at.tagName + '#' + at.id + ' ' + (at.textContent || at.ariaLabel || '').slice(0, 40); \
        if (r.bottom <= 0 || r.top >= innerHeight || r.width === 0) return name + ' is out of sight'; \
        return shown(at) || shown(at.parentElement) ? '' : name + ' does not show its focus'";
    assert_eq!(browser.eval(seen).await, json!(""));
}

/// Presses Tab until the element of this selector has the focus; each stop on the way has to show it.
async fn tab_to(browser: &Browser, css: &str) {
    for _ in 0..60 {
        browser.keys(Key::Tab + "").await;
        assert_focus_is_seen(browser).await;
        if browser.eval(&format!("return document.activeElement.matches({})", json!(css))).await == true {
            return;
        }
    }
    panic!("sixty times Tab did not lead to {css}");
}

#[tokio::test]
async fn browser_the_main_path_is_walked_with_the_keyboard_alone() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("bob").await;
    let browser = Browser::open(&yoi, 1440, 900).await;

    // Create a Pod.
    browser.keys("n").await;
    browser.wait_dialog("Name").await;
    assert_focus_is_seen(&browser).await;
    browser.keys("ada").await;
    tab_to(&browser, "dialog[open] button[type=submit]").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "ada").await;
    browser.wait_no_dialog().await;

    // A message that makes it ask for an approval: the composer of a new Pod has the focus.
    browser.wait_focus("message").await;
    assert_focus_is_seen(&browser).await;
    browser.keys(format!("call Write {}", json!({ "path": "a.txt", "content": "x" }))).await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main article", "asks for permission").await;

    // Add a peer.
    browser.shortcut("p").await;
    browser.wait_dialog("Add a peer to ada").await;
    browser.wait_focus("peer-name").await;
    assert_focus_is_seen(&browser).await;
    browser.keys("bob").await;
    browser.wait_text("dialog[open]", "ada and bob will see each other").await;
    browser.keys(Key::Enter + "").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("dialog[open]", "ada and bob are peers now").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_no_dialog().await;

    // Answer its approval on the page of approvals.
    browser.shortcut("ga").await;
    browser.wait_text("main", "1 approval pending").await;
    browser.keys("a").await;
    browser.wait_script("return document.activeElement.dataset.question !== undefined").await;
    assert_focus_is_seen(&browser).await;
    tab_to(&browser, "article[data-question] button.primary").await;
    browser.keys(Key::Enter + "").await;
    let file = yoi.launch().work_dir().join("a.txt");
    browser.wait_until("the file is there", async |_| file.exists()).await;

    // Find the question by searching all transcripts, and open it in place.
    browser.shortcut("gs").await;
    browser.wait_focus("search").await;
    browser.keys("txt").await;
    browser.wait_script("return location.search === '?q=txt'").await;
    browser.wait_text("main", "matches in 1 Pod").await;
    browser.keys(Key::Down + "").await;
    browser.wait_script("return document.activeElement.dataset.hit !== undefined").await;
    assert_focus_is_seen(&browser).await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("main h1", "ada").await;
    browser.wait_script("return location.search.includes('at=')").await;

    // The settings, from the top with Tab.
    browser.shortcut("g,").await;
    browser.wait_text("main h1", "Settings").await;
    browser.wait_script("return document.querySelector('main button[aria-label^=Test]') !== null").await;
    browser.wait_focus("main").await;
    tab_to(&browser, "main button[aria-label^=Test]").await;
    browser.keys(" ").await;
    browser.wait_text("main .provider-test", "works").await;
    browser.no_errors().await;
    browser.quit().await;
}
