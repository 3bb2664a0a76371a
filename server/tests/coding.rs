//! A coding task from beginning to end: a model reached through OpenAI's API looks around in a small repository, runs
//! its tests, fixes a file, asks for approval of a command that no rule allows, and runs the tests again.

#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, Question, ScriptedModel},
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const BROKEN: &str = "# Sums of whole numbers.\nadd() {\n    echo $(($1 - $2))\n}\n";
const TEST: &str = ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"2 + 3 is $(add 2 3)\"; exit 1; }\necho all good\n";

fn repository(folder: &Path) {
    fs::write(folder.join("add.sh"), BROKEN).unwrap();
    fs::write(folder.join("test.sh"), TEST).unwrap();
    fs::write(folder.join("AGENTS.md"), "Run the tests with `sh test.sh`.\n").unwrap();
    fs::write(folder.join(".gitignore"), "build/\n").unwrap();
    fs::create_dir(folder.join("build")).unwrap();
    fs::write(folder.join("build/add.sh"), "generated").unwrap();
}

fn calls(calls: &[(&str, Value)]) -> Answer {
    let answer = calls.iter().enumerate().fold(Answer::new(), |answer, (number, (name, arguments))| {
        answer.tool_call(&format!("c{number}"), name, &[&arguments.to_string()])
    });
    answer.finish()
}

/// A yoi whose default model is this one, with a profile that lets it edit files and run the tests.
async fn yoi_with(model: &ScriptedModel) -> YoiProcess {
    let launch = Launch::new(YOI);
    let config = launch.work_dir().with_file_name("yoi.toml");
    let text = format!(
        "[providers.lab]\nkind = \"openai-compatible\"\nbase_url = \"{}\"\nmodels = [\"coder\"]\n\
         [profiles.coder]\npermissions = [{{ tool = \"Edit\", decision = \"allow\" }}, \
         {{ tool = \"Bash\", match = \"sh test.sh\", decision = \"allow\" }}]\n",
        model.base_url()
    );
    fs::write(&config, text).unwrap();
    launch.arg("--config").arg(config.to_str().unwrap()).start().await
}

async fn wait_for_state(yoi: &YoiProcess, pod: &Value, state: &str) {
    let mut socket = yoi.events().await;
    socket.subscribe_pods("pods").await;
    socket
        .wait_for(|frame| {
            frame["upserts"]
                .as_array()
                .is_some_and(|pods| pods.iter().any(|one| one["pod"] == pod["pod"] && one["state"] == state))
        })
        .await;
}

/// The tool results in the newest request to the model, by call.
fn results(question: &Question) -> Vec<(String, String)> {
    let messages = question.body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results
        .map(|message| {
            let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
            (text("tool_call_id"), text("content"))
        })
        .collect()
}

#[tokio::test]
async fn a_model_mends_a_repository_and_runs_its_tests() {
    let model = ScriptedModel::start().await;
    let yoi = yoi_with(&model).await;
    let work = yoi.launch().work_dir();
    repository(&work);
    model.push(calls(&[("Glob", json!({ "pattern": "**/*.sh" })), ("Read", json!({ "path": "add.sh" }))]));
    model.push(calls(&[("Bash", json!({ "command": "sh test.sh" }))]));
    model.push(calls(&[("Edit", json!({ "path": "add.sh", "old": "$1 - $2", "new": "$1 + $2" }))]));
    model.push(calls(&[("Bash", json!({ "command": "sh test.sh" }))]));
    model.push(calls(&[("Bash", json!({ "command": "echo done > note.txt" }))]));
    model.push(Answer::say("The sum was a difference; mended, and the tests pass."));

    let body = json!({ "name": "coder", "profile": "coder", "provider": "lab", "model": "coder" });
    let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
    yoi.say(&pod, "The tests fail. Mend add.sh.").await;

    // No rule allows this command, so it needs an approval.
    wait_for_state(&yoi, &pod, "waiting").await;
    let approvals = yoi.get(&format!("{}/approvals", pod_path(&pod))).await.expect(200);
    let asked = &approvals["items"][0];
    assert_eq!(asked["arguments"], json!({ "command": "echo done > note.txt" }));
    assert!(!work.join("note.txt").exists(), "nothing runs before it is allowed");
    let path = format!("{}/approvals/{}", pod_path(&pod), asked["id"].as_str().unwrap());
    yoi.post(&path, &json!({ "decision": "allow" })).await.expect(200);
    wait_for_state(&yoi, &pod, "idle").await;

    assert_eq!(fs::read_to_string(work.join("add.sh")).unwrap(), BROKEN.replace("- $2", "+ $2"));
    assert_eq!(fs::read_to_string(work.join("note.txt")).unwrap(), "done\n");

    let questions = model.requests();
    assert_eq!(questions.len(), 6);
    let system = questions[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("Run the tests with `sh test.sh`."), "AGENTS.md is in the instructions: {system}");
    let last = results(&questions[5]);
    let contents: Vec<&str> = last.iter().map(|(_, content)| content.as_str()).collect();
    // The first two only read, so they run concurrently, and either may end first.
    let found = contents[..2].iter().find(|content| content.contains("match **/*.sh")).unwrap();
    assert!(found.contains("add.sh") && !found.contains("build/"), "{found}");
    assert!(contents[..2].iter().any(|content| content.contains("echo $(($1 - $2))")), "{contents:?}");
    assert!(contents[2].starts_with("exit 1") && contents[2].contains("2 + 3 is -1"), "{}", contents[2]);
    assert!(contents[4].starts_with("exit 0") && contents[4].contains("all good"), "{}", contents[4]);
    assert_eq!(last.len(), 6, "each call has its result: {last:?}");

    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(&pod))).await.expect(200);
    let edit = page["items"].as_array().unwrap().iter().find(|record| record["event"]["diff"].is_string());
    let diff = edit.expect("an edit has a diff")["event"]["diff"].as_str().unwrap();
    assert!(diff.contains("-    echo $(($1 - $2))") && diff.contains("+    echo $(($1 + $2))"), "{diff}");
    let said: Vec<_> =
        page["items"].as_array().unwrap().iter().filter(|r| r["event"]["kind"] == "message_finished").collect();
    assert_eq!(said.last().unwrap()["event"]["text"], "The sum was a difference; mended, and the tests pass.");
}

