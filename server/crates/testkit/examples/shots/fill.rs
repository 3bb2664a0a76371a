//! Fills a yoi with Pods in every state, and with some of everything that a transcript can show.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Tokens},
    yoi::{Launch, YoiProcess, pod_path},
};

/// The files that the Pods work on.
const FILES: [(&str, &str); 4] = [
    ("notes.md", "# Sums\n\nThe sums are wrong for negative numbers.\nRun the tests with `sh test.sh`.\n"),
    ("add.sh", "# Sums of whole numbers.\nadd() {\n    echo $(($1 - $2))\n}\n"),
    (
        "test.sh",
        ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"2 + 3 is $(add 2 3)\"; exit 1; }\nfor n in 1 2 3 4 5; do echo \"sum $n ... ok\"; done\necho all good\n",
    ),
    ("release.sh", "echo released\n"),
];

/// The planner's final report.
const REPORT: &str = "\
## Mended

The sum was a difference. All five sums hold now:

| case | before | now |
| --- | --- | --- |
| 2 + 3 | -1 | **5** |
| -2 + 3 | -5 | **1** |

Call it like this:

```sh
# Both may be negative.
for amount in 3 -2 40; do
    total=$(add \"$total\" \"$amount\")
done
```

- the change is one line in `add.sh`
- nothing was released; *builder* does that";

/// A running yoi with its Pods.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) yoi: YoiProcess,
    pub(crate) planner: Value,
    pub(crate) reviewer: Value,
    pub(crate) builder: Value,
    /// The scripted models, kept alive as long as this.
    _models: [ScriptedModel; 2],
}

pub(crate) async fn play(binary: &str) -> Result<Cast> {
    let launch = Launch::new(binary);
    let work = launch.work_dir();
    for (name, text) in FILES {
        std::fs::write(work.join(name), text)?;
    }
    // One for each of the two that write to each other, so that each has the right next answer.
    let (lab, desk) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let config = work.with_file_name("yoi.toml");
    std::fs::write(&config, settings(&lab, &desk))?;
    let yoi = launch.arg("--config").arg(config.to_str().context("a temporary path is text")?).start().await;

    let planner = pod(&yoi, "planner", "coder").await;
    let reviewer = pod(&yoi, "reviewer", "reader").await;
    let builder = pod(&yoi, "builder", "coder").await;
    mend(&yoi, &planner, &lab).await;
    peers(&yoi, &planner, &lab, &desk).await;
    lab.push(turn("The tests pass, so I release.", &[("Bash", json!({ "command": "sh release.sh --to production" }))]));
    act(&yoi, &builder, "Release it.", "approval_asked").await;
    spawned(&yoi, &reviewer, &desk, &work).await;
    others(&yoi, &planner).await;
    Ok(Cast { yoi, planner, reviewer, builder, _models: [lab, desk] })
}

/// Edits and tests need no approval; a release does.
fn settings(lab: &ScriptedModel, desk: &ScriptedModel) -> String {
    let provider = |name: &str, model: &ScriptedModel| {
        format!(
            "[providers.{name}]\nkind = \"openai-compatible\"\nbase_url = \"{}\"\nmodels = [\"scripted\"]\n",
            model.base_url()
        )
    };
    let allow = |rule: &str| format!("{{ tool = {rule}, decision = \"allow\" }}");
    let rules = [allow("\"Edit\""), allow("\"Bash\", match = \"sh test.sh\"")].join(", ");
    format!(
        "{}{}[profiles.coder]\nprovider = \"lab\"\nmodel = \"scripted\"\npermissions = [{rules}]\n\
         [profiles.reader]\nprovider = \"desk\"\nmodel = \"scripted\"\n\
         [profiles.scout]\nprovider = \"rehearsal\"\n",
        provider("lab", lab),
        provider("desk", desk)
    )
}

async fn pod(yoi: &YoiProcess, name: &str, profile: &str) -> Value {
    yoi.post("/api/v1/pods", &json!({ "name": name, "profile": profile })).await.expect(201)
}

/// One answer of a model: a text, and calls.
fn turn(text: &str, calls: &[(&str, Value)]) -> Answer {
    let tokens = Tokens { input: 5_200 + text.len() as u64, cached: 4_100, output: 40 + text.len() as u64 / 4 };
    let begun = if text.is_empty() { Answer::new() } else { Answer::new().text(text) };
    let answer = calls.iter().enumerate().fold(begun, |answer, (number, (name, arguments))| {
        answer.tool_call(&format!("c{number}"), name, &[&arguments.to_string()])
    });
    answer.usage(tokens).finish()
}

