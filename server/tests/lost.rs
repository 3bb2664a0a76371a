//! The built binary when its database is gone, emptied or damaged: before its start, or while it runs.

#![allow(clippy::unwrap_used)]

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use testkit::yoi::{Launch, YoiProcess, pod_path, until};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

fn files(launch: &Launch) -> [PathBuf; 2] {
    ["yoi.db", "yoi.db-wal"].map(|name| launch.data_dir().join(name))
}

/// What the doctor reports as broken about something.
async fn broken(launch: &Launch, about: &str) -> String {
    let mut command = launch.command();
    command.args(["doctor", "--json", "--no-test", "--data"]).arg(launch.data_dir());
    let output = command.output().await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let broken = findings.filter(|finding| finding["about"] == about && finding["state"] == "broken");
    broken.map(|finding| finding["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
}

async fn metric(yoi: &YoiProcess, name: &str) -> Option<u64> {
    let metrics = yoi.request(reqwest::Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
}

#[tokio::test]
async fn a_start_without_the_database_that_was_there_is_refused_and_changes_nothing() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, "say hello").await;
    yoi.kill9().await;
    let launch = yoi.launch().clone();
    let [file, log] = files(&launch);
    let kept = launch.work_dir().join("kept.db");
    fs::rename(&file, &kept).unwrap();
    let text = fs::read(&log).unwrap();
    assert!(text.len() > 100_000, "{}", text.len());
    for absence in ["is gone", "is empty"] {
        let failed = launch.clone().try_start().await.expect_err("it cannot start");
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        let told = failed.stderr.join("\n");
        let names = [&file, &log].map(|file| file.display().to_string());
        assert!(told.contains(absence) && names.iter().all(|name| told.contains(name)), "{told}");
        assert!(told.contains("put a backup back") && told.contains("start over"), "{told}");
        assert!(failed.stdout.is_empty(), "{failed:?}");
        assert!(broken(&launch, "database").await.contains(absence));
        assert!(fs::read(&log).unwrap() == text, "the log is as it was");
        fs::write(&file, "").unwrap();
    }
    // Also without a log.
    fs::remove_file(&log).unwrap();
    let failed = launch.clone().try_start().await.expect_err("it cannot start");
    assert!(failed.stderr.join("\n").contains("yoi.db.id"), "{failed:?}");

    fs::rename(&kept, &file).unwrap();
    fs::write(&log, text).unwrap();
    yoi.restart().await;
    assert_eq!(yoi.get(&pod_path(&pod)).await.expect(200)["name"], "ada");
}

#[tokio::test]
async fn a_folder_that_is_deleted_under_the_server_is_told_at_once_and_nothing_more_is_taken() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, "say hello").await;
    let is_idle = async || (yoi.get(&pod_path(&pod)).await.expect(200)["state"] == "idle").then_some(());
    until("the Pod has answered", is_idle).await;
    let before = yoi.journal(&pod).await;
    fs::remove_dir_all(yoi.launch().data_dir()).unwrap();

    // Without any write.
    let told = until("the log tells it", async || yoi.log().into_iter().find(|line| line.contains("DATABASE IS GONE")));
    assert!(told.await.contains("ERROR"));
    let ready = yoi.get("/readyz").await.expect(503);
    assert_eq!((&ready["ready"], &ready["database"]["writes"]), (&json!(false), &json!(false)));
    let why = ready["database"]["detail"].as_str().unwrap();
    assert!(why.contains("yoi.db was deleted or moved") && why.contains("put a backup in its place"), "{why}");
    assert_eq!(metric(&yoi, "yoi_storage_lost").await, Some(1));
    let runtimes = yoi.get("/api/v1/runtimes").await.expect(200);
    assert!(runtimes["items"][0]["detail"].as_str().unwrap().contains("database is gone"), "{runtimes}");
    for (path, body) in [
        (format!("{}/input", pod_path(&pod)), json!({ "segments": [{ "type": "text", "text": "say more" }] })),
        ("/api/v1/pods".to_owned(), json!({ "name": "bob" })),
    ] {
        let refused = yoi.post(&path, &body).await;
        let detail = refused.body["detail"].as_str().unwrap_or_default().to_owned();
        assert_eq!(refused.expect_error(503), "runtime_unavailable", "{detail}");
        assert!(detail.contains("nothing was done") && detail.contains("was deleted or moved"), "{detail}");
    }
    let listed = yoi.get("/api/v1/pods").await.expect(200);
    assert!(listed["items"][0]["state_reason"].as_str().unwrap().contains("database is gone"), "{listed}");
    // The transcript can still be saved.
    assert_eq!(yoi.journal(&pod).await, before);
    assert!(yoi.terminate().await.success());
}

