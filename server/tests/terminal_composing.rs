//! Writing a message in the terminal console, in a real terminal: file names, queued messages, and messages into the
//! current run.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    terminal::{CTRL_T, Terminal},
    until,
    yoi::{YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The console with this Pod open. It is given no server: it finds the one of the folder.
async fn opened(yoi: &YoiProcess, name: &str) -> Terminal {
    let mut command = yoi.launch().command();
    command.args(["tui", name, "--data"]).arg(yoi.launch().data_dir());
    let terminal = Terminal::start(&command, 80, 24).await;
    terminal.wait_text("─ Message").await;
    terminal.wait_text("connected").await;
    terminal.wait_without("on its way").await;
    terminal
}

async fn said(yoi: &YoiProcess, pod: &Value) -> Vec<Value> {
    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(pod))).await.expect(200);
    let records = page["items"].as_array().unwrap().iter();
    let said = records.filter(|record| record["event"]["kind"] == "user_message");
    said.map(|record| record["event"]["segments"].clone()).collect()
}

#[tokio::test]
async fn a_file_is_completed_by_its_name_and_goes_as_a_file() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = yoi.launch().work_dir().join("src/deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("main.rs"), "fn main() {}\n").unwrap();
    std::fs::write(folder.join("other.rs"), "\n").unwrap();
    let ada = yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.types("say look at @mai").await;
    // The results for fewer letters arrive first.
    let is_it = |screen: &str| screen.contains("▸ @main.rs") && !screen.contains("@other.rs");
    let screen = terminal.wait_for("that file alone", is_it).await;
    assert!(screen.contains("src/deep"), "{screen}");
    // Esc closes the list and leaves the text.
    terminal.escape().await;
    terminal.wait_without("▸ @main.rs").await;
    terminal.types("n").await;
    terminal.wait_text("▸ @main.rs").await;
    terminal.types("\t").await;
    terminal.wait_text("❯ say look at @src/deep/main.rs").await;
    terminal.enters("please").await;
    terminal.wait_text("✓ completed").await;
    let file = json!({ "type": "file_ref", "path": "src/deep/main.rs" });
    let segments = &said(&yoi, &ada).await[0];
    assert_eq!(segments[1], file, "{segments}");
    assert_eq!(segments[2]["text"], " please", "{segments}");

    // A lookup that is delayed finds less.
    let found = until("the file is found", async || {
        let answer = yoi.get(&format!("{}/files?q=mai", pod_path(&ada))).await.expect(200);
        (answer["items"] != json!([])).then_some(answer)
    });
    assert_eq!(found.await, json!({ "items": ["src/deep/main.rs"], "next": null }));
}

#[tokio::test]
async fn queued_messages_are_edited_removed_and_sent_into_the_current_run() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters("wait 600").await;
    terminal.wait_text("● running").await;
    for text in ["say first", "say secnd", "say third"] {
        terminal.enters(text).await;
        terminal.wait_text(&format!("queued {text}")).await;
    }
    terminal.types(CTRL_T).await;
    terminal.types("w").await;
    terminal.wait_text("▸ queued say first").await;
    // Removed.
    terminal.types("x").await;
    terminal.wait_text("taken back; not sent").await;
    terminal.wait_text("▸ queued say secnd").await;
    // Edited, and at the end of the queue.
    terminal.types("\r").await;
    terminal.wait_text("❯ say secnd").await;
    terminal.types("\x15say second\r").await;
    terminal.wait_text("queued say second").await;
    // Into the current run.
    terminal.enters(":queue").await;
    terminal.wait_text("▸ queued say third").await;
    terminal.types("s").await;
    terminal.wait_text("reads it at its next model call").await;
    terminal.wait_text("steers say third").await;
    terminal.escape().await;
    // Alt-Enter: at once.
    terminal.types("say fourth\x1b\r").await;
    terminal.wait_text("steers say fourth").await;
    // A message taken back with a command is in the composer.
    terminal.enters(":unqueue").await;
    terminal.wait_text("❯ say fourth").await;
    let queued = yoi.get(&pod_path(&ada)).await.expect(200)["queued"].clone();
    let texts: Vec<_> =
        queued.as_array().unwrap().iter().map(|input| input["segments"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["say second", "say third"], "{queued}");
    assert!(said(&yoi, &ada).await.len() == 1, "nothing of it was said yet");
}

#[tokio::test]
async fn a_server_that_comes_back_on_another_port_is_found() {
    let mut yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters("say before").await;
    terminal.wait_text("✓ completed").await;
    let before = yoi.base_url().to_owned();
    yoi.restart().await;
    assert_ne!(before, yoi.base_url());
    terminal.wait_text("caught up").await;
    terminal.enters("say after that").await;
    terminal.wait_for("the second answer", |screen| screen.matches("✓ completed").count() == 2).await;
    terminal.escape().await;
    terminal.escape().await;
    terminal.wait_text(yoi.base_url()).await;
}
