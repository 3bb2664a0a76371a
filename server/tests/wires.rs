//! The built binary with each vendor's API: a loop of thoughts and tools that kill -9 interrupts continues as if
//! nothing had happened, and what a server does not support is reported.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// One API: the kind of its provider, a thinking model, and what the next request contains of its thought.
const WIRES: [(&str, &str, &str); 5] = [
    ("openai", "gpt-5.1", "\"encrypted_content\":\"sealed-0\""),
    ("openai-compatible", "deepseek-reasoner", "\"reasoning_content\":\"look first\""),
    ("anthropic", "claude-haiku-4-5", "\"signature\":\"c2ln\""),
    ("gemini", "gemini-2.5-pro", "\"thoughtSignature\":\"c2ln\""),
    // It wants nothing back.
    ("ollama", "qwen3", "forty-two"),
];

fn arguments() -> Value {
    json!({ "path": "x" })
}

fn raw(frames: &[Value]) -> Answer {
    let event = |frame: &Value| match frame["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {frame}\n\n"),
        None => format!("data: {frame}\n\n"),
    };
    frames.iter().fold(Answer::new(), |answer, frame| answer.step(Step::Raw(event(frame))))
}

fn lines(frames: &[Value]) -> Answer {
    frames.iter().fold(Answer::new(), |answer, frame| answer.step(Step::Raw(format!("{frame}\n"))))
}

fn parts(parts: Value, end: Option<&str>) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": end }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 3 }
    })
}

/// A thought, and a call.
fn call(kind: &str) -> Answer {
    let block =
        |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: u64| json!({ "type": "content_block_stop", "index": index });
    match kind {
        "anthropic" => raw(&[
            block(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "look first" })),
            delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
            stop(0),
            block(1, json!({ "type": "tool_use", "id": "toolu_a", "name": "Read", "input": {} })),
            delta(1, json!({ "type": "input_json_delta", "partial_json": arguments().to_string() })),
            stop(1),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
            json!({ "type": "message_stop" }),
        ]),
        "gemini" => raw(&[
            parts(json!([{ "text": "look first", "thought": true }]), None),
            parts(
                json!([{ "functionCall": { "name": "Read", "args": arguments() }, "thoughtSignature": "c2ln" }]),
                Some("STOP"),
            ),
        ]),
        "ollama" => lines(&[
            json!({ "message": { "role": "assistant", "content": "", "thinking": "look first" }, "done": false }),
            json!({ "message": { "role": "assistant", "content": "",
                "tool_calls": [{ "function": { "name": "Read", "arguments": arguments() } }] }, "done": false }),
            json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 3 }),
        ]),
        _ => Answer::new().reasoning("look first").tool_call("call_a", "Read", &[&arguments().to_string()]).finish(),
    }
}

/// A thought that does not end.
fn begun(kind: &str) -> Answer {
    let answer = match kind {
        "gemini" => raw(&[parts(json!([{ "text": "and now", "thought": true }]), None)]),
        "ollama" => {
            lines(&[json!({ "message": { "role": "assistant", "content": "", "thinking": "and now" }, "done": false })])
        }
        _ => Answer::new().reasoning("and now"),
    };
    answer.step(Step::Stall)
}

fn end(kind: &str) -> Answer {
    match kind {
        "gemini" => raw(&[parts(json!([{ "text": "it is 42" }]), Some("STOP"))]),
        "ollama" => lines(&[
            json!({ "message": { "role": "assistant", "content": "it is 42" }, "done": false }),
            json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 3 }),
        ]),
        _ => Answer::say("it is 42"),
    }
}

/// A server whose only provider speaks this API.
fn launch(kind: &str, model: &ScriptedModel) -> Launch {
    let base_url = match kind {
        "openai" | "openai-compatible" => model.base_url(),
        _ => model.anthropic_base_url(),
    };
    let launch = Launch::new(YOI).env("WIRE_KEY", "sk-test-0123456789abcdef");
    let config = launch.work_dir().parent().unwrap().join("wires.toml");
    let provider =
        format!("[providers.wire]\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\napi_key_env = \"WIRE_KEY\"\n");
    std::fs::write(&config, format!("find_models = false\n{provider}[models.\"second\"]\ncontext_limit = 9000\n"))
        .unwrap();
    std::fs::write(launch.work_dir().join("x"), "forty-two\n").unwrap();
    launch.arg("--config").arg(config.to_str().unwrap())
}

