//! The built binary while its database cannot be written for a while: Pods wait, say so, and continue by themselves, in
//! order.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use testkit::yoi::{Launch, WAIT_MAX, YoiProcess, pod_path, until};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// All words that the Pod has said, in order, with the texts of its blocks joined.
fn said(journal: &[Value]) -> Vec<String> {
    let finished = journal.iter().filter(|record| record["event"]["kind"] == "message_finished");
    finished.map(|record| record["event"]["text"].as_str().unwrap().to_owned()).collect()
}

fn words(count: usize) -> String {
    (1..=count).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
}

/// What a Pod streams for three seconds.
const STREAMS: &str = "stream 600 at 200";
/// What a Pod streams for longer than a test needs to kill its server.
const STREAMS_ON: &str = "stream 2000 at 200";

/// A Pod that streams, with a queued message; the stream is seen to run.
async fn busy_pod(yoi: &YoiProcess, streams: &str) -> (Value, testkit::yoi::EventSocket) {
    let pod = yoi.new_pod("ada").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    socket.subscribe_pods("list").await;
    yoi.say(&pod, streams).await;
    let queued = yoi.post(&format!("{}/input", pod_path(&pod)), &input("say and then this")).await.expect(202);
    assert!(queued["command_id"].is_string());
    socket.records_until("a", |record| record["event"]["text"] == " w20").await;
    (pod, socket)
}

fn input(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }], "queue": true })
}

/// The final state of the Pod: both answers whole, in order and once, and nothing shown that is not stored.
async fn assert_healed(yoi: &YoiProcess, pod: &Value, mut socket: testkit::yoi::EventSocket, answers: &[String]) {
    let is_last = |record: &Value| {
        record["event"]["kind"] == "message_finished"
            && record["event"]["text"].as_str() == answers.last().map(|text| &**text)
    };
    socket.records_until("a", is_last).await;
    until("the Pod is idle", async || (yoi.get(&pod_path(pod)).await.expect(200)["state"] == "idle").then_some(()))
        .await;
    let journal = yoi.journal(pod).await;
    assert_eq!(said(&journal), answers);
    let of = |kind: &str| journal.iter().filter(|record| record["event"]["kind"] == kind).count();
    assert_eq!(
        (of("run_started"), of("run_finished"), of("user_message")),
        (answers.len(), answers.len(), answers.len())
    );
    let outcomes = journal.iter().filter(|record| record["event"]["kind"] == "run_finished");
    assert!(outcomes.clone().all(|end| end["event"]["outcome"] == "completed"), "{:?}", outcomes.collect::<Vec<_>>());
    let shown = socket.seen().iter().flat_map(|frame| frame["records"].as_array().into_iter().flatten());
    let shown: Vec<i64> = shown.map(|record| record["seq"].as_i64().unwrap()).collect();
    assert!(shown.is_sorted_by(|one, next| one < next), "what was shown was shown once and in order");
    let detail = yoi.get(&pod_path(pod)).await.expect(200);
    assert_eq!(detail["state_reason"], Value::Null);
    assert_eq!(yoi.get("/readyz").await.expect(200)["database"], json!({ "reads": true, "writes": true }));
}

