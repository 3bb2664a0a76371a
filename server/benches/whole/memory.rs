//! Memory: of an idle server, and what an idle Pod adds to it.

use std::time::Duration;

use testkit::yoi::YoiProcess;

use crate::{
    floor::Floor,
    house::{self, BINARY, pss_kb},
    options::Options,
    report::{
        Line, Report,
        Unit::{Kilobytes, Megabytes},
    },
};

const PODS: usize = 1_000;
/// Created first, so that pools and threads exist.
const PODS_BEFORE: usize = 200;
/// This many rows fill the page cache of the writing connection (4 MiB): any further growth is with the Pods.
const PODS_FOR_FULL_CACHES: usize = 2_500;
/// A moment for what a start or a burst of commands leaves to do.
const SETTLE: Duration = Duration::from_millis(700);
/// A server that has nothing to do between two checks, 10 s apart, returns memory that it does not need.
const REST: Duration = Duration::from_secs(25);

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let floor = Floor::start(&["tasks"]);
        let yoi = YoiProcess::start(BINARY).await;
        yoi.get("/healthz").await.expect(200);
        tokio::time::sleep(SETTLE).await;
        let pid = yoi.pid().expect("it runs");
        let started = pss_kb(pid);
        tokio::time::sleep(REST).await;
        let idle = pss_kb(pid);
        report.add(
            Line::new("memory_idle", "memory idle (PSS)", Megabytes, idle / 1e3)
                .floor(pss_kb(floor.pid()) / 1e3)
                .at_most(15.0)
                .note(format!(
                    "after {} s of rest; {:.1} MB just after the start; floor: axum alone",
                    REST.as_secs(),
                    started / 1e3
                )),
        );

        let floor = kb_per_task(&floor).await;
        house::idle_pods(&yoi, "first", PODS_BEFORE).await;
        let (kb, whole) = kb_per_pod(&yoi, "idle").await;
        report.add(
            Line::new("memory_per_pod", format!("memory per idle Pod ({PODS} created)"), Kilobytes, kb)
                .floor(floor)
                .at_most(2.0)
                .note(format!(
                    "after {PODS_BEFORE} others; whole server then {whole:.1} MB; floor: a task and two channels"
                )),
        );
        house::idle_pods(&yoi, "more", PODS_FOR_FULL_CACHES).await;
        let (kb, whole) = kb_per_pod(&yoi, "last").await;
        report.add(
            Line::new("memory_per_pod_later", "the same when the database's page cache is full", Kilobytes, kb)
                .floor(floor)
                .at_most(2.0)
                .note(format!(
                    "after {} others; whole server then {whole:.1} MB",
                    PODS_BEFORE + PODS + PODS_FOR_FULL_CACHES
                )),
        );
    });
}

/// What each of [`PODS`] more Pods adds, and the total MB of the server then.
async fn kb_per_pod(yoi: &YoiProcess, prefix: &str) -> (f64, f64) {
    let pid = yoi.pid().expect("it runs");
    tokio::time::sleep(REST).await;
    let before = pss_kb(pid);
    house::idle_pods(yoi, prefix, PODS).await;
    tokio::time::sleep(REST).await;
    let after = pss_kb(pid);
    ((after - before) / PODS as f64, after / 1e3)
}

async fn kb_per_task(floor: &Floor) -> f64 {
    let http = reqwest::Client::new();
    let start = async |count: usize| {
        let url = format!("http://{}/tasks/{count}", floor.address);
        http.post(url).send().await.expect("it starts tasks");
        tokio::time::sleep(SETTLE / 4).await;
        pss_kb(floor.pid())
    };
    let before = start(PODS_BEFORE).await;
    (start(PODS).await - before) / PODS as f64
}
