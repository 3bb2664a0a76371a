//! Pods that begin with another one's history.

use protocol::{
    ApiError, ControlVerb, Decision, ErrorCode, ForkCommand, InputCommand, PatchPod, PermissionDecision,
    PermissionRule, PodName, PodState, PodSummary, Record, Segment, Seq, WorkerId,
};

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind},
    stage::{key, key_for, kinds, origin},
};

fn named(name: &str, at_seq: Option<Seq>) -> ForkCommand {
    ForkCommand { name: PodName::parse(name).unwrap(), at_seq }
}

impl Bench {
    async fn fork(&self, pod: &WorkerId, name: &str, at_seq: Option<Seq>) -> Result<PodSummary, ApiError> {
        self.stage.host.pods().fork(fresh(), &origin(), pod, named(name, at_seq)).await
    }

    async fn forked(&self, pod: &WorkerId, name: &str, at_seq: Option<Seq>) -> WorkerId {
        let summary = self.fork(pod, name, at_seq).await.unwrap();
        assert_eq!((summary.state, summary.name.as_str()), (PodState::Idle, name));
        summary.pod.worker_id
    }
}

fn seqs_of(records: &[Record], kind: &str) -> Vec<Seq> {
    records.iter().filter(|record| record.event.kind() == kind).map(|record| record.seq).collect()
}

/// Returns the record that a refusal names as the place for a fork.
fn way_out(refusal: &ApiError) -> Seq {
    let words = refusal.detail.split("fork at record ").nth(1).unwrap_or_else(|| panic!("{}", refusal.detail));
    Seq(words.split(|other: char| !other.is_ascii_digit()).next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_fork_has_the_same_history_and_settings_and_nothing_that_ties_it_to_others() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    let bob = bench.stage.create("bob").await;
    let pods = bench.stage.host.pods();
    bench.stage.host.peers().introduce(fresh(), &origin(), &ada, &bob, None).await.unwrap();
    let rule = PermissionRule {
        tool: "Bash".to_owned(),
        pattern: Some("ls *".to_owned()),
        decision: PermissionDecision::Allow,
        ..serde_json::from_value(serde_json::json!({ "tool": "Bash", "decision": "allow" })).unwrap()
    };
    let patch = PatchPod {
        instructions: Some("Be brief.".to_owned()),
        permissions: Some(vec![rule]),
        auto_resume: Some(true),
        ..PatchPod::default()
    };
    pods.patch(fresh(), &origin(), &ada, patch).await.unwrap();
    bench.turn(&ada, "think deep\nsay one\ncall Look {\"name\":\"a\"}").await;
    let before = bench.stage.records(&ada).await;

    let eve = bench.forked(&ada, "eve", None).await;
    assert_eq!(bench.stage.records(&ada).await, before, "nothing happens to the Pod that is forked");
    assert_eq!(bench.history(&eve).await, bench.history(&ada).await);
    assert_eq!(bench.system(&eve).await, bench.system(&ada).await);
    let (of_ada, of_eve) = (pods.get(&ada).await.unwrap(), pods.get(&eve).await.unwrap());
    assert_eq!((of_ada.summary.relations.peers, of_eve.summary.relations.peers), (1, 0));
    assert_eq!((of_eve.summary.usage.input, of_eve.summary.usage.output), (0, 0), "that was used by ada");
    assert_eq!(of_eve.summary.usage.context_used, of_ada.summary.usage.context_used);
    let (name, pod) = (of_ada.summary.name.clone(), of_ada.summary.pod.clone());
    let summary = PodSummary { name, pod, ..of_eve.summary.clone() };
    assert_eq!((&summary.model, &summary.cwd), (&of_ada.summary.model, &of_ada.summary.cwd));
    let alike = protocol::PodDetail { summary: of_ada.summary.clone(), ..of_eve.clone() };
    assert_eq!(alike, of_ada, "all other settings are the same");

    let records = bench.stage.records(&eve).await;
    assert_eq!(records[..before.len()], before);
    assert_eq!(kinds(&records[before.len()..]), ["alert"]);
    let told = last_of(&records, "alert")["text"].as_str().unwrap().to_owned();
    let head = before.last().unwrap().seq;
    assert!(told.starts_with(&format!("forked from ada ({ada}) at record {head}")), "{told}");
    assert!(!bench.history(&eve).await.concat().contains("forked"), "no model is told");

    let bench = bench.restart().await;
    bench.turn(&eve, "say two").await;
    assert_eq!(bench.history(&eve).await.last().unwrap(), "assistant: two");
    assert_eq!(bench.stage.records(&ada).await, before);
}

#[tokio::test]
async fn a_fork_begins_at_any_record_that_cuts_nothing_in_half() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say one\ncall Look {\"name\":\"a\"}\ncall Look {\"name\":\"b\"}").await;
    let id = bench.until_asked(&ada, "call Bash {\"command\":\"ls\"}").await;
    bench.answer(&ada, &id, Decision::Deny).await.unwrap();
    let records = bench.until_runs(&ada, 2).await;
    let mut refused = 0;
    for record in &records {
        let name = format!("at-{}", record.seq);
        let at = match bench.fork(&ada, &name, Some(record.seq)).await {
            Ok(_) => record.seq,
            Err(refusal) => {
                refused += 1;
                assert_eq!(refusal.code, ErrorCode::InvalidInput, "{}", refusal.detail);
                let at = way_out(&refusal);
                assert!(at < record.seq);
                bench.forked(&ada, &name, Some(at)).await;
                at
            }
        };
        let fork = bench.stage.host.pods().named(&PodName::parse(&name).unwrap()).await.unwrap().unwrap().worker_id;
        let copied = bench.stage.records(&fork).await;
        let history: Vec<Record> = records.iter().filter(|record| record.seq <= at).cloned().collect();
        assert_eq!(copied[..history.len()], history);
        let (called, ended) = (of_kind(&copied, "tool_called").len(), of_kind(&copied, "tool_finished").len());
        assert_eq!(called, ended, "no call without its result, at {}", record.seq);
        assert_eq!(of_kind(&copied, "run_started").len(), of_kind(&copied, "run_finished").len());
    }
    assert!(refused >= 3, "between the calls and their results: {refused}");
}