async fn new_pod(yoi: &YoiProcess, model: &str) -> Value {
    let made = json!({ "name": "ada", "provider": "wire", "model": model, "thinking": "high" });
    yoi.post("/api/v1/pods", &made).await.expect(201)
}

async fn wait_for(yoi: &YoiProcess, pod: &Value, fits: impl FnMut(&Value) -> bool) {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.records_until("a", fits).await;
}

/// The bodies of the requests since number `from`, as sent.
fn bodies(model: &ScriptedModel, from: usize) -> Vec<String> {
    model.requests()[from..].iter().map(|question| question.body.to_string()).collect()
}

#[tokio::test]
async fn a_loop_of_thoughts_and_tools_goes_on_after_kill_9_as_if_nothing_had_been() {
    for (kind, name, thought) in WIRES {
        let model = ScriptedModel::start().await;
        let launch = launch(kind, &model);
        let is_over = |record: &Value| record["event"]["outcome"] == "completed";

        let yoi = launch.clone().start().await;
        let pod = new_pod(&yoi, name).await;
        model.push(call(kind));
        model.push(end(kind));
        yoi.say(&pod, "what is in x?").await;
        wait_for(&yoi, &pod, is_over).await;
        let whole = bodies(&model, 0);
        assert_eq!(whole.len(), 2, "{kind}");
        assert!(whole[1].contains(thought), "{kind}: {}", whole[1]);
        drop(yoi);

        // The same folders with another data folder, so that the instructions are identical.
        let data = tempfile::tempdir().unwrap();
        let mut yoi = launch.data(&data.path().join("data")).start().await;
        let pod = new_pod(&yoi, name).await;
        model.push(call(kind));
        model.push(begun(kind));
        yoi.say(&pod, "what is in x?").await;
        wait_for(&yoi, &pod, |record| record["event"]["text"] == "and now").await;
        yoi.kill9().await;
        model.push(end(kind));
        yoi.restart().await;
        yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
        wait_for(&yoi, &pod, is_over).await;
        let cut = bodies(&model, 2);
        assert_eq!(cut, [&whole[0], &whole[1], &whole[1]].map(String::clone), "{kind}");
    }
}

#[tokio::test]
async fn what_a_server_does_not_know_is_told_once_in_each_pod() {
    let model = ScriptedModel::start().await;
    let mut yoi = launch("openai", &model).start().await;
    let pod = new_pod(&yoi, "own").await;
    let finished =
        |run: &'static str| move |record: &Value| record["run_id"] == run && record["event"]["kind"] == "run_finished";
    let lacks = |model: &ScriptedModel| {
        model.push(Answer::refuse(404, "404 page not found"));
        model.push(Answer::refuse(400, json!({ "error": { "message": "own does not support tools" } }).to_string()));
        model.otherwise(Answer::say("so"));
    };
    lacks(&model);
    for run in ["run-1", "run-2"] {
        yoi.say(&pod, "hello").await;
        wait_for(&yoi, &pod, finished(run)).await;
    }
    yoi.kill9().await;
    yoi.restart().await;
    // Another process discovers it again, and the Pod has reported it.
    lacks(&model);
    yoi.say(&pod, "hello").await;
    wait_for(&yoi, &pod, finished("run-3")).await;
    let journal = yoi.journal(&pod).await;
    let alerts: Vec<_> =
        journal.iter().map(|record| &record["event"]).filter(|event| event["kind"] == "alert").collect();
    let texts: Vec<_> = alerts.iter().map(|alert| alert["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "The provider \"wire\" does not support OpenAI's Responses API; yoi uses chat completions.",
            "The model \"own\" of \"wire\" does not support tools; yoi calls it without them, so it can only talk.",
            "The provider \"wire\" does not count the tokens of its answers; they are estimated by the length of the text."
        ]
    );
    assert!(alerts.iter().all(|alert| alert["source"] == "provider" && alert["level"] == "warn"), "{alerts:?}");
    let completed = |record: &&Value| record["event"]["outcome"] == "completed";
    assert_eq!(journal.iter().filter(completed).count(), 3);
}

