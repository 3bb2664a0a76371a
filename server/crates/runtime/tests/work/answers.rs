//! Approvals and their answers.

use protocol::{ApprovalCommand, ControlVerb, Decision, ErrorCode, PermissionDecision, PodState};
use serde_json::json;

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind, once},
    stage::{key, origin},
};

const LS: &str = r#"call Bash {"command":"ls"}"#;

#[tokio::test]
async fn a_call_that_is_asked_runs_when_a_person_allows_it() {
    let bench = Bench::new().await;
    let (pod, id) = bench.waiting("ada").await;
    let open = bench.stage.host.approvals().of_pod(&pod, false).await.unwrap();
    assert_eq!((open.len(), open[0].tool.as_str(), &open[0].arguments), (1, "Bash", &json!({"command": "ls"})));
    assert_eq!(bench.stage.host.approvals().of_pod(&pod, true).await.unwrap(), open);
    assert!(bench.stage.host.pods().get(&pod).await.unwrap().summary.needs_you);
    assert!(bench.ledger.all().is_empty());

    let answered = bench.answer(&pod, &id, Decision::Allow).await.unwrap();
    assert_eq!((answered.decision, answered.by.as_deref()), (Some(Decision::Allow), Some("operator")));
    let records = bench.until_runs(&pod, 1).await;
    assert_eq!(bench.ledger.all(), ["Bash ls"]);
    assert_eq!(last_of(&records, "message_finished")["text"], "Bash: ran ls");
    assert!(bench.stage.host.approvals().of_pod(&pod, false).await.unwrap().is_empty());
    assert_eq!(bench.stage.host.approvals().of_pod(&pod, true).await.unwrap(), [answered]);
    // Without `remember`, an answer applies once.
    bench.until_asked(&pod, LS).await;
    assert_eq!(bench.ledger.all().len(), 1);
}

#[tokio::test]
async fn a_person_denies_with_a_reason_and_the_model_is_told() {
    let bench = Bench::new().await;
    let (pod, id) = bench.waiting("ada").await;
    let no = ApprovalCommand { reason: Some("too loud".into()), ..once(Decision::Deny) };
    bench.stage.host.approvals().answer(fresh(), &origin(), &pod, &id, no).await.unwrap();
    let records = bench.until_runs(&pod, 1).await;
    assert_eq!(last_of(&records, "tool_finished")["code"], "permission_denied");
    assert!(bench.history(&pod).await.contains(&"tool: a person denied it: too loud".to_owned()));
    let all = bench.stage.host.approvals().of_pod(&pod, true).await.unwrap();
    assert_eq!((all[0].decision, all[0].reason.as_deref()), (Some(Decision::Deny), Some("too loud")));
    assert!(bench.ledger.all().is_empty());
}

#[tokio::test]
async fn what_is_remembered_is_not_asked_again_and_nothing_else_is_meant() {
    for (decision, rule, calls) in
        [(Decision::Allow, PermissionDecision::Allow, 3), (Decision::Deny, PermissionDecision::Deny, 0)]
    {
        let bench = Bench::new().await;
        let (pod, id) = bench.waiting("ada").await;
        let always = ApprovalCommand { remember: true, ..once(decision) };
        bench.stage.host.approvals().answer(fresh(), &origin(), &pod, &id, always).await.unwrap();
        let records = bench.until_runs(&pod, 1).await;
        let permissions = bench.stage.host.pods().get(&pod).await.unwrap().permissions;
        assert_eq!(permissions.len(), 1);
        assert_eq!((permissions[0].pattern.as_deref(), permissions[0].decision), (Some("ls"), rule));
        let told = last_of(&records, "alert")["text"].clone();
        let verb = if decision == Decision::Allow { "allowed" } else { "denied" };
        assert_eq!(told, format!("always {verb} from now on, in this Pod: calls of Bash that match ls"));

        let records = bench.turn(&pod, LS).await;
        assert_eq!(of_kind(&records, "approval_asked").len(), 1);
        let bench = bench.restart().await;
        let records = bench.turn(&pod, LS).await;
        assert_eq!(of_kind(&records, "approval_asked").len(), 1);
        assert_eq!(bench.ledger.all().len(), calls);
        bench.until_asked(&pod, r#"call Bash {"command":"ls -a"}"#).await;
    }
}

#[tokio::test]
async fn the_first_answer_wins_when_two_come_at_once() {
    let bench = Bench::new().await;
    for round in 0..5 {
        let (pod, id) = bench.waiting(&format!("ada{round}")).await;
        let (one, other) =
            tokio::join!(bench.answer(&pod, &id, Decision::Allow), bench.answer(&pod, &id, Decision::Deny));
        let (winner, loser) = if one.is_ok() { (one, other) } else { (other, one) };
        let winner = winner.unwrap();
        assert_eq!(code(loser), ErrorCode::AlreadyAnswered);
        let records = bench.until_runs(&pod, 1).await;
        assert_eq!(of_kind(&records, "approval_answered").len(), 1);
        let is_error = last_of(&records, "tool_finished")["is_error"] == true;
        assert_eq!(is_error, winner.decision == Some(Decision::Deny));
        assert_eq!(bench.stage.host.approvals().of_pod(&pod, true).await.unwrap(), [winner]);
    }
}

#[tokio::test]
async fn a_repeated_answer_gets_what_the_first_got() {
    let bench = Bench::new().await;
    let (pod, id) = bench.waiting("ada").await;
    let from = origin();
    let answer = || bench.stage.host.approvals().answer(key("a1"), &from, &pod, &id, once(Decision::Allow));
    let (one, other) = tokio::join!(answer(), answer());
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one, other);
    bench.until_runs(&pod, 1).await;
    assert_eq!(answer().await.unwrap(), one);
    assert_eq!(bench.ledger.all(), ["Bash ls"]);
}

