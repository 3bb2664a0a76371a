//! A delta's way: sent by the provider, committed, at a viewer. One Pod, and twenty at the same time.

use std::{ops::Range, time::Duration};

use serde_json::Value;
use testkit::{
    timed_model::{Pace, Plan, TimedModel, deltas},
    yoi::YoiProcess,
};

use crate::{
    floor::Floor,
    house::{self, cpu_seconds, median, ms, quantile},
    options::Options,
    report::{
        Line, Report,
        Unit::{Count, Milliseconds},
    },
    viewer::{Seen, Viewer, chunks},
};

const PAUSE: Duration = Duration::from_millis(10);
const DELTAS: usize = 300;
const WARM_UP: usize = 20;
const ROUNDS: usize = 3;
const MANY: usize = 20;
/// The number of deltas for which processor time is given, and the goal relative to the baseline.
const COUNTED: usize = 4_000;
const CPU_OF_FLOOR_MAX: f64 = 2.0;

/// The results of some streams.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    /// Milliseconds, one value per delta.
    pub(crate) ms: Vec<f64>,
    pub(crate) lost: usize,
}

impl Latencies {
    pub(crate) fn p50(&mut self) -> f64 {
        quantile(&mut self.ms, 0.5)
    }

    pub(crate) fn p99(&mut self) -> f64 {
        quantile(&mut self.ms, 0.99)
    }
}

/// The results of each round.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) p50: Vec<f64>,
    pub(crate) p99: Vec<f64>,
    pub(crate) lost: usize,
    pub(crate) cpu_seconds: f64,
}

impl Rounds {
    pub(crate) fn add(&mut self, mut latencies: Latencies) {
        self.p50.push(latencies.p50());
        self.p99.push(latencies.p99());
        self.lost += latencies.lost;
    }
}

pub(crate) fn run(_: &Options, report: &mut Report) {
    let runtime = house::tokio_runtime();
    let model = runtime.block_on(TimedModel::start(Plan { deltas: DELTAS, pace: Pace::Every(PAUSE) }));
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let database = folder.path().join("floor.db");
    let committing = Floor::start(&["relay", &model.base_url(), &database.to_string_lossy()]);
    let plain = Floor::start(&["relay", &model.base_url()]);
    let yoi = runtime.block_on(house::yoi_with_model(&model.base_url()));

    for (pods, keys, goals) in [
        (1, ["delta_one_p50", "delta_one_p99", "delta_one_cpu", "delta_one_lost"], (1.2, 1.3)),
        (MANY, ["delta_many_p50", "delta_many_p99", "delta_many_cpu", "delta_many_lost"], (1.0, 1.5)),
    ] {
        let (mut uncommitted, mut floor, mut yois) = (Rounds::default(), Rounds::default(), Rounds::default());
        let asking = runtime.block_on(async {
            let asking = new_pods(&yoi, pods).await;
            // The first run creates the provider's client and reads the system's certificates.
            model.set_plan(Plan { deltas: WARM_UP, pace: Pace::Every(PAUSE) });
            streamed(&yoi, &asking, WARM_UP).await;
            asking
        });
        model.set_plan(Plan { deltas: DELTAS, pace: Pace::Every(PAUSE) });
        // Alternating, so that other load on the machine affects all three.
        for round in 0..ROUNDS {
            let first = (pods + round) * MANY;
            uncommitted.add(runtime.block_on(relayed(&plain, first..first + pods)));
            let before = cpu_seconds(committing.pid());
            floor.add(runtime.block_on(relayed(&committing, first..first + pods)));
            floor.cpu_seconds += cpu_seconds(committing.pid()) - before;
            let before = cpu_seconds(yoi.pid().expect("it runs"));
            yois.add(runtime.block_on(streamed(&yoi, &asking, DELTAS)));
            yois.cpu_seconds += cpu_seconds(yoi.pid().expect("it runs")) - before;
        }
        let what = if pods == 1 { "one Pod at 100/s".to_owned() } else { format!("{pods} Pods at 100/s each") };
        let (p50, p99) = (median(&mut uncommitted.p50), median(&mut uncommitted.p99));
        let (floor_p50, floor_p99) = (median(&mut floor.p50), median(&mut floor.p99));
        report.add(
            Line::new(keys[0], format!("delta → viewer, {what}, p50"), Milliseconds, median(&mut yois.p50))
                .floor(floor_p50)
                .at_most(floor_p50 * goals.0)
                .note(format!(
                    "median of {ROUNDS} rounds; floor: relay that commits first; one that does not: {p50:.2} ms"
                )),
        );
        report.add(
            Line::new(keys[1], "the same, p99", Milliseconds, median(&mut yois.p99))
                .floor(floor_p99)
                .at_most(floor_p99 * goals.1)
                .note(format!("relay that does not commit: {p99:.2} ms")),
        );
        let sent = pods * DELTAS * ROUNDS;
        let per_delta = |rounds: &Rounds| rounds.cpu_seconds * 1e3 / sent as f64 * COUNTED as f64;
        let line = Line::new(keys[2], format!("processor time for {COUNTED} of these"), Milliseconds, per_delta(&yois))
            .floor(per_delta(&floor))
            .note("of the server alone; user and system");
        report.add(if pods == MANY { line.at_most(per_delta(&floor) * CPU_OF_FLOOR_MAX) } else { line });
        report.add(
            Line::new(keys[3], "deltas lost of these", Count, yois.lost as f64).at_most(0.0).note(format!("of {sent}")),
        );
    }
}

