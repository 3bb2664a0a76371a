//! A database that cannot be written for a while: another program holds its lock, or the disk is full (simulated by
//! strace, if installed, which fails each write). Pods that are streaming then, with an input queued, complete both
//! by themselves.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::yoi::{WAIT_MAX, YoiProcess, pod_path};
use tokio::{process::Command, time::timeout};

use crate::witness::{self, Verdict, count, seq};

const PODS: usize = 4;
/// Some seconds of words, longer than any outage here.
const STREAM: &str = "stream 2000 at 200";
const QUEUED: &str = "say and then this";
/// SQLite itself waits 5 s for a lock.
const LOCKED: Duration = Duration::from_secs(8);
const FULL: Duration = Duration::from_secs(4);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Holds the lock of the database `$1` for `$2` seconds. Python includes SQLite.
const HOLD: &str = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], 60, isolation_level=None); \
    c.execute('begin immediate'); time.sleep(float(sys.argv[2])); c.execute('rollback')";

/// Returns false if a Pod did not recover, or anything was lost or duplicated.
pub(crate) async fn run(binary: &str) -> bool {
    let mut holds = true;
    heading();
    for (what, lasts) in [("a lock of 8 s", LOCKED), ("a full disk for 4 s", FULL)] {
        let yoi = YoiProcess::start(binary).await;
        let outage = if lasts == LOCKED { hold_lock(&yoi) } else { refuse_writes(&yoi) };
        holds &= play(what, &yoi, lasting(outage)).await;
    }
    holds
}

pub(crate) fn heading() {
    println!(
        "    {:<24} {:>8} {:>12} {:>8} {:>8} {:>8}",
        "outage", "healed", "first words", "shown", "lost", "doubled"
    );
}

async fn lasting(mut outage: Command) -> Result<(), String> {
    let done = outage.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).status().await;
    done.map(drop).map_err(|error| format!("{:?} could not be started: {error}", outage.as_std().get_program()))
}

/// `outage` returns when it is over, or why it could not be made.
pub(crate) async fn play(what: &str, yoi: &YoiProcess, outage: impl Future<Output = Result<(), String>>) -> bool {
    let mut socket = yoi.events().await;
    let mut pods = Vec::new();
    for index in 0..PODS {
        let pod = yoi.new_pod(&format!("pod-{index}")).await;
        socket.subscribe(&index.to_string(), &pod, None).await;
        yoi.say(&pod, STREAM).await;
        yoi.say(&pod, QUEUED).await;
        pods.push(pod);
    }
    socket.wait_for(|frame| frame["records"].as_array().is_some_and(|records| !records.is_empty())).await;
    let watching = tokio::spawn(async move {
        while socket.next_frame().await.is_some() {}
        socket
    });
    let heads = heads(yoi, &pods).await;
    if let Err(why) = outage.await {
        println!("    {what:<24} not tried: {why}");
        return true;
    }
    let began = Instant::now();
    let first = timeout(WAIT_MAX, async {
        while self::heads(yoi, &pods).await.iter().zip(&heads).any(|(now, before)| now <= before) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        began.elapsed()
    })
    .await;
    let healed = healed(yoi, &pods).await;

    let (mut verdict, mut journals) = (Verdict::default(), Vec::new());
    for pod in &pods {
        let journal = yoi.journal(pod).await;
        let name = pod["name"].as_str().unwrap_or_default();
        verdict.add(witness::doubles(name, &journal));
        if count(&journal, "user_message", "kind", "user_message") != 2 {
            verdict.lost.push(format!("{name} does not have its two inputs once each"));
        }
        journals.push(journal);
    }
    // The server is stopped first, which ends the viewer's stream.
    let log = yoi.log();
    let seen = stop_and_see(yoi, watching).await;
    for (index, (pod, journal)) in pods.iter().zip(&journals).enumerate() {
        let name = pod["name"].as_str().unwrap_or_default();
        let shown = records_of(&seen, &index.to_string());
        verdict.add(witness::held_against(name, &shown, journal));
        let first = shown.first().map(seq).unwrap_or_default();
        verdict.doubled.extend(witness::goes_on(name, first - 1, &shown).doubled);
    }
    let first = first.map_or_else(|_| "never".to_owned(), |took| format!("{:.1} s", took.as_secs_f64()));
    let (lost, doubled) = (verdict.lost.len(), verdict.doubled.len());
    println!("    {what:<24} {healed:>5}/{PODS:<2} {first:>12} {:>8} {lost:>8} {doubled:>8}", verdict.shown);
    let is_felt = log.iter().any(|line| line.contains("the database cannot be written"));
    if !is_felt {
        println!("    {what:<24} was not felt: the log has no line about it");
    }
    let holds = is_felt && healed == PODS && lost == 0 && doubled == 0;
    if !holds {
        verdict.lost.iter().chain(&verdict.doubled).take(10).for_each(|sentence| eprintln!("{sentence}"));
        log.iter().rev().take(10).rev().for_each(|line| eprintln!("{line}"));
    }
    holds
}

async fn heads(yoi: &YoiProcess, pods: &[Value]) -> Vec<i64> {
    let mut heads = Vec::new();
    for pod in pods {
        // Without an answer the head has not moved.
        let detail = yoi.get(&pod_path(pod)).await.body;
        heads.push(detail["head_seq"].as_i64().unwrap_or_default());
    }
    heads
}

/// How many of the Pods complete their inputs.
async fn healed(yoi: &YoiProcess, pods: &[Value]) -> usize {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let mut healed = 0;
        for pod in pods {
            let page = yoi.get(&format!("{}/transcript", pod_path(pod))).await.body;
            let records = page["items"].as_array().cloned().unwrap_or_default();
            let said = count(&records, "message_finished", "text", QUEUED.trim_start_matches("say "));
            healed += usize::from(said == 1 && count(&records, "run_finished", "outcome", "completed") == 2);
        }
        if healed == pods.len() || Instant::now() > deadline {
            return healed;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn stop_and_see(yoi: &YoiProcess, watching: tokio::task::JoinHandle<testkit::yoi::EventSocket>) -> Vec<Value> {
    if let Some(pid) = yoi.pid() {
        Command::new("kill").args(["-KILL", &pid.to_string()]).status().await.ok();
    }
    watching.await.expect("a viewer only reads").seen().to_vec()
}

fn records_of(frames: &[Value], id: &str) -> Vec<Value> {
    let frames = frames.iter().filter(|frame| frame["id"] == json!(id));
    frames.flat_map(|frame| frame["records"].as_array().into_iter().flatten().cloned()).collect()
}

fn hold_lock(yoi: &YoiProcess) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", HOLD]).arg(yoi.launch().data_dir().join("yoi.db")).arg(LOCKED.as_secs().to_string());
    python
}

fn refuse_writes(yoi: &YoiProcess) -> Command {
    let mut strace = Command::new("strace");
    let pid = yoi.pid().expect("it runs").to_string();
    // Let strace end on its own, so that it detaches from the server properly.
    let within = format!("{}", FULL.as_secs());
    let inject = "inject=pwrite64:error=ENOSPC";
    if std::process::Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_ok() {
        let mut timed = Command::new("timeout");
        timed.args(["-s", "INT", &within, "strace", "-f", "-qq", "-o", "/dev/null", "-p", &pid]);
        timed.args(["-e", "trace=pwrite64", "-e", inject]).stderr(Stdio::null());
        return timed;
    }
    // An error of its own is reported at its start.
    strace.args(["-p", &pid]);
    strace
}