#[tokio::test]
async fn a_message_without_its_answer_is_answered_anew_in_a_fork() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say one").await;
    let records = bench.turn(&ada, "say two").await;
    let asked = seqs_of(&records, "user_message")[1];
    let eve = bench.forked(&ada, "eve", Some(asked)).await;
    assert_eq!(bench.history(&eve).await, ["user: say one", "assistant: one", "user: say two"]);
    bench.control(&eve, ControlVerb::Retry).await.unwrap();
    bench.stage.until(&eve, |records| of_kind(records, "message_finished").len() == 2).await;
    bench.until_state(&eve, PodState::Idle).await;
    assert_eq!(bench.history(&eve).await.last().unwrap(), "assistant: two");
}

#[tokio::test]
async fn what_goes_on_is_not_forked_and_neither_is_what_waits_in_the_queue() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say one").await;
    bench.send(&ada, "wait 600").await;
    let later = InputCommand { segments: vec![Segment::text("say later")], queue: true, steer: false };
    bench.stage.host.work().input(fresh(), &origin(), &ada, later).await.unwrap();
    let refusal = bench.fork(&ada, "eve", None).await.unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Busy);
    let eve = bench.forked(&ada, "eve", Some(way_out(&refusal))).await;
    assert_eq!(bench.history(&eve).await, ["user: say one", "assistant: one"]);
    assert!(bench.stage.host.pods().get(&eve).await.unwrap().queued.is_empty());

    let (bob, _) = bench.waiting("bob").await;
    bench.control(&bob, ControlVerb::Pause).await.unwrap();
    let refusal = bench.fork(&bob, "dan", None).await.unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Busy, "its question is open: {}", refusal.detail);
    bench.control(&bob, ControlVerb::Stop).await.unwrap();
    let dan = bench.forked(&bob, "dan", None).await;
    assert!(bench.stage.host.approvals().of_pod(&dan, false).await.unwrap().is_empty());
    assert_eq!(bench.stage.state(&bob).await, PodState::Stopped);
}

#[tokio::test]
async fn a_fork_happens_once_and_a_refused_one_leaves_nothing() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say one").await;
    let head = bench.stage.host.pods().get(&ada).await.unwrap().summary.head_seq;
    for outside in [Seq(-1), Seq(0), head.next()] {
        let refusal = bench.fork(&ada, "eve", Some(outside)).await.unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidInput);
        assert!(refusal.detail.contains(&format!("from 1 to {head}")), "{}", refusal.detail);
    }
    assert_eq!(code(bench.fork(&ada, "ada", None).await), ErrorCode::NameTaken);
    assert_eq!(code(bench.fork(&WorkerId::parse("nobody").unwrap(), "eve", None).await), ErrorCode::PodNotFound);
    let (host, by) = (&bench.stage.host, origin());
    let all = (0..4).map(|_| host.pods().fork(key("once"), &by, &ada, named("eve", None)));
    let all: Vec<_> = futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|summary| summary == &all[0]));
    let other = host.pods().fork(key_for("once", 2), &by, &ada, named("dan", None)).await;
    assert_eq!(code(other), ErrorCode::KeyReused);
}
