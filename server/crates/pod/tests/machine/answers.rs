//! The model's answers, as records.

use pod::{Effect, Failure, Input, ModelPiece, ROUNDS_MAX, ToolOutcome};
use protocol::{PodState, Proof, Usage};
use serde_json::json;

use crate::journal::*;

#[test]
fn an_answer_is_one_block_of_each_kind_in_the_order_it_came() {
    let mut journal = Journal::default();
    assert_eq!(journal.take(submit()).unwrap(), [Effect::CallModel]);
    let usage = Usage { input: 3, output: 2, ..Usage::default() };
    let journal =
        journal.all([thought("hm"), text("a"), text(" b"), Input::Model(ModelPiece::Usage(usage)), finished()]);
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
fn a_piece_of_a_run_that_is_over_changes_nothing() {
    let mut journal = running().all([Input::Cancel]);
    let before = journal.pod.clone();
    for late in [text("late"), call("Bash"), finished(), no_summary(), ended("call-b9", "x"), output("call-b9", "x")] {
        assert_eq!(journal.take(late).unwrap(), []);
    }
    assert_eq!(journal.pod, before);
}

#[test]
fn what_is_said_between_two_calls_stays_one_message_with_them() {
    let journal = running().all([
        text("first"),
        call("Read"),
        thought("hm"),
        text("then"),
        call("Grep"),
        finished(),
        ended("call-b2", "one"),
        ended("call-b5", "two"),
    ]);
    assert_eq!(journal.said(), ["user: hello", "model: first / then [Read Grep]", "result: one", "result: two"]);
    assert_eq!(journal.context().messages()[2].reasoning.as_deref(), Some("hm"));
}

#[test]
fn results_stand_behind_their_calls_in_the_order_in_which_they_came() {
    let journal =
        running().all([call("Read"), call("Grep"), finished(), ended("call-b2", "two"), ended("call-b1", "one")]);
    assert_eq!(journal.said(), ["user: hello", "model:  [Read Grep]", "result: two", "result: one"]);
}

#[test]
fn reasoning_of_an_answer_that_was_cut_is_not_taken_for_that_of_the_next() {
    let journal = running().all([thought("old"), Input::Pause, resume(), text("new"), finished()]);
    assert_eq!(journal.said(), ["user: hello", "model: new"]);
    assert_eq!(journal.context().messages()[2].reasoning, None);
}

#[test]
fn what_a_provider_wants_back_with_a_thought_is_kept_and_given_to_its_model_alone() {
    let proof = |model: &str, data| {
        Input::Model(ModelPiece::Proof(Proof { provider: "rehearsal".into(), model: model.into(), data }))
    };
    let (signed, opaque) = (json!({ "signature": "s" }), json!({ "data": "x" }));
    let journal = running().all([
        thought("hm"),
        proof("rehearsal", signed.clone()),
        // One that only the provider can read, and one of a model that was asked before.
        proof("rehearsal", opaque.clone()),
        proof("other", json!({ "signature": "of another" })),
        call("Read"),
        finished(),
        ended("call-b4", "one"),
    ]);
    let answer = &journal.context().messages()[2];
    let thoughts: Vec<_> = answer.thoughts.iter().map(|thought| (thought.text.as_str(), &thought.data)).collect();
    assert_eq!((thoughts, answer.reasoning.as_deref()), (vec![("hm", &signed), ("", &opaque)], Some("hm")));
    assert_eq!(journal.said(), ["user: hello", "model:  [Read]", "result: one"]);
    assert!(journal.pod.open_blocks.is_empty());
}

#[test]
fn the_same_call_that_fails_in_three_answers_ends_the_run() {
    let fails = |id: &str| Input::ToolFinished { call_id: id.to_owned(), outcome: ToolOutcome::failed("x", "no") };
    let mut journal = running();
    // Twice in one answer counts once: the model has not seen the result.
    journal = journal.all([call("Read"), call("Read"), finished(), fails("call-b1"), fails("call-b2")]);
    journal = journal.all([call("Read"), finished(), fails("call-b3")]);
    assert!(journal.pod.run.is_some());
    let went_well = journal.clone().all([call("Read"), finished(), ended("call-b4", "yes")]);
    let went_well = went_well.all([call("Read"), finished(), fails("call-b5")]);
    assert!(went_well.pod.run.is_some(), "it is counted anew after it went well");
    let journal = journal.all([call("Read"), finished(), fails("call-b4")]);
    let finished = journal.last("run_finished");
    assert_eq!((&finished["outcome"], &finished["code"]), (&json!("limit"), &json!("failing")));
    assert!(finished["detail"].as_str().unwrap().contains("the same call of Read failed 3 times"), "{finished}");
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn an_answer_of_nothing_takes_the_message_back() {
    let mut journal = idle();
    let before = journal.said();
    journal.take(ask("anybody there?")).unwrap();
    let input_seq = journal.seq_of("user_message");
    let journal = journal.all([used(5), finished()]);
    assert_eq!(journal.said(), before);
    assert_eq!(journal.kinds_after(input_seq), ["status", "usage", "rewound", "run_finished", "status"]);
    let finished = journal.last("run_finished");
    assert_eq!((&finished["outcome"], &finished["code"]), (&json!("rolled_back"), &json!("empty")));
    assert_eq!(journal.pod.state, PodState::Idle);
    assert!(!journal.pod.resumable && journal.pod.failure.is_none());
}

#[test]
fn an_answer_is_not_nothing_once_there_is_reasoning_or_a_call() {
    let reasoned = running().all([thought("hm"), finished()]);
    let called = running().all([call("Read"), finished(), ended("call-b1", "x"), finished()]);
    let denied = running().all([call("Rm"), finished(), finished()]);
    for journal in [reasoned, called, denied] {
        assert_eq!(journal.last("run_finished")["outcome"], "completed");
        assert_eq!(journal.said()[0], "user: hello");
    }
}

#[test]
fn a_run_without_a_message_of_a_person_takes_nothing_back() {
    for journal in [paused().all([resume(), finished()]), Journal::default().all([mail([peer("psst")]), finished()])] {
        assert_eq!(journal.last("run_finished")["outcome"], "completed");
        assert_eq!(journal.said().len(), 1);
    }
}

#[test]
fn an_answer_of_nothing_takes_no_mail_away_that_came_in_meanwhile() {
    let mut journal = running().all([mail([peer("psst")])]);
    assert_eq!(journal.take(finished()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.said(), ["user: hello", "user: [peer message from bob] / psst"]);
    assert_eq!(journal.last("run_started")["trigger"], "peer");
}

#[test]
fn a_limit_and_a_failure_close_the_calls_that_did_not_run() {
    let failed = Input::Model(ModelPiece::Failed(Failure::new("provider_error", "no")));
    for (piece, outcome, code) in [(Input::Model(ModelPiece::Limit), "limit", "limit"), (failed, "error", "cancelled")]
    {
        let journal = running().all([text("so"), call("Read"), piece]);
        assert_eq!(journal.last("tool_finished")["code"], code);
        assert_eq!(journal.last("run_finished")["outcome"], outcome);
        assert_eq!(journal.pod.state, PodState::Idle);
        assert!(journal.pod.calls.is_empty());
        assert_eq!(journal.pod.needs_you(), outcome == "error");
    }
}

#[test]
fn a_model_that_calls_tools_for_ever_is_stopped_and_can_be_sent_on() {
    let mut journal = running();
    for round in 1..ROUNDS_MAX {
        journal = journal.all([call("Read"), finished()]);
        let call_id = journal.last_call();
        let effects = journal.take(Input::ToolFinished { call_id, outcome: ToolOutcome::done("ok") }).unwrap();
        assert_eq!(effects, [Effect::CallModel], "round {round}");
    }
    journal = journal.all([call("Read"), finished()]);
    let call_id = journal.last_call();
    let end = Input::ToolFinished { call_id, outcome: ToolOutcome::done("ok") };
    assert_eq!(journal.take(end).unwrap(), []);
    let last = journal.last("run_finished");
    assert_eq!((last["outcome"].as_str(), last["code"].as_str()), (Some("limit"), Some("rounds")));
    assert_eq!(journal.pod.state, PodState::Idle);
    assert_eq!(journal.take(ask("go on")).unwrap(), [Effect::CallModel]);
}

#[test]
fn a_persons_call_runs_beside_everything_and_is_no_part_of_the_conversation() {
    let states = [Journal::default(), running(), paused(), waiting()];
    for mut journal in states {
        let (before, state) = (journal.said(), journal.pod.state);
        let effects = journal.take(operator_call("Bash")).unwrap();
        let call_id = journal.last_call();
        assert!(matches!(&effects[..], [Effect::RunTool { by: protocol::ToolBy::Operator, .. }]), "{effects:?}");
        let outcome = ToolOutcome::done("ok").with_content("secret");
        let end = Input::ToolFinished { call_id: call_id.clone(), outcome };
        let journal = journal.all([output(&call_id, "so far"), end]);
        assert_eq!((journal.said(), journal.pod.state), (before, state));
        assert_eq!(journal.last("tool_finished")["by"], "operator");
        for kind in ["tool_called", "tool_output_chunk", "tool_finished"] {
            assert_eq!(journal.last_record(kind).run_id, None);
        }
        assert!(journal.pod.operator_calls.is_empty());
    }
    assert_eq!(stopped().take(operator_call("Bash")).unwrap_err(), pod::Refusal::NotLive);
    let mut denied = Journal::default();
    assert_eq!(denied.take(operator_call("Rm")).unwrap(), []);
    assert_eq!(denied.last("tool_finished")["code"], "permission_denied");
}

#[test]
fn only_a_stop_ends_what_a_person_runs() {
    let journal = running().all([operator_call("Bash"), Input::Pause, resume(), Input::Cancel]);
    assert_eq!(journal.pod.operator_calls.len(), 1);
    let mut journal = journal;
    assert_eq!(journal.take(Input::Stop).unwrap(), [Effect::AbortOperatorCalls, Effect::EndCommands]);
    assert_eq!(journal.last("tool_finished")["code"], "cancelled");
    assert!(journal.pod.operator_calls.is_empty());
}

#[test]
fn what_a_provider_does_not_know_is_told_once_in_each_pod() {
    let alert = |text: &str| Input::Model(ModelPiece::Alert(text.to_owned()));
    let mut journal = running().all([alert("no tools"), text("a"), finished(), submit(), alert("no tools"), text("b")]);
    journal.crash();
    let journal = journal.all([resume(), alert("no tools"), alert("no streams"), text("c"), finished()]);
    let kinds = journal.kinds();
    assert_eq!(kinds.iter().filter(|kind| **kind == "alert").count(), 2, "{kinds:?}");
    let alert = journal.last("alert");
    assert_eq!(
        (&alert["level"], &alert["source"], &alert["text"]),
        (&json!("warn"), &json!("provider"), &json!("no streams"))
    );
}

#[test]
fn what_a_provider_wants_back_with_words_stays_with_them() {
    let of_words = |phase: &str| {
        let data = json!({ "type": "message", "phase": phase });
        Input::Model(ModelPiece::Proof(Proof { provider: "rehearsal".into(), model: "rehearsal".into(), data }))
    };
    let journal = running().all([
        text("I look."),
        of_words("commentary"),
        call("Read"),
        finished(),
        ended("call-b3", "one"),
        text("Done."),
        of_words("final_answer"),
        finished(),
    ]);
    assert_eq!(journal.said(), ["user: hello", "model: I look. [Read]", "result: one", "model: Done."]);
    let messages = journal.context().messages();
    let phases: Vec<_> =
        messages.iter().flat_map(|message| &message.thoughts).map(|thought| &thought.data["phase"]).collect();
    assert_eq!(phases, ["commentary", "final_answer"]);
}

#[test]
fn an_estimate_leaves_the_models_context_as_it_is_known() {
    let estimate =
        Usage { input: 30, output: 2, context_used: 32, context_limit: 4_096, estimated: true, ..Usage::default() };
    let journal = running().all([text("a"), Input::Model(ModelPiece::Usage(estimate)), finished()]);
    let told = journal.last("usage");
    assert_eq!((&told["context_limit"], &told["estimated"]), (&json!(4_096), &json!(true)));
    assert_eq!((journal.pod.usage.context_limit, journal.pod.usage.estimated), (4_096, true));
}