pub(crate) async fn new_pods(yoi: &YoiProcess, count: usize) -> Vec<Value> {
    let mut pods = Vec::new();
    for number in 0..count {
        pods.push(house::pod_with_model(yoi, &format!("stream-{count}-{number}")).await);
    }
    pods
}

/// Each Pod calls its model once, with one viewer each.
pub(crate) async fn streamed(yoi: &YoiProcess, pods: &[Value], deltas_each: usize) -> Latencies {
    told(yoi, pods, "go", deltas_each).await
}

/// Each Pod answers this message, with one viewer each.
pub(crate) async fn told(yoi: &YoiProcess, pods: &[Value], text: &str, deltas_each: usize) -> Latencies {
    let mut viewers = Vec::new();
    for pod in pods {
        viewers.push(Viewer::of_pod(yoi, pod).await);
    }
    let watched = viewers.into_iter().map(|mut viewer| tokio::spawn(async move { viewer.until_end().await }));
    let watched: Vec<_> = watched.collect();
    for pod in pods {
        yoi.say(pod, text).await;
    }
    let mut latencies = Latencies::default();
    for frames in watched {
        add_latencies(&mut latencies, &frames.await.expect("a viewer only reads"), deltas_each);
    }
    for pod in pods {
        house::until_idle(yoi, pod).await;
    }
    latencies
}

async fn relayed(relay: &Floor, streams: Range<usize>) -> Latencies {
    let address = relay.address;
    let mut viewers = Vec::new();
    for stream in streams.clone() {
        viewers.push(Viewer::connect(&format!("ws://{address}/ws/{stream}"), None).await);
    }
    let watched = viewers.into_iter().map(|mut viewer| tokio::spawn(async move { viewer.until_end().await }));
    let watched: Vec<_> = watched.collect();
    let http = reqwest::Client::new();
    for stream in streams {
        let asked = http.post(format!("http://{address}/start/{stream}")).send().await;
        asked.expect("the relay answers");
    }
    let mut latencies = Latencies::default();
    for frames in watched {
        add_latencies(&mut latencies, &frames.await.expect("a viewer only reads"), DELTAS);
    }
    latencies
}

fn add_latencies(latencies: &mut Latencies, frames: &[Seen], expected: usize) {
    let mut is_here = vec![false; expected];
    for (at, text) in chunks(frames) {
        for delta in deltas(&text) {
            latencies.ms.push(ms(at.saturating_duration_since(delta.sent)));
            is_here[delta.number] = true;
        }
    }
    latencies.lost += is_here.into_iter().filter(|is_here| !is_here).count();
}
