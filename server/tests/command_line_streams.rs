//! Streams of the command line: across a restart of the server, to their end, and into a closed pipe.

#![allow(clippy::unwrap_used)]

use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};
use testkit::{
    within,
    yoi::{Launch, YoiProcess, pod_path},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdout},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A running verb, and its output.
struct Stream {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stderr: ChildStderr,
}

impl Stream {
    fn start(launch: &Launch, words: &[&str]) -> Self {
        let mut command = launch.command();
        command.args(words).arg("--data").arg(launch.data_dir()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        Self { child, lines, stderr }
    }

    async fn line(&mut self) -> String {
        let line = within("something more is printed", self.lines.next_line()).await.unwrap();
        line.expect("it ended")
    }

    async fn json(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Takes the output up to the match.
    async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        within(what, async {
            loop {
                let frame = self.json().await;
                if fits(&frame) {
                    return frame;
                }
            }
        })
        .await
    }

    async fn signal(&self, signal: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = tokio::process::Command::new("kill").args([&format!("-{signal}"), &pid]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Waits until it has reported that the server is back: that message interrupts the line being written.
    async fn is_back(&mut self) {
        let mut said = String::new();
        while !said.contains("the server is back") {
            let mut buffer = [0; 256];
            let read = within("it is back", self.stderr.read(&mut buffer)).await.unwrap();
            assert!(read > 0, "it ended: {said}");
            said.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    }

    /// How it ended, and its error messages.
    async fn end(mut self) -> (ExitStatus, String) {
        let status = within("it ends", self.child.wait()).await.unwrap();
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).await.unwrap();
        (status, text)
    }
}

fn is_end(record: &Value) -> bool {
    record["event"]["kind"] == "run_finished" && record["event"]["outcome"] == "completed"
}

/// Each record once, in order, and none of those in the journal missing.
async fn compare(yoi: &YoiProcess, pod: &Value, seen: &[Value], from: i64) {
    let seqs: Vec<i64> = seen.iter().map(|record| record["seq"].as_i64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "not in order, or twice: {seqs:?}");
    let page = yoi.get(&format!("{}/transcript?limit=1000", pod_path(pod))).await.expect(200);
    let last = *seqs.last().unwrap();
    for record in page["items"].as_array().unwrap() {
        let seq = record["seq"].as_i64().unwrap();
        if seq > from && seq <= last {
            assert!(seen.contains(record), "lost: {record}\nof {seqs:?}");
        }
    }
}

#[tokio::test]
async fn a_log_and_the_events_go_on_over_a_kill_and_lose_and_double_nothing() {
    let mut yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let launch = yoi.launch().clone();
    let address = format!("local/{}", ada["pod"]["worker_id"].as_str().unwrap());
    let mut log = Stream::start(&launch, &["log", "ada", "-f", "--json"]);
    let mut events = Stream::start(&launch, &["events", "--json"]);
    let mut of_log = vec![log.json().await];
    // Its first frames: the list, and each Pod's position.
    let snapshot = events.until("a snapshot", |frame| frame["type"] == "snapshot").await;
    let begun = snapshot["summary"]["head_seq"].as_i64().unwrap();
    yoi.say(&ada, "stream 400 at 40").await;
    while of_log.len() < 30 {
        of_log.push(log.json().await);
    }
    yoi.restart_on_same_port().await;
    yoi.post(&format!("{}/resume", pod_path(&ada)), &json!({})).await.expect(202);
    while !is_end(of_log.last().unwrap()) {
        of_log.push(log.json().await);
    }
    let mut of_events = Vec::new();
    let mut cursor = Value::Null;
    let is_its = |frame: &Value| frame["id"] == address.as_str() && frame["type"] != "pods";
    while !of_events.iter().any(is_end) {
        let frame = events.until("more of the run", is_its).await;
        of_events.extend(frame["records"].as_array().into_iter().flatten().cloned());
        cursor = frame["cursor"].clone();
    }
    compare(&yoi, &ada, &of_log, 0).await;
    compare(&yoi, &ada, &of_events, begun).await;
    for stream in [log, events] {
        stream.signal("INT").await;
        let (status, said) = stream.end().await;
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(said.contains("reconnecting") && said.contains("is back") && !said.contains("panicked"), "{said}");
    }

    // Another process continues where that one stopped.
    yoi.say(&ada, "say more").await;
    let mut later = Stream::start(&launch, &["events", "--after", cursor.as_str().unwrap(), "--json"]);
    let frame = later.until("more than the list of Pods", |frame| frame["type"] != "pods").await;
    assert_eq!((&frame["type"], &frame["after"]), (&"records".into(), &cursor), "{frame}");
    assert!(frame["records"][0]["seq"].as_i64() > of_events.last().unwrap()["seq"].as_i64(), "{frame}");
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_ends_the_command_quietly() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let launch = yoi.launch().clone();
    for words in [&["log", "ada", "-f", "--json"][..], &["events", "--json"]] {
        let mut stream = Stream::start(&launch, words);
        stream.line().await;
        let Stream { mut child, lines, mut stderr } = stream;
        drop(lines);
        yoi.say(&ada, "stream 50 at 50").await;
        let status = within("it goes on for nobody", child.wait()).await.unwrap();
        let mut said = String::new();
        stderr.read_to_string(&mut said).await.unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(0), ""), "{words:?}");
    }
    for words in [&["completions", "bash"][..], &["export", "ada"], &["man"], &["log", "ada"]] {
        let mut stream = Stream::start(&launch, words);
        drop(stream.child.stdout.take());
        let Stream { mut child, lines, mut stderr } = stream;
        drop(lines);
        let status = within("it ends", child.wait()).await.unwrap();
        let mut said = String::new();
        stderr.read_to_string(&mut said).await.unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[tokio::test]
async fn a_follower_is_told_that_its_pod_is_gone() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let mut log = Stream::start(yoi.launch(), &["log", "ada", "-f"]);
    log.line().await;
    yoi.delete(&format!("{}?confirm=ada", pod_path(&ada))).await.expect(204);
    let (status, said) = log.end().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.starts_with("yoi: ") && said.lines().count() == 1, "{said}");
}

#[tokio::test]
async fn a_server_that_comes_back_on_another_port_is_found_and_text_comes_as_it_is_written() {
    let mut yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let launch = yoi.launch().clone();
    let mut whole = Stream::start(&launch, &["log", "ada", "-f"]);
    let mut pieces = Stream::start(&launch, &["log", "ada", "-f", "--partial"]);
    for stream in [&mut whole, &mut pieces] {
        assert!(stream.line().await.contains("idle"));
    }
    yoi.restart().await;
    for stream in [&mut whole, &mut pieces] {
        stream.is_back().await;
    }
    yoi.say(&ada, "stream 80 at 4").await;
    for stream in [&mut whole, &mut pieces] {
        assert!(stream.line().await.ends_with("you: stream 80 at 4"));
        assert!(stream.line().await.ends_with("— running"));
    }
    // The piece arrives long before its line is complete.
    let mut begun = String::new();
    while !begun.contains("w3") {
        let mut buffer = [0; 256];
        let read = within("more of the line", pieces.lines.get_mut().read(&mut buffer)).await.unwrap();
        begun.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    assert!(!begun.contains('\n') && begun.contains("model: w1 w2"), "{begun:?}");
    let (line, rest) = (whole.line().await, pieces.line().await);
    assert_eq!(format!("{begun}{rest}")[10..], line[10..], "the same text, and none of it twice");
    let elsewhere = Stream::start(&launch, &["log", "ada", "-f", "--server", "http://127.0.0.1:1"]);
    let (status, said) = elsewhere.end().await;
    assert_eq!(status.code(), Some(3), "{said}");
}

/// A Pod's current position.
async fn cursor_of(yoi: &YoiProcess, pod: &Value) -> String {
    let mut socket = yoi.events().await;
    socket.subscribe("it", pod, None).await;
    let snapshot = socket.wait_for(|frame| frame["type"] == "snapshot").await;
    snapshot["cursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_cursor_that_nothing_can_go_on_from_is_a_sentence_and_no_silence() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let other = YoiProcess::start(YOI).await;
    let elsewhere = cursor_of(&other, &other.new_pod("bob").await).await;
    for (cursor, says) in [("nonsense", "belongs to no Pod here"), (elsewhere.as_str(), "from another database")] {
        let stream = Stream::start(yoi.launch(), &["events", "--after", cursor]);
        let (status, said) = stream.end().await;
        assert_eq!(status.code(), Some(1), "{cursor}: {said}");
        assert!(said.contains(says) && said.contains("--after") && said.lines().count() == 1, "{said}");
    }
}

#[tokio::test]
async fn events_go_on_after_a_cursor_though_pods_of_another_server_are_listed_too() {
    let here = YoiProcess::start(YOI).await;
    let there = YoiProcess::start(YOI).await;
    there.new_pod("bob").await;
    let body = json!({ "runtime_id": "box", "url": there.base_url(), "token": there.token() });
    here.post("/api/v1/runtimes", &body).await.expect(201);
    let ada = here.new_pod("ada").await;
    let bob = here.get("/api/v1/pods/resolve?target=bob@box").await.expect(200);
    for pod in [ada, json!({ "pod": bob })] {
        let cursor = cursor_of(&here, &pod).await;
        here.say(&pod, "say more").await;
        let mut stream = Stream::start(here.launch(), &["events", "--after", &cursor, "--json"]);
        let frame = stream.until("records", |frame| frame["type"] == "records").await;
        assert_eq!(frame["after"], cursor.as_str(), "{frame}");
        stream.signal("INT").await;
        assert_eq!(stream.end().await.0.code(), Some(0));
    }
}
