//! kill -9 at random moments, while Pods stream, call a command, take inputs, write to each other and become peers.
//! Everything that two viewers were shown and every receipt is there after the restart, exactly once.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::yoi::{EventSocket, YoiProcess, pod_path};

use crate::{
    witness::{self, Verdict, count, seq},
    work::{Cast, Door, Told},
};

/// The time from the first input to the kill, in milliseconds: the minimum, and the maximum added to it.
const MILLIS: (u64, u64) = (20, 1_500);
const VIEWERS: usize = 2;
/// At most this many violations are printed.
const TOLD_MAX: usize = 20;

/// The totals of all rounds.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    verdict: Verdict,
    inputs: usize,
    messages: usize,
    handshakes: usize,
    restarts: Vec<Duration>,
}

/// Returns false if anything was lost or duplicated.
pub(crate) async fn run(binary: &str, rounds: u32) -> bool {
    let (mut yoi, mut sum) = (YoiProcess::start(binary).await, Sum::default());
    for round in 0..rounds {
        play(&mut yoi, round, &mut sum, || ()).await;
        tell_round(round, &sum);
    }
    tell(rounds, &mut sum);
    sum.holds()
}

impl Sum {
    pub(crate) fn holds(&self) -> bool {
        self.verdict.lost.is_empty() && self.verdict.doubled.is_empty()
    }
}

pub(crate) fn tell_round(round: u32, sum: &Sum) {
    eprintln!(
        "    round {}: {} records shown so far, {} lost, {} doubled",
        round + 1,
        sum.verdict.shown,
        sum.verdict.lost.len(),
        sum.verdict.doubled.len()
    );
}

/// `meanwhile` is done between the kill and the restart.
pub(crate) async fn play(yoi: &mut YoiProcess, round: u32, sum: &mut Sum, meanwhile: impl FnOnce()) {
    let cast = Cast::make(yoi, round).await;
    let (pods, door) = (cast.all(), Door::of(yoi));
    let mut watching = Vec::new();
    for _ in 0..VIEWERS {
        watching.push(tokio::spawn(watch(door.viewer(&pods).await)));
    }
    let after = Duration::from_millis(MILLIS.0 + RandomState::new().hash_one(round) % MILLIS.1);
    let kill = async {
        tokio::time::sleep(after).await;
        yoi.kill9().await;
    };
    let (told, ()) = tokio::join!(cast.act(&door), kill);
    let mut viewers = Vec::new();
    for viewer in watching {
        viewers.push(viewer.await.expect("a viewer only reads"));
    }

    meanwhile();
    let began = Instant::now();
    yoi.restart().await;
    sum.restarts.push(began.elapsed());
    let mut journals = Vec::new();
    for pod in &pods {
        journals.push(yoi.journal(pod).await);
    }
    for (pod, journal) in pods.iter().zip(&journals) {
        sum.verdict.add(witness::doubles(&name(pod, round), journal));
    }
    for viewer in &viewers {
        check_viewer(yoi, round, (&pods, &journals), viewer, &mut sum.verdict).await;
    }
    check_told(yoi, &cast, &told, &mut sum.verdict).await;
    sum.inputs += told.inputs.len();
    sum.messages += told.messages.len();
    sum.handshakes += told.introductions + told.partings;
    for pod in &pods {
        // Running Pods would disturb the next round. The answer depends on the moment of the kill.
        yoi.post(&format!("{}/stop", pod_path(pod)), &json!({})).await;
    }
}

/// The frames of one viewer by subscription: all records, and the last cursor.
#[derive(Debug, Default)]
struct Viewer {
    shown: BTreeMap<usize, Vec<Value>>,
    cursors: BTreeMap<usize, String>,
}

async fn watch(mut socket: EventSocket) -> Viewer {
    let mut viewer = Viewer::default();
    let snapshots = socket.seen().to_vec();
    snapshots.iter().for_each(|frame| viewer.take(frame));
    while let Some(frame) = socket.next_frame().await {
        viewer.take(&frame);
    }
    viewer
}

impl Viewer {
    fn take(&mut self, frame: &Value) {
        let Some(index) = frame["id"].as_str().and_then(|id| id.parse().ok()) else { return };
        let records = frame["records"].as_array().into_iter().flatten().cloned();
        // A snapshot starts over.
        if frame["type"] == "snapshot" {
            self.shown.insert(index, Vec::new());
        }
        self.shown.entry(index).or_default().extend(records);
        if let Some(cursor) = frame["cursor"].as_str() {
            self.cursors.insert(index, cursor.to_owned());
        }
    }
}

