//! The built binary with a model of small context: however its server says that a request is too long, or fails to, the
//! Pod continues; also after kill -9 in the middle of it.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The model's context: bytes of a whole request, tools included, and the number of tokens that its server reports for
/// them.
const ROOM_BYTES: usize = 60_000;
const ROOM_TOKENS: u64 = 15_000;
const TURNS: usize = 12;
/// In each request for a summary.
const ASKS_SUMMARY: &str = "about to be taken out of your context";

fn error() -> Value {
    let message = format!("This model's maximum context length is {ROOM_TOKENS} tokens. Reduce the length.");
    json!({ "error": { "message": message, "type": "invalid_request_error", "code": "context_length_exceeded" } })
}

async fn start(beyond: Answer) -> (ScriptedModel, YoiProcess) {
    let model = ScriptedModel::start().await;
    model.set_room(ROOM_BYTES, beyond);
    model.otherwise(Answer::say("a short answer"));
    let yoi = Launch::new(YOI).env("OPENAI_BASE_URL", &model.base_url()).start().await;
    (model, yoi)
}

async fn new_pod(yoi: &YoiProcess) -> Value {
    let made = json!({ "name": "ada", "provider": "openai", "model": "scripted" });
    yoi.post("/api/v1/pods", &made).await.expect(201)
}

/// Sends it, and returns the end of the run that it began.
async fn turn(yoi: &YoiProcess, pod: &Value, text: &str) -> Value {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    yoi.say(pod, text).await;
    end_of_run(&mut socket).await
}

async fn end_of_run(socket: &mut testkit::yoi::EventSocket) -> Value {
    let records = socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    records.last().unwrap()["event"].clone()
}

fn question(number: usize) -> String {
    format!("question {number}: {}", "lorem ".repeat(1_000))
}

fn count(journal: &[Value], kind: &str) -> usize {
    journal.iter().filter(|record| record["event"]["kind"] == kind).count()
}

