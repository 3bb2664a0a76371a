//! Long conversations: the cost of a message to a Pod with a long past, and whether others wait meanwhile.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use protocol::{CommandId, ControlEvent, Event, Outcome, Record, Segment, Seq, Trigger, TurnEvent, Usage};
use reqwest::Method;
use serde_json::Value;
use testkit::{
    timed_model::{Pace, Plan, TimedModel},
    yoi::{YoiProcess, pod_path},
};

use crate::{
    house::{self, median, ms, quantile},
    options::Options,
    report::{
        Line, Report,
        Unit::{Milliseconds, Times},
    },
};

/// Turns of each Pod, the shortest first.
const TURNS: [usize; 4] = [10, 1_000, 10_000, 60_000];
const ROUNDS: usize = 12;
/// How many Pods of the longest kind are compacted at once.
const COMPACTED: usize = 4;
const PLAN: Plan = Plan { deltas: 3, pace: Pace::AtOnce };
/// Constant, and what a compacted conversation may cost; both relative to the shortest one.
const RECEIPT_TIMES_MAX: f64 = 1.5;
const WIRE_TIMES_MAX: f64 = 3.0;
/// The interval between two checks of `/healthz`.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Milliseconds from the POST of an input on.
#[derive(Debug, Default)]
struct Taken {
    receipt: Vec<f64>,
    wire: Vec<f64>,
}

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let model = TimedModel::start(PLAN).await;
        let yoi = house::yoi_with_model(&model.base_url()).await;
        let mut pods = Vec::new();
        for turns in TURNS {
            pods.push(with_turns(&yoi, &format!("turns-{turns}"), turns).await);
        }
        let mut taken = asked(&yoi, &model, &pods).await;
        let shortest = (median(&mut taken[0].receipt), median(&mut taken[0].wire));
        let keys = [
            ["receipt_10", "wire_10"],
            ["receipt_1000", "wire_1000"],
            ["receipt_10000", "wire_10000"],
            ["receipt_60000", "wire_60000"],
        ];
        for ((turns, keys), taken) in TURNS.iter().zip(keys).zip(&mut taken) {
            let (receipt, wire) = (median(&mut taken.receipt), median(&mut taken.wire));
            let times = receipt / shortest.0;
            report.add(
                Line::new(keys[0], format!("input → receipt, {turns} turns before it"), Milliseconds, receipt)
                    .at_most(shortest.0 * RECEIPT_TIMES_MAX)
                    .note(format!("{times:.2} × that of {} turns; median of {ROUNDS}, by turns", TURNS[0])),
            );
            let times = wire / shortest.1;
            report.add(
                Line::new(keys[1], "the same until the model has the question's head", Milliseconds, wire)
                    .note(format!("{times:.2} × that of {} turns; nothing is compacted", TURNS[0])),
            );
        }
        let longest = pods.pop().expect("there are some");
        let mut others = vec![longest.clone()];
        for number in 1..COMPACTED {
            others.push(with_turns(&yoi, &format!("beside-{number}"), TURNS[TURNS.len() - 1]).await);
        }
        waits(&yoi, &others, report).await;

        let pods = [pods[0].clone(), longest];
        let mut taken = asked(&yoi, &model, &pods).await;
        let wire = taken.iter_mut().map(|taken| median(&mut taken.wire)).collect::<Vec<_>>();
        report.add(
            Line::new(
                "wire_compacted",
                "input → question, 60,000 turns compacted, against 10",
                Times,
                wire[1] / wire[0],
            )
            .at_most(WIRE_TIMES_MAX)
            .note(format!("{:.2} ms against {:.2} ms", wire[1], wire[0])),
        );
    });
}

/// A Pod with this many past turns, by an import.
async fn with_turns(yoi: &YoiProcess, name: &str, turns: usize) -> Value {
    let asked = yoi.request(Method::POST, &format!("/api/v1/import?name={name}"));
    let asked = asked.header("Content-Type", "application/x-ndjson").body(journal(turns));
    let answer = asked.send().await.expect("yoi answers");
    assert_eq!(answer.status(), 201, "a journal can be imported");
    let pod: Value = serde_json::from_slice(&answer.bytes().await.expect("an answer arrives whole")).expect("JSON");
    yoi.post(&format!("{}/restore", pod_path(&pod)), &serde_json::json!({})).await;
    pod
}

