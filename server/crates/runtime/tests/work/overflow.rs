//! A model with a small context, whose server says in one way or another that a request is too long, or does not say
//! so.

use protocol::{PodState, WorkerId};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

use crate::bench::{Bench, last_of, of_kind};

/// The context of the tests' model, in bytes of a whole request.
const ROOM_BYTES: usize = 32_000;
const TURN_BYTES: usize = 4_000;

fn error(message: &str) -> Value {
    json!({ "error": { "code": "context_length_exceeded", "message": message } })
}

const SENTENCE: &str = "This model's maximum context length is 8000 tokens.";

/// Every way in which servers have been seen to say it.
fn reports() -> Vec<(&'static str, Answer)> {
    let told = error(SENTENCE);
    let json = |answer: Answer| answer.header("content-type", "application/json");
    vec![
        ("a bare error with status 200", json(Answer::refuse(200, told.to_string()))),
        ("the same without a size", json(Answer::refuse(200, error("too long").to_string()))),
        ("status 400", Answer::refuse(400, told.to_string())),
        ("status 413 and nothing else", Answer::refuse(413, "")),
        ("status 422", Answer::refuse(422, told.to_string())),
        ("an error in the stream", Answer::new().step(Step::ErrorFrame(told["error"].clone()))),
        ("an error after some words", Answer::new().text("well, ").step(Step::ErrorFrame(told["error"].clone()))),
    ]
}

/// Ways in which they do not.
fn silences() -> Vec<(&'static str, Answer)> {
    vec![
        ("status 400 and words that nobody knows", Answer::refuse(400, "no")),
        ("an answer of nothing", Answer::new().finish()),
        ("an answer of nothing that reached a limit", Answer::new().step(Step::Finish(Some("length".to_owned())))),
        ("a stream that ends after some words", Answer::new().text("well, ")),
    ]
}

async fn small_model(beyond: Answer) -> ScriptedModel {
    let model = ScriptedModel::start().await;
    model.set_room(ROOM_BYTES, beyond);
    model.otherwise(Answer::say("a short answer"));
    model
}

/// One turn of some length; returns how its run ended.
async fn turn(bench: &Bench, pod: &WorkerId, number: usize) -> Value {
    let text = format!("question {number} {}", "lorem ".repeat(TURN_BYTES / 6));
    last_of(&bench.turn(pod, &text).await, "run_finished")
}

#[tokio::test]
async fn whichever_way_it_is_said_older_turns_are_summarised_and_the_question_is_answered() {
    for (how, beyond) in reports() {
        let model = small_model(beyond).await;
        let bench = Bench::on(&model).await;
        let pod = bench.stage.create("ada").await;
        for number in 0..20 {
            let end = turn(&bench, &pod, number).await;
            assert_eq!(end["outcome"], "completed", "{how}, turn {number}: {end}");
        }
        let records = bench.stage.records(&pod).await;
        let compactions = of_kind(&records, "compacted").len();
        assert!((1..20).contains(&compactions), "{how}: {compactions}");
        assert!(!of_kind(&records, "alert").is_empty(), "{how}: it is told");
        assert_eq!(of_kind(&records, "user_message").len(), 20, "{how}: nothing is gone from the transcript");
        assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().summary.state, PodState::Idle, "{how}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_say_it_loses_one_turn_and_is_then_asked_less() {
    for (how, beyond) in silences() {
        let model = small_model(beyond).await;
        let bench = Bench::on(&model).await;
        let pod = bench.stage.create("ada").await;
        let mut lost_in_a_row = 0;
        for number in 0..12 {
            let end = turn(&bench, &pod, number).await;
            lost_in_a_row = if end["outcome"] == "completed" { 0 } else { lost_in_a_row + 1 };
            assert!(lost_in_a_row < 2, "{how}, turn {number}: {end}");
        }
        let records = bench.stage.records(&pod).await;
        assert!(!of_kind(&records, "compacted").is_empty(), "{how}");
    }
}

#[tokio::test]
async fn a_provider_that_fails_in_a_small_conversation_is_told_as_that_each_time() {
    let model = ScriptedModel::start().await;
    model.otherwise(Answer::refuse(400, "out of order"));
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    for _ in 0..4 {
        let end = last_of(&bench.turn(&pod, "hello").await, "run_finished");
        assert_eq!((&end["outcome"], &end["code"]), (&json!("error"), &json!("provider_error")), "{end}");
        assert!(end["detail"].as_str().unwrap().contains("out of order"), "{end}");
    }
    assert_eq!(bench.history(&pod).await, ["user: hello"; 4]);
}

#[tokio::test]
async fn the_limit_that_was_told_is_kept_to_so_that_it_happens_once() {
    let model = small_model(Answer::refuse(400, error(SENTENCE).to_string())).await;
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    for number in 0..20 {
        turn(&bench, &pod, number).await;
    }
    let records = bench.stage.records(&pod).await;
    assert_eq!(of_kind(&records, "provider_retry").len(), 1);
    assert!(of_kind(&records, "compacted").len() > 2, "it is compacted beforehand");
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().summary.usage.context_limit, 8000);
}

