//! Older Pods behind their sockets, beside the server's own: the built binary with `--compat-sockets`.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    older_pod::{OlderPod, Script, Trouble},
    until, until_so,
    yoi::{EventSocket, Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn start(folder: &tempfile::TempDir) -> YoiProcess {
    Launch::new(YOI).arg("--compat-sockets").arg(folder.path().to_str().unwrap()).start().await
}

async fn pod(yoi: &YoiProcess, name: &str) -> Option<Value> {
    let pods = yoi.get("/api/v1/pods").await.expect(200);
    assert!(!pods.to_string().contains("/sock"), "no address of a socket is told: {pods}");
    pods["items"].as_array().unwrap().iter().find(|pod| pod["name"] == name).cloned()
}

/// Polls until the Pod is in this state.
async fn in_state(yoi: &YoiProcess, name: &str, state: &str) -> Value {
    let look = async || pod(yoi, name).await.filter(|pod| pod["state"] == state);
    until(format!("{name} is {state}"), look).await
}

fn says(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }] })
}

async fn command(yoi: &YoiProcess, pod: &Value, verb: &str) -> testkit::yoi::Answer {
    yoi.post(&format!("{}/{verb}", pod_path(pod)), &json!({})).await
}

async fn input(yoi: &YoiProcess, pod: &Value, text: &str) -> testkit::yoi::Answer {
    yoi.post(&format!("{}/input", pod_path(pod)), &says(text)).await
}

fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["event"]["kind"].as_str().unwrap()).collect()
}

fn ends(record: &Value, outcome: &str) -> bool {
    record["event"]["kind"] == "run_finished" && record["event"]["outcome"] == outcome
}

async fn watch(yoi: &YoiProcess, pod: &Value) -> (EventSocket, Value) {
    let mut events = yoi.events().await;
    events.subscribe("a", pod, None).await;
    let snapshot = events.wait_for(|frame| frame["type"] == "snapshot").await;
    (events, snapshot)
}

