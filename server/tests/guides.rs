//! What a repository tells a Pod: its instructions, skills and commands; and what only the configuration may: hooks.

#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::yoi::{Launch, YoiProcess, pod_path};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

async fn tool(yoi: &YoiProcess, pod: &Value, name: &str, arguments: Value) -> Value {
    let path = format!("{}/tools/{name}", pod_path(pod));
    yoi.post(&path, &json!({ "arguments": arguments })).await.expect(200)
}

#[tokio::test]
async fn a_repository_tells_its_pods_what_it_wants_and_offers_skills_and_commands() {
    let yoi = YoiProcess::start(YOI).await;
    let root = yoi.launch().work_dir().join("repo");
    fs::create_dir_all(root.join(".git")).unwrap();
    write(&root.join("AGENTS.md"), "Tabs, never spaces.");
    write(&root.join("src/CLAUDE.md"), "Never touch the lock file.");
    write(&root.join(".yoi/skills/deploy/SKILL.md"), "---\ndescription: How to deploy\n---\nPush the button.");
    write(&root.join(".yoi/commands/fix.md"), "---\ndescription: Fixes one\n---\nsay fixed $ARGUMENTS");
    let made = json!({ "name": "ada", "cwd": root.join("src") });
    let pod = yoi.post("/api/v1/pods", &made).await.expect(201);
    let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
    for told in ["Tabs, never spaces.", "Never touch the lock file.", "deploy: How to deploy"] {
        assert!(history.contains(told), "{told}: {history}");
    }
    let skill = tool(&yoi, &pod, "Skill", json!({ "name": "deploy" })).await;
    assert!(skill["content"].as_str().unwrap().ends_with("Push the button."), "{skill}");
    let missing = tool(&yoi, &pod, "Skill", json!({ "name": "../deploy" })).await;
    assert_eq!(missing["code"], "not_found", "{missing}");

    let prompts = format!("{}/own-commands", pod_path(&pod));
    let listed = yoi.get(&prompts).await.expect(200);
    assert_eq!((&listed["items"][0]["name"], &listed["items"][0]["description"]), (&json!("fix"), &json!("Fixes one")));
    let message = yoi.get(&format!("{prompts}/fix?arguments=it%20now")).await.expect(200);
    assert_eq!(message["text"], "say fixed it now");
    assert_eq!(yoi.get(&format!("{prompts}/nothing")).await.expect(404)["code"], "not_found");
    yoi.get(&format!("{prompts}/..%2Ffix")).await.expect(404);
}

#[tokio::test]
async fn a_hook_of_the_configuration_denies_a_call_and_one_of_a_repository_does_nothing() {
    let config = "[[hooks]]\non = \"before_tool\"\ntool = \"Write\"\ncommand = \"echo not on fridays; exit 2\"\n";
    let launch = Launch::new(YOI);
    let path = launch.work_dir().join("config.toml");
    write(&path, config);
    let yoi = launch.arg("--config").arg(path.to_str().unwrap()).start().await;
    let pod = yoi.new_pod("ada").await;
    write(&yoi.launch().work_dir().join(".yoi/hooks/before_tool"), "echo ran > ran");
    let denied = tool(&yoi, &pod, "Write", json!({ "path": "a.txt", "content": "x" })).await;
    assert_eq!((&denied["code"], &denied["is_error"]), (&json!("permission_denied"), &json!(true)), "{denied}");
    assert!(denied["summary"].as_str().unwrap().contains("not on fridays"), "{denied}");
    assert!(!yoi.launch().work_dir().join("a.txt").exists());
    let allowed = tool(&yoi, &pod, "Bash", json!({ "command": "echo free" })).await;
    assert_eq!(allowed["content"], "free\n", "{allowed}");
    assert!(!yoi.launch().work_dir().join("ran").exists());
}

#[tokio::test]
async fn hooks_at_the_end_of_a_run_send_the_model_on_until_they_are_content() {
    let config = r#"
        [[hooks]]
        on = "run_end"
        command = 'echo "$YOI_RUN $YOI_OUTCOME" >> ends.txt'
        [[hooks]]
        on = "run_end"
        command = '''test -e done.txt || { echo 'call Write {"path":"done.txt","content":"x"}'; exit 1; }'''
        [[hooks]]
        on = "run_end"
        command = "test ! -e never.txt || { echo say again; exit 1; }"
    "#;
    let launch = Launch::new(YOI);
    let (path, work) = (launch.work_dir().join("config.toml"), launch.work_dir().join("repo"));
    write(&path, config);
    fs::create_dir(&work).unwrap();
    let yoi = launch.arg("--config").arg(path.to_str().unwrap()).start().await;
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "ada", "mode": "free", "cwd": work })).await.expect(201);
    let mut events = yoi.events().await;
    events.subscribe("ada", &pod, None).await;
    let is_of = |record: &Value, kind: &str| record["event"]["kind"] == kind;
    let by_hook = |records: &[Value]| records.iter().filter(|record| record["event"]["by"] == "hook").count();

    yoi.say(&pod, "say finished").await;
    let said = events.records_until("ada", |record| is_of(record, "run_finished")).await;
    assert_eq!((by_hook(&said), &said.last().unwrap()["event"]["outcome"]), (1, &json!("completed")));
    assert_eq!(said.iter().filter(|record| is_of(record, "run_started")).count(), 1, "it is one run");
    assert!(work.join("done.txt").exists());
    assert_eq!(fs::read_to_string(work.join("ends.txt")).unwrap(), "run-1 completed\nrun-1 completed\n");

    // One that is never content stops after three answers.
    write(&work.join("never.txt"), "");
    yoi.say(&pod, "say finished").await;
    let said = events.records_until("ada", |record| is_of(record, "run_finished")).await;
    let alert = said.iter().find(|record| is_of(record, "alert")).unwrap();
    assert_eq!((by_hook(&said), &alert["event"]["source"]), (3, &json!("hook")));

    // A run that did not complete is told to the hooks, and no more.
    yoi.say(&pod, "wait 600").await;
    events.records_until("ada", |record| record["event"]["state"] == "running").await;
    yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    let said = events.records_until("ada", |record| is_of(record, "alert")).await;
    assert_eq!(by_hook(&said), 0);
    assert!(fs::read_to_string(work.join("ends.txt")).unwrap().ends_with("run-3 cancelled\n"));
}
