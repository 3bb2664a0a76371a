//! Tools that a person runs as the Pod would.

use std::collections::BTreeMap;

use protocol::{ControlVerb, ErrorCode, PatchPod, PodState, ToolCommand};
use runtime::Profile;
use serde_json::json;

use crate::{
    bench::{Bench, Models, code, fresh, last_of, of_kind},
    stage::{key, key_for, named, origin},
};

#[tokio::test]
async fn a_tool_runs_in_every_live_state_and_is_no_part_of_the_conversation() {
    let bench = Bench::new().await;
    let idle = bench.stage.create("idle").await;
    bench.turn(&idle, "say hello").await;
    let running = bench.stage.create("running").await;
    bench.send(&running, "say so\nwait 600").await;
    bench.stage.until(&running, |records| !of_kind(records, "text_chunk").is_empty()).await;
    let paused = bench.stage.create("paused").await;
    bench.send(&paused, "wait 600").await;
    bench.control(&paused, ControlVerb::Pause).await.unwrap();
    let (waiting, _) = bench.waiting("waiting").await;
    for pod in [&idle, &running, &paused, &waiting] {
        let (history, state) = (bench.history(pod).await, bench.stage.state(pod).await);
        let answer = bench.run_tool(pod, "Bash", json!({ "command": "id" })).await.unwrap();
        assert_eq!((answer.summary.as_str(), answer.content.as_deref()), ("ran id", Some("secret output")));
        assert!(!answer.is_error && answer.code.is_none());
        assert_eq!((bench.history(pod).await, bench.stage.state(pod).await), (history, state));
        let records = bench.stage.records(pod).await;
        assert_eq!(last_of(&records, "tool_called")["by"], "operator");
        assert_eq!(last_of(&records, "tool_finished")["by"], "operator");
        let audit = bench.stage.host.audit().page(None, 1).await.unwrap();
        assert_eq!((audit.items[0].action.as_str(), audit.items[0].result.as_str()), ("tool", "done"));
    }
    bench.control(&idle, ControlVerb::Stop).await.unwrap();
    assert_eq!(code(bench.run_tool(&idle, "Bash", json!({})).await), ErrorCode::NotLive);
    assert_eq!(bench.ledger.all().len(), 4);
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_not_found_and_leaves_no_trace() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let before = bench.stage.records(&pod).await;
    assert_eq!(code(bench.run_tool(&pod, "Fly", json!({})).await), ErrorCode::NotFound);
    let nobody = protocol::WorkerId::parse("nobody").unwrap();
    assert_eq!(code(bench.run_tool(&nobody, "Bash", json!({})).await), ErrorCode::PodNotFound);
    assert_eq!(bench.stage.records(&pod).await, before);
}

#[tokio::test]
async fn a_rule_that_denies_holds_for_a_person_until_it_is_changed() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let patch = |decision: &str| -> PatchPod {
        serde_json::from_value(json!({ "permissions": [{ "tool": "Bash", "match": "rm *", "decision": decision }] }))
            .unwrap()
    };
    bench.stage.host.pods().patch(fresh(), &origin(), &pod, patch("deny")).await.unwrap();
    let denied = bench.run_tool(&pod, "Bash", json!({ "command": "rm x" })).await.unwrap();
    assert!(denied.is_error);
    assert_eq!(denied.code.as_deref(), Some("permission_denied"));
    assert!(!bench.run_tool(&pod, "Bash", json!({ "command": "ls" })).await.unwrap().is_error);
    bench.stage.host.pods().patch(fresh(), &origin(), &pod, patch("ask")).await.unwrap();
    assert!(!bench.run_tool(&pod, "Bash", json!({ "command": "rm x" })).await.unwrap().is_error);
    assert_eq!(bench.ledger.all(), ["Bash ls", "Bash rm x"]);
}