/// What is reported while the database cannot be written, everywhere that people and programs look.
async fn assert_told(yoi: &YoiProcess, pod: &Value, socket: &mut testkit::yoi::EventSocket, why: &str) {
    let tells = |summary: &Value| summary["state_reason"].as_str().is_some_and(|reason| reason.contains(why));
    socket
        .wait_for(|frame| frame["type"] == "pods" && frame["upserts"].as_array().into_iter().flatten().any(tells))
        .await;
    let detail = yoi.get(&pod_path(pod)).await.expect(200);
    assert!(tells(&detail), "{detail}");
    let ready = yoi.get("/readyz").await;
    let ready = ready.expect(503);
    assert_eq!(
        (&ready["ready"], &ready["database"]["reads"], &ready["database"]["writes"]),
        (&json!(false), &json!(true), &json!(false))
    );
    assert!(ready["database"]["detail"].as_str().unwrap().contains(why), "{ready}");
    let runtimes = yoi.get("/api/v1/runtimes").await.expect(200);
    assert!(runtimes["items"][0]["detail"].as_str().unwrap().contains(why), "{runtimes}");
    let metrics = yoi.request(reqwest::Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let failed = metrics.lines().find_map(|line| line.strip_prefix("yoi_storage_failures_total{operation=\"write\"} "));
    assert!(failed.unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
    assert!(metrics.contains("yoi_storage_out 1\n"), "{metrics}");
    let listed = yoi.launch().command().args(["ls", "--server", yoi.base_url()]).env("YOI_TOKEN", yoi.token()).output();
    let listed = String::from_utf8(listed.await.unwrap().stdout).unwrap();
    assert!(listed.contains("cannot write to its database"), "{listed}");
}

/// A command refused in an outage stays refused: sent again, it happens, and once.
async fn assert_refused(yoi: &YoiProcess, pod: &Value, key: &str, text: &str) {
    let refused = yoi.post_with_key(key, &format!("{}/input", pod_path(pod)), &input(text)).await;
    let detail = refused.body["detail"].as_str().unwrap_or_default().to_owned();
    assert_eq!(refused.expect_error(503), "runtime_unavailable");
    assert!(detail.contains("nothing was done"), "{detail}");
}

async fn lock(yoi: &YoiProcess) -> SqliteConnection {
    let file = yoi.launch().data_dir().join("yoi.db");
    let mut other = SqliteConnectOptions::new().filename(file).busy_timeout(WAIT_MAX).connect().await.unwrap();
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    other
}

#[tokio::test]
async fn a_database_that_another_program_holds_is_waited_for() {
    let yoi = YoiProcess::start(YOI).await;
    let (pod, mut socket) = busy_pod(&yoi, STREAMS).await;
    let mut other = lock(&yoi).await;
    assert_told(&yoi, &pod, &mut socket, "another process has held the database").await;
    assert_refused(&yoi, &pod, "later", "say at last").await;
    sqlx::query("rollback").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    // It recovers by itself; what was refused happens when it is sent again, and once.
    let path = format!("{}/input", pod_path(&pod));
    let first = yoi.post_with_key("later", &path, &input("say at last")).await.expect(202);
    assert_eq!(yoi.post_with_key("later", &path, &input("say at last")).await.expect(202), first);
    let answers = [words(600), "and then this".to_owned(), "at last".to_owned()];
    assert_healed(&yoi, &pod, socket, &answers).await;
}

/// A yoi whose writes fail beyond a file size limit, which needs no privileges: `limited` is what it starts with.
fn launch_with_limit(blocks: &str) -> Launch {
    let launch = Launch::new(YOI);
    let wrapper = launch.work_dir().parent().unwrap().join("limited");
    // A write beyond the limit is then an error, and does not end the process.
    let script = format!("#!/bin/sh\ntrap '' XFSZ\nulimit -S -f {blocks}\nexec '{YOI}' \"$@\"\n");
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    launch.binary(&wrapper)
}

/// Limits the size of the process's files to this many bytes from now on.
async fn limit_files(yoi: &YoiProcess, bytes: &str) {
    let pid = yoi.pid().unwrap().to_string();
    let prlimit = tokio::process::Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={bytes}:")]).status();
    assert!(prlimit.await.expect("`prlimit` of util-linux can be run").success());
}

#[tokio::test]
async fn a_disk_that_takes_no_more_is_waited_for() {
    let yoi = launch_with_limit("unlimited").start().await;
    let (pod, mut socket) = busy_pod(&yoi, STREAMS).await;
    limit_files(&yoi, "512").await;
    assert_told(&yoi, &pod, &mut socket, "cannot").await;
    assert_refused(&yoi, &pod, "later", "say at last").await;
    let refused = yoi.post("/api/v1/pods", &json!({ "name": "bob" })).await;
    assert_eq!(refused.expect_error(503), "runtime_unavailable");
    limit_files(&yoi, "unlimited").await;
    assert_healed(&yoi, &pod, socket, &[words(600), "and then this".to_owned()]).await;
    yoi.new_pod("bob").await;
}

#[tokio::test]
async fn a_server_ends_in_time_while_its_database_cannot_be_written() {
    let mut yoi = launch_with_limit("unlimited").start().await;
    let (pod, mut socket) = busy_pod(&yoi, STREAMS_ON).await;
    limit_files(&yoi, "512").await;
    assert_told(&yoi, &pod, &mut socket, "cannot").await;
    let status = yoi.terminate().await;
    assert!(status.success(), "{status}");
    // As after a kill: what was shown is kept, and so is the queue.
    yoi.restart().await;
    let detail = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!((&detail["state"], detail["queued"].as_array().unwrap().len()), (&json!("paused"), 1), "{detail}");
}

#[tokio::test]
async fn a_start_whose_writes_fail_ends_with_what_is_wrong_and_the_next_one_finds_everything() {
    let mut yoi = YoiProcess::start(YOI).await;
    let (pod, _socket) = busy_pod(&yoi, STREAMS_ON).await;
    yoi.kill9().await;
    let data = yoi.launch().data_dir().to_owned();
    let failed = launch_with_limit("8").data(&data).try_start().await.expect_err("it cannot start");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let told = failed.stderr.join("\n");
    assert!(told.contains("the store cannot be opened") && told.contains("trying again"), "{told}");
    // Nothing is damaged: the next start recovers the Pod.
    yoi.restart().await;
    let detail = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!((&detail["state"], detail["queued"].as_array().unwrap().len()), (&json!("paused"), 1), "{detail}");
    yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let is_over = async || (said(&yoi.journal(&pod).await).last()? == "and then this").then_some(());
    until("the queued input is answered", is_over).await;
}
