//! The rules that an "always" with a pattern makes, and the modes of a Pod: each attack is a call that the pattern or
//! the mode was not meant for, made by a model through the real API.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use testkit::yoi::{YoiProcess, pod_path, until};

use crate::{
    Tally, YOI,
    rules::{Fate, fate, give},
};

async fn pod_in(yoi: &YoiProcess, name: &str, folder: &Path) -> Value {
    let body = json!({ "name": name, "provider": "rehearsal", "cwd": folder });
    yoi.post("/api/v1/pods", &body).await.expect(201)
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

/// Has a call asked for, and returns the question.
async fn asked(yoi: &YoiProcess, pod: &Value, tool: &str, arguments: &Value) -> Value {
    yoi.say(pod, &format!("call {tool} {arguments}")).await;
    until("a question", async || {
        let open = yoi.get(&format!("{}/approvals", pod_path(pod))).await.expect(200);
        let first = open["items"][0].clone();
        first["id"].is_string().then_some(first)
    })
    .await
}

async fn idle(yoi: &YoiProcess, pod: &Value) {
    until("the Pod is idle", async || {
        let pod = yoi.get(&pod_path(pod)).await.expect(200);
        (pod["state"] == "idle").then_some(())
    })
    .await;
}

/// Has a call asked for and answers it; returns the status and the answer.
async fn answered(yoi: &YoiProcess, pod: &Value, (tool, arguments): (&str, Value), answer: &Value) -> Value {
    let question = asked(yoi, pod, tool, &arguments).await;
    let path = format!("{}/approvals/{}", pod_path(pod), question["id"].as_str().unwrap());
    let answered = yoi.post(&path, answer).await.expect(200);
    idle(yoi, pod).await;
    answered
}

fn always(pattern: &str, scope: &str) -> Value {
    json!({ "decision": "allow", "remember": true, "pattern": pattern, "scope": scope })
}

async fn mode(yoi: &YoiProcess, pod: &Value, mode: &str) -> Value {
    yoi.patch(&pod_path(pod), &json!({ "mode": mode })).await.expect(200)
}

/// Command lines that `cargo test *` does not mean.
const ATTACKS: [(&str, &str); 56] = [
    ("a second command behind ;", "cargo test; touch got"),
    ("a second command behind ; without a space", "cargo test;touch got"),
    ("a second command behind &&", "cargo test && touch got"),
    ("a second command behind ||", "cargo test || touch got"),
    ("a second command behind a pipe", "cargo test | tee got"),
    ("a second command behind |&", "cargo test |& tee got"),
    ("a second command in the background", "cargo test & touch got"),
    ("a second command on its own line", "cargo test\ntouch got"),
    ("a second command behind a carriage return", "cargo test\r\ntouch got"),
    ("a second command before it", "touch got; cargo test"),
    ("a second command behind a comment's end", "cargo test # a\ntouch got"),
    ("a line that goes on before its joint", "cargo test \\\n; touch got"),
    ("output to a file", "cargo test > got"),
    ("output to a file without a space", "cargo test >got"),
    ("output behind a file", "cargo test >> got"),
    ("output past noclobber", "cargo test >| got"),
    ("errors to a file", "cargo test 2> got"),
    ("both outputs to a file", "cargo test &> got"),
    ("both outputs behind a file", "cargo test &>> got"),
    ("both outputs to a file by a copy", "cargo test >& got"),
    ("a redirection before it", "> got cargo test"),
    ("a file opened for both", "cargo test <> got"),
    ("input from a file", "cargo test < Cargo.toml"),
    ("a here-document", "cargo test <<x\n$(touch got)\nx"),
    ("a here-string", "cargo test <<< $(touch got)"),
    ("a substitution", "cargo test $(touch got)"),
    ("a substitution in double quotes", "cargo test \"$(touch got)\""),
    ("a substitution with backticks", "cargo test `touch got`"),
    ("backticks in double quotes", "cargo test \"`touch got`\""),
    ("a substitution in arithmetic", "cargo test $((a[$(touch got)0]))"),
    ("a substitution in an expansion", "cargo test ${a:-$(touch got)}"),
    ("a process that is read", "cargo test <(touch got)"),
    ("a process that is written to", "cargo test >(touch got)"),
    ("a variable", "cargo test $X"),
    ("a variable set before it", "RUSTC_WRAPPER=./evil cargo test"),
    ("a variable set by quotes", "A='b c' cargo test"),
    ("a library loaded before it", "LD_PRELOAD=./evil.so cargo test"),
    ("a variable set by env", "env RUSTC_WRAPPER=./evil cargo test"),
    ("a variable exported before it", "export RUSTC_WRAPPER=./evil; cargo test"),
    ("a group", "{ cargo test; touch got; }"),
    ("a subshell", "(cargo test)"),
    ("a condition", "if cargo test; then touch got; fi"),
    ("a loop", "while cargo test; do touch got; done"),
    ("its denial", "! cargo test"),
    ("time before it", "time cargo test"),
    ("a shell around it", "sh -c 'cargo test'"),
    ("eval around it", "eval cargo test"),
    ("a function of its name", "cargo() { touch got; }; cargo test"),
    ("an alias of its name", "alias cargo=touch; cargo test"),
    ("a program of its name elsewhere", "./cargo test"),
    ("a word that begins like its own", "cargo testing"),
    ("another word", "cargo run"),
    ("its name and word in one", "'cargo test' got"),
    ("names that a glob makes", "cargo test *"),
    ("quotes that do not end", "cargo test 'a"),
    ("another space than the shell's", "cargo\u{a0}test"),
];

#[tokio::test]
async fn a_pattern_that_was_given_with_an_always_means_its_words_and_nothing_besides() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let pod = pod_in(&yoi, "patterns", &root).await;
    let mut tally = Tally::of("patterns given with an always");

    answered(&yoi, &pod, ("Bash", bash("cargo test")), &always("cargo test *", "pod")).await;
    for plain in ["cargo test", "cargo test -p a --lib", "cargo test 'a b'; cargo test c"] {
        assert_eq!(fate(&yoi, &pod, "Bash", &bash(plain)).await, Fate::CarriedOut, "{plain}");
    }
    for (attack, command) in ATTACKS {
        let fate = fate(&yoi, &pod, "Bash", &bash(command)).await;
        let done = (fate != Fate::Asked || root.join("got").exists()).then(|| format!("{fate:?}"));
        tally.note(attack, done);
    }

    // A pattern that does not cover the call at hand makes no rule, and the question stays.
    for command in ["cargo test; touch got", "cargo test > got", "cargo test $(touch got)", "touch got"] {
        let question = asked(&yoi, &pod, "Bash", &bash(command)).await;
        let path = format!("{}/approvals/{}", pod_path(&pod), question["id"].as_str().unwrap());
        for pattern in ["cargo test *", "touch *; cargo *", " ", "cargo test * > *; x"] {
            let refusal = yoi.post(&path, &always(pattern, "everywhere")).await.expect_error(400);
            assert_eq!(refusal, "invalid_input", "{pattern} for {command}");
        }
        let odd = json!({ "decision": "allow", "pattern": "cargo test *" });
        assert_eq!(yoi.post(&path, &odd).await.expect_error(400), "invalid_input", "a pattern is about a rule");
        yoi.post(&path, &json!({ "decision": "deny" })).await.expect(200);
        idle(&yoi, &pod).await;
    }
    assert!(!root.join("got").exists());
    assert_eq!(yoi.get("/api/v1/rules").await.expect(200)["items"].as_array().unwrap().len(), 1);
    tally.finish(56);
}

