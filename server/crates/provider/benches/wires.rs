//! The cost of reading an answer on each wire: 5,000 chunks through the provider and, as a baseline in the same run,
//! the same bytes read by a bare HTTP client. The server is in this process and flushes each chunk.

use std::str::FromStr;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::StreamExt;
use protocol::{Message, Role};
use provider::{ModelEvent, ModelRequest, Provider, ProviderConfig, ProviderKind, ProviderSource, TimeLimits, Vendor};
use testkit::timed_model::{Pace, Plan, TimedModel, Wire};
use tokio::runtime::Runtime;

const PIECES: usize = 5_000;

fn vendor(wire: Wire, model: &TimedModel) -> Vendor {
    let config = ProviderConfig {
        name: "timed".to_owned(),
        kind: ProviderKind::from_str(wire.kind()).expect("a wire is of a kind"),
        base_url: Some(model.base_url_for(wire)),
        api_key: Some("sk-bench-0123456789".into()),
        models: Vec::new(),
        source: ProviderSource::Configuration,
    };
    Vendor::new(config, TimeLimits::default()).expect("a valid address")
}

/// Reads an answer to its end; returns the number of text chunks.
async fn read(vendor: &Vendor) -> usize {
    let request = ModelRequest {
        purpose: Default::default(),
        model: "m".to_owned(),
        thinking: None,
        messages: vec![Message::new(Role::User, "go")],
        attached: provider::Attached::default(),
        tools: Vec::new(),
        context_limit: None,
        conversation: None,
    };
    let (mut answer, mut pieces, mut is_whole) = (vendor.stream(request), 0, false);
    while let Some(event) = answer.next().await {
        match event.expect("the server answers") {
            ModelEvent::Text(_) => pieces += 1,
            ModelEvent::Finished { .. } => is_whole = true,
            _ => (),
        }
    }
    assert!(is_whole, "the answer broke off");
    pieces
}

/// Reads the same answer with a bare client; returns the number of bytes.
async fn read_bare(client: &reqwest::Client, url: &str) -> usize {
    let answer = client.post(url).body("{}").send().await.expect("the server is there");
    let mut stream = answer.bytes_stream();
    let mut bytes = 0;
    while let Some(portion) = stream.next().await {
        bytes += portion.expect("a whole answer").len();
    }
    bytes
}

fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Responses => "responses",
        Wire::ChatCompletions => "chat/completions",
        Wire::Anthropic => "v1/messages",
        Wire::Gemini => "v1beta/models/m:streamGenerateContent",
        Wire::Ollama => "api/chat",
    }
}

fn wires(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be made");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client without settings can be built");
    let model = runtime.block_on(TimedModel::start(Plan { deltas: PIECES, pace: Pace::AtOnce }));
    let mut group = criterion.benchmark_group("wire");
    group.throughput(Throughput::Elements(PIECES as u64)).sample_size(20);
    for wire in Wire::ALL {
        let vendor = runtime.block_on(async { vendor(wire, &model) });
        assert_eq!(runtime.block_on(read(&vendor)), PIECES);
        group.bench_function(BenchmarkId::new("read", wire.kind()), |bencher| {
            bencher.iter(|| runtime.block_on(read(&vendor)));
        });
        let url = format!("{}/{}", model.base_url_for(wire), path(wire));
        group.bench_function(BenchmarkId::new("bare", wire.kind()), |bencher| {
            bencher.iter(|| runtime.block_on(read_bare(&client, &url)));
        });
    }
    group.finish();
}

criterion_group!(benches, wires);
criterion_main!(benches);
