//! Removing the end of a conversation from the context.

use futures_util::StreamExt;
use protocol::{ControlVerb, ErrorCode, PodState, Receipt, RewindCommand, Seq, WorkerId};
use runtime::FeedItem;
use testkit::scripted_model::{Answer, ScriptedModel};

use crate::{
    bench::{Bench, code, fresh, last_of},
    stage::{key, origin, read_all},
};

impl Bench {
    async fn head(&self, pod: &WorkerId) -> Seq {
        self.stage.host.pods().get(pod).await.unwrap().summary.head_seq
    }

    async fn rewind(&self, pod: &WorkerId, to_seq: Seq) -> Result<Receipt, protocol::ApiError> {
        let command = RewindCommand::context(to_seq, self.head(pod).await);
        self.stage.host.work().rewind(fresh(), &origin(), pod, command).await
    }
}

#[tokio::test]
async fn what_came_after_is_out_of_the_history_and_stays_in_the_transcript() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.turn(&pod, "say one").await;
    let to = bench.head(&pod).await;
    bench.turn(&pod, "say two").await;
    let before = bench.stage.records(&pod).await;
    let used = bench.stage.host.pods().get(&pod).await.unwrap().summary.usage.context_used;
    let Some(FeedItem::Snapshot { cursor, .. }) = bench.stage.host.journals().observe(&pod, None, 1).await.next().await
    else {
        panic!("a snapshot comes first")
    };

    let receipt = bench.rewind(&pod, to).await.unwrap();
    assert_eq!(bench.history(&pod).await, ["user: say one", "assistant: one"]);
    let records = bench.stage.records(&pod).await;
    assert_eq!(records[..before.len()], before);
    let rewound = records.iter().find(|record| record.event.kind() == "rewound").unwrap();
    assert_eq!(rewound.seq, receipt.seq);
    assert!(bench.head(&pod).await > before.last().unwrap().seq, "the head never goes back");
    let usage = bench.stage.host.pods().get(&pod).await.unwrap().summary.usage;
    assert!(usage.context_used > 0 && usage.context_used < used + 50, "{usage:?}");
    // A cursor continues across it.
    let mut viewer = bench.stage.host.journals().observe(&pod, Some(cursor), 200).await;
    let Some(FeedItem::Records { records, .. }) = viewer.next().await else { panic!("only what is newer") };
    assert_eq!(read_all(&records)[0].event.kind(), "rewound");

    let records = bench.turn(&pod, "say three").await;
    assert_eq!(last_of(&records, "message_finished")["text"], "three");
    let history = bench.history(&pod).await;
    assert_eq!(history, ["user: say one", "assistant: one", "user: say three", "assistant: three"]);
    let bench = bench.restart().await;
    assert_eq!(bench.history(&pod).await, history);
}

#[tokio::test]
async fn a_caller_that_has_not_seen_the_newest_record_is_told_to_look_again() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.turn(&pod, "say one").await;
    let head = bench.head(&pod).await;
    let before = bench.stage.records(&pod).await;
    let rewind = async |name: &str, to_seq: Seq, expected_head: Seq| {
        let command = RewindCommand::context(to_seq, expected_head);
        bench.stage.host.work().rewind(key(name), &origin(), &pod, command).await
    };
    assert_eq!(code(rewind("a", Seq(1), Seq(head.0 - 1)).await), ErrorCode::HeadMoved);
    assert_eq!(code(rewind("b", Seq(0), head).await), ErrorCode::InvalidInput);
    assert_eq!(code(rewind("c", head.next(), head).await), ErrorCode::InvalidInput);
    assert_eq!(bench.stage.records(&pod).await, before);
    // Of two at once, one has seen the head.
    let (one, other) = tokio::join!(rewind("d", Seq(1), head), rewind("e", Seq(1), head));
    assert_eq!([&one, &other].iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(code(if one.is_err() { one } else { other }), ErrorCode::HeadMoved);
    assert!(bench.history(&pod).await.is_empty());
}

#[tokio::test]
async fn a_repeat_gives_the_first_receipt() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.turn(&pod, "say one").await;
    let command = RewindCommand::context(Seq(1), bench.head(&pod).await);
    let first = bench.stage.host.work().rewind(key("r1"), &origin(), &pod, command).await.unwrap();
    let head = bench.head(&pod).await;
    assert_eq!(bench.stage.host.work().rewind(key("r1"), &origin(), &pod, command).await.unwrap(), first);
    assert_eq!(bench.head(&pod).await, head);
}

#[tokio::test]
async fn a_working_pod_is_busy_a_stopped_one_is_not_live_and_a_paused_one_is_idle_afterwards() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "wait 600").await;
    let head = bench.head(&pod).await;
    assert_eq!(code(bench.rewind(&pod, head).await), ErrorCode::Busy);
    bench.control(&pod, ControlVerb::Pause).await.unwrap();
    bench.rewind(&pod, Seq(1)).await.unwrap();
    assert_eq!(bench.stage.state(&pod).await, PodState::Idle);
    bench.control(&pod, ControlVerb::Stop).await.unwrap();
    assert_eq!(code(bench.rewind(&pod, Seq(1)).await), ErrorCode::NotLive);
    let (waiting, _) = bench.waiting("bob").await;
    assert_eq!(code(bench.rewind(&waiting, Seq(1)).await), ErrorCode::Busy);
}

#[tokio::test]
async fn before_a_compaction_what_it_dropped_is_back() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    for text in ["say one", "say two", "say three"] {
        bench.turn(&pod, text).await;
    }
    let (to, whole) = (bench.head(&pod).await, bench.history(&pod).await);
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    bench.stage.until(&pod, |records| records.iter().any(|record| record.event.kind() == "compacted")).await;
    bench.until_state(&pod, PodState::Idle).await;
    bench.turn(&pod, "say four").await;
    assert_eq!(bench.history(&pod).await[0], "user: [summary of what came before]");
    bench.rewind(&pod, to).await.unwrap();
    assert_eq!(bench.history(&pod).await, whole);
}

#[tokio::test]
async fn into_the_middle_of_a_turn_no_call_is_left_without_its_result() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let records = bench.turn(&pod, "call Note {\"name\":\"a\"}\ncall Note {\"name\":\"b\"}\nsay done").await;
    let seqs: Vec<_> =
        records.iter().filter(|record| record.event.kind().starts_with("tool_")).map(|one| one.seq).collect();
    let expected: [&[&str]; 4] =
        [&[], &[], &["assistant: ", "tool: noted a"], &["assistant: ", "tool: noted a", "tool: noted b"]];
    for (to, expected) in seqs.into_iter().zip(expected).rev() {
        bench.rewind(&pod, to).await.unwrap();
        assert_eq!(bench.history(&pod).await[1..], *expected, "to {to}");
    }
}

#[tokio::test]
async fn an_answer_of_nothing_takes_the_message_back() {
    let model = ScriptedModel::start().await;
    let bench = Bench::on(&model).await;
    let pod = bench.stage.create("ada").await;
    model.push(Answer::new().finish());
    let records = bench.turn(&pod, "anybody there?").await;
    assert_eq!(last_of(&records, "run_finished")["outcome"], "rolled_back");
    assert!(bench.history(&pod).await.is_empty());
    model.push(Answer::say("yes"));
    bench.turn(&pod, "hello?").await;
    assert_eq!(bench.history(&pod).await, ["user: hello?", "assistant: yes"]);
}