#[tokio::test]
async fn a_rule_reaches_as_far_as_its_scope_until_it_is_taken_back() {
    let yoi = YoiProcess::start(YOI).await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [here, elsewhere] = folders.each_ref().map(|folder| folder.path().canonicalize().unwrap());
    let (ada, bob) = (pod_in(&yoi, "ada", &here).await, pod_in(&yoi, "bob", &here).await);
    let eve = pod_in(&yoi, "eve", &elsewhere).await;
    let call = bash("echo a");
    for (scope, bobs, eves) in [
        ("pod", Fate::Asked, Fate::Asked),
        ("folder", Fate::CarriedOut, Fate::Asked),
        ("everywhere", Fate::CarriedOut, Fate::CarriedOut),
    ] {
        answered(&yoi, &ada, ("Bash", call.clone()), &always("echo *", scope)).await;
        for (pod, expected) in [(&ada, Fate::CarriedOut), (&bob, bobs), (&eve, eves)] {
            assert_eq!(fate(&yoi, pod, "Bash", &call).await, expected, "{scope}");
        }
        // What a Pod's own rules deny stays denied.
        give(&yoi, &eve, &json!([{ "tool": "Bash", "match": "echo *", "decision": "deny" }])).await;
        assert_eq!(fate(&yoi, &eve, "Bash", &call).await, Fate::Denied, "{scope}");
        give(&yoi, &eve, &json!([])).await;

        let rules = yoi.get("/api/v1/rules").await.expect(200)["items"].clone();
        let rule = &rules[0];
        assert_eq!(rules.as_array().unwrap().len(), 1, "{rules}");
        assert_eq!(
            (&rule["scope"], &rule["pattern"], &rule["decision"]),
            (&json!(scope), &json!("echo *"), &json!("allow"))
        );
        assert_eq!(rule["pod"].is_object(), scope == "pod", "{rule}");
        assert_eq!(rule["folder"].is_string(), scope != "everywhere", "{rule}");
        let path = format!("/api/v1/rules/{}", rule["id"].as_str().unwrap());
        yoi.delete(&path).await.expect(204);
        assert_eq!(yoi.delete(&path).await.expect_error(404), "not_found");
        assert_eq!(fate(&yoi, &ada, "Bash", &call).await, Fate::Asked, "{scope}");
    }
    // A deny that is remembered everywhere binds everybody, whatever their own rules allow.
    let never = json!({ "decision": "deny", "remember": true, "pattern": "echo *", "scope": "everywhere" });
    answered(&yoi, &ada, ("Bash", call.clone()), &never).await;
    give(&yoi, &eve, &json!([{ "tool": "Bash", "decision": "allow" }])).await;
    assert_eq!(fate(&yoi, &eve, "Bash", &call).await, Fate::Denied);
}

