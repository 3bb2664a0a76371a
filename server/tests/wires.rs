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
    std::fs::write(&config, format!("find_models = false\n{provider}")).unwrap();
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
            "The model \"own\" of \"wire\" does not support tools; yoi calls it without them, so it can only talk."
        ]
    );
    assert!(alerts.iter().all(|alert| alert["source"] == "provider" && alert["level"] == "warn"), "{alerts:?}");
    let completed = |record: &&Value| record["event"]["outcome"] == "completed";
    assert_eq!(journal.iter().filter(completed).count(), 3);
}