/// A coding task: looks around, finds the bug, fixes it, reports.
async fn mend(yoi: &YoiProcess, planner: &Value, lab: &ScriptedModel) {
    let looks = [
        ("Glob", json!({ "pattern": "**/*" })),
        ("Read", json!({ "path": "notes.md" })),
        ("Read", json!({ "path": "add.sh" })),
    ];
    let looking = Answer::new().reasoning("The notes say where it hurts. First the files, then the tests.");
    let looking = looking.text("I read the notes and run the tests before I touch anything.");
    lab.push(
        looks
            .iter()
            .enumerate()
            .fold(looking, |answer, (number, (name, arguments))| {
                answer.tool_call(&format!("l{number}"), name, &[&arguments.to_string()])
            })
            .finish(),
    );
    let test = ("Bash", json!({ "command": "sh test.sh" }));
    lab.push(turn("", std::slice::from_ref(&test)));
    let edit = json!({
        "path": "add.sh", "old": "    echo $(($1 - $2))",
        "new": "    # Both may be negative.\n    echo $(($1 + $2))",
    });
    lab.push(turn("The test fails: `add` subtracts. One line has to change.", &[("Edit", edit)]));
    lab.push(turn("", &[test]));
    lab.push(turn(REPORT, &[]));
    act(yoi, planner, "The sums are wrong, see `notes.md`. Please mend them and run the tests.", "run_finished").await;
}

/// Tells a Pod what to do and returns when a record of this kind has resulted.
async fn act(yoi: &YoiProcess, pod: &Value, script: &str, until: &str) {
    let receipt = yoi.say(pod, script).await;
    let mut events = yoi.events().await;
    events.subscribe("play", pod, None).await;
    let said = receipt["seq"].as_i64().unwrap_or_default();
    let is_it = |record: &Value| record["event"]["kind"] == until && record["seq"].as_i64() > Some(said);
    events.records_until("play", is_it).await;
}

/// Two peers that have written to each other.
async fn peers(yoi: &YoiProcess, planner: &Value, lab: &ScriptedModel, desk: &ScriptedModel) {
    let asked = json!({ "target": "reviewer", "note": "for the sums" });
    yoi.post(&format!("{}/peers", pod_path(planner)), &asked).await;
    let question = "I mended `add.sh`: it subtracted. Would you read the change?";
    lab.push(turn("", &[("SendToPeerPod", json!({ "name": "reviewer", "message": question }))]));
    lab.push(turn("I have asked the reviewer.", &[]));
    lab.push(turn("Zero is a good case: I add it to `test.sh` with the next change.", &[]));
    let answer = "It reads well. What about **zero**?";
    desk.push(turn(
        "The change is small and right.",
        &[("SendToPeerPod", json!({ "name": "planner", "message": answer }))],
    ));
    desk.push(turn("I have answered the planner.", &[]));
    let mut events = yoi.events().await;
    events.subscribe("answer", planner, None).await;
    yoi.say(planner, "Let the reviewer read it.").await;
    // The answer arrives as a message, which the planner reads in this run or in one of its own.
    let (mut has_come, mut has_read) = (false, false);
    events
        .records_until("answer", |record| {
            let event = &record["event"];
            has_come |= event["kind"] == "peer_message";
            has_read |= has_come && event["text"].as_str().is_some_and(|text| text.starts_with("Zero is"));
            has_read && event["kind"] == "run_finished"
        })
        .await;
}

/// A child with a loan.
async fn spawned(yoi: &YoiProcess, reviewer: &Value, desk: &ScriptedModel, work: &Path) {
    let folder = work.join("checks");
    std::fs::create_dir_all(&folder).expect("the working directory can be filled");
    let child = json!({
        "name": "scout", "task": "say I look for numbers that nobody has tried.", "profile": "scout",
        "scope": [{ "path": folder, "access": "write" }],
    });
    desk.push(turn("Somebody else should look for more cases.", &[("SpawnPod", child)]));
    desk.push(turn("The scout looks for more cases in `checks`.", &[]));
    desk.push(turn("The scout is done.", &[]));
    act(yoi, reviewer, "Who looks for more cases?", "child_event").await;
}

/// A Pod that failed, one that is running, one that is stopped, and one whose peer policy is `ask`.
async fn others(yoi: &YoiProcess, planner: &Value) {
    let nightly = yoi.new_pod("nightly").await;
    act(yoi, &nightly, "say I begin with the longest test.\nfail 500", "run_finished").await;
    let archive = yoi.new_pod("archive").await;
    act(yoi, &archive, "say All of last week is filed.", "run_finished").await;
    yoi.post(&format!("{}/stop", pod_path(&archive)), &json!({})).await;
    yoi.post("/api/v1/pods", &json!({ "name": "treasurer", "peer_policy": "ask" })).await.expect(201);
    let asked = json!({ "target": "treasurer", "note": "what may a release cost?" });
    yoi.post(&format!("{}/peers", pod_path(planner)), &asked).await;
    let counter = yoi.new_pod("counter").await;
    yoi.say(&counter, "stream 20000 at 5").await;
}