/// An answer that has begun, with the server's count so far, and stalls.
fn counted(kind: &str) -> Answer {
    let usage = json!({ "input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1 });
    let answer = match kind {
        "anthropic" => raw(&[
            json!({ "type": "message_start", "message": { "usage": usage } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "twelve bytes" } }),
        ]),
        "gemini" => raw(&[parts(json!([{ "text": "twelve bytes" }]), None)]),
        "ollama" => lines(&[json!({ "message": { "role": "assistant", "content": "twelve bytes" }, "done": false })]),
        _ => Answer::new().text("twelve bytes"),
    };
    answer.step(Step::Stall)
}

/// Returns the usage of a cancelled answer: what was counted, plus an estimate of three tokens for the rest.
async fn used_by_cancelled(kind: &str, name: &str) -> Value {
    let model = ScriptedModel::start().await;
    let yoi = launch(kind, &model).start().await;
    let pod = new_pod(&yoi, name).await;
    model.push(counted(kind));
    yoi.say(&pod, "count to twelve").await;
    wait_for(&yoi, &pod, |record| record["event"]["kind"] == "text_chunk").await;
    let receipt = yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    wait_for(&yoi, &pod, |record| record["event"]["outcome"] == "cancelled").await;

    let journal = yoi.journal(&pod).await;
    assert_eq!(journal.last().unwrap()["seq"], receipt["seq"], "the receipt of \"{kind}\" counts what was used");
    let of = |wanted: &'static str| {
        journal.iter().map(|record| &record["event"]).filter(move |event| event["kind"] == wanted)
    };
    let [usage] = of("usage").collect::<Vec<_>>().try_into().unwrap();
    let finished = of("run_finished").next().unwrap();
    let fields = ["input", "cached", "output"];
    for field in fields {
        assert_eq!(finished["usage"][field], usage[field], "{kind}");
    }
    let report = yoi.get("/api/v1/usage").await.expect(200);
    for field in fields {
        assert_eq!(report["total"][field], usage[field], "{kind}: {report}");
        assert_eq!(report["models"][0][field], usage[field], "{kind}: {report}");
    }
    usage.clone()
}

#[tokio::test]
async fn a_cancelled_answer_counts_what_its_server_counted_and_an_estimate_of_the_rest() {
    for (kind, name, _) in WIRES {
        let usage = used_by_cancelled(kind, name).await;
        let figures = |usage: &Value| (usage["input"].as_u64().unwrap(), usage["output"].as_u64().unwrap());
        match kind {
            "anthropic" => assert_eq!((figures(&usage), &usage["cached"]), ((25, 4), &json!(5))),
            "gemini" => assert_eq!(figures(&usage), (5, 3)),
            _ => {
                let (input, output) = figures(&usage);
                assert!(input > 100 && output == 3, "the instructions and tools are asked too: {usage}");
            }
        }
        assert_eq!(usage["estimated"].as_bool().unwrap_or(false), kind != "gemini", "{kind}: {usage}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_counts_too_and_one_that_never_began_does_not() {
    let model = ScriptedModel::start().await;
    let yoi = launch("openai-compatible", &model).start().await;
    let pod = new_pod(&yoi, "own").await;
    model.push(Answer::new().text("twelve bytes").step(Step::Cut));
    yoi.say(&pod, "hello").await;
    wait_for(&yoi, &pod, |record| record["event"]["kind"] == "run_finished").await;
    model.push(Answer::new().step(Step::Stall));
    yoi.say(&pod, "hello").await;
    model.wait_for_requests(2).await;
    yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    wait_for(&yoi, &pod, |record| record["event"]["outcome"] == "cancelled").await;
    let journal = yoi.journal(&pod).await;
    let used: Vec<_> = journal.iter().map(|record| &record["event"]).filter(|event| event["kind"] == "usage").collect();
    assert_eq!(used.len(), 1, "{used:?}");
    assert_eq!((&used[0]["output"], &used[0]["estimated"]), (&json!(3), &json!(true)));
}

#[tokio::test]
async fn what_an_answer_uses_is_counted_for_the_model_that_gave_it() {
    let model = ScriptedModel::start().await;
    let yoi = launch("openai-compatible", &model).start().await;
    let pod = new_pod(&yoi, "first").await;
    model.push(Answer::new().text("so it begins").step(Step::Stall));
    yoi.say(&pod, "hello").await;
    wait_for(&yoi, &pod, |record| record["event"]["kind"] == "text_chunk").await;
    yoi.patch(&pod_path(&pod), &json!({ "model": "second" })).await.expect(200);
    yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    wait_for(&yoi, &pod, |record| record["event"]["outcome"] == "cancelled").await;
    let report = yoi.get("/api/v1/usage").await.expect(200);
    let used: Vec<_> = report["models"].as_array().unwrap().iter().filter(|one| one["output"] != 0).collect();
    assert_eq!(used.iter().map(|one| &one["model"]).collect::<Vec<_>>(), ["first"], "{report}");
    let pod = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!((&pod["model"], &pod["usage"]["context_limit"]), (&json!("second"), &json!(9_000)));
}
