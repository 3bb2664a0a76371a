//! Conversations of any length: no receipt waits for them, and after a compaction only what it kept is read.

use std::sync::Mutex;

use pod_store::{Faults, Step, StoreError};
use protocol::{ControlVerb, Event, ImportCommand, PodName, PodState, Record, Seq, TurnEvent, WorkerId};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel};
use tokio::sync::watch;

use crate::{
    bench::{Bench, fresh, of_kind},
    stage::origin,
};

/// A store that reads conversations only while the gate is open, and records where each read begins.
#[derive(Debug)]
struct Gate {
    is_open: watch::Sender<bool>,
    pages: Mutex<Vec<Seq>>,
}

impl Gate {
    fn new() -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self { is_open: watch::Sender::new(true), pages: Mutex::default() })
    }

    fn close(&self) {
        self.is_open.send_replace(false);
        self.pages.lock().unwrap().clear();
    }

    fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// The seqs before which pages were read since it was last closed.
    fn pages(&self) -> Vec<Seq> {
        self.pages.lock().unwrap().clone()
    }

    async fn until_it_is_knocked_at(&self) {
        testkit::until_so("a page is read", async || !self.pages().is_empty()).await;
    }
}

#[async_trait::async_trait]
impl Faults for Gate {
    fn before(&self, _: Step) -> Result<(), StoreError> {
        Ok(())
    }

    async fn before_turns(&self, before: Seq) {
        self.pages.lock().unwrap().push(before);
        self.is_open.subscribe().wait_for(|is_open| *is_open).await.unwrap();
    }
}

/// This many questions with their answers.
fn turns(count: i64) -> String {
    let events = |run: i64| {
        let segments = json!([{ "type": "text", "text": format!("question {run}") }]);
        let usage = json!({ "input": 1, "cached": 0, "output": 1, "context_used": 2, "context_limit": 0 });
        let (asked, text, block) = (format!("c{run}"), format!("answer {run}"), format!("b{run}"));
        [
            json!({ "kind": "run_started", "trigger": "input" }),
            json!({ "kind": "user_message", "command_id": asked, "by": "operator", "segments": segments }),
            json!({ "kind": "status", "state": "running" }),
            json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": false }),
            json!({ "kind": "run_finished", "outcome": "completed", "usage": usage }),
            json!({ "kind": "status", "state": "idle" }),
        ]
    };
    let events = (1..=count).flat_map(|run| events(run).map(|event| (format!("run-{run}"), event)));
    let record = |(seq, (run_id, event)): (i64, (String, Value))| {
        json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "run_id": run_id, "event": event }).to_string() + "\n"
    };
    (1..).zip(events).map(record).collect()
}

/// A Pod of the scripted model with this many completed turns.
async fn talked(bench: &Bench, count: i64) -> WorkerId {
    let name = PodName::parse("ada").unwrap();
    let command = ImportCommand::of(name, turns(count));
    let pod = bench.stage.host.pods().import(fresh(), &origin(), command).await.unwrap().pod.worker_id;
    bench.control(&pod, ControlVerb::Restore).await.unwrap();
    pod
}

