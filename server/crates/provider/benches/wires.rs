//! What reading an answer costs on each wire: 5,000 pieces through the provider, and, as the floor in the same run, the same bytes
//! read by a bare HTTP client. The server is in this process and sends them at once.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::StreamExt;
use protocol::{Message, Role};
use provider::{ModelEvent, ModelRequest, Provider, ProviderConfig, ProviderKind, ProviderSource, TimeLimits, Vendor};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel};
use tokio::runtime::Runtime;

const PIECES: usize = 5_000;
const WIRES: [ProviderKind; 5] = [
    ProviderKind::OpenAi,
    ProviderKind::OpenAiCompatible,
    ProviderKind::Anthropic,
    ProviderKind::Gemini,
    ProviderKind::Ollama,
];

/// What comes before the pieces, each piece, and what comes after them.
fn frames(kind: ProviderKind) -> (Vec<Value>, Value, Vec<Value>) {
    match kind {
        ProviderKind::OpenAi => (
            vec![json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "model": "m"}})],
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "word "}),
            vec![json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "model": "m",
                "usage": {"input_tokens": 9, "output_tokens": PIECES}}})],
        ),
        ProviderKind::Anthropic => (
            vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ],
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}),
            vec![
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": PIECES}}),
                json!({"type": "message_stop"}),
            ],
        ),
        ProviderKind::Gemini => {
            let frame = |text: &str, end: Option<&str>| json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": end}]});
            (Vec::new(), frame("word ", None), vec![frame(".", Some("STOP"))])
        }
        ProviderKind::Ollama => (
            Vec::new(),
            json!({"model": "m", "message": {"role": "assistant", "content": "word "}, "done": false}),
            vec![json!({"message": {"content": ""}, "done": true, "done_reason": "stop", "eval_count": PIECES})],
        ),
        ProviderKind::OpenAiCompatible | ProviderKind::Rehearsal => {
            let chunk = |delta: Value, end: Option<&str>| {
                json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
            };
            (Vec::new(), chunk(json!({"content": "word "}), None), vec![chunk(json!({}), Some("stop"))])
        }
    }
}

fn body(kind: ProviderKind) -> String {
    let (before, piece, after) = frames(kind);
    let frame = |frame: &Value| match (kind, frame["type"].as_str()) {
        (ProviderKind::Ollama, _) => format!("{frame}\n"),
        (_, Some(name)) => format!("event: {name}\ndata: {frame}\n\n"),
        (_, None) => format!("data: {frame}\n\n"),
    };
    let all = before.iter().chain(std::iter::repeat_n(&piece, PIECES)).chain(&after);
    let end = if kind == ProviderKind::OpenAiCompatible { "data: [DONE]\n\n" } else { "" };
    all.map(frame).collect::<String>() + end
}

async fn vendor(kind: ProviderKind, model: &ScriptedModel) -> Vendor {
    let base_url = match kind {
        ProviderKind::OpenAi | ProviderKind::OpenAiCompatible => model.base_url(),
        _ => model.anthropic_base_url(),
    };
    let config = ProviderConfig {
        name: "timed".to_owned(),
        kind,
        base_url: Some(base_url),
        api_key: Some("sk-bench-0123456789".into()),
        models: Vec::new(),
        source: ProviderSource::Configuration,
    };
    Vendor::new(config, TimeLimits::default()).expect("a valid address")
}

/// Pieces of text until the answer's end.
async fn read(vendor: &Vendor) -> usize {
    let request = ModelRequest {
        purpose: Default::default(),
        model: "m".to_owned(),
        thinking: None,
        messages: vec![Message::new(Role::User, "go")],
        attached: provider::Attached::default(),
        tools: Vec::new(),
    };
    let items: Vec<_> = vendor.stream(request).collect().await;
    assert!(matches!(items.last(), Some(Ok(ModelEvent::Finished { .. }))), "{:?}", items.last());
    items.iter().filter(|item| matches!(item, Ok(ModelEvent::Text(_)))).count()
}

/// Bytes of the same answer.
async fn read_bare(client: &reqwest::Client, url: &str) -> usize {
    let answer = client.post(url).body("{}").send().await.expect("the server is there");
    let mut stream = answer.bytes_stream();
    let mut bytes = 0;
    while let Some(portion) = stream.next().await {
        bytes += portion.expect("a whole answer").len();
    }
    bytes
}

fn wires(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be made");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client without settings can be built");
    let mut group = criterion.benchmark_group("wire");
    group.throughput(Throughput::Elements(PIECES as u64)).sample_size(10);
    for kind in WIRES {
        let model = runtime.block_on(ScriptedModel::start());
        let bytes = body(kind);
        let length = bytes.len();
        model.otherwise(Answer::refuse(200, bytes).header("content-type", "text/event-stream"));
        let vendor = runtime.block_on(vendor(kind, &model));
        assert!(runtime.block_on(read(&vendor)) >= PIECES);
        group.bench_function(BenchmarkId::new("read", kind), |bencher| {
            bencher.iter(|| runtime.block_on(read(&vendor)));
        });
        let url = format!("{}/chat/completions", model.base_url());
        assert_eq!(runtime.block_on(read_bare(&client, &url)), length);
        group.bench_function(BenchmarkId::new("bare", kind), |bencher| {
            bencher.iter(|| runtime.block_on(read_bare(&client, &url)));
        });
    }
    group.finish();
}

criterion_group!(benches, wires);
criterion_main!(benches);
