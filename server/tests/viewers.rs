//! One streaming Pod and three viewers: a page in Chromium, the terminal console, and `yoi log -f`. The server is
//! killed and comes back, and later exits properly and comes back; at the end all three have the same text, and none of
//! it twice.

#![allow(clippy::unwrap_used)]

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use testkit::{
    WAIT_MAX,
    browser::Browser,
    terminal::Terminal,
    until_so,
    yoi::{YoiProcess, pod_path},
};
use tokio::{
    io::AsyncReadExt,
    process::Child,
    time::{Duration, Instant, sleep},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
const TRANSCRIPT: &str = "main .log";

/// `yoi log -f`, and everything that it has printed.
struct Log {
    _child: Child,
    printed: Arc<Mutex<Vec<u8>>>,
}

impl Log {
    /// It is given no server: it finds the one of the folder.
    fn follow(yoi: &YoiProcess, name: &str) -> Self {
        let mut command = yoi.launch().command();
        command.args(["log", name, "--follow", "--partial"]).arg("--data").arg(yoi.launch().data_dir());
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&printed);
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { _child: child, printed }
    }

    /// Returns when it is running and has printed something.
    async fn begins(&self) {
        until_so("the log prints something", async || !self.text().is_empty()).await;
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }
}

/// The words of the stream, `w1 w2 …`, in order.
fn words(text: &str) -> Vec<u32> {
    text.split_whitespace().filter_map(|word| word.strip_prefix('w')?.parse().ok()).collect()
}

/// What is in the journal: what was said, complete or interrupted.
async fn truth(yoi: &YoiProcess, pod: &Value) -> Vec<u32> {
    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(pod))).await.expect(200);
    let finished =
        page["items"].as_array().unwrap().iter().filter(|record| record["event"]["kind"] == "message_finished");
    finished.flat_map(|record| words(record["event"]["text"].as_str().unwrap())).collect()
}

async fn wait_state(yoi: &YoiProcess, pod: &Value, state: &str) {
    let is_so = async || yoi.get(&pod_path(pod)).await.expect(200)["state"] == state;
    until_so(format!("the Pod is {state}"), is_so).await;
}

/// All three have seen this word of the stream.
async fn all_see(word: &str, browser: &Browser, terminal: &Terminal, log: &Log) {
    browser.wait_text(TRANSCRIPT, word).await;
    terminal.wait_text(word).await;
    until_so(format!("the log has {word}"), async || log.text().contains(word)).await;
}

#[tokio::test]
async fn browser_terminal_and_log_show_the_same_text_over_two_restarts_and_none_twice() {
    let mut yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let browser = Browser::open_pod(&yoi, &ada).await;
    let mut tui = yoi.launch().command();
    tui.args(["tui", "ada", "--data"]).arg(yoi.launch().data_dir());
    // Room for all of it: only what is on the screen can be compared.
    let terminal = Terminal::start(&tui, 200, 80).await;
    terminal.wait_text("No messages yet.").await;
    let log = Log::follow(&yoi, "ada");
    log.begins().await;

    yoi.say(&ada, "stream 160 at 12").await;
    all_see("w20", &browser, &terminal, &log).await;
    yoi.restart_on_same_port().await;
    wait_state(&yoi, &ada, "paused").await;
    yoi.post(&format!("{}/resume", pod_path(&ada)), &json!({})).await.expect(202);
    wait_state(&yoi, &ada, "idle").await;

    yoi.say(&ada, "stream 360 at 40").await;
    all_see("w200", &browser, &terminal, &log).await;
    assert!(yoi.terminate().await.success());
    yoi.restart_on_same_port().await;
    if yoi.get(&pod_path(&ada)).await.expect(200)["state"] == "paused" {
        yoi.post(&format!("{}/resume", pod_path(&ada)), &json!({})).await.expect(202);
    }
    wait_state(&yoi, &ada, "idle").await;

    let said = truth(&yoi, &ada).await;
    assert!(said.contains(&160) && said.contains(&360), "{said:?}");
    browser.wait_live().await;
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let seen = [
            ("the page", words(&browser.texts(TRANSCRIPT).await.join("\n"))),
            ("the terminal", words(&terminal.screen())),
            ("the log", words(&log.text())),
        ];
        if seen.iter().all(|(_, seen)| *seen == said) {
            break;
        }
        for (who, seen) in &seen {
            assert!(Instant::now() < deadline, "{who} shows {seen:?}\nnot      {said:?}\n{}", terminal.screen());
        }
        sleep(Duration::from_millis(200)).await;
    }
    browser.quit().await;
}
