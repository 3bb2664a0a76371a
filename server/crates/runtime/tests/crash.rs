//! Kill -9 at every durable step, and at random instants: what any viewer saw, and what any caller was told, is
//! there after the restart (G3).
//!
//! The test runs itself again as a child that hosts a Pod on a real SQLite file and prints what a viewer and a caller
//! get; the child kills itself at a chosen step, or is killed from here. Then the folder is opened again.

#![allow(clippy::unwrap_used)]

mod stage;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use futures_util::StreamExt;
use pod_store::{Faults, Step, Store, StoreError, StoreOptions};
use protocol::{ControlVerb, Event, InputCommand, PodState, Record, TurnEvent, WorkerId};
use runtime::{FeedItem, Host};
use stage::{key, named, origin, say};

const FOLDER: &str = "YOI_CRASH_FOLDER";
const STEP: &str = "YOI_CRASH_STEP";
const COUNT: &str = "YOI_CRASH_COUNT";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Ok(folder) = std::env::var(FOLDER) {
        runtime.block_on(child(Path::new(&folder)));
        return;
    }
    let (mut cases, mut kills) = (0, 0);
    for (number, step) in Step::ALL.iter().enumerate() {
        for count in [1, 2, 3, 5, 9] {
            let is_killed = runtime.block_on(case(&format!("{step:?} {count}"), Some((number, count)), None));
            assert!(is_killed || count > 1, "{step:?} never came");
            cases += 1;
            kills += u32::from(is_killed);
        }
    }
    for millis in [1, 3, 7, 12, 20, 33, 50, 80, 120, 200] {
        let is_killed =
            runtime.block_on(case(&format!("after {millis} ms"), None, Some(Duration::from_millis(millis))));
        cases += 1;
        kills += u32::from(is_killed);
    }
    println!("{kills} of {cases} children were killed; the others reached their end first");
    println!("test result: ok. {cases} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}

/// Kills the process right before the n-th time that a step comes.
#[derive(Debug)]
struct KillAt {
    step: Step,
    left: AtomicU32,
}

impl Faults for KillAt {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if step == self.step && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    }
}

/// Hosts a Pod, talks to it, and prints what it is told and what it sees, until it is killed or everything is done.
async fn child(folder: &Path) {
    let mut options = StoreOptions::sqlite(folder.join("yoi.db"));
    if let Ok(step) = std::env::var(STEP) {
        let step = Step::ALL[step.parse::<usize>().unwrap()];
        let left = AtomicU32::new(std::env::var(COUNT).unwrap().parse().unwrap());
        options.faults = Some(std::sync::Arc::new(KillAt { step, left }));
    }
    let host = stage::host_on(Store::open(options).await.unwrap()).await;
    let pod = host.create(key("create"), &origin(), named("ada")).await.unwrap().pod.worker_id;
    print_line(&format!("created {pod}"));
    let watching = tokio::spawn(watch(host.clone(), pod.clone()));
    let text = "think of it well\nsay one two three\nstream 400 at 0\ncall Nothing {}\nstream 200 at 2000\nsay done";
    tell(&host, &pod, "k1", say(text)).await;
    tell(&host, &pod, "k2", InputCommand { queue: true, ..say("say second answer") }).await;
    tell(&host, &pod, "k3", InputCommand { queue: true, ..say("say third answer") }).await;
    watching.await.unwrap();
    print_line("end");
}

async fn tell(host: &Host, pod: &WorkerId, id: &str, input: InputCommand) {
    if host.input(key(id), &origin(), pod, input).await.is_ok() {
        print_line(&format!("accepted {id}"));
    }
}

async fn watch(host: Host, pod: WorkerId) {
    let mut viewer = host.observe(&pod, None, 200).await;
    let mut runs = 0;
    while runs < 3 {
        let (FeedItem::Snapshot { records, .. } | FeedItem::Records { records, .. }) = viewer.next().await.unwrap()
        else {
            continue;
        };
        for body in records {
            let text = String::from_utf8(body.to_vec()).unwrap();
            runs += i32::from(text.contains("\"run_finished\""));
            print_line(&format!("saw {text}"));
        }
    }
}

fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may have what it wants already.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// What the child was told and saw before it died.
#[derive(Default)]
struct Witness {
    pod: Option<WorkerId>,
    accepted: Vec<String>,
    saw: Vec<Record>,
}

/// Whether the child was killed: a step that comes less often than asked lets it reach its end.
async fn case(name: &str, at: Option<(usize, u32)>, after: Option<Duration>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(FOLDER, folder.path()).stdout(Stdio::piped());
    if let Some((step, count)) = at {
        command.env(STEP, step.to_string()).env(COUNT, count.to_string());
    }
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let reading = std::thread::spawn(move || read_witness(out));
    if let Some(after) = after {
        // Counted from the first thing it can lose.
        tokio::time::sleep(after + Duration::from_millis(30)).await;
        child.kill().unwrap();
    }
    let ended = child.wait().unwrap();
    check(name, folder, reading.join().unwrap()).await;
    ended.signal() == Some(9)
}

fn read_witness(out: impl BufRead) -> Witness {
    let mut witness = Witness::default();
    for line in out.lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("created", id)) => witness.pod = Some(WorkerId::parse(id).unwrap()),
            Some(("accepted", id)) => witness.accepted.push(id.to_owned()),
            // The last line may be cut by the kill; then nobody has seen it.
            Some(("saw", body)) => witness.saw.extend(serde_json::from_str::<Record>(body).ok()),
            _ => (),
        }
    }
    witness
}

/// Opens the folder again, and holds what is there against what was seen.
async fn check(name: &str, folder: tempfile::TempDir, witness: Witness) {
    let host = stage::host_in(&folder).await;
    let Some(pod) = witness.pod else { return };
    let state = host.pod(&pod).await.unwrap().summary.state;
    // Running is a queued input that began by itself, after the run before it had ended.
    assert!(matches!(state, PodState::Idle | PodState::Paused | PodState::Running), "{name}: {state:?}");
    let there = stage::Stage { host, folder };
    let first = there.records(&pod).await;
    let whole = finished_texts(&first);
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    for record in &witness.saw {
        match &record.event {
            Event::Turn(TurnEvent::TextChunk { block, text } | TurnEvent::ReasoningChunk { block, text }) => {
                shown.entry(block.clone()).or_default().push_str(text);
            }
            Event::Turn(TurnEvent::ToolArgsChunk { .. }) => (),
            _ => assert!(first.contains(record), "{name}: lost {record:?}"),
        }
    }
    for (block, text) in shown {
        let kept = whole.get(&block).unwrap_or_else(|| panic!("{name}: block {block} is lost"));
        assert!(kept.starts_with(&text), "{name}: {block} showed {text:?}, kept {kept:?}");
    }
    // The same commands again: known ones change nothing, lost ones are taken now.
    if state == PodState::Paused {
        there.host.control(key("resume"), &origin(), &pod, ControlVerb::Resume).await.unwrap();
    }
    for id in &witness.accepted {
        let input = InputCommand { queue: true, ..say("something else, which the key must keep out") };
        there.host.input(key(id), &origin(), &pod, input).await.unwrap();
    }
    let wanted = witness.accepted.len();
    let last = there.until(&pod, |records| answered(records) >= wanted).await;
    for id in &witness.accepted {
        let said = last.iter().filter(|record| is_message_of(record, id)).count();
        assert_eq!(said, 1, "{name}: {id} was accepted and is there {said} times");
    }
    let seqs: Vec<_> = last.iter().map(|record| record.seq).collect();
    assert!(seqs.is_sorted_by(|one, two| one < two), "{name}: {seqs:?}");
}

fn finished_texts(records: &[Record]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for record in records {
        if let Event::Turn(
            TurnEvent::MessageFinished { block, text, .. } | TurnEvent::ReasoningFinished { block, text, .. },
        ) = &record.event
        {
            texts.insert(block.clone(), text.clone());
        }
    }
    texts
}

fn answered(records: &[Record]) -> usize {
    let completed =
        |record: &&Record| serde_json::to_value(&record.event).is_ok_and(|event| event["outcome"] == "completed");
    records.iter().filter(completed).count()
}

fn is_message_of(record: &Record, id: &str) -> bool {
    matches!(&record.event, Event::Turn(TurnEvent::UserMessage { command_id, .. }) if command_id.as_str() == id)
}