#[tokio::test]
async fn an_older_pod_is_listed_read_and_written_to_and_its_answer_streams() {
    let folder = tempfile::tempdir().unwrap();
    let alert = json!({ "level": "warn", "source": "disk", "message": "nearly full", "timestamp_ms": 1 });
    let ada = OlderPod::scripted(folder.path(), "ada", Script { alerts: vec![alert], ..Script::default() });
    let yoi = start(&folder).await;
    let own = yoi.new_pod("own").await;
    let pod = in_state(&yoi, "ada", "idle").await;
    assert_eq!((pod["pod"]["runtime_id"].as_str(), pod["model"].as_str()), (Some("compat"), Some("script-1")));
    assert_eq!(own["pod"]["runtime_id"], "local");

    let (mut events, snapshot) = watch(&yoi, &pod).await;
    assert!(snapshot["records"].to_string().contains("nearly full"), "{snapshot}");
    let body = says("think\nsay one two three\ntool Bash");
    let receipt = yoi.post_with_key("k1", &format!("{}/input", pod_path(&pod)), &body).await.expect(202);
    assert_eq!(receipt["command_id"], "k1");
    let records = events.records_until("a", |record| ends(record, "completed")).await;
    let told = kinds(&records);
    let expected = [
        "run_started",
        "user_message",
        "reasoning_finished",
        "text_chunk",
        "message_finished",
        "tool_args_chunk",
        "tool_called",
        "tool_finished",
        "usage",
        "run_finished",
    ];
    for kind in expected {
        assert!(told.contains(&kind) || kind.ends_with("_chunk"), "{kind} is not in {told:?}");
    }
    let of = |kind: &str| records.iter().find(|record| record["event"]["kind"] == kind).unwrap()["event"].clone();
    assert_eq!((&of("user_message")["command_id"], &of("run_started")["command_id"]), (&json!("k1"), &json!("k1")));
    assert_eq!(of("message_finished")["text"], "one two three");
    assert_eq!(of("tool_finished")["content"], "hi\n");
    let seqs: Vec<_> = records.iter().map(|record| record["seq"].as_i64().unwrap()).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");

    // A repeated key is the same command, and the Pod got it once.
    let again = yoi.post_with_key("k1", &format!("{}/input", pod_path(&pod)), &body).await.expect(202);
    assert_eq!(again, receipt);
    assert_eq!(ada.methods(), ["run"]);
    let page = yoi.get(&format!("{}/transcript?limit=3", pod_path(&pod))).await.expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 3);
    let older = format!("{}/transcript?before={}", pod_path(&pod), page["next"].as_str().unwrap());
    assert!(yoi.get(&older).await.expect(200).to_string().contains("nearly full"));
    assert_eq!(yoi.get(&format!("{}/transcript?before=x", pod_path(&pod))).await.expect_error(400), "invalid_input");
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled_and_refusals_have_our_codes() {
    let folder = tempfile::tempdir().unwrap();
    let _ada = OlderPod::start(folder.path(), "ada");
    let yoi = start(&folder).await;
    let pod = in_state(&yoi, "ada", "idle").await;
    let (mut events, _) = watch(&yoi, &pod).await;
    assert_eq!(command(&yoi, &pod, "pause").await.expect_error(409), "not_running");
    assert_eq!(command(&yoi, &pod, "cancel").await.expect_error(409), "not_running");
    assert_eq!(command(&yoi, &pod, "resume").await.expect_error(409), "not_paused");
    input(&yoi, &pod, "stream 1000").await.expect(202);
    assert_eq!(input(&yoi, &pod, "say no").await.expect_error(409), "busy");
    let queued = json!({ "segments": [{ "type": "text", "text": "later" }], "queue": true });
    let refused = yoi.post(&format!("{}/input", pod_path(&pod)), &queued).await.expect(409);
    assert!(refused["detail"].as_str().unwrap().contains("keep no queue"), "{refused}");
    events.records_until("a", |record| record["event"]["kind"] == "text_chunk").await;
    command(&yoi, &pod, "pause").await.expect(202);
    let records = events.records_until("a", |record| ends(record, "paused")).await;
    let closed = records.iter().find(|record| record["event"]["kind"] == "message_finished").unwrap();
    assert_eq!(closed["event"]["interrupted"], true, "what was said is kept: {closed}");
    command(&yoi, &pod, "pause").await.expect(202);
    in_state(&yoi, "ada", "paused").await;
    command(&yoi, &pod, "resume").await.expect(202);
    events.records_until("a", |record| record["event"]["kind"] == "text_chunk").await;
    command(&yoi, &pod, "cancel").await.expect(202);
    events.records_until("a", |record| ends(record, "cancelled")).await;
    in_state(&yoi, "ada", "idle").await;
    input(&yoi, &pod, "say after all").await.expect(202);
    let records = events.records_until("a", |record| ends(record, "completed")).await;
    assert!(records.iter().any(|record| record["event"]["kind"] == "alert"), "the interruption is told");
    input(&yoi, &pod, "fail").await.expect(202);
    let records = events.records_until("a", |record| ends(record, "error")).await;
    assert_eq!(records.last().unwrap()["event"]["code"], "provider_error");
    // A run that begins without an echo was still ours.
    input(&yoi, &pod, "bare words").await.expect(202);
    let records = events.records_until("a", |record| ends(record, "completed")).await;
    assert_eq!(kinds(&records).iter().filter(|kind| **kind == "user_message").count(), 1, "{:?}", kinds(&records));
}

