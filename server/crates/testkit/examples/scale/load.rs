//! One step of a curve: so many Pods at work, so many viewers, and what that costs.

use std::{
    fs,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};

use crate::{stage::Stage, viewer::Viewer};

/// How many inputs are sent at once.
const AT_ONCE: usize = 64;
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What was measured at one point of a curve.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    pub(crate) curve: &'static str,
    /// Pods, viewers, or seconds.
    pub(crate) at: f64,
    /// From the sending of a delta to its arrival at a viewer, in milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Processors that the server used.
    pub(crate) cpus: f64,
    /// Processor time of the server for each delta, in microseconds.
    pub(crate) cpu_us: f64,
    pub(crate) pss_mb: f64,
    pub(crate) deltas_per_s: f64,
    pub(crate) deliveries_per_s: f64,
    /// 0 if this version of yoi does not say.
    pub(crate) commits_per_s: f64,
    pub(crate) database_mb: f64,
    pub(crate) lost: usize,
    /// The machine's load, of which this bench is a part.
    pub(crate) load: f64,
}

/// The step: its curve and the place there, Pods, viewers, and the deltas of each Pod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) curve: &'static str,
    pub(crate) at: f64,
    pub(crate) pods: usize,
    pub(crate) viewers: usize,
    pub(crate) deltas: usize,
}

/// The middle one of several rounds, by its median.
pub(crate) async fn measured(stage: &Stage, step: Step, rounds: usize) -> Point {
    let mut points = Vec::new();
    for _ in 0..rounds {
        points.push(once(stage, step).await);
    }
    points.sort_by(|left, right| left.p50.total_cmp(&right.p50));
    points.swap_remove(points.len() / 2)
}

pub(crate) async fn once(stage: &Stage, step: Step) -> Point {
    let pods = &stage.workers[..step.pods];
    let connecting = stream::iter(0..step.viewers).map(|number| Viewer::of_pod(&stage.yoi, &pods[number % pods.len()]));
    let viewers: Vec<Viewer> = connecting.buffered(AT_ONCE).collect().await;
    let watching: Vec<_> = viewers.into_iter().map(|viewer| tokio::spawn(viewer.until_end())).collect();
    let (cpu, commits) = (stage.cpu_seconds(), stage.metric("yoi_commit_duration_seconds_count").await);
    let began = Instant::now();
    let inputs = stream::iter(pods).for_each_concurrent(AT_ONCE, |pod| async {
        stage.yoi.say(pod, "go").await;
    });
    inputs.await;
    let pss_mb = stage.pss_mb();
    let mut received = Vec::new();
    for viewer in watching {
        received.push(viewer.await.expect("a viewer only reads"));
    }
    while stage.metric("yoi_active_pods").await.is_some_and(|active| active > 0.0) {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let seconds = began.elapsed().as_secs_f64();
    let cpu = stage.cpu_seconds() - cpu;
    let commits =
        stage.metric("yoi_commit_duration_seconds_count").await.zip(commits).map_or(0.0, |(now, was)| now - was);
    let mut latencies: Vec<f64> = received.iter().flat_map(|received| received.latencies_ms()).collect();
    latencies.sort_by(f64::total_cmp);
    let sent = (step.pods * step.deltas) as f64;
    Point {
        curve: step.curve,
        at: step.at,
        p50: quantile(&latencies, 0.5),
        p99: quantile(&latencies, 0.99),
        cpus: cpu / seconds,
        cpu_us: cpu * 1e6 / sent,
        pss_mb,
        deltas_per_s: sent / seconds,
        deliveries_per_s: latencies.len() as f64 / seconds,
        commits_per_s: commits / seconds,
        database_mb: stage.database_mb(),
        lost: (step.viewers * step.deltas).saturating_sub(latencies.len()),
        load: load(),
    }
}

/// A quantile of sorted figures.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or_default()
}

fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or_default()
}
