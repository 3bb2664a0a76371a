//! Growth: the way of a delta, the first page and the memory must not depend on how many Pods or records there are.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use pod_store::{Batch, NewRecord, PodChange, RecordClass, Store, StoreOptions};
use protocol::{AlertLevel, ControlEvent, Record, Seq, WorkerId};
use serde_json::Value;
use testkit::{
    timed_model::{Pace, Plan, TimedModel},
    yoi::{YoiProcess, pod_path},
};

use crate::{
    delta::{Latencies, new_pods, streamed},
    house::{self, median, ms, pss_kb},
    options::Options,
    report::{
        Line, Report,
        Unit::{Kilobytes, Times},
    },
};

const DELTAS: usize = 300;
const PLAN: Plan = Plan { deltas: DELTAS, pace: Pace::Every(Duration::from_millis(10)) };
const LOOKS: usize = 21;
/// Records in one batch while a journal is made long.
const BATCH: i64 = 10_000;
/// Constant, with room for what two runs on a busy machine differ by.
const FLAT: f64 = 1.25;

pub(crate) fn run(options: &Options, report: &mut Report) {
    let runtime = house::tokio_runtime();
    let (pods, records) = if options.is_long { (10_000, 1_000_000) } else { (2_000, 100_000) };
    runtime.block_on(of_pods(pods, report));
    runtime.block_on(of_records(records, report));
}

async fn of_pods(many: usize, report: &mut Report) {
    let model = TimedModel::start(PLAN).await;
    let yoi = house::yoi_with_model(&model.base_url()).await;
    let pid = yoi.pid().expect("it runs");
    let pods = new_pods(&yoi, 1).await;
    house::idle_pods(&yoi, "few", 9).await;
    streamed(&yoi, &pods, DELTAS).await;
    let mut few = streamed(&yoi, &pods, DELTAS).await;
    let before = pss_kb(pid);
    house::idle_pods(&yoi, "many", many - 10).await;
    streamed(&yoi, &pods, DELTAS).await;
    let mut much = streamed(&yoi, &pods, DELTAS).await;
    let grown = pss_kb(pid) - before;
    add_latency(report, "growth_pods", format!("delta → viewer p50, {many} idle Pods against 10"), &mut few, &mut much);
    report.add(
        Line::new("growth_pods_memory", "memory for each of these Pods", Kilobytes, grown / many as f64)
            .note(format!("{:.1} MB in all, for the most part page caches, which have bounds", grown / 1e3)),
    );
}

async fn of_records(many: i64, report: &mut Report) {
    let model = TimedModel::start(PLAN).await;
    let mut yoi = house::yoi_with_model(&model.base_url()).await;
    let pod = house::pod_with_model(&yoi, "long").await;
    let pods = [pod.clone()];
    lengthen(&mut yoi, &pod, 100).await;
    // The first run also moves the checkpoint past what was added.
    streamed(&yoi, &pods, DELTAS).await;
    let (mut few, mut few_page) = (streamed(&yoi, &pods, DELTAS).await, first_page(&yoi, &pod).await);
    lengthen(&mut yoi, &pod, many).await;
    streamed(&yoi, &pods, DELTAS).await;
    let (mut much, mut much_page) = (streamed(&yoi, &pods, DELTAS).await, first_page(&yoi, &pod).await);
    let what = format!("delta → viewer p50, a journal of {many} records against 100");
    add_latency(report, "growth_records", what, &mut few, &mut much);
    let (few, much) = (median(&mut few_page), median(&mut much_page));
    report.add(
        Line::new("growth_first_page", "its first page, the same", Times, much / few)
            .at_most(FLAT)
            .note(format!("{much:.2} ms against {few:.2} ms")),
    );
}

fn add_latency(report: &mut Report, key: &'static str, what: String, few: &mut Latencies, much: &mut Latencies) {
    let lost = few.lost + much.lost;
    report.add(Line::new(key, what, Times, much.p50() / few.p50()).at_most(FLAT).note(format!(
        "{:.2} / {:.2} ms against {:.2} / {:.2} ms (p50 / p99), {lost} lost",
        much.p50(),
        much.p99(),
        few.p50(),
        few.p99()
    )));
}

async fn first_page(yoi: &YoiProcess, pod: &Value) -> Vec<f64> {
    let path = format!("{}/transcript?limit=100", pod_path(pod));
    let mut took = Vec::new();
    for _ in 0..LOOKS {
        let began = Instant::now();
        yoi.get(&path).await.expect(200);
        took.push(ms(began.elapsed()));
    }
    took
}

/// Stops the server, gives the Pod this many records more through the store, and starts it again.
async fn lengthen(yoi: &mut YoiProcess, pod: &Value, records: i64) {
    yoi.terminate().await;
    let store = Store::open(StoreOptions::sqlite(yoi.launch().data_dir().join("yoi.db"))).await;
    let store = store.expect("the server has let go of it");
    let worker_id = WorkerId::parse(pod["pod"]["worker_id"].as_str().unwrap_or_default()).expect("an id of the server");
    let row = store.pods().find(&worker_id).await.expect("the store reads").expect("the Pod is there");
    let head = store.journals().head(row.key).await.expect("the store reads").0;
    let mut first = head + 1;
    while first <= head + records {
        let last = (first + BATCH - 1).min(head + records);
        let change = PodChange { records: (first..=last).map(note).collect(), ..PodChange::of(row.key) };
        let batch = Batch { changes: vec![change], ..Batch::default() };
        store.commit(batch).await.expect("records follow on the head");
        first = last + 1;
    }
    store.close().await;
    yoi.restart().await;
}

fn note(seq: i64) -> NewRecord {
    let text =
        format!("note {seq}: something that people see and no model reads, as long as a usual record of that kind");
    let event = ControlEvent::Alert { level: AlertLevel::Note, source: "bench".to_owned(), text, model: None }.into();
    let record = Record { seq: Seq(seq), at: Timestamp::UNIX_EPOCH, run_id: None, event, cut: None };
    let body = serde_json::to_vec(&record).expect("a record is JSON").into();
    NewRecord { seq: Seq(seq), class: RecordClass::Control, body, search: None }
}