#[tokio::test]
async fn however_a_server_says_that_a_question_is_too_long_every_one_is_answered() {
    let bare = Answer::refuse(200, error().to_string()).header("content-type", "application/json");
    let frame = Step::ErrorFrame(error()["error"].clone());
    for (how, beyond) in [
        ("a bare error with status 200", bare),
        ("status 400", Answer::refuse(400, error().to_string())),
        ("an error in the stream", Answer::new().step(frame.clone())),
        ("an error after some words", Answer::new().text("well, ").step(frame)),
    ] {
        let (_model, yoi) = start(beyond).await;
        let pod = new_pod(&yoi).await;
        for number in 0..TURNS {
            let end = turn(&yoi, &pod, &question(number)).await;
            assert_eq!(end["outcome"], "completed", "{how}, turn {number}: {end}");
        }
        let journal = yoi.journal(&pod).await;
        assert!(count(&journal, "compacted") > 0, "{how}");
        assert_eq!(count(&journal, "user_message"), TURNS, "{how}: nothing is gone from the transcript");
        let summary = yoi.get(&pod_path(&pod)).await.expect(200);
        assert_eq!((&summary["state"], &summary["usage"]["context_limit"]), (&json!("idle"), &json!(ROOM_TOKENS)));

        // In plain words, in a terminal and in the export.
        let words = "The model's context was full; older turns were summarised and the model was called again.";
        let launch = yoi.launch();
        let output = launch.command().args(["log", "ada", "--data"]).arg(launch.data_dir()).output().await.unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains(words), "{how}: {output:?}");
        let export = yoi.request(reqwest::Method::GET, &format!("{}/export?format=markdown", pod_path(&pod)));
        assert!(export.send().await.unwrap().text().await.unwrap().contains(words), "{how}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_of_it_loses_a_turn_and_not_the_pod() {
    for (how, beyond) in [
        ("words that nobody knows", Answer::refuse(400, "no")),
        ("an answer of nothing", Answer::new().finish()),
        ("a stream that ends after some words", Answer::new().text("well, ")),
    ] {
        let (_model, yoi) = start(beyond).await;
        let pod = new_pod(&yoi).await;
        let mut lost_in_a_row = 0;
        for number in 0..TURNS {
            let end = turn(&yoi, &pod, &question(number)).await;
            lost_in_a_row = if end["outcome"] == "completed" { 0 } else { lost_in_a_row + 1 };
            assert!(lost_in_a_row < 2, "{how}, turn {number}: {end}");
        }
        assert!(count(&yoi.journal(&pod).await, "compacted") > 0, "{how}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_by_itself_says_so_and_a_shorter_one_is_answered() {
    let (_model, yoi) = start(Answer::refuse(400, error().to_string())).await;
    let pod = new_pod(&yoi).await;
    turn(&yoi, &pod, &question(1)).await;
    let end = turn(&yoi, &pod, &"x".repeat(64_000)).await;
    assert_eq!((&end["outcome"], &end["code"]), (&json!("error"), &json!("context_overflow")), "{end}");
    let detail = end["detail"].as_str().unwrap();
    for words in ["of 15000 tokens", "about 16000 tokens", "send a shorter one", "larger context"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    let end = turn(&yoi, &pod, &question(2)).await;
    assert_eq!(end["outcome"], "completed", "{end}");
}

/// When the server is killed: while this request is pending.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Instant {
    /// The request that is too long; its refusal has not arrived.
    Question,
    /// The summary.
    Summary,
    /// The repeated request.
    Again,
}

#[tokio::test]
async fn killed_in_the_middle_of_it_the_pod_remembers_and_continues() {
    for instant in [Instant::Question, Instant::Summary, Instant::Again] {
        let (model, mut yoi) = start(Answer::refuse(400, error().to_string())).await;
        let pod = new_pod(&yoi).await;
        let mut number = 0;
        // As long as there is room.
        while model.requests().last().is_none_or(|last| last.body.to_string().len() < ROOM_BYTES - 7_000) {
            number += 1;
            assert_eq!(turn(&yoi, &pod, &question(number)).await["outcome"], "completed");
        }
        let asked = model.requests().len();
        match instant {
            Instant::Question => model.set_room(ROOM_BYTES, Answer::new().step(Step::Stall)),
            Instant::Summary => model.refuse_where(ASKS_SUMMARY, Answer::new().text("so far").step(Step::Stall)),
            Instant::Again => {
                model.refuse_where(ASKS_SUMMARY, Answer::say("a summary"));
                model.push(Answer::new().text("half an ans").step(Step::Stall));
            }
        }
        yoi.say(&pod, &question(number + 1)).await;
        let is_summary = |body: &Value| body.to_string().contains(ASKS_SUMMARY);
        let mut seen = asked;
        loop {
            let questions = model.wait_for_requests(seen + 1).await;
            seen = questions.len();
            let (first, last) = (seen == asked + 1, &questions[seen - 1].body);
            let is_there = match instant {
                Instant::Question => first,
                // A request for a summary that is itself too long is refused, and is not the one to wait for.
                Instant::Summary => is_summary(last) && last.to_string().len() <= ROOM_BYTES,
                Instant::Again => !first && !is_summary(last),
            };
            if is_there {
                break;
            }
        }
        let before = yoi.journal(&pod).await;
        yoi.kill9().await;
        model.refuse_nothing();
        model.set_room(ROOM_BYTES, Answer::refuse(400, error().to_string()));
        yoi.restart().await;

        let after = yoi.journal(&pod).await;
        assert!(count(&after, "user_message") == count(&before, "user_message"), "{instant:?}");
        let summary = yoi.get(&pod_path(&pod)).await.expect(200);
        assert_eq!(summary["state"], "paused", "{instant:?}");
        if instant != Instant::Question {
            assert_eq!(summary["usage"]["context_limit"], ROOM_TOKENS, "{instant:?}: what was learnt is kept");
        }
        let asked = model.requests().len();
        let mut socket = yoi.events().await;
        socket.subscribe("a", &pod, None).await;
        socket.wait_for(|frame| frame["type"] == "snapshot").await;
        yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
        let end = end_of_run(&mut socket).await;
        assert_eq!(end["outcome"], "completed", "{instant:?}: {end}");
        if instant == Instant::Summary {
            assert!(is_summary(&model.requests()[asked].body), "it begins with the summary, not with what is too long");
        }
        let journal = yoi.journal(&pod).await;
        let messages = journal.iter().filter(|record| record["event"]["kind"] == "user_message");
        let newest = messages.filter(|record| record.to_string().contains(&format!("question {}:", number + 1)));
        assert_eq!(newest.count(), 1, "{instant:?}");
        assert_eq!(turn(&yoi, &pod, &question(number + 2)).await["outcome"], "completed", "{instant:?}");
    }
}