/// A tool, its arguments, and what becomes of the call.
type Row = (&'static str, Value, Fate);

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "x" })
}

/// What each mode does with these calls. `far` is a Write outside the scope.
fn rows(far: &Value) -> [(&'static str, [Row; 7]); 4] {
    let fetch = json!({ "url": "https://a.invalid/" });
    [
        (
            "ask",
            [
                ("Write", write("a1"), Fate::Asked),
                ("Bash", bash("touch b1"), Fate::Asked),
                ("Write", far.clone(), Fate::Denied),
                ("Write", write("way/x"), Fate::Denied),
                ("Write", write(".git/hooks/post-commit"), Fate::Denied),
                ("WebFetch", fetch.clone(), Fate::Asked),
                ("Glob", json!({ "pattern": "*" }), Fate::CarriedOut),
            ],
        ),
        (
            "accept_edits",
            [
                ("Write", write("a2"), Fate::CarriedOut),
                ("Bash", bash("touch b2"), Fate::Asked),
                ("Write", far.clone(), Fate::Denied),
                ("Write", write("way/x"), Fate::Denied),
                ("Write", write(".git/hooks/post-commit"), Fate::Denied),
                ("WebFetch", fetch.clone(), Fate::Asked),
                ("Bash", json!({ "command": "touch x", "cwd": "/" }), Fate::Denied),
            ],
        ),
        (
            "plan",
            [
                ("Write", write("a3"), Fate::Denied),
                ("Edit", json!({ "path": "a2", "old": "x", "new": "y" }), Fate::Denied),
                ("Bash", bash("touch b3"), Fate::Denied),
                ("Bash", bash("ls"), Fate::Denied),
                ("Glob", json!({ "pattern": "*" }), Fate::CarriedOut),
                ("WebFetch", fetch.clone(), Fate::Asked),
                ("ListPods", json!({}), Fate::CarriedOut),
            ],
        ),
        (
            "free",
            [
                ("Write", write("a4"), Fate::CarriedOut),
                ("Bash", bash("touch b4; echo a > c4"), Fate::CarriedOut),
                ("Write", far.clone(), Fate::Denied),
                ("Write", write("way/x"), Fate::Denied),
                ("Write", write(".git/hooks/post-commit"), Fate::Denied),
                ("WebFetch", fetch.clone(), Fate::Asked),
                ("Bash", bash("rm kept"), Fate::Denied),
            ],
        ),
    ]
}

#[tokio::test]
async fn a_mode_allows_what_the_walls_hold_and_nothing_besides() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), root.join("way")).unwrap();
    let pod = pod_in(&yoi, "modes", &root).await;
    assert_eq!(yoi.get(&pod_path(&pod)).await.expect(200)["mode"], "ask");
    let far = outside.path().join("x");
    let far = write(far.to_str().unwrap());
    fs::write(root.join("kept"), "x").unwrap();
    for (name, calls) in rows(&far) {
        let detail = mode(&yoi, &pod, name).await;
        assert_eq!(detail["mode"], name);
        give(&yoi, &pod, &json!([{ "tool": "Bash", "match": "rm *", "decision": "deny" }])).await;
        for (tool, arguments, expected) in calls {
            assert_eq!(fate(&yoi, &pod, tool, &arguments).await, expected, "{name}: {tool} {arguments}");
        }
    }
    assert!(root.join("kept").exists() && !root.join("b3").exists() && root.join("c4").exists());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    // No rule allows what plan mode forbids, and the model is told why.
    mode(&yoi, &pod, "plan").await;
    give(&yoi, &pod, &json!([{ "tool": "Write", "decision": "allow" }])).await;
    assert_eq!(fate(&yoi, &pod, "Write", &write("a5")).await, Fate::Denied);
    let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200).to_string();
    assert!(history.contains("plan mode"), "{history}");
    for bad in [json!("yolo"), json!(""), json!(1)] {
        assert_eq!(yoi.patch(&pod_path(&pod), &json!({ "mode": bad })).await.expect_error(400), "invalid_input");
    }
}

