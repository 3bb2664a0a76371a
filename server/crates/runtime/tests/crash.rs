//! Kill -9 at every durable step, and at random times: what any viewer saw, and what any caller was told, is there
//! after the restart (G3).
//!
//! The test runs itself again as a child process that hosts Pods on a real SQLite file and prints what a viewer and a
//! caller get; the child kills itself at a chosen step, or is killed from here. Then the folder is opened again.
//!
//! Three stories run at the same time: `ada` answers a person; `lead` spawns a child with a folder, stops it and
//! restores it, and a person stops it again (`led`); `ann` becomes a peer of two others and they write to each other
//! (`peers`). Then a request that is too long for its model is killed at each of its own steps (`overflow`), and rounds
//! of nothing but peer changes and messages are killed at random times, on one database (`rounds`).

#![allow(clippy::unwrap_used)]

#[path = "crash/led.rs"]
mod led;
#[path = "crash/overflow.rs"]
mod overflow;
#[path = "crash/peers.rs"]
mod peers;
#[path = "crash/relation.rs"]
mod relation;
#[path = "crash/rounds.rs"]
mod rounds;
mod stage;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
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
const AFTER: &str = "YOI_CRASH_AFTER";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Ok(folder) = std::env::var(FOLDER) {
        let folder = Path::new(&folder);
        match (std::env::var(rounds::ROUND), std::env::var(overflow::MODEL)) {
            (Ok(round), _) => runtime.block_on(rounds::play(folder, &round)),
            (_, Ok(model)) => runtime.block_on(overflow::play(folder, &model)),
            _ => runtime.block_on(child(folder)),
        }
        return;
    }
    let (mut cases, mut kills) = (0, 0);
    // Steps of the lines to other stores have crash tests of their own (`far`).
    for step in Step::ALL.into_iter().filter(|step| *step != Step::Far) {
        for count in [1, 2, 3, 5, 9] {
            let kill = Kill { step, count, after: None };
            let is_killed = runtime.block_on(case(&format!("{step:?} {count}"), Some(kill), None));
            assert!(is_killed || count > 1, "{step:?} never came");
            cases += 1;
            kills += u32::from(is_killed);
        }
    }
    // The ends of the transactions that change parents and children, that bring news, and that concern peers.
    for after in [Step::Relations, Step::Mail, Step::Peers, Step::Messages] {
        for (step, count) in [1, 2, 3, 4].into_iter().flat_map(|count| [(Step::Commit, count), (Step::Answer, count)]) {
            let kill = Kill { step, count, after: Some(after) };
            let is_killed = runtime.block_on(case(&format!("{step:?} after {after:?} {count}"), Some(kill), None));
            assert!(is_killed, "{step:?} after {after:?} {count} never came");
            cases += 1;
            kills += 1;
        }
    }
    for millis in [1, 3, 7, 12, 20, 33, 50, 80, 120, 200] {
        let is_killed =
            runtime.block_on(case(&format!("after {millis} ms"), None, Some(Duration::from_millis(millis))));
        cases += 1;
        kills += u32::from(is_killed);
    }
    let overflows = runtime.block_on(overflow::all());
    let rounds = runtime.block_on(rounds::all());
    // One of each kind of step completed.
    (cases, kills) = (cases + rounds + overflows + 2, kills + rounds + overflows);
    println!("{kills} of {cases} children were killed; the others reached their end first");
    println!("test result: ok. {cases} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}

/// Where a child process dies: right before the `count`-th occurrence of the step, or right before the step that
/// follows the `count`-th occurrence of `after`.
#[derive(Debug, Clone, Copy)]
struct Kill {
    step: Step,
    count: u32,
    after: Option<Step>,
}

impl Kill {
    fn tell(self, command: &mut Command) {
        let number = |step: Step| Step::ALL.iter().position(|known| *known == step).unwrap().to_string();
        command.env(STEP, number(self.step)).env(COUNT, self.count.to_string());
        if let Some(after) = self.after {
            command.env(AFTER, number(after));
        }
    }

    fn told() -> Option<Self> {
        let read = |name: &str| Some(std::env::var(name).ok()?.parse::<usize>().unwrap());
        let after = read(AFTER).map(|number| Step::ALL[number]);
        Some(Self { step: Step::ALL[read(STEP)?], count: read(COUNT)?.try_into().unwrap(), after })
    }
}

/// Kills the process where it is told to.
#[derive(Debug)]
struct KillAt {
    kill: Kill,
    left: AtomicU32,
    is_near: AtomicBool,
}

impl KillAt {
    fn of(kill: Kill) -> Self {
        Self { kill, left: AtomicU32::new(kill.count), is_near: AtomicBool::new(false) }
    }
}

impl Faults for KillAt {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let counted = self.kill.after.unwrap_or(self.kill.step);
        if step == counted && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.is_near.store(true, Ordering::Release);
        }
        if step == self.kill.step && self.is_near.load(Ordering::Acquire) {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    }
}

