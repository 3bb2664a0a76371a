//! The cost of long answers, many Pods, long histories and many sockets, compared with few and short ones in the same
//! run.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use reqwest::Method;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use testkit::{
    report::{
        Line, Report,
        Unit::{Count, Megabytes, Milliseconds, Times},
    },
    yoi::{Launch, YoiProcess, pod_path},
};
use tokio::{io::AsyncWriteExt, net::TcpStream};

const ANSWERS: usize = 26;
const ANSWER_BYTES: usize = 2_000_000;
/// A response that shows records is never larger than this, whatever they contain.
const SHOWN_BYTES_MAX: usize = 1_000_000;
const PODS: (usize, usize) = (100, 10_000);
const TURNS: (usize, usize) = (10, 60_000);
const SOCKETS: usize = 1_050;
/// The limit of open files that a shell usually sets.
const FILES_OF_THE_SERVER: u64 = 1_024;
const FILES_OF_THE_TRIAL: u64 = 4_096;
const ASKED: usize = 15;
/// Authenticated requests are answered within this time, whatever else is happening.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(10);

/// Returns false if something that must be answered was refused or failed.
pub(crate) async fn run(binary: &str) -> bool {
    let mut report = Report::default();
    let mut failures = Vec::new();
    bytes(binary, &mut report, &mut failures).await;
    pods(binary, &mut report).await;
    turns(binary, &mut report).await;
    sockets(binary, &mut report, &mut failures).await;
    println!("\n{report}");
    for failure in &failures {
        println!("    FAILED: {failure}");
    }
    failures.is_empty()
}

async fn bytes(binary: &str, report: &mut Report, failures: &mut Vec<String>) {
    let yoi = YoiProcess::start(binary).await;
    let answer = "word ".repeat(ANSWER_BYTES / 5);
    let pod = import(&yoi, "long", ANSWERS, |number| {
        json!({ "kind": "message_finished", "block": format!("b{number}"),
        "text": answer, "interrupted": false })
    })
    .await;
    let path = pod_path(&pod);
    let page = path.replacen("/api/v1/runtimes/", "/pods/", 1).replacen("/workers/", "/", 1);
    let asked = [
        ("size_page", "a page of its transcript", format!("{path}/transcript")),
        ("size_html", "its page in the console", page),
    ];
    let before = memory_mb(&yoi, "VmRSS:");
    forget_peak(&yoi);
    for (key, what, path) in asked {
        let bytes = answer_bytes(&yoi, what, &path, failures).await;
        check_shown(what, bytes, failures);
        report.add(Line::new(key, what, Megabytes, megabytes(bytes)).note(format!("of {ANSWERS} answers of 2 MB")));
    }
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    let mut snapshot = socket.next_frame().await;
    while snapshot.as_ref().is_some_and(|frame| frame["type"] != "snapshot") {
        snapshot = socket.next_frame().await;
    }
    match snapshot.map(|frame| frame.to_string().len()) {
        Some(bytes) => {
            check_shown("a snapshot of it", bytes, failures);
            report.add(Line::new("size_snapshot", "a snapshot of it", Megabytes, megabytes(bytes)));
        }
        // A client accepts 16 MiB in one frame by default.
        None => failures.push("a snapshot of it is more than a client takes".to_owned()),
    }
    let note = format!("{before:.0} MB before, with what the import left");
    report
        .add(Line::new("size_peak", "the most memory in these three", Megabytes, memory_mb(&yoi, "VmHWM:")).note(note));
    let whole =
        answer_bytes(&yoi, "one of its answers", &format!("{path}/records/{ANSWERS}?format=text"), failures).await;
    if whole < ANSWER_BYTES {
        failures.push(format!("one of its answers comes with {whole} bytes"));
    }
    let what = "what its model would be sent";
    let bytes = answer_bytes(&yoi, what, &format!("{path}/history"), failures).await;
    report.add(Line::new("size_history", what, Megabytes, megabytes(bytes)));
    report.add(Line::new("size_peak_all", "the most memory with that", Megabytes, memory_mb(&yoi, "VmHWM:")));
}

async fn answer_bytes(yoi: &YoiProcess, what: &str, path: &str, failures: &mut Vec<String>) -> usize {
    let answer = yoi.request(Method::GET, path).send().await.expect("yoi answers");
    let status = answer.status();
    if !status.is_success() {
        failures.push(format!("{what} is answered with {status}"));
    }
    answer.bytes().await.map_or(0, |bytes| bytes.len())
}

fn check_shown(what: &str, bytes: usize, failures: &mut Vec<String>) {
    if bytes > SHOWN_BYTES_MAX {
        failures.push(format!("{what} has {bytes} bytes"));
    }
}

/// Resets Linux's record of the peak memory.
fn forget_peak(yoi: &YoiProcess) {
    let pid = yoi.pid().expect("it runs");
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("Linux takes this of who started a process");
}

async fn pods(binary: &str, report: &mut Report) {
    let yoi = YoiProcess::start(binary).await;
    make_pods(&yoi, 0..PODS.0).await;
    let before = memory_mb(&yoi, "VmRSS:");
    let mut few = Vec::new();
    let asked = [
        ("size_name", "a Pod by its name", "/api/v1/pods?name=pod-7"),
        ("size_near_miss", "a name that is nearly one", "/api/v1/pods/resolve?target=pod-x7"),
        ("size_rules", "the rules of all", "/api/v1/rules"),
    ];
    for (_, _, path) in asked {
        few.push(asked_ms(&yoi, path).await);
    }
    make_pods(&yoi, PODS.0..PODS.1).await;
    let grown = memory_mb(&yoi, "VmRSS:") - before;
    report.add(Line::new("size_pods", format!("memory for {} idle Pods", PODS.1), Megabytes, grown));
    for ((key, what, path), few) in asked.into_iter().zip(few) {
        let many = asked_ms(&yoi, path).await;
        let note = format!("{many:.2} ms; at {} Pods {few:.2} ms", PODS.0);
        report.add(Line::new(key, format!("{what}, at {} Pods", PODS.1), Times, many / few).note(note));
    }
}