#[tokio::test]
async fn two_older_pods_become_peers_and_what_they_cannot_do_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (_ada, _bob) = (OlderPod::start(folder.path(), "ada"), OlderPod::start(folder.path(), "bob"));
    let yoi = start(&folder).await;
    let (ada, bob) = (in_state(&yoi, "ada", "idle").await, in_state(&yoi, "bob", "idle").await);
    let own = yoi.new_pod("own").await;
    let peers = format!("{}/peers", pod_path(&ada));
    let answer = yoi.post(&peers, &json!({ "target": "bob" })).await.expect(201);
    assert_eq!((&answer["state"], &answer["peer"]), (&json!("linked"), &bob["pod"]));
    assert_eq!(yoi.post(&peers, &json!({ "target": "bob@compat" })).await.status, 200, "it stood");
    assert_eq!(yoi.post(&peers, &json!({ "target": "ada" })).await.expect_error(422), "peer_self");
    let known = yoi.get(&peers).await.expect(200);
    assert_eq!((&known["items"][0]["name"], &known["items"][0]["link"]), (&json!("bob"), &json!("linked")));
    let visible = yoi.get(&format!("{}/visible", pod_path(&ada))).await.expect(200);
    assert_eq!(visible["items"].as_array().unwrap().len(), 2);
    assert!(!visible.to_string().contains("sock"), "{visible}");
    let files = yoi.get(&format!("{}/files?q=src", pod_path(&ada))).await;
    if files.status == 200 {
        assert!(files.body.to_string().contains("src-folder/"), "{:?}", files.body);
    }

    let id = |pod: &Value, part: &str| pod["pod"][part].as_str().unwrap().to_owned();
    let refusals = [
        yoi.post(&peers, &json!({ "target": "own" })).await,
        yoi.post(&format!("{}/peers", pod_path(&own)), &json!({ "target": "ada" })).await,
        yoi.delete(&format!("{peers}/{}/{}", id(&bob, "runtime_id"), id(&bob, "worker_id"))).await,
        yoi.post(&format!("{}/messages", pod_path(&ada)), &json!({ "to": "bob", "text": "hi" })).await,
        yoi.patch(&pod_path(&ada), &json!({ "name": "eve" })).await,
        yoi.delete(&format!("{}?confirm=ada", pod_path(&ada))).await,
        yoi.post(&format!("{}/rewind", pod_path(&ada)), &json!({ "to_seq": 1, "expected_head": 1 })).await,
        yoi.post("/api/v1/pods", &json!({ "name": "eve", "runtime_id": "compat" })).await,
    ];
    for refused in refusals {
        let detail = refused.body["detail"].as_str().unwrap_or_default().to_owned();
        assert_eq!(refused.expect_error(400), "invalid_input");
        assert!(detail.len() > 20, "it says why: {detail}");
    }
    let gone = "/api/v1/runtimes/compat/workers/nobody";
    assert_eq!(yoi.get(gone).await.expect_error(404), "pod_not_found");
    let runtimes = yoi.get("/api/v1/runtimes").await.expect(200);
    let compat = runtimes["items"].as_array().unwrap().iter().find(|one| one["runtime_id"] == "compat").unwrap();
    assert_eq!((&compat["kind"], &compat["state"]), (&json!("compat"), &json!("live")));
    assert!(compat["detail"].as_str().unwrap().contains("debug mode"), "{compat}");
    assert!(yoi.log().iter().any(|line| line.contains("debug mode")), "the log says so");
}

#[tokio::test]
async fn a_socket_that_goes_makes_its_pod_unreachable_and_it_comes_back_as_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let yoi = start(&folder).await;
    assert!(pod(&yoi, "ada").await.is_none());
    let ada = OlderPod::start(folder.path(), "ada");
    let was = in_state(&yoi, "ada", "idle").await;
    let (mut events, snapshot) = watch(&yoi, &was).await;
    ada.kill().await;
    in_state(&yoi, "ada", "unreachable").await;
    assert_eq!(input(&yoi, &was, "say hi").await.expect_error(503), "runtime_unavailable");
    events.records_until("a", |record| record["event"]["state"] == "unreachable").await;

    let _ada = OlderPod::start(folder.path(), "ada");
    let is = in_state(&yoi, "ada", "idle").await;
    assert_eq!(is["pod"], was["pod"], "it is the same Pod");
    let expired = events.wait_for(|frame| frame["type"] == "diagnostic").await;
    assert_eq!(expired["code"], "cursor_expired");
    events.wait_for(|frame| frame["type"] == "snapshot" && frame["summary"]["state"] == "idle").await;
    input(&yoi, &is, "say hello again").await.expect(202);
    events.records_until("a", |record| ends(record, "completed")).await;

    // A cursor of the previous connection, and one that is invalid.
    let mut late = yoi.events().await;
    late.subscribe("a", &is, snapshot["cursor"].as_str()).await;
    assert_eq!(late.wait_for(|frame| frame["type"] == "diagnostic").await["code"], "cursor_expired");
    late.subscribe("b", &is, Some("nonsense")).await;
    let invalid = late.wait_for(|frame| frame["type"] == "diagnostic" && frame["id"] == "b").await;
    assert_eq!(invalid["code"], "cursor_invalid");
    // A cursor of this connection continues without a snapshot.
    let cursor = late.wait_for(|frame| frame["type"] == "snapshot" && frame["id"] == "b").await["cursor"].clone();
    late.subscribe("c", &is, cursor.as_str()).await;
    input(&yoi, &is, "say once more").await.expect(202);
    let next = late.wait_for(|frame| frame["id"] == "c").await;
    assert_eq!((&next["type"], &next["after"]), (&json!("records"), &cursor));
}