#[tokio::test]
async fn what_the_model_does_stays_in_its_folder() {
    let model = ScriptedModel::start().await;
    let yoi = yoi_with(&model).await;
    let work = yoi.launch().work_dir();
    let secret = work.with_file_name("secret.txt");
    fs::write(&secret, "the secret").unwrap();
    std::os::unix::fs::symlink(&secret, work.join("link.txt")).unwrap();
    let token = yoi.launch().data_dir().join("token");
    let pod = yoi.new_pod("ada").await;
    for (tool, arguments) in [
        ("Read", json!({ "path": secret })),
        ("Read", json!({ "path": "../secret.txt" })),
        ("Read", json!({ "path": "link.txt" })),
        ("Read", json!({ "path": token })),
        ("Write", json!({ "path": "../new.txt", "content": "x" })),
        ("Grep", json!({ "pattern": "secret", "path": ".." })),
        ("Bash", json!({ "command": format!("cat {} link.txt {}", secret.display(), token.display()) })),
        ("Bash", json!({ "command": "cat /proc/$PPID/environ; env; echo x > ../new.txt" })),
    ] {
        let path = format!("{}/tools/{tool}", pod_path(&pod));
        let answer = yoi.post(&path, &json!({ "arguments": arguments })).await.expect(200);
        let text = answer.to_string();
        assert!(!text.contains("the secret") && !text.contains(yoi.token()), "{tool} {arguments}: {text}");
        assert_eq!(answer["is_error"], true, "{tool} {arguments}: {text}");
    }
    assert!(!work.with_file_name("new.txt").exists());
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_its_tool_will_refuse() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let calls = [
        ("Write", json!({ "path": "a.txt", "contents": "x" }), "unknown field `contents`"),
        ("Bash", json!({ "line": "ls" }), "unknown field `line`"),
        ("WebFetch", json!({}), "missing field `url`"),
    ];
    for (tool, arguments, wanted) in calls {
        yoi.say(&pod, &format!("call {tool} {arguments}")).await;
        wait_for_state(&yoi, &pod, "idle").await;
        let journal = yoi.journal(&pod).await;
        let finished = journal.iter().rev().find(|record| record["event"]["kind"] == "tool_finished").unwrap();
        let said = finished["event"]["summary"].as_str().unwrap();
        assert!(said.contains(wanted) && said.contains("it takes {"), "{tool}: {said}");
        assert!(journal.iter().all(|record| record["event"]["kind"] != "approval_asked"), "{tool}");
    }
}

#[tokio::test]
async fn the_rehearsal_does_a_small_task_and_writes_nothing_before_it_is_allowed() {
    let yoi = YoiProcess::start(YOI).await;
    let work = yoi.launch().work_dir();
    let pod = yoi.new_pod("ada").await;
    let answer = async |decision: &str| {
        yoi.say(&pod, "demo").await;
        wait_for_state(&yoi, &pod, "waiting").await;
        let approvals = yoi.get(&format!("{}/approvals", pod_path(&pod))).await.expect(200);
        let asked = approvals["items"][0].clone();
        let path = format!("{}/approvals/{}", pod_path(&pod), asked["id"].as_str().unwrap());
        yoi.post(&path, &json!({ "decision": decision })).await.expect(200);
        wait_for_state(&yoi, &pod, "idle").await;
        let journal = yoi.journal(&pod).await;
        let said = journal.iter().rev().find(|record| record["event"]["kind"] == "message_finished").unwrap();
        (asked["tool"].clone(), said["event"]["text"].as_str().unwrap().to_owned())
    };
    // With nothing to read, it creates a file of its own, after an approval.
    let (tool, said) = answer("deny").await;
    assert_eq!(tool, "Write");
    assert!(said.contains("## `rehearsal.md` is as it was") && !work.join("rehearsal.md").exists(), "{said}");
    fs::write(work.join("README.md"), "# A project\n\nIt adds numbers.\n").unwrap();
    let (tool, said) = answer("allow").await;
    assert_eq!(tool, "Edit");
    assert!(said.contains("## `README.md` is changed"), "{said}");
    let text = fs::read_to_string(work.join("README.md")).unwrap();
    assert!(text.starts_with("# A project\n\nIt adds numbers.\n\nOne line more"), "{text}");
}