fn messages_of(model: &ScriptedModel, request: usize) -> Vec<String> {
    let body = &model.requests()[request].body;
    let messages = body["messages"].as_array().unwrap();
    messages[1..].iter().map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_receipt_comes_before_the_conversation_is_read() {
    let (model, gate) = (ScriptedModel::start().await, Gate::new());
    let bench = Bench::on_with(&model, gate.clone()).await;
    let pod = talked(&bench, 3).await;
    gate.close();
    // These return with the receipt.
    bench.send(&pod, "question 4").await;
    gate.until_it_is_knocked_at().await;
    let records = bench.stage.records(&pod).await;
    assert_eq!(of_kind(&records, "user_message").len(), 4);
    assert_eq!(bench.stage.state(&pod).await, PodState::Running);
    assert_eq!(model.requests().len(), 0);

    model.push(Answer::say("answer 4"));
    gate.open();
    bench.until_runs(&pod, 4).await;
    let told = messages_of(&model, 0);
    assert_eq!(told, ["question 1", "answer 1", "question 2", "answer 2", "question 3", "answer 3", "question 4"]);
}

#[tokio::test]
async fn a_run_is_cancelled_while_its_conversation_is_read() {
    let (model, gate) = (ScriptedModel::start().await, Gate::new());
    let bench = Bench::on_with(&model, gate.clone()).await;
    let pod = talked(&bench, 1).await;
    gate.close();
    bench.send(&pod, "question 2").await;
    gate.until_it_is_knocked_at().await;
    bench.control(&pod, ControlVerb::Cancel).await.unwrap();
    assert_eq!(bench.stage.state(&pod).await, PodState::Idle);
    gate.open();
    model.push(Answer::say("answer 3"));
    bench.turn(&pod, "question 3").await;
    assert_eq!(model.requests().len(), 1, "what was cancelled was never asked");
    assert_eq!(messages_of(&model, 0), ["question 1", "answer 1", "question 2", "question 3"]);
}

#[tokio::test]
async fn what_is_sent_while_a_conversation_is_read_waits_for_its_turn() {
    let (model, gate) = (ScriptedModel::start().await, Gate::new());
    let bench = Bench::on_with(&model, gate.clone()).await;
    let pod = talked(&bench, 1).await;
    gate.close();
    bench.send(&pod, "question 2").await;
    gate.until_it_is_knocked_at().await;
    let queued = protocol::InputCommand { queue: true, ..crate::stage::say("question 3") };
    bench.stage.host.work().input(fresh(), &origin(), &pod, queued).await.unwrap();
    model.push(Answer::say("answer 2"));
    model.push(Answer::say("answer 3"));
    gate.open();
    bench.until_runs(&pod, 3).await;
    assert_eq!(messages_of(&model, 0), ["question 1", "answer 1", "question 2"]);
    assert_eq!(messages_of(&model, 1), ["question 1", "answer 1", "question 2", "answer 2", "question 3"]);
}

#[tokio::test]
async fn after_a_compaction_nothing_before_what_it_kept_is_read() {
    let (model, gate) = (ScriptedModel::start().await, Gate::new());
    let bench = Bench::on_with(&model, gate.clone()).await;
    let pod = talked(&bench, 4_000).await;
    model.push(Answer::say("THE SUMMARY"));
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    bench.stage.until(&pod, |records| !of_kind(records, "compacted").is_empty()).await;
    bench.until_state(&pod, PodState::Idle).await;
    let whole = bench.history(&pod).await;
    let kept_from = kept_from(&bench.stage.records(&pod).await);

    gate.close();
    gate.open();
    model.push(Answer::say("answer"));
    bench.send(&pod, "question").await;
    let is_answered = |records: &[Record]| serde_json::to_string(records).unwrap().contains("\"answer\"");
    bench.stage.until(&pod, is_answered).await;
    let pages = gate.pages();
    let kept = whole.len() - 1;
    assert!(pages.len() <= kept / 512 + 2, "{} pages for {kept} messages that were kept", pages.len());
    assert!(pages.iter().all(|before| *before > kept_from), "{pages:?}, and it is kept from {kept_from}");
    let told = messages_of(&model, 1);
    assert_eq!(told.len(), whole.len() + 1);
    assert!(told[0].ends_with("THE SUMMARY"), "{}", told[0]);
    assert_eq!(told[told.len() - 2..], ["answer 4000", "question"]);
}

fn kept_from(records: &[Record]) -> Seq {
    let kept_from = records.iter().find_map(|record| match &record.event {
        Event::Turn(TurnEvent::Compacted { kept_from_seq, .. }) => Some(*kept_from_seq),
        _ => None,
    });
    kept_from.unwrap()
}