#[tokio::test]
async fn a_model_that_counts_its_tokens_is_compacted_by_what_it_counts() {
    let model = small_model(Answer::refuse(400, error(SENTENCE).to_string())).await;
    model.otherwise(Answer::new().text("x").usage(Tokens { input: 6_500, cached: 0, output: 1 }).finish());
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    let mut compacted = 0;
    for number in 0..8 {
        compacted = of_kind(&bench.stage.records(&pod).await, "compacted").len();
        turn(&bench, &pod, number).await;
    }
    let records = bench.stage.records(&pod).await;
    assert_eq!(of_kind(&records, "provider_retry").len(), 1);
    assert_eq!(of_kind(&records, "compacted").len(), compacted + 1, "6501 of 8000 is more than 80 %");
}

#[tokio::test]
async fn a_message_that_is_too_long_by_itself_is_taken_back_and_a_shorter_one_is_answered() {
    for (how, beyond) in reports() {
        let model = small_model(beyond).await;
        let bench = Bench::on(&model).await;
        let pod = bench.stage.create("ada").await;
        for number in 0..2 {
            turn(&bench, &pod, number).await;
        }
        let end = last_of(&bench.turn(&pod, &"much too long ".repeat(4_000)).await, "run_finished");
        // With some words after it the message has an answer, and a summary can replace both.
        if how != "an error after some words" {
            assert_eq!((&end["outcome"], &end["code"]), (&json!("error"), &json!("context_overflow")), "{how}");
            assert!(end["detail"].as_str().unwrap().contains("send a shorter one"), "{how}: {end}");
        }
        let end = turn(&bench, &pod, 3).await;
        assert_eq!(end["outcome"], "completed", "{how}: {end}");
        assert!(!bench.history(&pod).await.iter().any(|line| line.contains("much too long")), "{how}");
    }
}

#[tokio::test]
async fn a_result_that_is_too_long_is_no_end_either() {
    for (how, beyond) in reports() {
        let model = small_model(beyond).await;
        let bench = Bench::on(&model).await;
        let pod = bench.stage.create("ada").await;
        // Its result has 700,000 bytes.
        model.push(Answer::new().tool_call("c1", "Big", &["{}"]).finish());
        let end = last_of(&bench.turn(&pod, "call it").await, "run_finished");
        assert_eq!(end["outcome"], "completed", "{how}: {end}");
        assert_eq!(turn(&bench, &pod, 1).await["outcome"], "completed", "{how}");
    }
}

#[tokio::test]
async fn in_the_end_it_goes_on_without_a_summary() {
    let model = small_model(Answer::refuse(400, error("too long").to_string())).await;
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    // This model server answers messages and refuses each request for a summary.
    let refusal = Answer::refuse(400, error("too long").to_string());
    model.refuse_where("about to be taken out of your context", refusal);
    for number in 0..8 {
        assert_eq!(turn(&bench, &pod, number).await["outcome"], "completed");
    }
    let records = bench.stage.records(&pod).await;
    let summary = last_of(&records, "compacted")["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("messages were left out here"), "{summary}");
}
