//! The turn machine from outside: inputs in, events out, and the fold of them.

#![allow(clippy::unwrap_used)]

use pod::{Decision, Effect, Input, ModelPiece, Pod, PodSpec, Refusal, ToolOutcome, decide, recover};
use proptest::prelude::*;
use protocol::{CommandId, Event, PodState, Record, Segment, Seq, Usage};
use serde_json::json;

fn spec() -> PodSpec {
    serde_json::from_value(json!({
        "provider": "rehearsal", "model": "rehearsal", "cwd": "/", "scope": [], "wake_on_peer": true,
        "permissions": [{ "tool": "Rm", "decision": "deny" }]
    }))
    .unwrap()
}

fn submit() -> Input {
    Input::Submit {
        command_id: CommandId::parse("k1").unwrap(),
        segments: vec![Segment::text("hello")],
        by: "operator".to_owned(),
    }
}

/// A Pod and the journal that made it.
#[derive(Default)]
struct Journal {
    pod: Pod,
    records: Vec<Record>,
}

impl Journal {
    fn take(&mut self, input: Input) -> Result<Vec<Effect>, Refusal> {
        let decision = decide(&self.pod, &spec(), input)?;
        Ok(self.write(decision))
    }

    fn write(&mut self, decision: Decision) -> Vec<Effect> {
        for step in decision.steps {
            let seq = self.pod.head.next();
            self.pod.evolve(seq, &step.event);
            let at = "2026-01-01T00:00:00Z".parse().unwrap();
            self.records.push(Record { seq, at, run_id: step.run_id, event: step.event });
        }
        decision.effects
    }

    fn kinds(&self) -> Vec<&str> {
        self.records.iter().map(|record| record.event.kind()).collect()
    }

    fn last(&self, kind: &str) -> serde_json::Value {
        let record = self.records.iter().rev().find(|record| record.event.kind() == kind).unwrap();
        serde_json::to_value(&record.event).unwrap()
    }
}

fn text(text: &str) -> Input {
    Input::Model(ModelPiece::Text(text.to_owned()))
}

fn call(name: &str) -> Input {
    Input::Model(ModelPiece::ToolCall { index: 0, name: name.to_owned(), arguments: json!({}) })
}

fn finished() -> Input {
    Input::Model(ModelPiece::Finished)
}

