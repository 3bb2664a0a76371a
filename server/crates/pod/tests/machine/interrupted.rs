//! What was on the screen when something was interrupted: it stays, is marked, and the model is told of it.

use pod::{Failure, Input, ModelPiece};
use serde_json::{Value, json};

use crate::journal::*;

/// A Pod whose call `call-b1` has written two lines, five seconds after it was made.
fn writing() -> Journal {
    running()
        .all([call("Read"), finished(), mail([child()]), mail([child()]), mail([child()])])
        .all([output("call-b1", "out 1\n"), output("call-b1", "out 2\n")])
}

/// A Pod whose model has begun to call Bash.
fn calling() -> Journal {
    let piece = |text: &str| {
        let (name, text) = ("Bash".to_owned(), text.to_owned());
        Input::Model(ModelPiece::ToolArgs { index: 0, name, text })
    };
    running().all([text("I run it."), piece("{\"command\":"), piece("\"carg")])
}

/// Every way in which a run is interrupted; some need a person to resume it.
fn interruptions() -> Vec<(&'static str, Vec<Input>, Vec<Input>)> {
    let failed = Input::Model(ModelPiece::Failed(Failure::new("provider_error", "no")));
    vec![
        ("cancelled", vec![Input::Cancel], vec![ask("go on")]),
        ("paused", vec![Input::Pause], vec![resume()]),
        ("stopped", vec![Input::Stop], vec![Input::Restore, resume()]),
        ("failed", vec![failed], vec![ask("go on")]),
        ("killed", Vec::new(), vec![resume()]),
    ]
}

fn interrupted(journal: Journal, by: Vec<Input>) -> Journal {
    let is_crash = by.is_empty();
    let mut journal = journal.all(by);
    if is_crash {
        journal.crash();
    }
    journal
}

#[test]
fn what_a_call_wrote_stays_as_its_result_and_the_model_is_told_it() {
    for (how, by, on) in interruptions() {
        if how == "failed" {
            continue;
        }
        let journal = interrupted(writing(), by);
        let finished = journal.last("tool_finished");
        assert_eq!(finished["content"], "out 1\nout 2\n", "{how}");
        let summary = finished["summary"].as_str().unwrap();
        assert!(finished["is_error"] == true && summary.contains("what it wrote until then is kept"), "{how}");
        assert!(finished["duration_ms"].as_u64().unwrap() >= 5_000, "until it wrote last: {how}: {finished}");
        assert!(journal.pod.open_blocks.is_empty(), "{how}");
        let journal = journal.all(on);
        assert!(journal.said().iter().any(|said| said.contains("out 1 / out 2")), "{how}: {:?}", journal.said());
    }
}

#[test]
fn what_a_persons_call_wrote_stays_too() {
    for by in [vec![Input::Stop], Vec::new()] {
        let journal = interrupted(idle().all([operator_call("Bash"), output("call-b2", "half")]), by);
        assert_eq!(journal.last("tool_finished")["content"], "half");
        assert_eq!(journal.last("tool_finished")["by"], "operator");
    }
}

#[test]
fn a_call_that_wrote_nothing_has_no_content() {
    let journal = running().all([call("Read"), finished(), Input::Cancel]);
    assert_eq!(journal.last("tool_finished")["content"], Value::Null);
}

#[test]
fn half_said_arguments_stay_as_a_call_that_was_not_run_and_the_model_is_told_them() {
    for (how, by, on) in interruptions() {
        let journal = interrupted(calling(), by);
        let called = journal.last("tool_called");
        assert_eq!((&called["name"], &called["block"]), (&json!("Bash"), &json!("b2")), "{how}");
        assert_eq!(called["arguments"], json!({ "interrupted": "{\"command\":\"carg" }), "{how}");
        let finished = journal.last("tool_finished");
        assert_eq!((&finished["block"], &finished["is_error"]), (&json!("b2"), &json!(true)), "{how}");
        assert!(finished["summary"].as_str().unwrap().contains("interrupted"), "{how}");
        assert!(journal.pod.calls.is_empty() && journal.pod.open_blocks.is_empty(), "{how}");
        let journal = journal.all(on);
        assert!(journal.said().contains(&"model: I run it. [Bash]".to_owned()), "{how}: {:?}", journal.said());
    }
}

#[test]
fn several_half_said_calls_beside_a_whole_one_are_one_answer() {
    let piece = |index| Input::Model(ModelPiece::ToolArgs { index, name: "Bash".to_owned(), text: "{".to_owned() });
    for (how, by, on) in interruptions() {
        let journal = running().all([call("Read"), piece(1), piece(2)]);
        let said = interrupted(journal, by).all(on).said();
        let calls: Vec<_> = said.iter().filter(|said| said.contains("[")).collect();
        assert_eq!(calls, ["model:  [Read Bash Bash]"], "{how}: {said:?}");
    }
}

#[test]
fn what_is_longer_than_any_result_reaches_the_model_as_its_beginning_and_end() {
    let long = format!("first {} last", "x".repeat(300_000));
    let journal = running().all([call("Read"), finished(), output("call-b1", &long), Input::Cancel]);
    assert_eq!(journal.last("tool_finished")["content"], long, "the record has it whole");
    let said = journal.said();
    let result = said.iter().find(|said| said.starts_with("result: ")).unwrap();
    assert!(result.len() < 200_000 && result.contains("first x") && result.ends_with("x last"), "{}", result.len());
    assert!(result.contains("bytes left out; Read {\"path\":\"output:call-b1\"} shows all"));
}