#[tokio::test]
async fn a_question_that_was_never_asked_is_not_found() {
    let bench = Bench::new().await;
    let (pod, _) = bench.waiting("ada").await;
    let before = bench.stage.records(&pod).await;
    assert_eq!(code(bench.answer(&pod, "call-b99", Decision::Allow).await), ErrorCode::NotFound);
    let nobody = protocol::WorkerId::parse("nobody").unwrap();
    assert_eq!(code(bench.answer(&nobody, "call-b1", Decision::Allow).await), ErrorCode::PodNotFound);
    assert_eq!(code(bench.stage.host.approvals().of_pod(&nobody, true).await), ErrorCode::PodNotFound);
    assert_eq!(bench.stage.records(&pod).await, before);
}

#[tokio::test]
async fn a_question_is_void_after_cancel_and_stop() {
    let bench = Bench::new().await;
    for (name, verb, state) in
        [("ada", ControlVerb::Cancel, PodState::Idle), ("bob", ControlVerb::Stop, PodState::Stopped)]
    {
        let (pod, id) = bench.waiting(name).await;
        bench.control(&pod, verb).await.unwrap();
        assert_eq!(bench.stage.state(&pod).await, state);
        assert_eq!(code(bench.answer(&pod, &id, Decision::Allow).await), ErrorCode::AlreadyAnswered);
        assert!(bench.stage.host.approvals().of_pod(&pod, false).await.unwrap().is_empty());
        let all = bench.stage.host.approvals().of_pod(&pod, true).await.unwrap();
        assert!(all[0].decision.is_none() && all[0].reason.is_some(), "{all:?}");
        assert_eq!(last_of(&bench.stage.records(&pod).await, "tool_finished")["code"], "cancelled");
    }
    assert!(bench.stage.host.approvals().open().await.unwrap().is_empty());
    assert!(bench.ledger.all().is_empty());
}

#[tokio::test]
async fn a_question_survives_a_restart_and_its_answer_goes_on_with_the_run() {
    let bench = Bench::new().await;
    let (pod, id) = bench.waiting("ada").await;
    let before = bench.stage.records(&pod).await;
    let bench = bench.restart().await;
    assert_eq!(bench.stage.state(&pod).await, PodState::Waiting);
    assert_eq!(bench.stage.records(&pod).await, before, "a restart adds nothing");
    assert_eq!(bench.stage.host.approvals().open().await.unwrap().len(), 1);
    bench.answer(&pod, &id, Decision::Allow).await.unwrap();
    let records = bench.until_runs(&pod, 1).await;
    assert_eq!(last_of(&records, "run_finished")["outcome"], "completed");
    let runs: std::collections::BTreeSet<_> = records.iter().filter_map(|record| record.run_id.clone()).collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(bench.ledger.all(), ["Bash ls"]);
}

#[tokio::test]
async fn an_answer_is_taken_while_the_pod_is_paused_and_counts_when_it_goes_on() {
    let bench = Bench::new().await;
    let (pod, id) = bench.waiting("ada").await;
    bench.control(&pod, ControlVerb::Pause).await.unwrap();
    assert_eq!(bench.stage.host.approvals().open().await.unwrap().len(), 1);
    assert!(bench.stage.host.pods().get(&pod).await.unwrap().summary.needs_you);
    bench.answer(&pod, &id, Decision::Allow).await.unwrap();
    assert_eq!(bench.stage.state(&pod).await, PodState::Paused);
    assert!(bench.ledger.all().is_empty());
    let bench = bench.restart().await;
    bench.control(&pod, ControlVerb::Resume).await.unwrap();
    let records = bench.until_runs(&pod, 2).await;
    assert_eq!(bench.ledger.all(), ["Bash ls"]);
    assert_eq!(last_of(&records, "message_finished")["text"], "Bash: ran ls");
}

#[tokio::test]
async fn the_open_questions_of_every_pod_are_in_one_list_oldest_first() {
    let bench = Bench::new().await;
    let mut asked = Vec::new();
    for name in ["zoe", "ada", "bob"] {
        asked.push((name, bench.waiting(name).await));
    }
    let list = async || {
        let open = bench.stage.host.approvals().open().await.unwrap();
        open.iter().map(|one| (one.name.as_str().to_owned(), one.approval.id.clone())).collect::<Vec<_>>()
    };
    let all = |names: &[&str]| {
        let asked = asked.iter().filter(|(name, _)| names.contains(name));
        asked.map(|(name, (_, id))| ((*name).to_owned(), id.clone())).collect::<Vec<_>>()
    };
    assert_eq!(list().await, all(&["zoe", "ada", "bob"]));
    let (ada, id) = &asked[1].1;
    bench.answer(ada, id, Decision::Deny).await.unwrap();
    assert_eq!(list().await, all(&["zoe", "bob"]));
}