#[test]
fn an_answer_is_one_block_of_each_kind_in_the_order_it_came() {
    let mut journal = Journal::default();
    assert_eq!(journal.take(submit()).unwrap(), [Effect::CallModel]);
    journal.take(Input::Model(ModelPiece::Reasoning("hm".into()))).unwrap();
    journal.take(text("a")).unwrap();
    journal.take(text(" b")).unwrap();
    journal.take(Input::Model(ModelPiece::Usage(Usage { input: 3, output: 2, ..Usage::default() }))).unwrap();
    journal.take(finished()).unwrap();
    assert_eq!(
        journal.kinds(),
        [
            "run_started",
            "user_message",
            "status",
            "reasoning_chunk",
            "reasoning_finished",
            "text_chunk",
            "text_chunk",
            "message_finished",
            "usage",
            "run_finished",
            "status"
        ]
    );
    assert_eq!(
        journal.last("message_finished"),
        json!({"kind":"message_finished","block":"b2","text":"a b","interrupted":false})
    );
    assert_eq!(journal.last("run_finished")["usage"]["input"], 3);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn every_command_is_taken_or_refused_by_state() {
    type Make = fn() -> Journal;
    let states: [(&str, Make); 5] = [
        ("idle", Journal::default),
        ("running", || {
            let mut journal = Journal::default();
            journal.take(submit()).unwrap();
            journal
        }),
        ("paused", || {
            let mut journal = Journal::default();
            journal.take(submit()).unwrap();
            journal.take(Input::Pause).unwrap();
            journal
        }),
        ("waiting", waiting),
        ("stopped", || {
            let mut journal = Journal::default();
            journal.take(Input::Stop).unwrap();
            journal
        }),
    ];
    let outcome = |make: Make, input: Input| {
        let mut journal = make();
        match journal.take(input) {
            Ok(_) => journal.pod.state.as_str().to_owned(),
            Err(refusal) => refusal.code().as_str().to_owned(),
        }
    };
    let table: Vec<_> = states
        .into_iter()
        .map(|(name, make)| {
            let row = [
                submit(),
                Input::Pause,
                Input::Resume { command_id: None },
                Input::Cancel,
                Input::Stop,
                Input::Restore,
            ]
            .map(|input| outcome(make, input));
            (name, row.map(|cell| cell.to_owned()))
        })
        .collect();
    let expected = [
        ("idle", ["running", "not_running", "not_paused", "not_running", "stopped", "idle"]),
        ("running", ["busy", "paused", "not_paused", "idle", "stopped", "running"]),
        ("paused", ["running", "paused", "running", "idle", "stopped", "paused"]),
        ("waiting", ["busy", "paused", "not_paused", "idle", "stopped", "waiting"]),
        ("stopped", ["not_live", "not_live", "not_live", "not_live", "stopped", "idle"]),
    ];
    assert_eq!(table, expected.map(|(name, row)| (name, row.map(str::to_owned))));
}

fn waiting() -> Journal {
    let mut journal = Journal::default();
    journal.take(submit()).unwrap();
    journal.take(call("Bash")).unwrap();
    journal.take(finished()).unwrap();
    assert_eq!(journal.pod.state, PodState::Waiting);
    journal
}

#[test]
fn an_open_question_survives_a_crash_and_an_answer_goes_on() {
    let mut journal = waiting();
    assert_eq!(recover(&journal.pod), Decision::default());
    let id = journal.pod.approvals[0].id.clone();
    let answer = |decision| Input::Answer { id: id.clone(), decision, by: "operator".into(), reason: None };
    let effects = journal.take(answer(protocol::Decision::Allow)).unwrap();
    assert!(matches!(&effects[..], [Effect::RunTool { name, .. }] if name == "Bash"));
    assert_eq!(journal.take(answer(protocol::Decision::Deny)).unwrap_err(), Refusal::AlreadyAnswered);
    assert_eq!(journal.pod.state, PodState::Running);
    let outcome = ToolOutcome { is_error: false, code: None, ..ToolOutcome::failed("", "done") };
    let call_id = journal.pod.calls[0].call_id.clone();
    assert_eq!(journal.take(Input::ToolFinished { call_id, outcome }).unwrap(), [Effect::CallModel]);
}

#[test]
fn stop_while_waiting_voids_the_question() {
    let mut journal = waiting();
    let id = journal.pod.approvals[0].id.clone();
    journal.take(Input::Stop).unwrap();
    let late = Input::Answer { id, decision: protocol::Decision::Allow, by: "operator".into(), reason: None };
    assert_eq!(journal.take(late).unwrap_err(), Refusal::AlreadyAnswered);
    journal.take(Input::Restore).unwrap();
    assert_eq!(journal.pod.state, PodState::Paused);
}

#[test]
fn a_denied_call_is_answered_and_the_model_is_asked_again() {
    let mut journal = Journal::default();
    journal.take(submit()).unwrap();
    journal.take(call("Rm")).unwrap();
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.last("tool_finished")["code"], "permission_denied");
}

#[test]
fn a_crash_closes_the_block_with_its_text_and_pauses() {
    let mut journal = Journal::default();
    journal.take(submit()).unwrap();
    journal.take(text("half an")).unwrap();
    let run_id = journal.pod.run_id();
    let decision = recover(&journal.pod);
    journal.write(decision);
    let closed = &journal.records[journal.records.len() - 3..];
    assert_eq!(
        closed.iter().map(|record| record.event.kind()).collect::<Vec<_>>(),
        ["message_finished", "run_finished", "status"]
    );
    assert!(closed.iter().all(|record| record.run_id == run_id));
    assert_eq!(journal.last("message_finished")["interrupted"], true);
    assert_eq!(journal.last("run_finished")["outcome"], "interrupted");
    assert_eq!(journal.pod.state, PodState::Paused);
    assert_eq!(recover(&journal.pod), Decision::default());
    let effects = journal.take(Input::Resume { command_id: None }).unwrap();
    assert_eq!(effects, [Effect::CallModel]);
}