#[tokio::test]
async fn a_pod_is_stopped_and_restored_by_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (ada, _bob) = (OlderPod::start(folder.path(), "ada"), OlderPod::start(folder.path(), "bob"));
    let yoi = start(&folder).await;
    let pod = in_state(&yoi, "ada", "idle").await;
    in_state(&yoi, "bob", "idle").await;
    command(&yoi, &pod, "restore").await.expect(202);
    command(&yoi, &pod, "stop").await.expect(202);
    in_state(&yoi, "ada", "stopped").await;
    assert_eq!(input(&yoi, &pod, "say hi").await.expect_error(409), "not_live");
    assert_eq!(ada.methods(), ["shutdown"]);
    command(&yoi, &pod, "restore").await.expect(202);
    let restored = in_state(&yoi, "ada", "idle").await;
    assert_eq!(restored["pod"], pod["pod"]);
    input(&yoi, &pod, "say hi").await.expect(202);
    command(&yoi, &pod, "compact").await.expect(202);
}

#[tokio::test]
async fn a_large_snapshot_is_read_whole_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let text = "a long word ".repeat(1024);
    let item = |number: usize| {
        let content = json!([{ "kind": "text", "text": format!("{number} {text}") }]);
        let item = json!({ "kind": "message", "role": "assistant", "content": content });
        json!({ "kind": "assistant_item", "ts": 1_700_000_000_000_i64, "item": item })
    };
    let alert = json!({ "level": "warn", "source": "x", "message": "y".repeat(1000), "timestamp_ms": 1 });
    let script = Script { entries: (0..200).map(item).collect(), alerts: vec![alert; 300], ..Script::default() };
    let _ada = OlderPod::scripted(folder.path(), "ada", script);
    let yoi = start(&folder).await;
    let pod = in_state(&yoi, "ada", "idle").await;
    input(&yoi, &pod, "say hi").await.expect(202);
    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(&pod))).await.expect(200).to_string();
    assert!(page.contains("0 a long word") && page.contains("199 a long word"), "{} bytes", page.len());
}

#[tokio::test]
async fn pods_that_misbehave_say_what_is_wrong_and_harm_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let table = [
        ("ends", Trouble::EndBeforeSnapshot, "before it identified itself"),
        ("silent", Trouble::NoSnapshot, "did not identify itself in time"),
        ("half", Trouble::HalfLine, "time"),
        ("endless", Trouble::EndlessLine, "more than 64 MiB"),
        ("web", Trouble::NotJson, "not JSON"),
        ("alerts", Trouble::EndlessAlerts, "alerts"),
    ];
    let pods: Vec<_> =
        table.iter().map(|(name, trouble, _)| OlderPod::troubled(folder.path(), name, trouble.clone())).collect();
    let _flood = OlderPod::troubled(folder.path(), "flood", Trouble::Flood);
    let _mute = OlderPod::troubled(folder.path(), "mute", Trouble::Mute);
    let _good = OlderPod::start(folder.path(), "good");
    std::os::unix::net::UnixListener::bind(folder.path().join("no name.sock")).unwrap();
    let yoi = start(&folder).await;
    let good = in_state(&yoi, "good", "idle").await;
    for (name, _, why) in &table {
        until_so(format!("{name} is unreachable: {why}"), async || {
            in_state(&yoi, name, "unreachable").await["state_reason"].as_str().unwrap().contains(why)
        })
        .await;
    }
    let mute = in_state(&yoi, "mute", "idle").await;
    assert_eq!(input(&yoi, &mute, "say hi").await.expect_error(504), "timeout");
    input(&yoi, &good, "say I am well").await.expect(202);
    let (mut events, _) = watch(&yoi, &good).await;
    input(&yoi, &good, "say so I am").await.ok_or_busy();
    events.wait_for(|frame| frame.to_string().contains("I am")).await;
    assert!(memory_kb(&yoi) < 1_500_000, "memory is bounded: {} kB", memory_kb(&yoi));
    assert!(pod(&yoi, "no name").await.is_none());
    drop(pods);
}

