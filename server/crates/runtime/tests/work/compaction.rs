//! A summary that replaces the beginning of the context.

use protocol::{ControlVerb, ErrorCode, InputCommand, PodState, WorkerId};
use testkit::scripted_model::{Answer, ScriptedModel, Step};

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind},
    stage::{origin, say},
};

const HEADER: &str = "user: [summary of what came before]";

/// A Pod with four completed turns; the first one mentions zebras.
async fn talked(bench: &Bench) -> WorkerId {
    let pod = bench.stage.create("ada").await;
    for text in ["say zebra", "say two", "say three", "say four"] {
        bench.turn(&pod, text).await;
    }
    pod
}

/// A Pod of a scripted model with one completed turn.
async fn scripted(bench: &Bench, model: &ScriptedModel) -> WorkerId {
    let pod = bench.stage.create("ada").await;
    model.push(Answer::say("a long enough answer, so that there is something to be summarised"));
    bench.turn(&pod, "a question").await;
    pod
}

#[tokio::test]
async fn by_hand_the_summary_is_the_new_beginning_and_nothing_is_gone_from_the_transcript() {
    let bench = Bench::new().await;
    let pod = talked(&bench).await;
    let before = bench.stage.records(&pod).await;
    let preview = bench.stage.host.journals().compaction_preview(&pod).await.unwrap().unwrap();
    let messages = bench.history(&pod).await.len();
    assert_eq!((preview.dropped + preview.kept) as usize, messages);
    assert!(preview.tokens_kept < preview.tokens_now);

    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    let records = bench.stage.until(&pod, |records| {
        !of_kind(records, "compacted").is_empty() && crate::bench::last_state(records) == Some(PodState::Idle)
    });
    let records = records.await;
    assert_eq!(records[..before.len()], before);
    let history = bench.history(&pod).await;
    assert_eq!(history.len(), preview.kept as usize + 1);
    assert_eq!(history[0], HEADER);
    assert_eq!(history.last().unwrap(), "assistant: four");
    assert_eq!(last_of(&records, "compacted")["kept_from_seq"], preview.kept_from_seq.0);
    let usage = bench.stage.host.pods().get(&pod).await.unwrap().summary.usage;
    assert!(usage.context_used >= preview.tokens_kept && usage.context_used > 0, "{usage:?}");
    let query = runtime::SearchQuery { words: "zebra".to_owned(), pod: None, after: None, limit: 10 };
    let hits = bench.stage.host.journals().search(&query).await.unwrap().items;
    assert!(hits.iter().any(|hit| hit.kind == "user_message"), "{hits:?}");

    // It continues from there, and a restart reads the same.
    bench.turn(&pod, "say five").await;
    let history = bench.history(&pod).await;
    let bench = bench.restart().await;
    assert_eq!(bench.history(&pod).await, history);
    assert_eq!(history[history.len() - 2..], ["user: say five", "assistant: five"]);
}

#[tokio::test]
async fn a_paused_pod_is_paused_afterwards_and_a_working_one_is_busy() {
    let bench = Bench::new().await;
    let pod = talked(&bench).await;
    bench.send(&pod, "say half\nwait 600\nsay whole").await;
    assert_eq!(code(bench.control(&pod, ControlVerb::Compact).await), ErrorCode::Busy);
    bench.stage.until(&pod, |records| !of_kind(records, "text_chunk").is_empty()).await;
    bench.control(&pod, ControlVerb::Pause).await.unwrap();
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    bench
        .stage
        .until(&pod, |records| {
            !of_kind(records, "compacted").is_empty() && crate::bench::last_state(records) == Some(PodState::Paused)
        })
        .await;
    assert_eq!(bench.history(&pod).await[0], HEADER);
    let (waiting, _) = bench.waiting("bob").await;
    assert_eq!(code(bench.control(&waiting, ControlVerb::Compact).await), ErrorCode::Busy);
    bench.control(&waiting, ControlVerb::Stop).await.unwrap();
    assert_eq!(code(bench.control(&waiting, ControlVerb::Compact).await), ErrorCode::NotLive);
}

#[tokio::test]
async fn when_there_is_nothing_to_drop_it_is_told_and_the_pod_is_back() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    assert_eq!(bench.stage.host.journals().compaction_preview(&pod).await.unwrap(), None);
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    let records = bench.stage.until(&pod, |records| !of_kind(records, "alert").is_empty()).await;
    assert_eq!(last_of(&records, "alert")["source"], "compaction");
    bench.until_state(&pod, PodState::Idle).await;
    assert!(bench.history(&pod).await.is_empty());
    bench.turn(&pod, "say fine").await;
}

