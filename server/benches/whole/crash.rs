//! The cost of a `kill -9`: the next start, the first access to a Pod, and the text that somebody had seen.

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::yoi::{Launch, YoiProcess, pod_path};

use crate::{
    house::{self, BINARY, Started, median, ms},
    options::Options,
    report::{
        Line, Report,
        Unit::{Milliseconds, Percent},
    },
    viewer::{Viewer, chunk_texts},
};

const PODS: usize = 60;
/// Answers in the history of each Pod before it is killed.
const ANSWERS: usize = 5;
const CRASHES: usize = 5;
/// Pods that are read right after the start, one after the other.
const TOUCHED: usize = 10;
const KILLS_IN_MID_STREAM: usize = 3;

pub(crate) fn run(_: &Options, report: &mut Report) {
    let runtime = house::tokio_runtime();
    let launch = Launch::new(BINARY);
    let pods = runtime.block_on(fill(&launch));

    let (mut starts, mut touches) = (Vec::new(), Vec::new());
    for _ in 0..CRASHES {
        runtime.block_on(crash(&launch, &pods));
        let started = Started::yoi(&launch);
        starts.push(ms(started.took));
        touches.extend(runtime.block_on(touch(&started, &pods)));
    }
    report.add(
        Line::new(
            "start_after_crash",
            format!("the same after a crash, {PODS} Pods at work"),
            Milliseconds,
            median(&mut starts),
        )
        .at_most(15.0)
        .note(format!("median of {CRASHES}")),
    );
    let worst = house::quantile(&mut touches, 1.0);
    report.add(
        Line::new("first_touch", "a Pod is ready, after its first touch", Milliseconds, median(&mut touches))
            .at_most(5.0)
            .note(format!("while the others recover; the slowest of {}: {worst:.1} ms", touches.len())),
    );

    let mut kept: Vec<_> = (0..KILLS_IN_MID_STREAM).map(|_| runtime.block_on(kept_after_kill())).collect();
    report.add(
        Line::new(
            "text_after_kill",
            "streamed text still there after kill -9",
            Percent,
            house::quantile(&mut kept, 0.0),
        )
        .at_least(100.0)
        .note(format!("of what a viewer saw; the worst of {KILLS_IN_MID_STREAM}")),
    );
}

async fn fill(launch: &Launch) -> Vec<Value> {
    let mut yoi = launch.clone().start().await;
    let mut pods = Vec::new();
    for number in 0..PODS {
        let pod = yoi.new_pod(&format!("pod-{number}")).await;
        for _ in 0..ANSWERS {
            yoi.say(&pod, "say an answer of some words that is kept in the history of this Pod").await;
        }
        pods.push(pod);
    }
    for pod in &pods {
        house::until_idle(&yoi, pod).await;
    }
    yoi.terminate().await;
    pods
}

/// All Pods stream; then the process is killed.
async fn crash(launch: &Launch, pods: &[Value]) {
    let mut yoi = launch.clone().start().await;
    for pod in pods {
        // Those of the previous crash are paused; a new input continues from there.
        yoi.say(pod, "stream 100000 at 20").await;
    }
    for pod in pods {
        house::until_state(&yoi, pod, "running").await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    yoi.kill9().await;
}

/// Milliseconds until each of some Pods has answered with its state, read one after the other from the start on.
async fn touch(started: &Started, pods: &[Value]) -> Vec<f64> {
    let http = reqwest::Client::new();
    let mut took = Vec::new();
    // The last ones, which are recovered after the others.
    for pod in pods.iter().rev().take(TOUCHED) {
        let began = Instant::now();
        let asked = http.get(format!("{}{}", started.base_url, pod_path(pod))).bearer_auth(&started.token).send().await;
        let detail: Value = asked.expect("yoi answers").json().await.expect("a Pod is JSON");
        took.push(ms(began.elapsed()));
        assert_eq!(detail["state"], "paused", "a Pod that a crash interrupted is paused");
    }
    took
}

/// The percentage of the text seen by a viewer before the kill that is in the transcript after it.
async fn kept_after_kill() -> f64 {
    let mut yoi = YoiProcess::start(BINARY).await;
    let pod = yoi.new_pod("ada").await;
    let mut viewer = Viewer::of_pod(&yoi, &pod).await;
    yoi.say(&pod, "stream 100000 at 1000").await;
    let frames = tokio::spawn(async move { viewer.until_closed().await });
    tokio::time::sleep(Duration::from_millis(800)).await;
    yoi.kill9().await;
    let seen: String = chunk_texts(&frames.await.expect("a viewer only reads")).concat();
    assert!(!seen.is_empty(), "the viewer saw something before the kill");
    yoi.restart().await;
    let page = yoi.get(&format!("{}/transcript", pod_path(&pod))).await.expect(200);
    let records = page["items"].as_array().expect("a page has items");
    let kept = records.iter().rev().find_map(|record| match record["event"]["kind"] == "message_finished" {
        true => record["event"]["text"].as_str(),
        false => None,
    });
    let kept = kept.unwrap_or_default();
    let common = seen.bytes().zip(kept.bytes()).take_while(|(seen, kept)| seen == kept).count();
    common as f64 / seen.len() as f64 * 100.0
}
