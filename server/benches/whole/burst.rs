//! A burst: 5,000 deltas at full speed, to one viewer and to ten.

use std::time::Instant;

use serde_json::{Value, json};
use testkit::{
    timed_model::{Pace, Plan, TimedModel, Wire, deltas},
    yoi::{Launch, YoiProcess},
};
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    floor::Floor,
    house::{self, median},
    options::Options,
    report::{
        Line, Report,
        Unit::{Count, PerSecond},
    },
    viewer::{Seen, Viewer, chunks, count_chunks},
};

pub(crate) const DELTAS: usize = 5_000;
pub(crate) const ROUNDS: usize = 7;
/// The part of the baseline that is the goal.
const OF_FLOOR_MIN: f64 = 0.5;

/// Deliveries per second in each round, and the total number lost.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) per_second: Vec<f64>,
    pub(crate) lost: usize,
}

pub(crate) fn run(_: &Options, report: &mut Report) {
    let runtime = house::tokio_runtime();
    let model = runtime.block_on(TimedModel::start(Plan { deltas: DELTAS, pace: Pace::AtOnce }));
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let database = folder.path().join("floor.db");
    let relay = Floor::start(&["relay", &model.base_url(), &database.to_string_lossy()]);
    let yoi = runtime.block_on(yoi_on_all_wires(&model));

    for (viewers, keys, goal) in [
        (1, ["burst_one", "burst_one_http", "burst_one_threaded", "burst_one_lost"], 90_000.0),
        (10, ["burst_ten", "burst_ten_http", "burst_ten_threaded", "burst_ten_lost"], 500_000.0),
    ] {
        let mut inside =
            runtime.block_on(streamed(&yoi, "rehearsal", "inside", &format!("stream {DELTAS} at 0"), viewers));
        let [(floor, outside), (threaded_floor, threaded)] = [("at-once", Pace::AtOnce), ("threaded", Pace::Threaded)]
            .map(|(name, pace)| {
                model.set_plan(Plan { deltas: DELTAS, pace });
                let mut floor = runtime.block_on(relayed(&relay, viewers));
                (
                    median(&mut floor.per_second),
                    runtime.block_on(streamed(&yoi, Wire::ChatCompletions.kind(), name, "go", viewers)),
                )
            });
        let (mut outside, mut threaded) = (outside, threaded);
        let what = if viewers == 1 { "one viewer".to_owned() } else { format!("{viewers} viewers, deliveries") };
        report.add(
            Line::new(keys[0], format!("burst: {DELTAS} deltas, {what}"), PerSecond, median(&mut inside.per_second))
                .floor(floor)
                .at_least(goal)
                .note("from the POST of the input on; rehearsal model; floor: relay that commits first"),
        );
        report.add(
            Line::new(
                keys[1],
                "the same from a server that flushes each delta",
                PerSecond,
                median(&mut outside.per_second),
            )
            .floor(floor)
            .at_least(floor * OF_FLOOR_MIN)
            .note("over HTTP; from the first delta sent to the last received, as the floor; goal: half of it"),
        );
        report.add(
            Line::new(
                keys[2],
                "the same from one with a thread for each connection",
                PerSecond,
                median(&mut threaded.per_second),
            )
            .floor(threaded_floor)
            .at_least(threaded_floor * OF_FLOOR_MIN)
            .note("as above"),
        );
        if viewers == 1 {
            on_other_wires(&runtime, &yoi, &model, floor, report);
        }
        let sent = DELTAS * viewers * ROUNDS * 3;
        let lost = (inside.lost + outside.lost + threaded.lost) as f64;
        report.add(Line::new(keys[3], "deliveries lost of these", Count, lost).at_most(0.0).note(format!("of {sent}")));
    }
}

/// A server with a provider for each API, named by its kind.
async fn yoi_on_all_wires(model: &TimedModel) -> YoiProcess {
    let launch = Launch::new(house::BINARY);
    let config = launch.work_dir().with_file_name("yoi.toml");
    let provider = |wire: Wire| {
        let (kind, base_url) = (wire.kind(), model.base_url_for(wire));
        format!("[providers.{kind}]\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\n")
    };
    let text: String = Wire::ALL.into_iter().map(provider).collect();
    std::fs::write(&config, text).expect("a temporary folder can be written to");
    launch.arg("--config").arg(&config.to_string_lossy()).start().await
}