#[tokio::test]
async fn a_mode_answers_the_questions_that_it_decides() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let pod = pod_in(&yoi, "waits", &root).await;
    let question = asked(&yoi, &pod, "Write", &json!({ "path": "a", "content": "x\n" })).await;
    assert_eq!(question["preview"]["is_new"], true, "{question}");
    mode(&yoi, &pod, "accept_edits").await;
    idle(&yoi, &pod).await;
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "x\n");
    asked(&yoi, &pod, "Bash", &bash("touch b")).await;
    mode(&yoi, &pod, "plan").await;
    idle(&yoi, &pod).await;
    assert!(!root.join("b").exists());
    let kinds = yoi.journal(&pod).await;
    let told: Vec<&Value> =
        kinds.iter().map(|record| &record["event"]).filter(|event| event["kind"] == "settings_changed").collect();
    assert_eq!(told.iter().map(|event| &event["mode"]).collect::<Vec<_>>(), ["accept_edits", "plan"]);
    assert_eq!(told[0]["by"], "operator");
}

#[tokio::test]
async fn several_questions_are_answered_at_once_and_each_by_itself() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (ada, bob) = (pod_in(&yoi, "ada", &root).await, pod_in(&yoi, "bob", &root).await);
    let first = asked(&yoi, &ada, "Bash", &bash("touch a")).await;
    let second = asked(&yoi, &bob, "Write", &json!({ "path": "b", "content": "x" })).await;
    let address = format!("local/{}", bob["pod"]["worker_id"].as_str().unwrap());
    let body = json!({ "decision": "allow", "ids": [
        { "pod": ada["pod"], "id": first["id"] },
        { "pod": ada["pod"], "id": "no-such-question" },
        { "pod": address, "id": second["id"] },
        { "pod": "local/no-such-pod", "id": "q" },
        { "pod": address, "id": second["id"] },
    ] });
    let answer = async || yoi.post_with_key("all-at-once", "/api/v1/approvals", &body).await.expect(200);
    let answered = answer().await;
    let items = answered["items"].as_array().unwrap();
    let told: Vec<_> =
        items.iter().map(|item| (item["approval"]["decision"].as_str(), item["error"]["code"].as_str())).collect();
    let expected = [
        (Some("allow"), None),
        (None, Some("not_found")),
        (Some("allow"), None),
        (None, Some("pod_not_found")),
        (None, Some("already_answered")),
    ];
    assert_eq!(told, expected, "{answered}");
    assert_eq!(items[2]["pod"], bob["pod"]);
    idle(&yoi, &ada).await;
    idle(&yoi, &bob).await;
    assert!(root.join("a").exists() && root.join("b").exists());
    assert_eq!(answer().await, answered, "a repeat gets the first answer");
    let other = json!({ "decision": "deny", "ids": [{ "pod": ada["pod"], "id": first["id"] }] });
    assert_eq!(yoi.post_with_key("all-at-once", "/api/v1/approvals", &other).await.expect_error(422), "key_reused");
    let late = yoi.post("/api/v1/approvals", &other).await.expect(200);
    assert_eq!(late["items"][0]["error"]["code"], "already_answered");
    for bad in [json!([]), json!([{ "pod": "nowhere", "id": "q" }]), json!([{ "id": "q" }]), json!("q")] {
        let body = json!({ "decision": "allow", "ids": bad });
        assert_eq!(yoi.post("/api/v1/approvals", &body).await.expect_error(400), "invalid_input", "{body}");
    }
}

