//! What has to hold with a real model, checked in sequence, with figures.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::yoi::{EventSocket, YoiProcess, pod_path};

use crate::llama::{CONTEXT, Llama};

/// The time limit of one run: a small model on a busy machine may talk until its context is full.
const RUN_MAX: Duration = Duration::from_secs(600);
/// After a cancel the server has to be idle within this time.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// At most this many questions are asked until the conversation has overflowed once.
const QUESTIONS_MAX: usize = 16;
/// The length of a long question, in words.
const WORDS: usize = 250;
/// The length of a question that fits on its own but not after an answer.
const WORDS_TOO_LONG: usize = 590;

/// The result of a check; an error is a sentence.
type Held = Result<String, String>;

/// What a viewer saw of one run.
struct Seen {
    records: Vec<(Instant, Value)>,
    began: Instant,
}

impl Seen {
    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a (Instant, Value)> {
        self.records.iter().filter(move |(_, record)| record["event"]["kind"] == kind)
    }

    fn outcome(&self) -> String {
        let finished = self.of("run_finished").last();
        let text = |name: &str| finished.and_then(|(_, record)| record["event"][name].as_str()).unwrap_or_default();
        format!("{} {}", text("outcome"), text("detail")).trim_end().to_owned()
    }

    /// Whether it ended by itself; a small model may talk until the room for its answer is full.
    fn is_answered(&self) -> bool {
        ["completed", "limit"].iter().any(|outcome| self.outcome().starts_with(outcome))
    }
}

/// Runs all checks; returns false if any fails.
pub(crate) async fn all(yoi: &YoiProcess, llama: &Llama) -> bool {
    let mut holds = true;
    let mut tell = |name: &str, held: Held| {
        let (mark, words) = match &held {
            Ok(figures) => ("holds", figures),
            Err(sentence) => ("DOES NOT HOLD", sentence),
        };
        println!("{name:<12} {mark}: {words}");
        holds &= held.is_ok();
    };
    tell("found", found(yoi).await);
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "ada", "profile": "talk" })).await.expect(201);
    let seen = run(yoi, &pod, "Tell me a short story about a cat and a lighthouse.").await;
    tell("streams", streams(&seen));
    tell("counts", counts(&seen));
    tell("cancelled", cancelled(yoi, llama, &pod).await);
    tell("compacted", compacted(yoi).await);
    tell("too long", too_long(yoi).await);
    holds
}

/// The model is found without a key, a variable or any configuration.
async fn found(yoi: &YoiProcess) -> Held {
    let began = Instant::now();
    let providers = yoi.get("/api/v1/providers").await.expect(200);
    let took = began.elapsed();
    let provider = &providers["items"][0];
    let model = &provider["models"][0];
    let facts = (provider["name"].as_str(), provider["source"].as_str(), provider["default"].as_bool());
    let told = format!(
        "{} in {} ms, {} with {} tokens of context",
        facts.0.unwrap_or("nothing"),
        took.as_millis(),
        model["name"],
        model["context_limit"]
    );
    let is_so = facts == (Some("llama.cpp"), Some("found"), Some(true)) && model["context_limit"] == CONTEXT;
    if is_so { Ok(told) } else { Err(format!("{told}; {provider}")) }
}

fn streams(seen: &Seen) -> Held {
    let chunks: Vec<_> = seen.of("text_chunk").collect();
    let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else {
        return Err(format!("nothing was streamed: {}", seen.outcome()));
    };
    let figures = format!(
        "{} pieces, the first after {} ms, the last after {} ms; {}",
        chunks.len(),
        (first.0 - seen.began).as_millis(),
        (last.0 - seen.began).as_millis(),
        seen.outcome()
    );
    let is_so = chunks.len() > 5 && last.0 > first.0 && seen.is_answered();
    if is_so { Ok(figures) } else { Err(figures) }
}

fn counts(seen: &Seen) -> Held {
    let Some((_, usage)) = seen.of("usage").last() else { return Err("no usage was told".to_owned()) };
    let count = |name: &str| usage["event"][name].as_u64().unwrap_or_default();
    let (input, output, limit) = (count("input"), count("output"), count("context_limit"));
    let figures = format!("{input} tokens in, {output} out, {} of {limit} used", count("context_used"));
    if input > 0 && output > 0 && limit == CONTEXT { Ok(figures) } else { Err(figures) }
}

