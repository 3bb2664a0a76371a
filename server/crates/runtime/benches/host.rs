//! From the model to the viewers inside the process: fan-out to a hundred viewers, and a burst to one.
//!
//! As the baseline of the fan-out, in the same run: the same records through a broadcast channel of batches.

use std::{hint::black_box, sync::Arc, time::Duration};

use bytes::Bytes;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use futures_util::StreamExt;
use pod_store::{Store, StoreOptions};
use protocol::{CommandId, CreatePod, InputCommand, PodName, Segment, WorkerId};
use provider::Providers;
use runtime::{CommandKey, FeedItem, Host, HostOptions, Observation, Origin};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::broadcast, task::JoinSet};

const VIEWERS: usize = 100;
const FAN_OUT_RECORDS: usize = 2_000;
const BURST_RECORDS: usize = 5_000;
/// Records in one batch of the baseline: about what one commit of a burst contains.
const BATCH: usize = 250;
const END: &[u8] = b"\"run_finished\"";
/// It is among the last this many records of a batch.
const LAST: usize = 4;

struct House {
    host: Host,
    pod: WorkerId,
    asked: u64,
    _folder: TempDir,
}

fn key(id: String) -> CommandKey {
    CommandKey { id: CommandId::parse(&id).expect("plain"), fingerprint: [1; 32] }
}

fn origin() -> Origin {
    Origin { by: "operator".to_owned(), client: "bench".to_owned() }
}

impl House {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await;
        let options = HostOptions::of(
            store.expect("the folder is writable"),
            Providers::new(Vec::new()).expect("the rehearsal model needs nothing"),
            "/",
            folder.path().join("outputs"),
        );
        let host = Host::start(options).await.expect("a new store has no open Pods");
        let create = CreatePod::named(PodName::parse("ada").expect("plain"));
        let made = host.pods().create(key("create".to_owned()), &origin(), create).await.expect("the name is new");
        Self { host, pod: made.pod.worker_id, asked: 0, _folder: folder }
    }

    /// One answer of this many words; returns when each viewer has seen its end.
    async fn stream(&mut self, records: usize, viewers: usize) {
        let mut watched = JoinSet::new();
        for _ in 0..viewers {
            let mut observation = self.host.journals().observe(&self.pod, None, 1).await;
            // The snapshot: from here on nothing is missed.
            black_box(observation.next().await);
            watched.spawn(watch(observation));
        }
        self.asked += 1;
        let text = format!("stream {records} at 0");
        let input = InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false };
        let asked = self.host.work().input(key(format!("ask-{}", self.asked)), &origin(), &self.pod, input).await;
        asked.expect("an input is queued when the Pod is busy");
        while let Some(seen) = watched.join_next().await {
            assert!(seen.expect("a viewer only reads") >= records, "no record is lost");
        }
    }
}

/// Reads to the end of a run; returns the number of records.
async fn watch(mut observation: Observation) -> usize {
    let mut count = 0;
    while let Some(item) = observation.next().await {
        let FeedItem::Records { records, .. } = item else { panic!("a viewer that reads is never behind: {item:?}") };
        count += records.len();
        // Only a status and the like follow it.
        if records.iter().rev().take(LAST).any(|body| body.windows(END.len()).any(|window| window == END)) {
            return count;
        }
    }
    panic!("the stream ended in the middle of a run");
}

/// The same number of deliveries without Pods, journals or cursors: batches of shared bytes through one channel.
async fn broadcast_batches() {
    let sender = broadcast::Sender::<Arc<Vec<Bytes>>>::new(FAN_OUT_RECORDS / BATCH);
    let mut watched = JoinSet::new();
    for _ in 0..VIEWERS {
        let mut batches = sender.subscribe();
        watched.spawn(async move {
            let mut count = 0;
            while let Ok(batch) = batches.recv().await {
                // Each viewer takes its own records out of the batch, as a frame does.
                count += black_box(batch.iter().cloned().collect::<Vec<_>>()).len();
            }
            count
        });
    }
    let record = Bytes::from(vec![b'x'; 200]);
    for _ in 0..FAN_OUT_RECORDS / BATCH {
        sender.send(Arc::new(vec![record.clone(); BATCH])).expect("there are viewers");
        tokio::task::yield_now().await;
    }
    drop(sender);
    while let Some(seen) = watched.join_next().await {
        assert_eq!(seen.expect("a viewer only reads"), FAN_OUT_RECORDS, "the channel has room for all");
    }
}

fn host(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be started");
    let mut house = runtime.block_on(House::new());

    let mut group = criterion.benchmark_group("fan_out");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3)).throughput(Throughput::Elements((VIEWERS * FAN_OUT_RECORDS) as u64));
    group.bench_function("100_viewers", |bencher| {
        bencher.iter(|| runtime.block_on(house.stream(FAN_OUT_RECORDS, VIEWERS)));
    });
    group.bench_function("bare_100_viewers", |bencher| {
        bencher.iter(|| runtime.block_on(runtime.spawn(broadcast_batches())).expect("no viewer fails"));
    });
    group.finish();

    let mut group = criterion.benchmark_group("burst");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2)).throughput(Throughput::Elements(BURST_RECORDS as u64));
    group.bench_function("one_viewer", |bencher| {
        bencher.iter(|| runtime.block_on(house.stream(BURST_RECORDS, 1)));
    });
    group.finish();
    runtime.block_on(house.host.shutdown(Duration::from_secs(5)));
}

criterion_group!(benches, host);
criterion_main!(benches);
