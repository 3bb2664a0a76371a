//! Memory: of a server that does nothing, and what an idle Pod adds to it.

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
/// Made first, so that caches, pools and threads are there and only the Pods are counted.
const PODS_BEFORE: usize = 200;
/// A moment for what a start or a burst of commands leaves to be done.
const SETTLE: Duration = Duration::from_millis(700);

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let floor = Floor::start(&["tasks"]);
        let yoi = YoiProcess::start(BINARY).await;
        yoi.get("/healthz").await.expect(200);
        tokio::time::sleep(SETTLE).await;
        let pid = yoi.pid().expect("it runs");
        let idle = pss_kb(pid);
        report.add(
            Line::new("memory_idle", "memory idle (PSS)", Megabytes, idle / 1e3)
                .floor(pss_kb(floor.pid()) / 1e3)
                .at_most(15.0)
                .note("floor: axum alone"),
        );

        let floor = kb_per_task(&floor).await;
        house::idle_pods(&yoi, "before", PODS_BEFORE).await;
        tokio::time::sleep(SETTLE).await;
        let before = pss_kb(pid);
        house::idle_pods(&yoi, "idle", PODS).await;
        tokio::time::sleep(SETTLE).await;
        let after = pss_kb(pid);
        report.add(
            Line::new(
                "memory_per_pod",
                format!("memory per idle Pod ({PODS} created)"),
                Kilobytes,
                (after - before) / PODS as f64,
            )
            .floor(floor)
            .at_most(2.0)
            .note(format!(
                "after {PODS_BEFORE} others; whole server then {:.1} MB; floor: a task and two channels",
                after / 1e3
            )),
        );
    });
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