#[tokio::test]
async fn a_pod_at_work_waits_for_a_database_that_is_put_back() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    socket.subscribe_pods("list").await;
    yoi.say(&pod, "stream 400 at 200").await;
    socket.records_until("a", |record| record["event"]["text"] == " w20").await;
    let folder = yoi.launch().data_dir().to_owned();
    let away = yoi.launch().work_dir().join("away");
    fs::rename(&folder, &away).unwrap();
    let tells =
        |summary: &Value| summary["state_reason"].as_str().is_some_and(|reason| reason.contains("database is gone"));
    let is_told =
        |frame: &Value| frame["type"] == "pods" && frame["upserts"].as_array().into_iter().flatten().any(tells);
    socket.wait_for(is_told).await;
    fs::rename(&away, &folder).unwrap();
    socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    let journal = yoi.journal(&pod).await;
    let finished: Vec<&Value> = journal.iter().filter(|record| record["event"]["kind"] == "message_finished").collect();
    assert_eq!((finished.len(), &finished[0]["event"]["interrupted"]), (1, &json!(false)));
    let words: Vec<String> = (1..=400).map(|number| format!("w{number}")).collect();
    assert_eq!(finished[0]["event"]["text"], words.join(" "));
    assert_eq!(metric(&yoi, "yoi_storage_lost").await, Some(0));
}

