//! Calls of a model.

use protocol::{ControlVerb, Decision, PodState};
use serde_json::json;

use crate::{
    bench::{Bench, fresh, last_of, last_state, of_kind},
    stage::{kinds, origin},
};

#[tokio::test]
async fn calls_of_one_turn_run_one_after_the_other_in_their_order() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let calls = ["Note a", "Look b", "Note c", "Note d"].map(|call| {
        let (tool, name) = call.split_once(' ').unwrap();
        format!(r#"call {tool} {{"name":"{name}"}}"#)
    });
    bench.turn(&pod, &calls.join("\n")).await;
    let expected: Vec<_> = ["Note a", "Look b", "Note c", "Note d"]
        .iter()
        .flat_map(|call| [format!("{call} begins"), format!("{call} ends")])
        .collect();
    assert_eq!(bench.ledger.all(), expected);
    assert_eq!(bench.history(&pod).await[2..6], ["tool: noted a", "tool: noted b", "tool: noted c", "tool: noted d"]);
}

#[tokio::test]
async fn calls_that_only_read_run_beside_each_other() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    // Each waits for the other one.
    let records = bench.turn(&pod, "call Meet {}\ncall Meet {}").await;
    assert_eq!(of_kind(&records, "tool_finished").len(), 2);
    assert_eq!(last_of(&records, "message_finished")["text"], "Meet: met\nMeet: met");
}

#[tokio::test]
async fn what_needs_no_answer_runs_while_another_call_waits_for_one() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let id = bench.until_asked(&pod, "call Bash {\"command\":\"ls\"}\ncall Note {\"name\":\"a\"}").await;
    bench.ledger.until("Note a ends", 1).await;
    bench.answer(&pod, &id, Decision::Allow).await.unwrap();
    let records = bench.until_runs(&pod, 1).await;
    assert_eq!(last_of(&records, "message_finished")["text"], "Bash: ran ls\nNote: noted a");
}

#[tokio::test]
async fn output_is_seen_while_the_tool_runs() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "call Slow {}").await;
    let records = bench.stage.until(&pod, |records| kinds(records).contains(&"tool_output_chunk".to_owned())).await;
    assert_eq!(last_of(&records, "tool_output_chunk")["text"], "first line\n");
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().summary.activity.as_deref(), Some("running Slow"));
    bench.ledger.open_gate();
    let records = bench.until_runs(&pod, 1).await;
    assert_eq!(last_of(&records, "tool_finished")["content"], "first line\nsecond line\n");
    assert_eq!(bench.ledger.all(), ["Slow waits", "Slow ended"]);
}

#[tokio::test]
async fn a_tool_that_breaks_gives_an_error_and_the_run_goes_on() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let records = bench.turn(&pod, "call Break {}\ncall Note {\"name\":\"a\"}\nsay still here").await;
    let finished = of_kind(&records, "tool_finished");
    assert_eq!((&finished[0]["is_error"], &finished[0]["code"]), (&true.into(), &"internal".into()));
    assert_eq!(finished[1]["summary"], "noted a");
    assert_eq!(last_of(&records, "run_finished")["outcome"], "completed");
    assert!(last_of(&records, "message_finished")["text"].as_str().unwrap().ends_with("still here"));
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_that_names_those_that_are() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let records = bench.turn(&pod, "call Fly {}").await;
    let finished = last_of(&records, "tool_finished");
    assert_eq!(finished["code"], "not_found");
    assert!(finished["summary"].as_str().unwrap().contains("Note"));
    assert!(of_kind(&records, "approval_asked").is_empty(), "nobody is asked for what cannot be");
}

#[tokio::test]
async fn a_tool_that_no_list_names_is_asked_for_until_a_rule_allows_it() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "call New {\"name\":\"a\"}").await;
    let records = bench.stage.until(&pod, |records| last_state(records) == Some(PodState::Waiting)).await;
    assert_eq!(of_kind(&records, "approval_asked")[0]["tool"], "New");
    assert!(bench.ledger.all().is_empty(), "it has not run");
    bench.control(&pod, ControlVerb::Cancel).await.unwrap();
    let allowed = json!({ "permissions": [{ "tool": "New", "decision": "allow" }] });
    bench.stage.host.pods().patch(fresh(), &origin(), &pod, serde_json::from_value(allowed).unwrap()).await.unwrap();
    let records = bench.turn(&pod, "call New {\"name\":\"b\"}").await;
    assert_eq!(last_of(&records, "tool_finished")["summary"], "noted b");
    assert_eq!(of_kind(&records, "approval_asked").len(), 1);
}

