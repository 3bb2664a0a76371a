//! Creating a Pod as people do: the possible values are offered, in the page and in a terminal, and the defaults are
//! shown beside them.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    terminal::Terminal,
    yoi::{Launch, YoiProcess},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const CONFIG: &str = r#"
[profiles.reviewer]
provider = "rehearsal"
instructions = "Review; change nothing."
scope = [{ path = ".", access = "read" }, { path = "notes", access = "write" }]
"#;

/// A server with a profile, and folders to choose from in its working folder.
async fn with_folders() -> (YoiProcess, String) {
    let launch = Launch::new(YOI);
    let work = launch.work_dir();
    for folder in ["apples/red", "apricots", "pears"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    std::fs::write(work.join("apples.txt"), "no folder").unwrap();
    let config = work.join("config.toml");
    std::fs::write(&config, CONFIG).unwrap();
    let yoi = launch.arg("--config").arg(config.to_str().unwrap()).start().await;
    (yoi, real(&work))
}

fn real(path: &Path) -> String {
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

async fn pod_called(yoi: &YoiProcess, name: &str) -> Value {
    let pods = yoi.get(&format!("/api/v1/pods?name={name}")).await.expect(200);
    let pod = &pods["items"][0]["pod"];
    let (runtime, worker) = (pod["runtime_id"].as_str().unwrap(), pod["worker_id"].as_str().unwrap());
    yoi.get(&format!("/api/v1/runtimes/{runtime}/workers/{worker}")).await.expect(200)
}

#[tokio::test]
async fn browser_a_folder_is_completed_level_by_level_with_the_keyboard_and_name_and_enter_stay_enough() {
    let (yoi, work) = with_folders().await;
    let browser = Browser::open(&yoi, 1280, 800).await;
    browser.wait_live().await;
    browser.keys("n").await;
    browser.wait_focus("new-pod-name").await;
    browser.keys("ada").await;
    browser.press("#new-pod summary").await;
    let placeholder = |id: &str| format!("return document.getElementById('{id}')?.placeholder");
    browser.wait_script(&format!("{} === 'default: {work}'", placeholder("new-pod-cwd"))).await;
    browser.wait_script(&format!("{} === 'default: rehearsal'", placeholder("new-pod-model"))).await;
    browser.wait_text("#new-pod .loans", &format!("default: write {work}")).await;

    browser.press("#new-pod-cwd").await;
    browser.keys(format!("{work}/ap")).await;
    browser.wait_text("#new-pod-cwd-list", &format!("{work}/apricots/")).await;
    assert_eq!(browser.texts("#new-pod-cwd-list b").await, [format!("{work}/apples/"), format!("{work}/apricots/")]);
    browser.keys(Key::Down + "").await;
    let chosen = "const field = document.getElementById('new-pod-cwd');
        return field.getAttribute('aria-expanded') === 'true'
            && document.getElementById(field.getAttribute('aria-activedescendant'))?.getAttribute('aria-selected') === 'true'";
    browser.wait_script(chosen).await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text("#new-pod-cwd-list", &format!("{work}/apples/red/")).await;
    // Escape closes the list, and not the dialog with what was typed.
    browser.keys(Key::Escape + "").await;
    let closed = "return document.getElementById('new-pod-cwd').getAttribute('aria-expanded') === 'false'
        && document.getElementById('new-pod').open";
    browser.wait_script(closed).await;
    browser.wait_text("#new-pod .loans", &format!("default: write {work}/apples")).await;
    browser.keys(Key::Enter + "").await;
    browser.wait_focus("message").await;
    let ada = pod_called(&yoi, "ada").await;
    assert_eq!(
        (&ada["cwd"], &ada["scope"][0]["path"]),
        (&json!(format!("{work}/apples")), &json!(format!("{work}/apples")))
    );
    browser.no_errors().await;
}

#[tokio::test]
async fn browser_a_profiles_scope_is_shown_and_changed_row_by_row_and_folders_of_pods_are_offered() {
    let (yoi, work) = with_folders().await;
    let pears = format!("{work}/pears");
    yoi.post("/api/v1/pods", &json!({ "name": "bob", "provider": "rehearsal", "cwd": pears })).await.expect(201);
    let browser = Browser::open(&yoi, 360, 780).await;
    browser.wait_live().await;
    browser.keys("n").await;
    browser.wait_focus("new-pod-name").await;
    browser.keys("eve").await;
    browser.press("#new-pod summary").await;
    browser.press("#new-pod-cwd").await;
    browser.wait_text("#new-pod-cwd-list", &pears).await;
    browser.keys("pear").await;
    browser.keys(Key::Down + "").await;
    browser.keys(Key::Enter + "").await;
    browser.press("#new-pod-profile option[value='reviewer']").await;
    browser.wait_text("#new-pod .loans", &format!("default: read {pears}, write {pears}/notes")).await;
    // The driver clicks whatever is in the window, even where the buttons at the bottom cover it.
    browser.eval("document.querySelector('#new-pod .loans > .quiet').scrollIntoView({ block: 'center' })").await;
    browser.press_button("Change folders").await;
    browser.wait_focus("new-pod-scope-2").await;
    browser.keys(format!("{work}/apri")).await;
    browser.wait_text("#new-pod-scope-2-list", "apricots").await;
    browser.keys(Key::Down + "").await;
    browser.keys(Key::Enter + "").await;
    browser.press("#new-pod button[type='submit']").await;
    browser.wait_no_dialog().await;
    browser.wait_text("main .head", "eve").await;
    let eve = pod_called(&yoi, "eve").await;
    let scope: Vec<_> = eve["scope"].as_array().unwrap().iter().map(|rule| (&rule["access"], &rule["path"])).collect();
    let (notes, apricots) = (format!("{pears}/notes"), format!("{work}/apricots"));
    assert_eq!(
        scope,
        [(&json!("read"), &json!(pears)), (&json!("write"), &json!(notes)), (&json!("read"), &json!(apricots))]
    );
    assert_eq!((&eve["profile"], &eve["cwd"]), (&json!("reviewer"), &json!(pears)));
    browser.no_errors().await;
}

#[tokio::test]
async fn a_terminal_offers_the_same_and_makes_the_pod_that_its_line_says() {
    let (yoi, work) = with_folders().await;
    let mut command = yoi.launch().command();
    command.arg("tui").args(["--server", yoi.base_url()]).arg("--data").arg(yoi.launch().data_dir());
    let mut terminal = Terminal::start(&command, 120, 30).await;
    terminal.wait_text("creates ada, which uses the rehearsal model").await;
    terminal.types("nada ").await;
    terminal.wait_text("default: rehearsal of rehearsal").await;
    terminal.types("pro\t").await;
    terminal.wait_text("profile=reviewer").await;
    terminal.types("\t folder=").await;
    terminal.wait_text("the default").await;
    terminal.types(&format!("{work}/ap")).await;
    terminal.wait_text("apricots/").await;
    terminal.types("\t").await;
    terminal.wait_text("apples/red/").await;
    terminal.types(" write=notes deny=notes/private\r").await;
    terminal.wait_text("No messages yet.").await;
    let ada = pod_called(&yoi, "ada").await;
    assert_eq!((&ada["profile"], &ada["cwd"]), (&json!("reviewer"), &json!(format!("{work}/apples"))));
    let scope: Vec<_> = ada["scope"].as_array().unwrap().iter().map(|rule| (&rule["access"], &rule["path"])).collect();
    let (notes, private) = (format!("{work}/apples/notes"), format!("{work}/apples/notes/private"));
    assert_eq!(scope, [(&json!("write"), &json!(notes)), (&json!("deny"), &json!(private))]);
}

#[tokio::test]
async fn a_terminal_takes_a_key_unseen_and_lists_whose_it_is() {
    let model = testkit::scripted_model::ScriptedModel::start().await;
    model.set_models(&["small", "large"]);
    let yoi = YoiProcess::start(YOI).await;
    let mut command = yoi.launch().command();
    command.arg("tui").args(["--server", yoi.base_url()]).arg("--data").arg(yoi.launch().data_dir());
    let mut terminal = Terminal::start(&command, 100, 30).await;
    terminal.wait_text("takes a key").await;
    terminal.enters(&format!(":key lab {}", model.base_url())).await;
    terminal.wait_text("key of lab (not shown):").await;
    terminal.types("sk-test-90ab12cd34ef56").await;
    let screen = terminal.wait_text("••••").await;
    assert!(!screen.contains("sk-"), "{screen}");
    terminal.types("\r").await;
    terminal.wait_text("lab works: 2 models; its key is kept; new Pods use it").await;
    terminal.wait_text("which uses small of lab (key given here)").await;
    terminal.enters(":providers").await;
    terminal.wait_text("default · key given here · small and 1 more").await;
    terminal.types("t").await;
    terminal.wait_text("✓ works: answered in").await;
    terminal.escape().await;
    terminal.wait_text("which uses small of lab").await;
    terminal.types("\r").await;
    terminal.wait_text("No messages yet.").await;
    assert_eq!(pod_called(&yoi, "ada").await["provider"], "lab");
}

/// A session of Claude Code, of which the new Pod knows the question and the answer.
const SESSION: &str = concat!(
    r#"{"type":"user","uuid":"1","message":{"role":"user","content":"Mend the gate"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","#,
    r#""content":[{"type":"text","text":"It was the hinge."}]}}"#,
    "\n"
);

#[tokio::test]
async fn browser_a_session_of_another_agent_is_the_history_of_a_new_pod() {
    let (yoi, work) = with_folders().await;
    let session = Path::new(&work).join("session.jsonl");
    std::fs::write(&session, SESSION).unwrap();
    let browser = Browser::open(&yoi, 1280, 1_200).await;
    browser.wait_live().await;
    browser.keys("n").await;
    browser.wait_focus("new-pod-name").await;
    browser.keys("gate").await;
    browser.press("#new-pod summary").await;
    browser.press("#new-pod-cwd").await;
    browser.keys(format!("{work}/pears")).await;
    browser.wait_text("#new-pod-cwd-list", &format!("{work}/pears/")).await;
    browser.keys(Key::Escape + "").await;
    browser.find("#new-pod-history").await.send_keys(session.to_str().unwrap()).await.unwrap();
    browser.find("#new-pod-model").await.send_keys("other").await.unwrap();
    browser.press("#new-pod button[type=submit]").await;
    browser.wait_text("#new-pod .problem", "clear the other fields").await;
    browser.press("#new-pod-model").await;
    browser.chord(Key::Control, 'a').await;
    browser.keys(Key::Backspace + "").await;
    browser.wait_text("#new-pod-model-list", "rehearsal").await;
    browser.keys(Key::Escape + "").await;
    browser.press("#new-pod button[type=submit]").await;
    browser.wait_text("main .head", "stopped").await;
    browser.wait_text("main .log", "Mend the gate").await;
    browser.wait_text("main .log", "It was the hinge.").await;
    assert_eq!(pod_called(&yoi, "gate").await["cwd"], format!("{work}/pears"));
    browser.no_errors().await;
    browser.quit().await;
}