#[tokio::test]
async fn a_command_that_was_sent_before_yoi_was_killed_is_not_sent_again_under_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let mute = OlderPod::troubled(folder.path(), "mute", Trouble::Mute);
    let ada = OlderPod::start(folder.path(), "ada");
    let mut yoi = start(&folder).await;
    let (to_mute, to_ada) = (in_state(&yoi, "mute", "idle").await, in_state(&yoi, "ada", "idle").await);
    let path = |pod: &Value| format!("{}/input", pod_path(pod));
    let receipt = yoi.post_with_key("taken", &path(&to_ada), &says("say hi")).await.expect(202);
    let (hi, hello, to_mute) = (says("hi"), says("hello"), path(&to_mute));
    tokio::select! {
        answer = yoi.post_with_key("lost", &to_mute, &hi) => panic!("it answers nothing: {answer:?}"),
        () = until_so("the command has arrived", async || !mute.methods().is_empty()) => (),
    }
    yoi.kill9().await;
    yoi.restart().await;
    let mute_again = in_state(&yoi, "mute", "idle").await;
    for _ in 0..2 {
        let told = yoi.post_with_key("lost", &path(&mute_again), &hi).await.expect(503);
        assert!(told["detail"].as_str().unwrap().contains("fresh idempotency key"), "{told}");
    }
    assert_eq!(yoi.post_with_key("lost", &path(&mute_again), &hello).await.expect_error(422), "key_reused");
    assert_eq!(mute.methods(), ["run"], "it was sent once");
    let again = yoi.post_with_key("taken", &path(&to_ada), &says("say hi")).await.expect(202);
    assert_eq!(again, receipt);
    assert_eq!(ada.methods(), ["run"]);
}

trait OkOrBusy {
    fn ok_or_busy(self);
}

impl OkOrBusy for testkit::yoi::Answer {
    /// The previous input may still be in progress.
    fn ok_or_busy(self) {
        assert!(matches!(self.status, 202 | 409), "{self:?}");
    }
}

fn memory_kb(yoi: &YoiProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", yoi.pid().unwrap())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_command_line_reaches_older_pods_too() {
    let folder = tempfile::tempdir().unwrap();
    let _ada = OlderPod::start(folder.path(), "ada");
    let yoi = start(&folder).await;
    in_state(&yoi, "ada", "idle").await;
    let run = async |words: &[&str]| {
        let mut command = yoi.launch().command();
        command.args(words).args(["--server", yoi.base_url()]).env("YOI_TOKEN", yoi.token());
        command.output().await.unwrap()
    };
    let sent = run(&["send", "ada@compat", "say from afar"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let pod = in_state(&yoi, "ada", "idle").await;
    let (mut events, snapshot) = watch(&yoi, &pod).await;
    if !snapshot.to_string().contains("from afar") {
        events.wait_for(|frame| frame.to_string().contains("from afar")).await;
    }
    let log = run(&["log", "ada"]).await;
    assert!(String::from_utf8_lossy(&log.stdout).contains("from afar"), "{log:?}");
    let help = run(&["serve", "--help"]).await;
    assert!(String::from_utf8_lossy(&help.stdout).contains("Debug mode"), "{help:?}");
}