async fn said(yoi: &YoiProcess, words: &[&str]) -> String {
    let mut command = yoi.launch().command();
    command.args(words).args(["--server", yoi.base_url()]).env("YOI_TOKEN", yoi.token());
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_record_that_was_altered_is_shown_as_damaged_everywhere_and_the_model_is_not_sent_it() {
    let mut yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    for text in ["say the secret word", "call Glob {\"pattern\":\"*\"}", "say goodbye"] {
        yoi.say(&pod, text).await;
    }
    let has_ended = async || {
        (yoi.journal(&pod).await.iter().filter(|record| record["event"]["kind"] == "run_finished").count() == 3)
            .then_some(())
    };
    until("all is said", has_ended).await;
    let before = yoi.journal(&pod).await;
    let seq_of =
        |kind: &str| before.iter().find(|record| record["event"]["kind"] == kind).unwrap()["seq"].as_i64().unwrap();
    let [answer, result] = ["message_finished", "tool_finished"].map(seq_of);
    yoi.kill9().await;
    let [file, _] = files(yoi.launch());
    let mut other = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    for (seq, was, is) in [(answer, "secret", "public"), (result, "is_error\":false", "is_error\":true ")] {
        let altered =
            sqlx::query("update journal set body = replace(body, ?, ?) where seq = ?").bind(was).bind(is).bind(seq);
        assert_eq!(altered.execute(&mut other).await.unwrap().rows_affected(), 1);
    }
    other.close().await.unwrap();
    let told = broken(yoi.launch(), "records").await;
    for seq in [answer, result] {
        assert!(told.contains(&format!("record {seq} of \"ada\" is damaged: its checksum does not match")), "{told}");
    }
    yoi.restart().await;

    // Requests still succeed, and a damaged record is not taken for what was said.
    let after = yoi.journal(&pod).await;
    let seqs = |records: &[Value]| records.iter().map(|record| record["seq"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(seqs(&after), seqs(&before), "no place is empty");
    for (before, after) in before.iter().zip(&after) {
        let seq = before["seq"].as_i64().unwrap();
        if seq != answer && seq != result {
            assert_eq!(before, after);
            continue;
        }
        let event = &after["event"];
        assert_eq!(
            (&event["kind"], &event["level"], &event["source"]),
            (&json!("alert"), &json!("error"), &json!("journal"))
        );
        let kind = before["event"]["kind"].as_str().unwrap();
        let expected = format!("record {seq} ({kind}) of this Pod is damaged: its checksum does not match");
        assert!(event["text"].as_str().unwrap().contains(&expected), "{event}");
    }
    let sentence = format!("record {answer} (message_finished) of this Pod is damaged");
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    let snapshot = socket.wait_for(|frame| frame["type"] == "snapshot").await.to_string();
    let log = said(&yoi, &["log", "ada"]).await;
    let exports = [said(&yoi, &["export", "ada"]).await, said(&yoi, &["export", "ada", "--format", "jsonl"]).await];
    for shown in exports.iter().chain([&snapshot, &log]) {
        assert!(shown.contains(&sentence) && !shown.contains("the public word"), "{shown}");
    }
    let history = yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200);
    let text = history.to_string();
    assert!(!text.contains("the public word") && !text.contains("set aside"), "{history}");
    assert!(text.contains("the record of this result is damaged"), "no call is left without a result: {history}");
    assert_eq!(metric(&yoi, "yoi_records_damaged").await, Some(2));
    let alarms: Vec<String> = yoi.log().into_iter().filter(|line| line.contains("RECORD IS DAMAGED")).collect();
    assert_eq!(alarms.len(), 2, "each is told once: {alarms:?}");

    // It continues, and so does everybody else.
    yoi.say(&pod, "say more").await;
    let is_answered =
        async || yoi.journal(&pod).await.iter().any(|record| record["event"]["text"] == "more").then_some(());
    until("it answers", is_answered).await;
    assert!(broken(yoi.launch(), "records").await.contains("set aside at 20"));
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_told_and_the_other_pods_go_on() {
    let mut yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    let long = "word ".repeat(2_000);
    for pod in [&ada, &bob] {
        for number in 0..4 {
            yoi.say(pod, &format!("say {number} {long}")).await;
        }
        let has_ended = async || {
            (yoi.journal(pod).await.iter().filter(|record| record["event"]["kind"] == "run_finished").count() == 4)
                .then_some(())
        };
        until("all is said", has_ended).await;
    }
    assert!(yoi.terminate().await.success());
    let [file, _] = files(yoi.launch());
    let mut bytes = fs::read(&file).unwrap();
    // The root of the journal's tree is on a page of its own: the one that the schema names.
    let mut other = SqliteConnectOptions::new().filename(&file).read_only(true).connect().await.unwrap();
    let sql = "select rootpage from sqlite_schema where name = 'journal_turns'";
    let page: i64 = sqlx::query_scalar(sql).fetch_one(&mut other).await.unwrap();
    other.close().await.unwrap();
    let at = (page as usize - 1) * 4096;
    bytes[at..at + 512].fill(0xA5);
    fs::write(&file, bytes).unwrap();
    assert!(broken(yoi.launch(), "database").await.contains("is damaged"));
    yoi.restart().await;
    let refused = yoi.get(&format!("{}/history", pod_path(&ada))).await;
    let detail = refused.body["detail"].as_str().unwrap_or_default().to_owned();
    assert_eq!(refused.expect_error(500), "internal");
    assert!(detail.contains("damaged") && detail.contains("yoi doctor") && !detail.contains('/'), "{detail}");
    let line = yoi.log().into_iter().find(|line| line.contains("the database is damaged")).unwrap();
    assert!(line.contains(&*file.to_string_lossy()) && line.contains(".recover"), "{line}");
    // Whatever does not need that page is there.
    assert!(!yoi.journal(&ada).await.is_empty() && !yoi.journal(&bob).await.is_empty());
}
