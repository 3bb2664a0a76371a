//! Reducing must stay linear: the time per record, in nanoseconds, is the same for a short journal and a long one.

use std::{hint::black_box, time::Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use protocol::{ControlEvent, Event, Outcome, Record, Seq, ToolBy, Trigger, TurnEvent, Usage};
use transcript::Transcript;

const SIZES: [usize; 2] = [10_000, 100_000];

/// One page of history, as the server sends it.
const PAGE: usize = 200;

/// Runs of 50 records: the start, 40 chunks of one answer, a call with output, the end.
fn journal(count: usize) -> Vec<Record> {
    (0..count)
        .map(|index| {
            let (run, step) = (index / 50, index % 50);
            let seq = Seq(index as i64 + 1);
            Record {
                seq,
                at: Timestamp::UNIX_EPOCH,
                run_id: Some(format!("run-{run}")),
                event: event(run, step),
                cut: None,
            }
        })
        .collect()
}

fn event(run: usize, step: usize) -> Event {
    let (answer, call) = (format!("answer-{run}"), format!("call-{run}"));
    match step {
        0 => ControlEvent::RunStarted { trigger: Trigger::Input, command_id: None }.into(),
        1..=40 => TurnEvent::TextChunk { block: answer, text: "a word or two ".to_owned() }.into(),
        41 => {
            let text = "a word or two ".repeat(40);
            TurnEvent::MessageFinished { block: answer, text, interrupted: false }.into()
        }
        42 => TurnEvent::ToolCalled {
            call_id: call.clone(),
            block: call,
            name: "Bash".to_owned(),
            arguments: serde_json::json!({ "command": "ls" }),
            by: ToolBy::Model,
            agent_call_id: None,
        }
        .into(),
        43..=47 => TurnEvent::ToolOutputChunk { block: call, text: "a line\n".to_owned() }.into(),
        48 => TurnEvent::ToolFinished {
            call_id: call.clone(),
            block: call,
            summary: "exit 0".to_owned(),
            content: Some("a line\n".repeat(5)),
            is_error: false,
            code: None,
            diff: None,
            duration_ms: 5,
            by: ToolBy::Model,
            seen: None,
            blobs: protocol::Blobs::default(),
        }
        .into(),
        _ => {
            ControlEvent::RunFinished { outcome: Outcome::Completed, code: None, detail: None, usage: Usage::default() }
                .into()
        }
    }
}

fn page_back(records: &[Record]) -> Transcript {
    let mut transcript = Transcript::default();
    for page in records.rchunks(PAGE) {
        transcript.prepend(page);
    }
    transcript
}

fn reduce(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reduce");
    group.sample_size(10);
    for size in SIZES {
        let records = journal(size);
        print_ns_per_record("in order", &records, |records| Transcript::from_records(records));
        print_ns_per_record("by pages, newest first", &records, page_back);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::new("in_order", size), &records, |bencher, records| {
            bencher.iter(|| Transcript::from_records(black_box(records)));
        });
        group.bench_with_input(BenchmarkId::new("by_pages", size), &records, |bencher, records| {
            bencher.iter(|| page_back(black_box(records)));
        });
    }
    group.finish();
}

fn print_ns_per_record(how: &str, records: &[Record], reduce: impl Fn(&[Record]) -> Transcript) {
    let start = Instant::now();
    let blocks = black_box(reduce(records)).blocks().len();
    let ns = start.elapsed().as_nanos() / records.len() as u128;
    println!("{how}: {} records, {blocks} blocks, {ns} ns per record", records.len());
}

criterion_group!(benches, reduce);
criterion_main!(benches);