/// The burst on each API except chat completions, whose line is above.
fn on_other_wires(runtime: &Runtime, yoi: &YoiProcess, model: &TimedModel, floor: f64, report: &mut Report) {
    model.set_plan(Plan { deltas: DELTAS, pace: Pace::AtOnce });
    for (wire, key) in [
        (Wire::Responses, "burst_one_responses"),
        (Wire::Anthropic, "burst_one_anthropic"),
        (Wire::Gemini, "burst_one_gemini"),
        (Wire::Ollama, "burst_one_ollama"),
    ] {
        let kind = wire.kind();
        let mut rounds = runtime.block_on(streamed(yoi, kind, kind, "go", 1));
        report.add(
            Line::new(key, format!("the same on the wire of \"{kind}\""), PerSecond, median(&mut rounds.per_second))
                .floor(floor)
                .at_least(floor * OF_FLOOR_MIN)
                .note(format!("floor: the relay on chat completions; lost: {}", rounds.lost)),
        );
    }
}

/// A new Pod for each round: the earlier conversation would be sent to the model again.
async fn streamed(yoi: &YoiProcess, provider: &str, name: &str, text: &str, viewers: usize) -> Rounds {
    answered(yoi, &json!({ "provider": provider, "model": "timed" }), name, text, viewers).await
}

/// The same of Pods in which this answers, a part of the body that creates a Pod.
pub(crate) async fn answered(yoi: &YoiProcess, by: &Value, name: &str, text: &str, viewers: usize) -> Rounds {
    let mut rounds = Rounds::default();
    // The first round only warms up.
    for round in 0..=ROUNDS {
        let mut create = by.clone();
        create["name"] = json!(format!("{name}-{viewers}-{round}"));
        let pod = &yoi.post("/api/v1/pods", &create).await.expect(201);
        let mut watched = Vec::new();
        for _ in 0..viewers {
            watched.push(watch(Viewer::of_pod(yoi, pod).await));
        }
        let began = Instant::now();
        yoi.say(pod, text).await;
        let frames = all(watched).await;
        house::until_idle(yoi, pod).await;
        if round > 0 {
            rounds.add(began, &frames);
        }
    }
    rounds
}

async fn relayed(relay: &Floor, viewers: usize) -> Rounds {
    let (address, http) = (relay.address, reqwest::Client::new());
    let mut rounds = Rounds::default();
    for round in 0..=ROUNDS {
        let stream = viewers * 100 + round;
        let mut watched = Vec::new();
        for _ in 0..viewers {
            watched.push(watch(Viewer::connect(&format!("ws://{address}/ws/{stream}"), None).await));
        }
        let began = Instant::now();
        http.post(format!("http://{address}/start/{stream}")).send().await.expect("the relay answers");
        let frames = all(watched).await;
        if round > 0 {
            rounds.add(began, &frames);
        }
    }
    rounds
}

fn watch(mut viewer: Viewer) -> JoinHandle<Vec<Seen>> {
    tokio::spawn(async move { viewer.until_end().await })
}

async fn all(watched: Vec<JoinHandle<Vec<Seen>>>) -> Vec<Vec<Seen>> {
    let mut frames = Vec::new();
    for watched in watched {
        frames.push(watched.await.expect("a viewer only reads"));
    }
    frames
}

impl Rounds {
    /// From the first delta: when it was sent if it says so, otherwise from `began`.
    fn add(&mut self, began: Instant, frames: &[Vec<Seen>]) {
        let first = frames.first().and_then(|frames| chunks(frames).into_iter().next());
        let sent = first.filter(|(_, text)| text.contains(':')).and_then(|(_, text)| deltas(&text).next());
        let began = sent.map_or(began, |delta| delta.sent);
        let counts: Vec<_> = frames.iter().map(|frames| count_chunks(frames)).collect();
        let arrived: usize = counts.iter().map(|(count, _)| count).sum();
        self.lost += (DELTAS * frames.len()).saturating_sub(arrived);
        if let Some(last) = counts.iter().filter_map(|(_, last)| *last).max() {
            self.per_second.push(arrived as f64 / last.duration_since(began).as_secs_f64());
        }
    }
}
