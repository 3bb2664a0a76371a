//! How a terminal console ends, and what it does when its server does: nothing is lost, and the terminal is restored.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use testkit::{
    terminal::{Ended, Terminal},
    yoi::{YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
/// Set for the process that is to panic.
const PANICS: &str = "YOI_TEST_CONSOLE_PANICS";

async fn opened(yoi: &YoiProcess, name: &str) -> Terminal {
    let mut command = yoi.launch().command();
    command.args(["tui", name, "--server", yoi.base_url()]).arg("--data").arg(yoi.launch().data_dir());
    let terminal = Terminal::start(&command, 100, 30).await;
    terminal.wait_text("─ Message").await;
    terminal.wait_without("on its way").await;
    terminal
}

/// The text of the newest answer on the server's disk.
async fn newest_answer(yoi: &YoiProcess, pod: &Value) -> String {
    let page = yoi.get(&format!("{}/transcript", pod_path(pod))).await.expect(200);
    let records = page["items"].as_array().unwrap().clone();
    let finished = |record: &&Value| record["event"]["kind"] == "message_finished";
    let newest = records.iter().rev().find(finished).unwrap_or_else(|| panic!("no answer in {page}"));
    newest["event"]["text"].as_str().unwrap().to_owned()
}

/// The words of a stream in the order of the screen.
fn streamed(screen: &str) -> Vec<&str> {
    let is_streamed = |word: &&str| word.strip_prefix('w').is_some_and(|number| number.parse::<u32>().is_ok());
    screen.split_whitespace().filter(is_streamed).collect()
}

#[tokio::test]
async fn a_server_that_is_killed_in_mid_stream_comes_back_with_the_same_text_and_nothing_twice() {
    let mut yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters("stream 4000 at 20").await;
    terminal.wait_text("w30").await;
    let mut log = yoi.launch().command();
    log.args(["log", "ada", "-f", "--server", yoi.base_url()]).arg("--data").arg(yoi.launch().data_dir());
    let follower = Terminal::start(&log, 100, 30).await;
    follower.wait_text("stream 4000 at 20").await;
    terminal.types("my draft").await;
    yoi.kill9().await;
    terminal.wait_text("reconnecting").await;
    let before = terminal.screen();
    let shown = streamed(&before).into_iter().map(str::to_owned).collect::<Vec<_>>();
    // Typing works while nobody answers.
    terminal.types(", longer").await;
    terminal.wait_text("❯ my draft, longer").await;

    yoi.restart_on_same_port().await;
    terminal.wait_without("reconnecting").await;
    terminal.wait_text("■ interrupted").await;
    let answer = newest_answer(&yoi, &ada).await;
    let stored: Vec<&str> = streamed(&answer);
    assert!(stored.len() >= shown.len(), "what was seen is there");
    assert_eq!(&stored[..shown.len()], &shown[..]);
    let screen = terminal.wait_for("what is on the disk, once and in order", |screen| streamed(screen) == stored).await;
    assert!(screen.contains("❯ my draft, longer"), "{screen}");

    // The same as the command line shows, which followed it all the time.
    follower.wait_for("same words in the log", |screen| streamed(screen) == stored).await;

    // It continues from there, in the same console.
    terminal.types("\x15").await;
    terminal.enters("say still here").await;
    terminal.wait_text("still here").await;
    let screen = terminal.wait_text("✓ completed").await;
    assert_eq!(streamed(&screen), stored, "nothing came twice later on:\n{screen}");
}

#[tokio::test]
async fn a_signal_restores_the_terminal_and_ends_in_order() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    for signal in ["TERM", "INT", "HUP"] {
        let terminal = opened(&yoi, "ada").await;
        terminal.signal(signal).await;
        let Ended { code, left_behind, screen } = terminal.wait_end().await;
        assert_eq!((code, &left_behind[..]), (0, &[][..]), "SIG{signal}:\n{screen}");
    }
}

#[tokio::test]
async fn the_end_of_the_terminal_is_the_end_of_the_console() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let terminal = opened(&yoi, "ada").await;
    let pid = terminal.pid().await;
    drop(terminal);
    let process = std::path::PathBuf::from(format!("/proc/{pid}"));
    testkit::until_so("the process has ended with its terminal", async || !process.exists()).await;
}

#[tokio::test]
async fn a_panic_restores_the_terminal_and_is_printed_below() {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "a_console_whose_token_panics", "--nocapture"])
        .env(PANICS, "1")
        .env("RUST_BACKTRACE", "0");
    let terminal = Terminal::start(&command, 100, 40).await;
    let Ended { code, left_behind, screen } = terminal.wait_end().await;
    assert_ne!(code, 0, "{screen}");
    assert_eq!(left_behind, Vec::<&str>::new(), "{screen}");
    let raw = terminal.raw();
    let place = |words: &str| raw.find(words).unwrap_or_else(|| panic!("no {words:?} in {raw:?}"));
    let (taken, given_back) = (place("\x1b[?1049h"), place("\x1b[?1049l"));
    assert!(taken < given_back && given_back < place("the token broke on purpose"), "{screen}");
}

/// Run by the test above in its terminal; on its own it does nothing.
#[test]
fn a_console_whose_token_panics() {
    if std::env::var_os(PANICS).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // The socket's task requests the token while the console owns the screen.
    let token = client::TokenSource::reading(|| panic!("the token broke on purpose"));
    let client = client::Client::new("http://127.0.0.1:1", token).unwrap();
    let ended = runtime.block_on(tui::run(client, None));
    assert!(matches!(ended, Err(tui::TuiError::Panicked)), "{ended:?}");
    panic!("the console said so itself");
}

#[tokio::test]
async fn a_rewind_takes_a_y_and_only_on_what_was_seen() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    for words in ["first", "second"] {
        terminal.enters(&format!("say {words}")).await;
        terminal
            .wait_for("answer", |screen| screen.matches("✓ completed").count() >= 1 && screen.contains(words))
            .await;
    }
    terminal.wait_for("two ends", |screen| screen.matches("✓ completed").count() == 2).await;
    terminal.enters(":rewind").await;
    terminal.types("\r").await;
    terminal.wait_text("rewind to before \"say second\"? y confirms").await;
    // Another client continues in the meantime.
    yoi.say(&ada, "say third").await;
    terminal.wait_for("three ends", |screen| screen.matches("✓ completed").count() == 3).await;
    terminal.types("y").await;
    terminal.wait_text("ada has moved on since you looked, so nothing was rewound").await;
    terminal.enters(":rewind").await;
    terminal.wait_text("rewind to before \"say third\"?").await;
    terminal.types("y").await;
    terminal.wait_text("rewound to").await;
    let history = yoi.get(&format!("{}/history", pod_path(&ada))).await.expect(200).to_string();
    assert!(history.contains("second") && !history.contains("third"), "{history}");
    terminal.wait_text("third").await;
}