fn journal(turns: usize) -> String {
    let mut lines = String::new();
    let mut seq = 0;
    for run in 1..=turns {
        for event in turn(run) {
            seq += 1;
            let at = jiff::Timestamp::UNIX_EPOCH;
            let record = Record { seq: Seq(seq), at, run_id: Some(format!("run-{run}")), event, cut: None };
            lines.push_str(&serde_json::to_string(&record).expect("a record is JSON"));
            lines.push('\n');
        }
    }
    lines
}

/// A question and an answer of usual sizes.
fn turn(run: usize) -> [Event; 4] {
    let question = format!("question {run}: what is in the folder, and which of it has changed since yesterday?");
    let answer = format!("answer {run}: nine files are there; two of them have changed, and one of these is new.");
    let command_id = CommandId::parse(&format!("c{run}")).expect("letters and digits");
    [
        ControlEvent::RunStarted { trigger: Trigger::Input, command_id: Some(command_id.clone()) }.into(),
        TurnEvent::UserMessage {
            segments: vec![Segment::text(question)],
            command_id,
            by: "operator".to_owned(),
            blobs: protocol::Blobs::default(),
        }
        .into(),
        TurnEvent::MessageFinished { block: format!("b{run}"), text: answer, interrupted: false }.into(),
        ControlEvent::RunFinished { outcome: Outcome::Completed, code: None, detail: None, usage: Usage::default() }
            .into(),
    ]
}

/// Each Pod in turn, so that other load on the machine affects all.
async fn asked(yoi: &YoiProcess, model: &TimedModel, pods: &[Value]) -> Vec<Taken> {
    let mut taken: Vec<Taken> = pods.iter().map(|_| Taken::default()).collect();
    // The first round only warms up.
    for round in 0..=ROUNDS {
        // Each in each position: the end of a long question is still being cleaned up when the next one arrives.
        for place in 0..pods.len() {
            let place = (place + round) % pods.len();
            let (pod, taken) = (&pods[place], &mut taken[place]);
            let began = Instant::now();
            yoi.say(pod, "go").await;
            let receipt = ms(began.elapsed());
            house::until_idle(yoi, pod).await;
            let asked = model.asked_last().expect("the model was asked");
            if round > 0 {
                taken.receipt.push(receipt);
                taken.wire.push(ms(asked.duration_since(began)));
            }
        }
    }
    taken
}

/// How long `/healthz` takes while these Pods are compacted, all at once.
async fn waits(yoi: &YoiProcess, pods: &[Value], report: &mut Report) {
    let mut before = Vec::new();
    for _ in 0..100 {
        before.push(health(yoi).await);
    }
    let compacting = join_all(pods.iter().map(|pod| async move {
        yoi.post(&format!("{}/compact", pod_path(pod)), &serde_json::json!({})).await;
        house::until_idle(yoi, pod).await;
    }));
    let began = Instant::now();
    let mut during = Vec::new();
    let looking = async {
        loop {
            during.push(health(yoi).await);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::select! {
        _ = compacting => (),
        () = looking => (),
    }
    let took = began.elapsed().as_secs_f64();
    let (longest, p50) = (quantile(&mut during, 1.0), median(&mut during));
    report.add(
        Line::new(
            "healthz_compacting",
            "/healthz while four Pods of 60,000 turns compact, longest",
            Milliseconds,
            longest,
        )
        .note(format!("median {p50:.2} ms; quiet {:.2} ms; they took {took:.1} s", median(&mut before))),
    );
}

async fn health(yoi: &YoiProcess) -> f64 {
    let began = Instant::now();
    let answer = yoi.request(Method::GET, "/healthz").send().await.expect("yoi answers");
    assert_eq!(answer.status(), 200, "it is alive");
    ms(began.elapsed())
}