/// A cancel ends the run, and the server's work with it.
async fn cancelled(yoi: &YoiProcess, llama: &Llama, pod: &Value) -> Held {
    let path = format!("{}/cancel", pod_path(pod));
    let question = "Count from one to one thousand in words, each number on a line of its own.";
    let mut socket = ask(yoi, pod, question).await;
    let begun = follow(&mut socket, |record| record["event"]["kind"] == "text_chunk").await;
    yoi.post(&path, &json!({})).await.expect(202);
    let began = Instant::now();
    let ended = follow(&mut socket, |record| record["event"]["kind"] == "run_finished").await;
    let took = began.elapsed();
    while !llama.is_idle().await && began.elapsed() < IDLE_MAX {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (is_idle, idle) = (llama.is_idle().await, began.elapsed());
    let pieces = begun.of("text_chunk").count() + ended.of("text_chunk").count();
    let figures = format!(
        "{} in {} ms after {pieces} pieces; the server was {} after {} ms",
        ended.outcome(),
        took.as_millis(),
        if is_idle { "idle" } else { "still at work" },
        idle.as_millis()
    );
    if is_idle && ended.outcome().starts_with("cancelled") { Ok(figures) } else { Err(figures) }
}

/// A conversation that has run out of room is summarized and continues.
async fn compacted(yoi: &YoiProcess) -> Held {
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "bob", "profile": "talk" })).await.expect(201);
    for number in 1..=QUESTIONS_MAX {
        let words = (0..WORDS).map(|word| format!("apple{}", (word * number) % 97)).collect::<Vec<_>>().join(" ");
        let question = format!("Here is list {number}: {words}. Say only the word fine.");
        let seen = run(yoi, &pod, &question).await;
        if !seen.is_answered() {
            return Err(format!("question {number} ended so: {}", seen.outcome()));
        }
        if seen.of("compacted").count() == 0 {
            continue;
        }
        let after = run(yoi, &pod, "Say hello.").await;
        let said = after.of("message_finished").last().is_some();
        let figures = format!("in question {number}; the next one: {}", after.outcome());
        return if said && after.is_answered() { Ok(figures) } else { Err(figures) };
    }
    Err(format!("{QUESTIONS_MAX} long questions did not fill it"))
}

/// The server refuses a question for which there is no room; yoi makes room and asks again.
async fn too_long(yoi: &YoiProcess) -> Held {
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "eve", "profile": "talk" })).await.expect(201);
    let first = run(yoi, &pod, "Tell me a long story about a cat and a lighthouse.").await;
    let words = (0..WORDS_TOO_LONG).map(|word| format!("apple{}", word % 97)).collect::<Vec<_>>().join(" ");
    let seen = run(yoi, &pod, &format!("Here is a list: {words}. Say only the word fine.")).await;
    let codes: Vec<_> = seen.of("provider_retry").map(|(_, record)| record["event"]["code"].clone()).collect();
    let figures = format!(
        "{} tokens were used; then {} refusals ({}), {} summaries, {}",
        first.of("usage").last().map_or(Value::Null, |(_, usage)| usage["event"]["context_used"].clone()),
        codes.len(),
        json!(codes),
        seen.of("compacted").count(),
        seen.outcome()
    );
    let is_so = codes == [json!("context_overflow")] && seen.of("compacted").count() == 1 && seen.is_answered();
    if is_so { Ok(figures) } else { Err(figures) }
}

async fn run(yoi: &YoiProcess, pod: &Value, question: &str) -> Seen {
    let mut socket = ask(yoi, pod, question).await;
    follow(&mut socket, |record| record["event"]["kind"] == "run_finished").await
}

/// Asks a question and follows the Pod from there on.
async fn ask(yoi: &YoiProcess, pod: &Value, question: &str) -> EventSocket {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    yoi.say(pod, question).await;
    socket
}

/// All records up to the first that matches, or until the time limit of a run.
async fn follow(socket: &mut EventSocket, fits: impl Fn(&Value) -> bool) -> Seen {
    let mut seen = Seen { records: Vec::new(), began: Instant::now() };
    while seen.began.elapsed() < RUN_MAX {
        let Some(frame) = socket.next_frame().await else { break };
        for record in frame["records"].as_array().into_iter().flatten() {
            seen.records.push((Instant::now(), record.clone()));
            if fits(record) {
                return seen;
            }
        }
    }
    seen
}
