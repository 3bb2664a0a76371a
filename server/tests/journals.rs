//! Whole journals on the command line, with the built binary: exported, imported, searched, counted, audited.

#![allow(clippy::unwrap_used)]

use std::process::Output;

use serde_json::Value;
use testkit::yoi::{Launch, YoiProcess};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn run(launch: &Launch, words: &[&str]) -> Output {
    launch.command().args(words).arg("--data").arg(launch.data_dir()).output().await.unwrap()
}

/// Its output; it has to have succeeded.
async fn printed(launch: &Launch, words: &[&str]) -> String {
    let output = run(launch, words).await;
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{words:?}: {out}{err}");
    out
}

#[tokio::test]
async fn a_journal_goes_out_and_comes_in_and_is_found_counted_and_audited() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut events = yoi.events().await;
    events.subscribe("ada", &ada, None).await;
    yoi.say(&ada, "say the streaming zebra").await;
    // Its run has ended, and nothing follows.
    let (mut has_begun, mut has_ended, mut is_idle) = (false, false, false);
    events
        .records_until("ada", |record| {
            has_begun |= record["event"]["kind"] == "run_started";
            has_ended |= record["event"]["kind"] == "run_finished";
            is_idle |= has_begun && record["event"]["state"] == "idle";
            has_ended && is_idle
        })
        .await;
    let launch = yoi.launch();
    let markdown = printed(launch, &["export", "ada"]).await;
    assert!(markdown.starts_with("# ada\n") && markdown.contains("the streaming zebra"), "{markdown}");
    let jsonl = printed(launch, &["export", "ada", "--format", "jsonl"]).await;
    assert_eq!(printed(launch, &["export", "ada", "--json"]).await, jsonl);
    let kinds = jsonl.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"]["kind"].clone());
    assert!(kinds.into_iter().any(|kind| kind == "user_message"));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ada.jsonl");
    std::fs::write(&file, &jsonl).unwrap();
    let said = printed(launch, &["import", "eve", file.to_str().unwrap()]).await;
    assert!(said.contains("yoi restore eve"), "{said}");
    assert!(printed(launch, &["export", "eve", "--format", "jsonl"]).await.starts_with(&jsonl));
    printed(launch, &["restore", "eve"]).await;
    std::fs::write(&file, "nonsense\n").unwrap();
    let refused = run(launch, &["import", "bad", file.to_str().unwrap()]).await;
    let complaint = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && complaint.contains("line 1"), "{complaint}");
    assert_eq!(run(launch, &["import", "bad", "/no/such/file"]).await.status.code(), Some(1));

    // A very long journal: far larger than other bodies may be.
    let record = |seq: usize| {
        let event = serde_json::json!({ "kind": "message_finished", "block": format!("b{seq}"),
            "text": "word ".repeat(2_000), "interrupted": false });
        format!("{}\n", serde_json::json!({ "seq": seq, "at": "2026-11-22T06:00:00Z", "event": event }))
    };
    let long: String = (1..=1_000).map(record).collect();
    std::fs::write(&file, &long).unwrap();
    printed(launch, &["import", "old", file.to_str().unwrap()]).await;
    assert!(printed(launch, &["export", "old", "--format", "jsonl"]).await.starts_with(&long));

    // Sessions of other agents.
    let session = "{\"type\":\"user\",\"uuid\":\"1\",\"message\":{\"role\":\"user\",\"content\":\"Mend the gate\"}}\n";
    std::fs::write(&file, session).unwrap();
    let said = printed(launch, &["import", file.to_str().unwrap()]).await;
    assert!(said.contains("yoi restore mend-the-gate"), "{said}");
    let folder_of_session = folder.path().to_str().unwrap();
    let path = file.to_str().unwrap();
    printed(launch, &["import", path, "--name", "gate", "--format", "claude", "--cwd", folder_of_session]).await;
    let shown: Value = serde_json::from_str(&printed(launch, &["show", "gate", "--json"]).await).unwrap();
    assert_eq!(shown["cwd"], std::fs::canonicalize(folder.path()).unwrap().to_str().unwrap());

    let found = printed(launch, &["search", "stre"]).await;
    assert!(found.contains("ada") && found.contains("eve") && found.contains("streaming zebra"), "{found}");
    let found: Value =
        serde_json::from_str(&printed(launch, &["search", "stre", "--pod", "eve", "--json"]).await).unwrap();
    assert!(found["items"].as_array().unwrap().iter().all(|hit| hit["name"] == "eve"), "{found}");

    let table = printed(launch, &["usage"]).await;
    assert!(table.contains("total") && table.contains("PODS") && table.contains("no price set"), "{table}");
    let usage: Value = serde_json::from_str(&printed(launch, &["usage", "--json"]).await).unwrap();
    let names: Vec<_> = usage["pods"].as_array().unwrap().iter().map(|pod| pod["name"].clone()).collect();
    assert_eq!(names, ["ada"], "what was imported was used elsewhere");

    let audit = printed(launch, &["audit", "--action", "import"]).await;
    assert!(audit.contains("eve") && audit.contains("refused (invalid_input)"), "{audit}");
    let audit = printed(launch, &["audit", "--target", "eve", "--json"]).await;
    let audit: Value = serde_json::from_str(&audit).unwrap();
    let actions: Vec<_> = audit["items"].as_array().unwrap().iter().map(|row| row["action"].clone()).collect();
    assert_eq!(actions, ["restore"], "{audit}");
}

#[tokio::test]
async fn the_audit_on_the_command_line_says_what_was_answered() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut events = yoi.events().await;
    events.subscribe("ada", &ada, None).await;
    for (call, answer) in [("ls -l", ["approve"].as_slice()), ("rm -r build", &["deny", "--remember"])] {
        yoi.say(&ada, &format!("call Bash {}", serde_json::json!({ "command": call }))).await;
        let asked = events.records_until("ada", |record| record["event"]["kind"] == "approval_asked").await;
        let id = asked.last().unwrap()["event"]["id"].as_str().unwrap().to_owned();
        printed(yoi.launch(), &[&answer[..1], &["ada", &id], &answer[1..]].concat()).await;
        events.records_until("ada", |record| record["event"]["kind"] == "run_finished").await;
    }
    let audit = printed(yoi.launch(), &["audit", "--action", "approve"]).await;
    assert!(audit.contains("allowed Bash: ls -l") && audit.contains("always denied Bash: rm -r build"), "{audit}");
}
