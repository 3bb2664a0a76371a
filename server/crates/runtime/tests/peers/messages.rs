//! Messages and their receipts: stored, read, answered, on both sides, in order, whatever happens in between.

use protocol::{ControlVerb, PeerPolicy, PodState, ReceiptState, RewindCommand, Trigger};

use crate::{
    ground::{Ground, count, fresh_key, is_at_rest, receipts, received, triggers},
    stage::{CALL_ASKED, key, origin},
};

const STORED: (ReceiptState, Option<u64>) = (ReceiptState::Stored, None);

fn read(turn: u64) -> (ReceiptState, Option<u64>) {
    (ReceiptState::Read, Some(turn))
}

fn answered(turn: u64) -> (ReceiptState, Option<u64>) {
    (ReceiptState::Answered, Some(turn))
}

/// Both journals say the same about a message, and the store has its latest state.
async fn both_know(
    ground: &Ground,
    pods: [&protocol::WorkerId; 2],
    message: &str,
    known: &[(ReceiptState, Option<u64>)],
) {
    for pod in pods {
        let records = ground.until(pod, |records| receipts(records, message).len() >= known.len()).await;
        assert_eq!(receipts(&records, message), known);
    }
    let row = ground.store.messages().find(message).await.unwrap().unwrap();
    assert_eq!(Some(&(row.state, row.turn)), known.last());
}

#[tokio::test]
async fn one_that_is_rewound_before_it_was_read_has_expired_on_both_sides() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    let bob = ground.create_with("bob", PeerPolicy::Open, false).await;
    ground.link(&ada, &bob).await;
    let before = ground.records(&bob).await.last().unwrap().seq;
    let message = ground.send(&ada, &bob, "never mind").await.unwrap().message_id;
    let expected_head = ground.records(&bob).await.last().unwrap().seq;
    let rewind = RewindCommand::context(before, expected_head);
    ground.host().work().rewind(fresh_key(), &origin(), &bob, rewind).await.unwrap();
    both_know(&ground, [&ada, &bob], &message, &[STORED, (ReceiptState::Expired, None)]).await;
}

#[tokio::test]
async fn a_summary_is_never_older_than_the_records_that_were_shown() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    ground.tell(&ada, "stream 100000 at 200").await;
    for chunks in [2, 40, 80] {
        let records = ground.until(&ada, |records| count(records, "text_chunk") >= chunks).await;
        let head = ground.host().pods().get(&ada).await.unwrap().summary.head_seq;
        let shown = records.last().unwrap().seq;
        assert!(head >= shown, "the summary says {head}, and {shown} was shown");
    }
}

/// A message to a Pod that does not wake is delivered and read across restarts; it runs on both databases.
pub async fn receipts_story(ground: Ground) {
    let ada = ground.create("ada").await;
    let bob = ground.create_with("bob", PeerPolicy::Open, false).await;
    ground.link(&ada, &bob).await;
    let message = ground.send(&ada, &bob, "exactly this, \"so\"\n").await.unwrap().message_id;
    both_know(&ground, [&ada, &bob], &message, &[STORED]).await;
    assert_eq!(triggers(&ground.records(&bob).await), [], "it only takes note");
    let ground = ground.restarted().await;
    both_know(&ground, [&ada, &bob], &message, &[STORED]).await;
    ground.tell(&bob, "say so far\nwait 500").await;
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(1)]).await;
    let ground = ground.restarted().await;
    assert_eq!(ground.stage.state(&bob).await, PodState::Paused);
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(1)]).await;
    assert_eq!(received(&ground.records(&bob).await), [("exactly this, \"so\"\n".to_owned(), 0)]);
    ground.control(&bob, ControlVerb::Cancel).await;
    // The run that read it was not completed, so it is never answered; a later one is a separate run.
    let second = ground.send(&ada, &bob, "another").await.unwrap().message_id;
    ground.tell(&bob, "say well").await;
    both_know(&ground, [&ada, &bob], &second, &[STORED, read(2), answered(2)]).await;
    let ground = ground.restarted().await;
    both_know(&ground, [&ada, &bob], &second, &[STORED, read(2), answered(2)]).await;
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(1)]).await;
    assert_eq!(triggers(&ground.records(&ada).await), [], "receipts wake nobody");
}