/// Hosts Pods, talks to them, and prints what it is told and what it sees, until it is killed or everything is done.
async fn child(folder: &Path) {
    let mut options = StoreOptions::sqlite(folder.join("yoi.db"));
    if let Some(kill) = Kill::told() {
        options.faults = Some(std::sync::Arc::new(KillAt::of(kill)));
    }
    let host = stage::host_on(Store::open(options).await.unwrap()).await;
    let pod = host.pods().create(key("create"), &origin(), named("ada")).await.unwrap().pod.worker_id;
    print_line(&format!("created {pod}"));
    let leading = tokio::spawn(led::play(host.clone(), folder.to_owned()));
    let knowing = tokio::spawn(peers::play(host.clone()));
    let watching = tokio::spawn(watch(host.clone(), pod.clone()));
    let text = "think of it well\nsay one two three\nstream 400 at 0\ncall Nothing {}\nstream 200 at 2000\nsay done";
    tell(&host, &pod, "k1", say(text)).await;
    tell(&host, &pod, "k2", InputCommand { queue: true, ..say("say second answer") }).await;
    tell(&host, &pod, "k3", InputCommand { queue: true, ..say("say third answer") }).await;
    watching.await.unwrap();
    leading.await.unwrap();
    knowing.await.unwrap();
    print_line("end");
}

async fn tell(host: &Host, pod: &WorkerId, id: &str, input: InputCommand) {
    if host.work().input(key(id), &origin(), pod, input).await.is_ok() {
        print_line(&format!("accepted {id}"));
    }
}

async fn watch(host: Host, pod: WorkerId) {
    let mut viewer = host.journals().observe(&pod, None, 200).await;
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
    // The parent process may have what it wants already.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// What the child process was told and saw before it died.
#[derive(Default)]
struct Witness {
    pod: Option<WorkerId>,
    accepted: Vec<String>,
    saw: Vec<Record>,
    led: led::Witness,
    peers: peers::Witness,
}

/// Whether the child process was killed: if the step occurs less often than requested, it reaches its end.
async fn case(name: &str, kill: Option<Kill>, after: Option<Duration>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(FOLDER, folder.path()).stdout(Stdio::piped());
    if let Some(kill) = kill {
        kill.tell(&mut command);
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
            Some((word, rest)) if word.starts_with("peer") => witness.peers.hear(word, rest),
            Some((word, rest)) => witness.led.hear(word, rest),
            None => (),
        }
    }
    witness
}

/// Opens the folder again, and compares what is there with what was seen.
async fn check(name: &str, folder: tempfile::TempDir, witness: Witness) {
    let host = stage::host_in(&folder).await;
    led::check(name, &host, &witness.led).await;
    peers::check(name, &host, &witness.peers).await;
    usage_is_whole(name, &host).await;
    let Some(pod) = witness.pod else { return };
    let state = host.pods().get(&pod).await.unwrap().summary.state;
    // If it is running, that is a queued input that began by itself after the previous run had ended.
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
    // The same commands again: known ones change nothing, lost ones are accepted now.
    if state == PodState::Paused {
        there.host.pods().control(key("resume"), &origin(), &pod, ControlVerb::Resume).await.unwrap();
    }
    for id in &witness.accepted {
        let input = InputCommand { queue: true, ..say("something else, which the key must keep out") };
        there.host.work().input(key(id), &origin(), &pod, input).await.unwrap();
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

/// The usage is what the Pods report, neither lost nor counted twice. They may be working during this check.
async fn usage_is_whole(name: &str, host: &Host) {
    testkit::until_so(format!("{name}: what the Pods say is what was counted"), async || {
        let before = host.journals().usage().await.unwrap();
        let pods = host.pods().list(&runtime::PodQuery::default()).await.unwrap().items;
        let sum = pods.iter().fold((0, 0), |(input, output), pod| (input + pod.usage.input, output + pod.usage.output));
        sum == (before.total.input, before.total.output) && host.journals().usage().await.unwrap() == before
    })
    .await;
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
