//! What group commit is worth: rows per second for a hundred Pods through `Store::commit`, and, as the baseline in the
//! same run, the same rows through bare sqlx with one statement and one transaction per batch.

use std::{hint::black_box, time::Duration};

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use pod_store::{Batch, Committed, NewPod, NewRecord, PodChange, PodKey, RecordClass, Store, StoreOptions};
use protocol::{PodName, PodState, Seq, WorkerId};
use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::runtime::Runtime;

const PODS: i64 = 100;
/// Batches that each Pod sends one after the other in one measurement.
const ROUNDS: i64 = 20;

fn body(seq: i64) -> Bytes {
    let text = "a few words of an answer that is being streamed, ";
    format!(r#"{{"seq":{seq},"at":"2026-11-21T10:00:00.123456Z","run_id":"r1","event":{{"kind":"text_chunk","block":"b1","text":"{text}"}}}}"#).into()
}

struct Journal {
    store: Store,
    pods: Vec<PodKey>,
    head: i64,
}

async fn journal(folder: &std::path::Path) -> Journal {
    let store = Store::open(StoreOptions::sqlite(folder.join("store.db"))).await.expect("the folder is writable");
    let mut pods = Vec::new();
    for number in 0..PODS {
        let create = NewPod {
            worker_id: WorkerId::parse(&format!("pod-{number}")).expect("plain"),
            name: PodName::parse(&format!("pod-{number}")).expect("plain"),
            spec: "{}".to_owned(),
            checkpoint: "{}".to_owned(),
            state: PodState::Idle,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let change = PodChange { create: Some(create), key: None, ..PodChange::of(PodKey(0)) };
        let batch = Batch { changes: vec![change], ..Batch::default() };
        match store.commit(batch).await.expect("the name is new") {
            Committed::Done { created } => pods.extend(created),
            Committed::Repeated(_) => unreachable!("there is no command"),
        }
    }
    Journal { store, pods, head: 0 }
}

impl Journal {
    /// Every Pod streams at the same time; each waits for its own commits, as the runtime does.
    async fn stream(&mut self, records: i64) {
        let head = self.head;
        let pods = self.pods.iter().map(|pod| {
            let (store, pod) = (self.store.clone(), *pod);
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    let first = head + round * records + 1;
                    let record =
                        |seq| NewRecord { seq: Seq(seq), class: RecordClass::Chunk, body: body(seq), search: None };
                    let change =
                        PodChange { records: (first..first + records).map(record).collect(), ..PodChange::of(pod) };
                    let batch = Batch { changes: vec![change], ..Batch::default() };
                    black_box(store.commit(batch).await.expect("records follow on the head"));
                }
            })
        });
        for pod in pods.collect::<Vec<_>>() {
            pod.await.expect("no commit fails");
        }
        self.head += ROUNDS * records;
    }
}

async fn bare(folder: &std::path::Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("bare.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging();
    let mut connection = options.connect().await.expect("the folder is writable");
    sqlx::raw_sql(
        "create table journal (pod integer, seq integer, class integer, body text, primary key (pod, seq)) without rowid",
    )
    .execute(&mut connection)
    .await
    .expect("the file is new");
    connection
}

/// One batch of each Pod, one after the other.
async fn bare_round(connection: &mut SqliteConnection, first: i64, records: i64) {
    for pod in 1..=PODS {
        let mut rows = sqlx::QueryBuilder::new("insert into journal (pod, seq, class, body) ");
        rows.push_values(first..first + records, |mut row, seq| {
            let body = String::from_utf8(body(seq).into()).expect("it is a text");
            row.push_bind(pod).push_bind(seq).push_bind(0_i64).push_bind(body);
        });
        rows.build().execute(&mut *connection).await.expect("rows are new");
    }
}

fn append(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be started");
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut group = criterion.benchmark_group("append_100_pods");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(4));

    let mut journal = runtime.block_on(journal(folder.path()));
    for records in [1, 10, 50] {
        group.throughput(Throughput::Elements((PODS * ROUNDS * records) as u64));
        group.bench_function(BenchmarkId::new("store_rows", records), |bencher| {
            bencher.iter(|| runtime.block_on(journal.stream(records)));
        });
    }
    let mut connection = runtime.block_on(bare(folder.path()));
    let mut head = 0;
    for records in [1, 10, 50] {
        group.throughput(Throughput::Elements((PODS * records) as u64));
        group.bench_function(BenchmarkId::new("bare_rows", records), |bencher| {
            bencher.iter(|| {
                runtime.block_on(bare_round(&mut connection, head + 1, records));
                head += records;
            });
        });
    }
    group.finish();

    let lone = journal.pods[0];
    let mut group = criterion.benchmark_group("latency");
    group.sample_size(20).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(2));
    group.bench_function("lone_record", |bencher| {
        bencher.iter(|| {
            journal.head += 1;
            let record =
                NewRecord { seq: Seq(journal.head), class: RecordClass::Chunk, body: body(journal.head), search: None };
            let change = PodChange { records: vec![record], ..PodChange::of(lone) };
            let batch = Batch { changes: vec![change], ..Batch::default() };
            runtime.block_on(journal.store.commit(batch)).expect("the record follows on the head")
        });
    });
    group.finish();
    runtime.block_on(async {
        connection.close().await.expect("nothing is open on it");
        journal.store.close().await;
    });
}

criterion_group!(benches, append);
criterion_main!(benches);