async fn turns(binary: &str, report: &mut Report) {
    let yoi = YoiProcess::start(binary).await;
    let mut receipts = Vec::new();
    for turns in [TURNS.0, TURNS.1] {
        let turn = |number: usize| match number % 2 {
            1 => json!({ "kind": "user_message", "segments": [{ "type": "text", "text": format!("say {number}") }],
                "command_id": format!("c{number}"), "by": "operator" }),
            _ => json!({ "kind": "message_finished", "block": format!("b{number}"), "text": number.to_string(),
                "interrupted": false }),
        };
        let pod = import(&yoi, &format!("of-{turns}"), turns * 2, turn).await;
        yoi.post(&format!("{}/restore", pod_path(&pod)), &json!({})).await.expect(202);
        let mut took = Vec::new();
        for _ in 0..ASKED {
            let began = Instant::now();
            yoi.say(&pod, "say hello").await;
            took.push(ms(began));
            // The next one is sent to an idle Pod, too.
            while yoi.get(&pod_path(&pod)).await.expect(200)["state"] != "idle" {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        receipts.push(median(took));
    }
    let (few, many) = (receipts[0], receipts[1]);
    let note = format!("{many:.2} ms; at {} turns {few:.2} ms", TURNS.0);
    report.add(Line::new("size_receipt", format!("a receipt at {} turns", TURNS.1), Times, many / few).note(note));
}

async fn sockets(binary: &str, report: &mut Report, failures: &mut Vec<String>) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: limit.maximum.map_or(Some(FILES_OF_THE_TRIAL), |most| Some(most.min(FILES_OF_THE_TRIAL))),
        ..limit
    };
    setrlimit(Resource::Nofile, wanted).expect("a program may raise its own soft limit");
    let (folder, script) = as_from_a_shell(binary);
    let yoi = Launch::new(&script).start().await;
    drop(folder);
    let address = yoi.base_url().trim_start_matches("http://").to_owned();
    let mut open = Vec::new();
    for _ in 0..SOCKETS {
        if let Ok(mut socket) = TcpStream::connect(&address).await {
            socket.write_all(b"G").await.ok();
            open.push(socket);
        }
    }
    let began = Instant::now();
    let asked = yoi.request(Method::GET, "/api/v1/pods").timeout(ANSWER_WAIT_MAX).send().await;
    match asked.map(|answer| answer.status().as_u16()) {
        Ok(200) => (),
        other => {
            failures.push(format!("with {SOCKETS} sockets that send one byte, somebody with a token gets {other:?}"))
        }
    }
    let what = format!("an answer beside {SOCKETS} sockets that send one byte");
    report
        .add(Line::new("size_sockets", what, Milliseconds, ms(began)).note("the server's files are limited to 1,024"));
    report.add(Line::new("size_sockets_open", "of these were opened", Count, open.len() as f64));
}

/// A script that runs yoi with a plain shell's limit of open files. This trial's own limit is higher.
fn as_from_a_shell(binary: &str) -> (tempfile::TempDir, String) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("yoi");
    let binary = std::path::absolute(binary).expect("the binary has a path");
    let script = format!("#!/bin/sh\nulimit -S -n {FILES_OF_THE_SERVER}\nexec '{}' \"$@\"\n", binary.display());
    std::fs::write(&path, script).expect("a new folder can be filled");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a file can be made a program");
    let path = path.display().to_string();
    (folder, path)
}

/// A stopped Pod with these events.
async fn import(yoi: &YoiProcess, name: &str, records: usize, event: impl Fn(usize) -> Value) -> Value {
    let mut lines = String::new();
    for number in 1..=records {
        let record = json!({ "seq": number, "at": "2026-11-22T06:00:00Z", "event": event(number) });
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{record}");
    }
    let request = yoi.request(Method::POST, &format!("/api/v1/import?name={name}"));
    let request = request.header("Content-Type", "application/x-ndjson").body(lines);
    let answer = request.send().await.expect("yoi answers");
    assert_eq!(answer.status().as_u16(), 201, "an import of {records} records");
    answer.json().await.expect("a Pod is JSON")
}

async fn make_pods(yoi: &YoiProcess, numbers: std::ops::Range<usize>) {
    let names = stream::iter(numbers).map(|number| format!("pod-{number}"));
    names.for_each_concurrent(16, |name| async move { drop(yoi.new_pod(&name).await) }).await;
}

async fn asked_ms(yoi: &YoiProcess, path: &str) -> f64 {
    let mut took = Vec::new();
    for _ in 0..ASKED {
        let began = Instant::now();
        yoi.get(path).await;
        took.push(ms(began));
    }
    median(took)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A line of `/proc/PID/status`, in megabytes.
fn memory_mb(yoi: &YoiProcess, line: &str) -> f64 {
    let pid = yoi.pid().expect("it runs");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("Linux tells a process's memory");
    let found = status.lines().find_map(|text| text.strip_prefix(line)).expect("there is such a line");
    found.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1e3
}
