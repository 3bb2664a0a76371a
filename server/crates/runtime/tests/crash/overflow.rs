//! A request that is too long for its model, killed at every durable step from its acceptance to its answer.
//!
//! The model's server is part of the parent process, so it survives the kill as a real one does.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use pod_store::{Faults, Step, Store, StoreError, StoreOptions};
use protocol::{ControlVerb, PodState, Record, WorkerId};
use provider::{ProviderConfig, ProviderKind, ProviderSource, Providers};
use runtime::{Host, HostOptions};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel};

use crate::{
    FOLDER, print_line,
    stage::{key, named, origin, records_of, say, until_of},
};

/// Where the child process finds the model.
pub(crate) const MODEL: &str = "YOI_CRASH_MODEL";
const STEP: &str = "YOI_CRASH_OVERFLOW_STEP";
const COUNT: &str = "YOI_CRASH_OVERFLOW_COUNT";

/// The model's context in bytes of a request, and the number of tokens that its server reports for them.
const ROOM_BYTES: usize = 40_000;
const ROOM_TOKENS: u64 = 10_000;
/// This many turns fit.
const TURNS: usize = 5;
/// The message that does not.
const LONG: &str = "too-long";

/// How many child processes were killed. Each dies later than the last, until one reaches its end.
pub(crate) async fn all() -> u32 {
    let mut kills = 0;
    for step in ["commit", "answer"] {
        for count in 1.. {
            if !case(step, count).await {
                // The message, the refusal, the summary, the answer.
                assert!(count > 4, "{step} came only {} times", count - 1);
                break;
            }
            kills += 1;
        }
    }
    kills
}

/// Kills the process right before the given occurrence of a step, counted since it was armed.
#[derive(Debug)]
struct KillFrom {
    is_armed: Arc<AtomicBool>,
    step: Step,
    left: AtomicU32,
}

impl Faults for KillFrom {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let counts = step == self.step && self.is_armed.load(Ordering::Acquire);
        if counts && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    }
}

fn read(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// The child process: fills the context, and then asks for more.
pub(crate) async fn play(folder: &Path, model: &str) {
    let is_armed = Arc::new(AtomicBool::new(false));
    let step = if read(STEP) == "commit" { Step::Commit } else { Step::Answer };
    let kill = KillFrom { is_armed: is_armed.clone(), step, left: AtomicU32::new(read(COUNT).parse().unwrap()) };
    let options = StoreOptions::sqlite(folder.join("yoi.db"));
    let store = Store::open(StoreOptions { faults: Some(Arc::new(kill)), ..options }).await.unwrap();
    let host = host_on(store, model).await;
    let pod = host.pods().create(key("create"), &origin(), named("eve")).await.unwrap().pod.worker_id;
    for number in 0..TURNS {
        ask(&host, &pod, &format!("k{number}"), 4_000).await;
        until_of(&host, &pod, |records| ends(records).len() > number && is_idle(records)).await;
    }
    assert!(!is_told(&records_of(&host, &pod).await), "there was room until now");
    print_line(&format!("filled {pod}"));
    is_armed.store(true, Ordering::Release);
    ask(&host, &pod, LONG, 16_000).await;
    print_line("accepted");
    until_of(&host, &pod, |records| ends(records).len() > TURNS && is_idle(records)).await;
}

async fn ask(host: &Host, pod: &WorkerId, id: &str, bytes: usize) {
    let text = format!("{id} {}", "x".repeat(bytes));
    host.work().input(key(id), &origin(), pod, say(&text)).await.unwrap();
}

async fn host_on(store: Store, model: &str) -> Host {
    let config = ProviderConfig {
        name: "scripted".to_owned(),
        kind: ProviderKind::OpenAiCompatible,
        base_url: Some(model.to_owned()),
        api_key: None,
        models: vec!["scripted".to_owned()],
        source: ProviderSource::Configuration,
    };
    Host::start(HostOptions::of(store, Providers::new(vec![config]).unwrap(), "/", "/nowhere")).await.unwrap()
}

/// Whether the child process was killed.
async fn case(step: &str, count: u32) -> bool {
    let model = ScriptedModel::start().await;
    let message = format!("This model's maximum context length is {ROOM_TOKENS} tokens.");
    let error = json!({ "error": { "code": "context_length_exceeded", "message": message } });
    model.set_room(ROOM_BYTES, Answer::refuse(200, error.to_string()).header("content-type", "application/json"));
    model.otherwise(Answer::say("a short answer"));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(FOLDER, folder.path()).env(MODEL, model.base_url()).env(STEP, step).env(COUNT, count.to_string());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (lines, ended) = tokio::task::spawn_blocking(move || {
        let lines: Vec<String> = out.lines().map_while(Result::ok).collect();
        (lines, child.wait().unwrap())
    })
    .await
    .unwrap();
    let is_killed = ended.signal() == Some(9);
    assert!(is_killed || ended.success(), "{ended:?}: {lines:?}");
    let pod = lines[0].strip_prefix("filled ").and_then(|id| WorkerId::parse(id).ok()).unwrap();
    let name = format!("an overflow, {step} {count}");
    let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
    check(&name, &host_on(store, &model.base_url()).await, &pod, lines.iter().any(|line| line == "accepted")).await;
    is_killed
}

/// The message is there if it was accepted, and is answered; so is another one.
async fn check(name: &str, host: &Host, pod: &WorkerId, was_accepted: bool) {
    let kept = records_of(host, pod).await;
    let view = host.pods().get(pod).await.unwrap().summary;
    if is_told(&kept) {
        assert_eq!(view.usage.context_limit, ROOM_TOKENS, "{name}: what was learnt is lost");
    }
    let messages = |records: &[Record]| records.iter().filter(|record| of(record)["command_id"] == LONG).count();
    let is_there = kept.iter().any(|record| record.event.kind() == "user_message" && of(record)["command_id"] == LONG);
    assert!(is_there || !was_accepted, "{name}: an accepted message is lost");
    if view.state == PodState::Paused {
        host.pods().control(key("resume"), &origin(), pod, ControlVerb::Resume).await.unwrap();
    }
    let records = until_of(host, pod, is_idle).await;
    if is_there {
        assert!(is_told(&records), "{name}");
        assert_eq!(ends(&records).last().unwrap()["outcome"], "completed", "{name}");
        assert!(records.iter().any(|record| record.event.kind() == "compacted"), "{name}");
    }
    assert_eq!(messages(&records), messages(&kept), "{name}");
    let before = ends(&records).len();
    ask(host, pod, "after", 4_000).await;
    let records = until_of(host, pod, |records| ends(records).len() > before && is_idle(records)).await;
    assert_eq!(ends(&records).last().unwrap()["outcome"], "completed", "{name}");
}

fn is_told(records: &[Record]) -> bool {
    records.iter().any(|record| record.event.kind() == "provider_retry" && of(record)["code"] == "context_overflow")
}

fn of(record: &Record) -> Value {
    serde_json::to_value(&record.event).unwrap()
}

fn ends(records: &[Record]) -> Vec<Value> {
    records.iter().filter(|record| record.event.kind() == "run_finished").map(of).collect()
}

fn is_idle(records: &[Record]) -> bool {
    let status = records.iter().rev().find(|record| record.event.kind() == "status");
    status.is_none_or(|status| of(status)["state"] == "idle")
}
