//! What holds for every sequence of events.

use pod::{Decision, Failure, Input, ModelPiece, Pod, Reach, ToolOutcome, recover};
use proptest::prelude::*;
use protocol::{Event, PodState, Record, Seq, TurnEvent, Usage};

use crate::{
    journal::*,
    world::{Act, World, any_act},
};

/// Inputs in any order, sensible or not, as no real world would send them.
fn any_input() -> impl Strategy<Value = Input> {
    let call_id = (1_usize..4).prop_map(|block| format!("call-b{block}"));
    let seq = (-1_i64..40).prop_map(Seq);
    let tool = prop_oneof![Just("Bash"), Just("Read"), Just("Rm")];
    prop_oneof![
        2 => Just(submit()),
        1 => Just(steer("and")),
        1 => Just(Input::Pause),
        1 => Just(resume()),
        1 => any::<bool>().prop_map(retry),
        1 => Just(Input::Cancel),
        1 => Just(Input::Stop),
        1 => Just(Input::Restore),
        1 => Just(Input::Compact),
        1 => seq.clone().prop_map(|kept_from| summary("S", kept_from)),
        1 => Just(no_summary()),
        1 => (seq.clone(), seq).prop_map(|(to_seq, expected_head)| {
            Input::Rewind { to_seq, expected_head, context_used: 1 }
        }),
        2 => (0_usize..2, any::<bool>()).prop_map(|(count, wakes)| {
            Input::Mail { events: [peer("psst"), child()].into_iter().take(count).collect(), wakes }
        }),
        1 => tool.clone().prop_map(operator_call),
        1 => Just(Input::Note(vec![protocol::ControlEvent::Alert {
            level: protocol::AlertLevel::Note, source: "test".into(), text: "x".into(), model: None,
        }])),
        6 => "[a-z ]{0,4}".prop_map(|word| text(&word)),
        3 => "[a-z ]{0,4}".prop_map(|word| thought(&word)),
        2 => (0_usize..2).prop_map(|index| Input::Model(ModelPiece::ToolArgs { index, name: "Bash".into(), text: "{".into() })),
        2 => tool.prop_map(call),
        3 => Just(finished()),
        1 => Just(Input::Model(ModelPiece::Limit)),
        1 => Just(Input::Model(ModelPiece::Failed(Failure::new("provider_error", "no")))),
        1 => Just(Input::Model(ModelPiece::Retry { attempt: 1, wait_ms: 1, code: "429".into(), detail: "no".into() })),
        1 => Just(Input::Model(ModelPiece::Usage(Usage { input: 1, cost: Some(protocol::Cost::from_units(5)), ..Usage::default() }))),
        1 => (0_u64..100).prop_map(used),
        1 => call_id.clone().prop_map(|call_id| output(&call_id, "so far")),
        2 => call_id.clone().prop_map(|call_id| Input::ToolFinished { call_id, outcome: ToolOutcome::failed("x", "over") }),
        1 => (call_id, any::<bool>()).prop_map(|(id, allows)| if allows { allow(&id) } else { deny(&id) }),
    ]
}

fn journal_of(inputs: Vec<Input>) -> Journal {
    let mut journal = Journal::default();
    for input in inputs {
        // Refused or accepted: both are fine here.
        let _ = journal.take(input);
    }
    journal
}

proptest! {
    /// Recovery is replay (I3): the fold of the journal, through JSON, is the state, from any checkpoint on.
    #[test]
    fn the_fold_of_the_journal_is_the_state(inputs in prop::collection::vec(any_input(), 0..60), cut in 0_usize..200) {
        let journal = journal_of(inputs);
        let cut = cut.min(journal.records.len());
        let mut checkpoint = Pod::default();
        journal.records[..cut].iter().for_each(|record| checkpoint.apply(record));
        let json = serde_json::to_string(&checkpoint).unwrap();
        let mut replayed: Pod = serde_json::from_str(&json).unwrap();
        for record in &journal.records {
            // The whole journal again: events that were already folded change nothing.
            let record: Record = serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap();
            replayed.apply(&record);
        }
        prop_assert_eq!(&replayed, &journal.pod);
    }

    /// Whatever happened, a Pod is at rest after a crash, and recovering twice is the same as recovering once.
    #[test]
    fn a_crash_anywhere_leaves_a_pod_at_rest(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut journal = journal_of(inputs);
        journal.crash();
        let pod = &journal.pod;
        prop_assert_eq!(recover(pod, |_| None, |_| None), Decision::default());
        prop_assert!(pod.state != PodState::Running);
        prop_assert!(pod.state == PodState::Waiting || pod.open_blocks.is_empty());
        prop_assert!(pod.state != PodState::Idle || (pod.calls.is_empty() && pod.run.is_none()));
        prop_assert!(pod.operator_calls.is_empty());
        let seqs: Vec<_> = journal.records.iter().map(|record| record.seq).collect();
        prop_assert_eq!(seqs, (1..=journal.records.len() as i64).map(Seq).collect::<Vec<_>>());
    }

    /// The context comes from turn events alone, so control events cannot change it, nor can chunks or a person's
    /// calls.
    #[test]
    fn only_what_belongs_to_the_conversation_touches_the_context(inputs in prop::collection::vec(any_input(), 0..60)) {
        let journal = journal_of(inputs);
        let by_person = |event: &TurnEvent| serde_json::to_value(event).unwrap()["by"] == "operator"
            && event.kind() != "user_message";
        let turns: Vec<_> = journal.records.iter().filter_map(|record| match &record.event {
            Event::Turn(event) => Some((record.seq, record.run_id.as_deref(), event)),
            _ => None,
        }).collect();
        let kept = turns.iter().copied().filter(|(_, _, event)| !event.is_chunk() && !by_person(event));
        let context = pod::context(&spec(), &journal.pod.bare_runs, turns.iter().copied());
        prop_assert_eq!(&context, &pod::context(&spec(), &journal.pod.bare_runs, kept));
        prop_assert_eq!(context, journal.context().messages());
    }

    /// Reading from the newest compaction on gives the same messages as reading everything, whatever it kept.
    #[test]
    fn what_is_before_the_reach_of_a_context_does_not_matter(inputs in prop::collection::vec(any_input(), 0..80)) {
        let journal = journal_of(inputs);
        prop_assert_eq!(journal.context_within(Reach::default()).0.messages(), journal.context().messages());
    }

    /// The same events give the same bytes.
    #[test]
    fn the_same_journal_gives_the_same_context(inputs in prop::collection::vec(any_input(), 0..60)) {
        let journal = journal_of(inputs);
        let bytes = || serde_json::to_string(&journal.context().messages()).unwrap();
        prop_assert_eq!(bytes(), bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// In a well-behaved world, every context that a model is sent is a complete conversation, nothing is lost, nothing
    /// hangs, and after a crash a person can continue. `world` has the checks of each step.
    #[test]
    fn a_pod_makes_sense_at_every_step(acts in prop::collection::vec(any_act(), 0..120)) {
        let mut world = World::default();
        for act in &acts {
            world.act(act);
        }
        world.crash();
        world.act(&Act::Submit);
        world.act(&Act::Stop);
        world.use_again();
    }
}

#[test]
fn a_pod_whose_instructions_alone_were_too_long_asks_its_next_question_all_the_same() {
    let mut world = World::default();
    let mail = Act::Mail { peers: 0, children: 1, wakes: true };
    for act in [mail, Act::Arguments(0), Act::Overflow, Act::Summary(true), Act::Overflow] {
        world.act(&act);
    }
    assert!(world.journal.pod.failure.as_deref().unwrap().contains("instructions and tools alone"));
    world.use_again();
}
