//! Asking the model again after a run that did not end normally.

use protocol::{ControlVerb, ErrorCode, PodState, RewindCommand};
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Step};

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind},
    stage::{key, origin},
};

fn breaks_off() -> Answer {
    Answer::new().text("half ").step(Step::ErrorFrame(json!({ "message": "the machine is on fire" })))
}

#[tokio::test]
async fn the_model_is_asked_the_same_again_and_no_finished_call_is_repeated() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    model.push(Answer::new().tool_call("c1", "Look", &["{\"name\":\"a\"}"]).finish());
    model.push(breaks_off());
    let records = bench.turn(&pod, "look at a").await;
    assert_eq!(last_of(&records, "run_finished")["outcome"], "error");
    let called = bench.ledger.all();

    model.push(breaks_off());
    let control =
        async |name: &str| bench.stage.host.pods().control(key(name), &origin(), &pod, ControlVerb::Retry).await;
    let first = control("r1").await.unwrap();
    bench.until_runs(&pod, 2).await;
    assert_eq!(control("r1").await.unwrap(), first, "a repeat asks nothing");

    model.push(Answer::say("whole"));
    control("r2").await.unwrap();
    let records = bench.until_runs(&pod, 3).await;
    assert_eq!(bench.history(&pod).await[2..], ["tool: noted a", "assistant: whole"].map(str::to_owned));
    assert_eq!(bench.ledger.all(), called, "the call was made once");
    assert_eq!(of_kind(&records, "user_message").len(), 1);
    let asked: Vec<_> = model.requests().into_iter().map(|request| request.body["messages"].clone()).collect();
    assert_eq!(asked.len(), 4);
    assert_eq!((&asked[2], &asked[3]), (&asked[1], &asked[1]), "each time from the same point");
    assert_eq!(code(control("r3").await), ErrorCode::NothingToRetry);
}

#[tokio::test]
async fn an_older_turn_is_retried_after_a_rewind_to_its_message() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let records = bench.turn(&pod, "say one").await;
    let message = records.iter().find(|record| record.event.kind() == "user_message").unwrap().seq;
    bench.turn(&pod, "say two").await;
    let expected_head = bench.stage.host.pods().get(&pod).await.unwrap().summary.head_seq;
    let back = RewindCommand::context(message, expected_head);
    bench.stage.host.work().rewind(fresh(), &origin(), &pod, back).await.unwrap();
    assert_eq!(bench.history(&pod).await, ["user: say one"]);
    bench.control(&pod, ControlVerb::Retry).await.unwrap();
    bench.until_runs(&pod, 3).await;
    assert_eq!(bench.history(&pod).await, ["user: say one", "assistant: one"]);
}

#[tokio::test]
async fn an_answer_that_a_restart_cut_off_is_begun_anew() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "say one\nwait 600\nsay two").await;
    bench.stage.until(&pod, |records| !of_kind(records, "text_chunk").is_empty()).await;
    let bench = bench.restart().await;
    bench.until_state(&pod, PodState::Paused).await;
    assert_eq!(bench.history(&pod).await, ["user: say one", "assistant: one"]);
    bench.control(&pod, ControlVerb::Retry).await.unwrap();
    bench.until_state(&pod, PodState::Running).await;
    bench.control(&pod, ControlVerb::Cancel).await.unwrap();
    let records = bench.until_state(&pod, PodState::Idle).await;
    assert_eq!(of_kind(&records, "rewound").len(), 1);
}