#[tokio::test]
async fn what_the_profile_does_not_offer_is_denied_to_a_person_too() {
    let profile = Profile { tools: Some(vec!["Look".to_owned()]), ..Profile::default() };
    let bench = Bench::with(BTreeMap::from([("reader".to_owned(), profile)]), Models::default()).await;
    let mut create = named("ada");
    create.profile = Some("reader".to_owned());
    let pod = bench.stage.host.pods().create(fresh(), &origin(), create).await.unwrap().pod.worker_id;
    let answer = bench.run_tool(&pod, "Note", json!({})).await.unwrap();
    assert_eq!(answer.code.as_deref(), Some("permission_denied"));
    assert!(!bench.run_tool(&pod, "Look", json!({ "name": "a" })).await.unwrap().is_error);
}

#[tokio::test]
async fn a_tool_that_breaks_is_an_answer() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let answer = bench.run_tool(&pod, "Break", json!({})).await.unwrap();
    assert_eq!((answer.is_error, answer.code.as_deref()), (true, Some("internal")));
    assert_eq!(bench.stage.state(&pod).await, PodState::Idle);
}

#[tokio::test]
async fn a_repeat_gives_the_same_answer_and_runs_once_also_after_a_restart() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let from = origin();
    let command = || ToolCommand { arguments: json!({ "command": "id" }) };
    let (one, other) = tokio::join!(
        bench.stage.host.work().run_tool(key("t1"), &from, &pod, "Bash", command()),
        bench.stage.host.work().run_tool(key("t1"), &from, &pod, "Bash", command()),
    );
    let one = one.unwrap();
    assert_eq!(one, other.unwrap());
    assert_eq!(bench.stage.host.work().run_tool(key("t1"), &from, &pod, "Bash", command()).await.unwrap(), one);
    let reused = bench.stage.host.work().run_tool(key_for("t1", 2), &from, &pod, "Bash", command()).await;
    assert_eq!(code(reused), ErrorCode::KeyReused);
    let bench = bench.restart().await;
    assert_eq!(bench.stage.host.work().run_tool(key("t1"), &from, &pod, "Bash", command()).await.unwrap(), one);
    assert_eq!(bench.ledger.all(), ["Bash id"]);
}

#[tokio::test]
async fn two_who_ask_with_one_key_wait_for_the_same_end() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let from = origin();
    let run = || bench.stage.host.work().run_tool(key("t1"), &from, &pod, "Slow", ToolCommand { arguments: json!({}) });
    let opening = async {
        bench.ledger.until("Slow waits", 1).await;
        bench.ledger.open_gate();
    };
    let (one, other, ()) = tokio::join!(run(), run(), opening);
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(bench.ledger.all(), ["Slow waits", "Slow ended"]);
}

#[tokio::test]
async fn a_stop_ends_it_with_an_answer_and_a_pause_of_the_pod_does_not() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "wait 600").await;
    let stopping = async {
        bench.ledger.until("Slow waits", 1).await;
        bench.control(&pod, ControlVerb::Pause).await.unwrap();
        bench.control(&pod, ControlVerb::Cancel).await.unwrap();
        assert_eq!(bench.ledger.all(), ["Slow waits"]);
        bench.control(&pod, ControlVerb::Stop).await.unwrap();
    };
    let (answer, ()) = tokio::join!(bench.run_tool(&pod, "Slow", json!({})), stopping);
    assert_eq!(answer.unwrap().code.as_deref(), Some("cancelled"));
    bench.ledger.until("Slow was dropped", 1).await;
}

#[tokio::test]
async fn what_a_restart_cut_is_unknown_to_those_who_ask_again() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let host = bench.stage.host.clone();
    let asked = tokio::spawn({
        let (host, pod) = (host.clone(), pod.clone());
        async move { host.work().run_tool(key("t1"), &origin(), &pod, "Slow", ToolCommand { arguments: json!({}) }).await }
    });
    bench.ledger.until("Slow waits", 1).await;
    let bench = bench.restart().await;
    assert_eq!(code(asked.await.unwrap()), ErrorCode::RuntimeUnavailable);
    assert_eq!(bench.stage.state(&pod).await, PodState::Idle);
    let command = ToolCommand { arguments: json!({}) };
    let answer = bench.stage.host.work().run_tool(key("t1"), &origin(), &pod, "Slow", command).await.unwrap();
    assert_eq!(answer.code.as_deref(), Some("unknown"));
    assert_eq!(bench.ledger.all(), ["Slow waits", "Slow was dropped"]);
}
