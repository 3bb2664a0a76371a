//! What needs you, on the command line: the order of `ls`, answers without an id, and the names in the audit log.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::yoi::{Launch, YoiProcess};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// Exit code, standard output, standard error.
async fn run(launch: &Launch, words: &[&str]) -> (Option<i32>, String, String) {
    let output = launch.command().args(words).arg("--data").arg(launch.data_dir()).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Its output; it has to have succeeded.
async fn printed(launch: &Launch, words: &[&str]) -> String {
    let (code, stdout, stderr) = run(launch, words).await;
    assert_eq!(code, Some(0), "{words:?}: {stdout}{stderr}");
    stdout
}

#[tokio::test]
async fn what_needs_you_is_listed_first_and_a_lone_question_is_answered_without_its_id() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    let mut events = yoi.events().await;
    // Made in an order that is neither that of their names nor that of their needs.
    yoi.new_pod("ann").await;
    let late = yoi.new_pod("bob").await;
    let early = yoi.new_pod("zoe").await;
    yoi.new_pod("abe").await;
    printed(launch, &["stop", "abe"]).await;
    for (name, pod, command) in [("zoe", &early, "ls -l"), ("bob", &late, "rm -r build")] {
        events.subscribe(name, pod, None).await;
        yoi.say(pod, &format!("call Bash {}", json!({ "command": command }))).await;
        events.records_until(name, |record| record["event"]["state"] == "waiting").await;
    }
    // A message that waits changes the Pod, and not since when it has asked.
    yoi.say(&early, "and then").await;

    let listed = printed(launch, &["ls"]).await;
    let names: Vec<_> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["zoe", "bob", "ann", "abe"], "{listed}");
    let listed: Value = serde_json::from_str(&printed(launch, &["ls", "--json"]).await).unwrap();
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|pod| pod["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ann", "bob", "zoe", "abe"], "as the API pages them");

    let (code, _, several) = run(launch, &["approve"]).await;
    assert_eq!(code, Some(1), "{several}");
    for words in ["2 approvals are pending", "zoe ", "(Bash ls -l)", "bob ", "(Bash rm -r build)"] {
        assert!(several.contains(words), "{words:?} in {several}");
    }
    let said = printed(launch, &["deny", "bob", "--reason", "keep it"]).await;
    assert_eq!(said.trim_end(), "bob: Bash rm -r build is denied by you: keep it");
    events.records_until("bob", |record| record["event"]["kind"] == "run_finished").await;
    let said: Value = serde_json::from_str(&printed(launch, &["approve", "--json"]).await).unwrap();
    assert_eq!((&said["decision"], &said["arguments"]["command"]), (&json!("allow"), &json!("ls -l")));

    let audit = printed(launch, &["audit", "--action", "approve"]).await;
    let row = |words: &str| audit.lines().find(|line| line.contains(words)).unwrap_or_default().to_owned();
    for (name, words) in [("zoe", "allowed Bash: ls -l"), ("bob", "denied Bash: rm -r build")] {
        let row = row(words);
        assert!(row.contains(&format!(" {name} ")) && row.contains(" you "), "{words:?} in {audit}");
    }
    assert!(!audit.contains("local/"), "an address where a name is known: {audit}");
    let audit: Value = serde_json::from_str(&printed(launch, &["audit", "--json"]).await).unwrap();
    let target = audit["items"][0]["target"].as_str().unwrap();
    assert!(target.starts_with("local/"), "programs get addresses: {target}");
}