#[tokio::test]
async fn stop_pause_and_cancel_end_a_call_with_a_result() {
    let bench = Bench::new().await;
    for (number, (verb, outcome, state)) in [
        (ControlVerb::Stop, "interrupted", PodState::Stopped),
        (ControlVerb::Pause, "paused", PodState::Paused),
        (ControlVerb::Cancel, "cancelled", PodState::Idle),
    ]
    .into_iter()
    .enumerate()
    {
        let pod = bench.stage.create(&format!("ada{number}")).await;
        bench.send(&pod, "call Slow {}\ncall Note {\"name\":\"never\"}").await;
        bench.ledger.until("Slow waits", number + 1).await;
        bench.control(&pod, verb).await.unwrap();
        bench.ledger.until("Slow was dropped", number + 1).await;
        let records = bench.stage.records(&pod).await;
        let finished = of_kind(&records, "tool_finished");
        assert_eq!(finished.len(), 2);
        assert!(finished.iter().all(|result| result["code"] == "cancelled"), "{finished:?}");
        assert_eq!(last_of(&records, "run_finished")["outcome"], outcome);
        assert_eq!(bench.stage.state(&pod).await, state);
    }
    assert!(!bench.ledger.all().iter().any(|entry| entry.contains("never")));
}

#[tokio::test]
async fn what_a_command_has_printed_before_it_is_ended_is_in_its_result() {
    let bench = Bench::new().await;
    let verbs = [Some(ControlVerb::Stop), Some(ControlVerb::Pause), Some(ControlVerb::Cancel), None];
    for (number, verb) in verbs.into_iter().enumerate() {
        let pod = bench.stage.create(&format!("ada{number}")).await;
        let allowed = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
        bench
            .stage
            .host
            .pods()
            .patch(fresh(), &origin(), &pod, serde_json::from_value(allowed).unwrap())
            .await
            .unwrap();
        bench.send(&pod, r#"call Bash {"prints":"last words"}"#).await;
        bench.ledger.until("Bash has printed", number + 1).await;
        match verb {
            Some(verb) => drop(bench.control(&pod, verb).await.unwrap()),
            None => drop(bench.stage.host.work().interrupt(fresh(), &origin(), &pod).await.unwrap()),
        }
        let records = bench.stage.records(&pod).await;
        assert_eq!(last_of(&records, "tool_finished")["content"], "last words", "{verb:?}");
    }
}

#[tokio::test]
async fn a_call_that_a_restart_cut_has_a_result_and_the_pod_goes_on() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "call Slow {}\ncall Note {\"name\":\"a\"}\nsay after").await;
    bench.ledger.until("Slow waits", 1).await;
    let bench = bench.restart().await;
    assert_eq!(bench.stage.state(&pod).await, PodState::Paused);
    let records = bench.stage.records(&pod).await;
    let codes: Vec<_> = of_kind(&records, "tool_finished").iter().map(|result| result["code"].clone()).collect();
    assert_eq!(codes, ["unknown", "unknown"]);
    assert_eq!(last_of(&records, "run_finished")["outcome"], "interrupted");
    bench.control(&pod, ControlVerb::Resume).await.unwrap();
    let records = bench.until_runs(&pod, 2).await;
    assert!(last_of(&records, "message_finished")["text"].as_str().unwrap().ends_with("after"));
    assert_eq!(of_kind(&records, "tool_called").len(), 2, "what may have happened is not done again");
}

#[tokio::test]
async fn what_ran_beside_a_question_is_unknown_after_a_restart_and_the_question_stays() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let id = bench.until_asked(&pod, "call Bash {\"command\":\"ls\"}\ncall Slow {}").await;
    bench.ledger.until("Slow waits", 1).await;
    let bench = bench.restart().await;
    assert_eq!(bench.stage.state(&pod).await, PodState::Waiting);
    bench.answer(&pod, &id, Decision::Allow).await.unwrap();
    let records = bench.until_runs(&pod, 1).await;
    let codes: Vec<_> = of_kind(&records, "tool_finished").iter().map(|result| result["code"].clone()).collect();
    assert_eq!(codes, [serde_json::json!("unknown"), serde_json::Value::Null]);
    assert_eq!(last_of(&records, "run_finished")["outcome"], "completed");
}