#[tokio::test]
async fn a_question_that_waits_on_a_paused_pod_outlives_a_compaction() {
    let bench = Bench::new().await;
    let pod = talked(&bench).await;
    let id = bench.until_asked(&pod, r#"call Bash {"command":"ls"}"#).await;
    bench.control(&pod, ControlVerb::Pause).await.unwrap();
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    bench.stage.until(&pod, |records| !of_kind(records, "compacted").is_empty()).await;
    bench.until_state(&pod, PodState::Paused).await;
    bench.answer(&pod, &id, protocol::Decision::Allow).await.unwrap();
    bench.control(&pod, ControlVerb::Resume).await.unwrap();
    bench.until_runs(&pod, 6).await;
    let history = bench.history(&pod).await;
    assert_eq!(history[0], HEADER);
    assert_eq!(history[history.len() - 3..], ["assistant: ", "tool: ran ls", "assistant: Bash: ran ls"]);
}

#[tokio::test]
async fn a_nearly_full_context_is_compacted_before_the_next_question_to_the_model() {
    let bench = Bench::new().await;
    let pod = talked(&bench).await;
    // 700,000 bytes are 175,000 tokens by the model's own estimate; its context has 200,000.
    let records = bench.turn(&pod, "call Big {}\nsay full").await;
    assert!(of_kind(&records, "compacted").is_empty());
    assert!(bench.stage.host.pods().get(&pod).await.unwrap().summary.usage.context_used > 160_000);
    let records = bench.turn(&pod, "say next").await;
    assert_eq!(of_kind(&records, "compacted").len(), 1);
    let places: Vec<_> = records.iter().rev().map(|record| record.event.kind()).take(7).collect();
    assert_eq!(places, ["status", "run_finished", "usage", "message_finished", "usage", "compacted", "status"]);
    let history = bench.history(&pod).await;
    assert_eq!(history[0], HEADER);
    assert_eq!(history[history.len() - 2..], ["user: say next", "assistant: next"]);
    assert!(bench.stage.host.pods().get(&pod).await.unwrap().summary.usage.context_used < 10_000);
    assert_eq!(of_kind(&bench.turn(&pod, "say on").await, "compacted").len(), 1);
}

#[tokio::test]
async fn a_summary_that_fails_leaves_everything_as_it_was() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = scripted(&bench, &model).await;
    let history = bench.history(&pod).await;
    for answer in [Answer::refuse(400, "{}"), Answer::new().text("half").step(Step::Cut), Answer::new().finish()] {
        let alerts = of_kind(&bench.stage.records(&pod).await, "alert").len();
        model.push(answer);
        bench.control(&pod, ControlVerb::Compact).await.unwrap();
        bench.stage.until(&pod, |records| of_kind(records, "alert").len() > alerts).await;
        bench.until_state(&pod, PodState::Idle).await;
        assert_eq!(bench.history(&pod).await, history);
    }
}

#[tokio::test]
async fn who_pauses_cancels_or_stops_a_compaction_has_the_pod_back_as_it_was() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = scripted(&bench, &model).await;
    let history = bench.history(&pod).await;
    for (round, (verb, state)) in [
        (ControlVerb::Pause, PodState::Idle),
        (ControlVerb::Cancel, PodState::Idle),
        (ControlVerb::Stop, PodState::Stopped),
    ]
    .into_iter()
    .enumerate()
    {
        model.push(Answer::new().text("half").step(Step::Stall));
        bench.control(&pod, ControlVerb::Compact).await.unwrap();
        model.wait_for_requests(round + 2).await;
        let summary = bench.stage.host.pods().get(&pod).await.unwrap().summary;
        assert_eq!((summary.state, summary.activity.as_deref()), (PodState::Running, Some("compacting its context")));
        assert_eq!(code(bench.control(&pod, ControlVerb::Compact).await), ErrorCode::Busy);
        bench.control(&pod, verb).await.unwrap();
        model.wait_for_disconnects(round + 1).await;
        assert_eq!(bench.stage.state(&pod).await, state);
        assert_eq!(bench.history(&pod).await, history);
    }
}

#[tokio::test]
async fn a_message_that_is_queued_meanwhile_begins_when_it_is_done() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = scripted(&bench, &model).await;
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    model.push(Answer::new().step(Step::WaitFor(gate.clone())).text("THE SUMMARY").finish());
    model.push(Answer::say("second"));
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    assert_eq!(code(bench.stage.host.work().input(fresh(), &origin(), &pod, say("x")).await), ErrorCode::Busy);
    let queued = InputCommand { queue: true, ..say("another question") };
    bench.stage.host.work().input(fresh(), &origin(), &pod, queued).await.unwrap();
    gate.notify_one();
    bench.until_runs(&pod, 2).await;
    let history = bench.stage.host.journals().history(&pod).await.unwrap().messages;
    assert!(history[1].content.ends_with("THE SUMMARY"), "{history:?}");
    assert_eq!(history.last().unwrap().content, "second");
}

#[tokio::test]
async fn a_restart_in_the_middle_gives_the_compaction_up() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = scripted(&bench, &model).await;
    let history = bench.history(&pod).await;
    model.push(Answer::new().step(Step::Stall));
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    model.wait_for_requests(2).await;
    let bench = bench.restart().await;
    assert_eq!(bench.stage.state(&pod).await, PodState::Idle);
    assert_eq!(bench.history(&pod).await, history);
    model.push(Answer::say("on"));
    bench.turn(&pod, "go on").await;
}