#[tokio::test]
async fn receipts_come_to_both_sides_in_order_over_restarts() {
    receipts_story(Ground::new().await).await;
}

#[tokio::test]
async fn an_idle_pod_wakes_reads_and_answers() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let sent = ground.write(&ada, "bob", "say got it").await;
    assert!(sent.summary.starts_with("delivered to bob"), "{sent:?}");
    let message = sent.summary.split(['(', ')']).nth(1).unwrap();
    both_know(&ground, [&ada, &bob], message, &[STORED, read(1), answered(1)]).await;
    assert_eq!(triggers(&ground.records(&bob).await), [Trigger::Peer]);
    assert!(ground.history(&bob).await.contains("[peer message from ada]\\nsay got it"));
}

#[tokio::test]
async fn a_message_in_mid_answer_is_read_in_a_run_of_its_own() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    ground.tell(&bob, "stream 1500 at 100").await;
    ground.until(&bob, |records| count(records, "text_chunk") > 0).await;
    let message = ground.send(&ada, &bob, "say and yes").await.unwrap().message_id;
    // It is in the journal before the answer is complete.
    let records = ground.records(&bob).await;
    assert_eq!((received(&records).len(), count(&records, "run_finished")), (1, 0));
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(2), answered(2)]).await;
    assert_eq!(triggers(&ground.records(&bob).await), [Trigger::Input, Trigger::Peer]);
}

#[tokio::test]
async fn a_message_among_calls_is_read_with_their_results() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    ground.tell(&bob, &format!("{CALL_ASKED}\nsay over")).await;
    ground.until_state(&bob, PodState::Waiting).await;
    let message = ground.send(&ada, &bob, "say and yes").await.unwrap().message_id;
    both_know(&ground, [&ada, &bob], &message, &[STORED]).await;
    let asked = ground.host().approvals().of_pod(&bob, false).await.unwrap().remove(0).id;
    let deny = serde_json::from_value(serde_json::json!({ "decision": "deny" })).unwrap();
    ground.host().approvals().answer(fresh_key(), &origin(), &bob, &asked, deny).await.unwrap();
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(1), answered(1)]).await;
    assert_eq!(triggers(&ground.records(&bob).await), [Trigger::Input]);
}

#[tokio::test]
async fn a_message_to_a_paused_pod_waits_for_it_to_go_on() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    ground.tell(&bob, "say a\nwait 500").await;
    ground.until(&bob, |records| count(records, "text_chunk") > 0).await;
    ground.control(&bob, ControlVerb::Pause).await;
    let message = ground.send(&ada, &bob, "say b").await.unwrap().message_id;
    both_know(&ground, [&ada, &bob], &message, &[STORED]).await;
    let ground = ground.restarted().await;
    assert_eq!(ground.stage.state(&bob).await, PodState::Paused);
    ground.control(&bob, ControlVerb::Resume).await;
    both_know(&ground, [&ada, &bob], &message, &[STORED, read(2), answered(2)]).await;
}

#[tokio::test]
async fn a_repeat_of_a_command_sends_once_also_after_a_restart() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let first = ground.host().peers().send(key("once"), &origin(), &ada, &bob, "say a").await.unwrap();
    ground.until_receipt(&ada, &first.message_id, ReceiptState::Answered).await;
    let ground = ground.restarted().await;
    let again = ground.host().peers().send(key("once"), &origin(), &ada, &bob, "say a").await.unwrap();
    assert_eq!(again.message_id, first.message_id);
    let command = || protocol::ToolCommand { arguments: serde_json::json!({ "name": "bob", "message": "say b" }) };
    let call = ground.host().work().run_tool(key("call"), &origin(), &ada, "SendToPeerPod", command()).await.unwrap();
    let again = ground.host().work().run_tool(key("call"), &origin(), &ada, "SendToPeerPod", command()).await.unwrap();
    assert_eq!(again, call);
    ground.until(&bob, |records| received(records).len() == 2 && is_at_rest(records)).await;
    assert_eq!(ground.host().peers().exchange(&ada, &bob, None, 100).await.unwrap().items.len(), 2);
}