#[test]
fn a_piece_of_a_run_that_is_over_changes_nothing() {
    let mut journal = Journal::default();
    journal.take(submit()).unwrap();
    journal.take(Input::Cancel).unwrap();
    let before = journal.pod.clone();
    for late in [text("late"), call("Bash"), finished()] {
        assert_eq!(journal.take(late).unwrap(), []);
    }
    let ended = Input::ToolFinished { call_id: "call-b9".into(), outcome: ToolOutcome::failed("x", "y") };
    journal.take(ended).unwrap();
    assert_eq!(journal.pod, before);
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        2 => Just(submit()),
        1 => Just(Input::Pause),
        1 => Just(Input::Resume { command_id: None }),
        1 => Just(Input::Cancel),
        1 => Just(Input::Stop),
        1 => Just(Input::Restore),
        6 => "[a-z ]{0,4}".prop_map(|word| text(&word)),
        3 => "[a-z ]{0,4}".prop_map(|word| Input::Model(ModelPiece::Reasoning(word))),
        2 => (0_usize..2).prop_map(|index| Input::Model(ModelPiece::ToolArgs { index, text: "{".into() })),
        2 => prop_oneof![Just("Bash"), Just("Read"), Just("Rm")].prop_map(call),
        3 => Just(finished()),
        1 => Just(Input::Model(ModelPiece::Limit)),
        1 => Just(Input::Model(ModelPiece::Failed { code: "provider_error".into(), detail: "no".into() })),
        1 => Just(Input::Model(ModelPiece::Usage(Usage { input: 1, ..Usage::default() }))),
        2 => (1_usize..4).prop_map(|block| Input::ToolFinished {
            call_id: format!("call-b{block}"),
            outcome: ToolOutcome::failed("x", "over"),
        }),
        1 => (1_usize..4).prop_map(|block| Input::Answer {
            id: format!("call-b{block}"),
            decision: protocol::Decision::Allow,
            by: "operator".into(),
            reason: None,
        }),
    ]
}

proptest! {
    /// Recovery is replay (I3): the fold of the journal, through JSON, is the state, from any checkpoint on.
    #[test]
    fn the_fold_of_the_journal_is_the_state(inputs in prop::collection::vec(any_input(), 0..60), cut in 0_usize..200) {
        let mut journal = Journal::default();
        for input in inputs {
            let _ = journal.take(input);
        }
        let cut = cut.min(journal.records.len());
        let mut checkpoint = Pod::default();
        journal.records[..cut].iter().for_each(|record| checkpoint.apply(record));
        let json = serde_json::to_string(&checkpoint).unwrap();
        let mut replayed: Pod = serde_json::from_str(&json).unwrap();
        for record in &journal.records {
            // The whole journal again: what is folded in already changes nothing.
            let record: Record = serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap();
            replayed.apply(&record);
        }
        prop_assert_eq!(&replayed, &journal.pod);
    }

    /// Whatever happened, a crash leaves a Pod that can be used, and recovering twice is recovering once.
    #[test]
    fn a_crash_anywhere_leaves_a_pod_that_can_be_used(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut journal = Journal::default();
        for input in inputs {
            let _ = journal.take(input);
        }
        let decision = recover(&journal.pod);
        journal.write(decision);
        prop_assert_eq!(recover(&journal.pod), Decision::default());
        prop_assert!(journal.pod.state != PodState::Running);
        prop_assert!(journal.pod.state == PodState::Waiting || journal.pod.open_blocks.is_empty());
        // No model is ever sent a call without a result, but for the one that waits for an answer.
        if journal.pod.approvals.is_empty() && journal.pod.state == PodState::Idle {
            prop_assert!(journal.pod.calls.is_empty());
        }
        let seqs: Vec<_> = journal.records.iter().map(|record| record.seq).collect();
        prop_assert_eq!(seqs, (1..=journal.records.len() as i64).map(Seq).collect::<Vec<_>>());
    }

    /// The context comes from turn events alone, so control events cannot touch it.
    #[test]
    fn control_events_cannot_touch_the_context(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut journal = Journal::default();
        for input in inputs {
            let _ = journal.take(input);
        }
        let turns = |records: &[Record]| -> Vec<(Seq, protocol::TurnEvent)> {
            records.iter().filter_map(|record| match &record.event {
                Event::Turn(event) => Some((record.seq, event.clone())),
                _ => None,
            }).collect()
        };
        let all = turns(&journal.records);
        let context = pod::context(&spec(), all.iter().map(|(seq, event)| (*seq, Some("run-1"), event)));
        let finished: Vec<_> = all.iter().filter(|(_, event)| !event.is_chunk()).cloned().collect();
        let folded = pod::context(&spec(), finished.iter().map(|(seq, event)| (*seq, Some("run-1"), event)));
        prop_assert_eq!(context, folded);
    }
}