#[tokio::test]
async fn a_question_shows_what_would_happen_and_what_always_can_mean() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let pod = pod_in(&yoi, "shows", &root).await;
    for command in ["echo a", "echo b c"] {
        answered(&yoi, &pod, ("Bash", bash(command)), &json!({ "decision": "allow" })).await;
    }
    let question = asked(&yoi, &pod, "Bash", &bash("echo d")).await;
    let offered: Vec<_> = question["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|offer| (offer["pattern"].as_str().unwrap(), offer["would_have_allowed"].as_u64().unwrap()))
        .collect();
    assert_eq!(offered, [("echo d", 0), ("echo d *", 0), ("echo *", 2), ("*", 2)]);
    let reach = &question["preview"]["reach"];
    assert_eq!((&reach["network"], &reach["writes"][0]), (&json!("ask"), &json!(root)), "{question}");
    yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    idle(&yoi, &pod).await;

    fs::write(root.join("f"), "1\n2\n3\n").unwrap();
    yoi.say(&pod, &format!("call Read {}", json!({ "path": "f" }))).await;
    idle(&yoi, &pod).await;
    let question = asked(&yoi, &pod, "Write", &json!({ "path": "f", "content": "1\nx\n" })).await;
    let preview = &question["preview"];
    assert_eq!((&preview["added"], &preview["removed"]), (&json!(1), &json!(2)), "{question}");
    assert_eq!(preview["hunks"][0]["lines"], json!([" 1", "-2", "-3", "+x"]), "{question}");
    assert_eq!(preview["deletes"], "2 lines are removed");
}
