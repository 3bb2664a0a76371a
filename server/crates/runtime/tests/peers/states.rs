//! Being peers is metadata: a peer can be added in every state, and no turn is affected (B7, B8, B16, B18).

use protocol::{ControlVerb, ErrorCode, PodState, WorkerId};

use crate::{
    ground::{Ground, count, receipts, received, triggers},
    stage::{self, CALL_ASKED},
};

/// Adds a peer, removes it and adds it again; the Pod keeps its state, and its context is unchanged.
async fn comes_and_goes(ground: &Ground, pod: &WorkerId, state: PodState) {
    let other = ground.create(&format!("other-{}", stage::kinds(&ground.records(pod).await).len())).await;
    assert_eq!(ground.stage.state(pod).await, state);
    let before = (ground.history(pod).await, triggers(&ground.records(pod).await));
    ground.link(pod, &other).await;
    ground.unlink(&other, pod).await.unwrap();
    ground.link(&other, pod).await;
    assert_eq!(ground.relation(pod, &other).await, ["peer_linked", "peer_unlinked", "peer_linked"]);
    assert_eq!((ground.history(pod).await, triggers(&ground.records(pod).await)), before);
    assert_eq!(ground.stage.state(pod).await, state);
}

#[tokio::test]
async fn peers_are_added_in_every_state() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    comes_and_goes(&ground, &ada, PodState::Idle).await;
    ground.tell(&ada, "say at work\nwait 500").await;
    ground.until(&ada, |records| count(records, "message_finished") > 0 || count(records, "text_chunk") > 1).await;
    comes_and_goes(&ground, &ada, PodState::Running).await;
    ground.control(&ada, ControlVerb::Pause).await;
    comes_and_goes(&ground, &ada, PodState::Paused).await;
    ground.control(&ada, ControlVerb::Cancel).await;
    ground.tell(&ada, &format!("{CALL_ASKED}\nsay over")).await;
    ground.until_state(&ada, PodState::Waiting).await;
    comes_and_goes(&ground, &ada, PodState::Waiting).await;
    ground.control(&ada, ControlVerb::Stop).await;
    comes_and_goes(&ground, &ada, PodState::Stopped).await;
    ground.control(&ada, ControlVerb::Restore).await;
    comes_and_goes(&ground, &ada, PodState::Paused).await;
    assert_eq!(ground.peers(&ada).await.len(), 6);
}

#[tokio::test]
async fn a_run_continues_to_its_end_while_peers_are_added() {
    let ground = Ground::new().await;
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    ground.tell(&ada, "stream 300 at 100\nsay done").await;
    for _ in 0..8 {
        ground.link(&ada, &bob).await;
        ground.unlink(&bob, &ada).await.unwrap();
    }
    let records = ground.stage.until_idle(&ada).await;
    assert_eq!(count(&records, "run_started"), 1);
    assert!(ground.history(&ada).await.contains("w299 w300"));
    assert_eq!(ground.relation(&ada, &bob).await.len(), 16);
}

#[tokio::test]
async fn a_context_that_is_being_compacted_is_no_hindrance() {
    let ground = Ground::new().await;
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    for text in ["stream 3000 at 0", "stream 3000 at 0"] {
        ground.tell(&ada, text).await;
    }
    ground.until(&ada, |records| count(records, "run_finished") == 2 && crate::ground::is_at_rest(records)).await;
    let compacting = ground.control(&ada, ControlVerb::Compact);
    let linking = ground.link(&bob, &ada);
    tokio::join!(compacting, linking);
    assert_eq!(ground.relation(&ada, &bob).await, ["peer_linked"]);
    let message = ground.send(&bob, &ada, "say read").await.unwrap().message_id;
    let records = ground.until_receipt(&ada, &message, protocol::ReceiptState::Answered).await;
    assert_eq!((receipts(&records, &message).len(), received(&records).len()), (3, 1));
}

#[tokio::test]
async fn nothing_is_sent_to_a_pod_that_is_stopped_and_it_is_not_restored_for_it() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    ground.control(&bob, ControlVerb::Stop).await;
    let before = (ground.records(&ada).await, ground.records(&bob).await);
    let refused = ground.send(&ada, &bob, "say hi").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotLive);
    assert!(refused.detail.contains("RestorePod"), "{}", refused.detail);
    assert_eq!((ground.records(&ada).await, ground.records(&bob).await), before);
    let answer = ground.write(&ada, "bob", "say hi").await;
    assert_eq!(answer.code.as_deref(), Some("not_live"));
    assert!(answer.summary.contains("RestorePod"), "{answer:?}");
    assert_eq!(received(&ground.records(&bob).await), []);
    assert_eq!(ground.stage.state(&bob).await, PodState::Stopped);
}