async fn check_viewer(
    yoi: &YoiProcess,
    round: u32,
    (pods, journals): (&[Value], &[Vec<Value>]),
    viewer: &Viewer,
    verdict: &mut Verdict,
) {
    let mut socket = yoi.events().await;
    for (index, (pod, journal)) in pods.iter().zip(journals).enumerate() {
        let name = name(pod, round);
        let shown = viewer.shown.get(&index).map(Vec::as_slice).unwrap_or_default();
        verdict.add(witness::held_against(&name, shown, journal));
        let last = shown.last().map(seq).unwrap_or_default();
        let head = journal.last().map(seq).unwrap_or_default();
        if head > last {
            let id = index.to_string();
            socket.subscribe(&id, pod, viewer.cursors.get(&index).map(String::as_str)).await;
            let resumed = socket.records_until(&id, |record| seq(record) >= head).await;
            verdict.add(witness::goes_on(&name, last, &resumed));
        }
    }
    socket.close().await;
}

/// Each receipt stands for one thing that happened exactly once.
async fn check_told(yoi: &YoiProcess, cast: &Cast, told: &Told, verdict: &mut Verdict) {
    let mut once = |what: &str, id: &str, found: usize| match found {
        0 => verdict.lost.push(format!("{what} {id} was accepted and is nowhere")),
        1 => (),
        more => verdict.doubled.push(format!("{what} {id} is there {more} times")),
    };
    let detail = yoi.get(&pod_path(&cast.busy)).await.expect(200);
    let journal = yoi.journal(&cast.busy).await;
    for id in &told.inputs {
        let queued = detail["queued"].as_array().into_iter().flatten().filter(|input| input["command_id"] == **id);
        // One that was queued a moment ago may have begun since.
        let found = count(&journal, "user_message", "command_id", id).max(queued.count());
        once("input", id, found);
    }
    let [writer, reader] = &cast.pen_friends;
    let (sent, got) = (yoi.journal(writer).await, yoi.journal(reader).await);
    for id in &told.messages {
        let states = |journal: &[Value]| -> Vec<Value> {
            let of_it = |record: &&Value| record["event"]["message_id"] == **id;
            journal.iter().filter(of_it).map(|record| record["event"]["state"].clone()).collect()
        };
        let is_held = states(&sent).iter().any(|state| state == "held");
        let found = if is_held { 1 } else { count(&got, "peer_message", "message_id", id) };
        once("message", id, found);
    }
    let both = [yoi.journal(&cast.couple[0]).await, yoi.journal(&cast.couple[1]).await];
    for journal in &both {
        let of = |kind: &str| journal.iter().filter(|record| record["event"]["kind"] == kind).count();
        // One more than was confirmed is allowed: the kill came between the commit and the answer.
        let told = [("peer_linked", told.introductions), ("peer_unlinked", told.partings)];
        for (kind, told) in told {
            match of(kind) {
                found if found < told => verdict.lost.push(format!("{told} times {kind} was told, {found} are there")),
                found if found > told + 1 => verdict.doubled.push(format!("{found} times {kind}, {told} were told")),
                _ => (),
            }
        }
    }
}

fn name(pod: &Value, round: u32) -> String {
    format!("round {}, {}", round + 1, pod["name"].as_str().unwrap_or_default())
}

pub(crate) fn tell(rounds: u32, sum: &mut Sum) {
    let Verdict { shown, lost, doubled } = &sum.verdict;
    for sentence in lost
        .iter()
        .map(|it| format!("lost: {it}"))
        .chain(doubled.iter().map(|it| format!("doubled: {it}")))
        .take(TOLD_MAX)
    {
        eprintln!("{sentence}");
    }
    sum.restarts.sort();
    let middle = sum.restarts.get(sum.restarts.len() / 2).copied().unwrap_or_default();
    println!();
    for (what, figure) in [
        ("kills", rounds.to_string()),
        ("records shown to viewers", shown.to_string()),
        ("inputs accepted", sum.inputs.to_string()),
        ("messages taken", sum.messages.to_string()),
        ("introductions and partings", sum.handshakes.to_string()),
        ("lost", lost.len().to_string()),
        ("doubled", doubled.len().to_string()),
        ("ready again, median", format!("{:.0} ms", middle.as_secs_f64() * 1e3)),
    ] {
        println!("    {what:<28} {figure:>10}");
    }
}
