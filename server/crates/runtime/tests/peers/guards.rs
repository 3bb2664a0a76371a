//! What holds messages: chains without a person, a pair that writes too fast, a receiver with too many runs (C17).

use jiff::Timestamp;
use pod_store::{Batch, MessageChange, NewMessage};
use protocol::{ControlEvent, Event, PeerPolicy, ReceiptState, Record};

use crate::ground::{Ground, count, is_at_rest, receipts, received};

#[tokio::test]
async fn a_chain_without_a_person_is_cut_after_eight_steps_and_a_person_begins_a_new_one() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    for round in 1..=2 {
        // Bob's model forwards what Ada's forwards; nobody else takes part.
        ground.send(&ada, &bob, &format!("relay ada\nrelay bob\nsay round {round}")).await.unwrap();
        let key = ground.row_key(&ada).await;
        let held = testkit::until(format!("{round} messages are held"), async || {
            Some(ground.store.messages().held(key).await.unwrap()).filter(|held| held.len() >= round)
        })
        .await;
        assert!(held.iter().all(|message| message.hops == 9), "{held:?}");
        for pod in [&ada, &bob] {
            ground.until(pod, is_at_rest).await;
            let hops: Vec<_> = received(&ground.records(pod).await).iter().map(|(_, hops)| *hops).collect();
            assert!(hops.iter().all(|hops| *hops <= 8), "{hops:?}");
        }
        let hops: Vec<_> = received(&ground.records(&bob).await).iter().map(|(_, hops)| *hops).collect();
        assert_eq!(hops.iter().filter(|hops| **hops == 0).count(), round, "a person's message begins anew: {hops:?}");
        assert!(hops.contains(&8), "{hops:?}");
    }
}

#[tokio::test]
async fn a_person_who_calls_the_tool_by_hand_begins_a_new_chain() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    // A message began Ada's newest run, so what her own model sends is one automatic step.
    let message =
        ground.send(&bob, &ada, r#"call SendToPeerPod {"name":"bob","message":"by the model"}"#).await.unwrap();
    ground.until_receipt(&ada, &message.message_id, ReceiptState::Answered).await;
    assert!(!ground.write(&ada, "bob", "by hand").await.is_error);
    let records = ground.until(&bob, |records| received(records).len() == 2).await;
    assert_eq!(received(&records), [("by the model".to_owned(), 1), ("by hand".to_owned(), 0)]);
}

#[tokio::test]
async fn thirty_messages_go_at_once_and_the_next_is_held() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    let bob = ground.create_with("bob", PeerPolicy::Open, false).await;
    ground.link(&ada, &bob).await;
    let begun = Timestamp::now();
    let mut states = Vec::new();
    for number in 0..40 {
        // Both directions share the pace.
        let (from, to) = if number % 2 == 0 { (&ada, &bob) } else { (&bob, &ada) };
        states.push(ground.send(from, to, "hm").await.unwrap().state);
    }
    let refilled = usize::try_from(Timestamp::now().duration_since(begun).as_millis() / 2_000).unwrap();
    let went = states.iter().filter(|state| **state == ReceiptState::Stored).count();
    assert!(states[..30].iter().all(|state| *state == ReceiptState::Stored), "{states:?}");
    assert!((30..=30 + refilled).contains(&went), "{went} went, {refilled} came in again: {states:?}");
    assert_eq!(ground.store.messages().held(ground.row_key(&ada).await).await.unwrap().len(), 40 - went);
    // Another pair has its own pace.
    let eve = ground.create_with("eve", PeerPolicy::Open, false).await;
    ground.link(&ada, &eve).await;
    assert_eq!(ground.send(&ada, &eve, "hm").await.unwrap().state, ReceiptState::Stored);
}

#[tokio::test]
async fn a_receiver_that_messages_have_woken_too_often_is_left_alone() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let (from, to) = (ground.row_key(&ada).await, ground.row_key(&bob).await);
    let woken = |number: u32| NewMessage {
        id: format!("old-{number}"),
        sender: from,
        receiver: to,
        call_id: format!("old-{number}"),
        text: "hm".to_owned(),
        hops: 0,
        state: ReceiptState::Answered,
        woke: true,
        at: Timestamp::now(),
    };
    let put = |numbers: std::ops::Range<u32>| Batch {
        messages: numbers.map(woken).map(MessageChange::Put).collect(),
        ..Batch::default()
    };
    ground.put(put(0..199)).await;
    let last = ground.send(&ada, &bob, "say the last one").await.unwrap();
    assert_eq!(last.state, ReceiptState::Stored);
    ground.until_receipt(&ada, &last.message_id, ReceiptState::Answered).await;
    let held = ground.send(&ada, &bob, "say too much").await.unwrap();
    assert_eq!(held.state, ReceiptState::Held);
    for pod in [&ada, &bob] {
        assert_eq!(receipts(&ground.records(pod).await, &held.message_id), [(ReceiptState::Held, None)]);
    }
    assert_eq!(received(&ground.records(&bob).await).len(), 1);
    // The budget is the receiver's: the other direction is free.
    assert_eq!(ground.send(&bob, &ada, "say hi").await.unwrap().state, ReceiptState::Stored);
}

#[tokio::test]
async fn a_run_counts_once_whether_its_messages_came_to_an_idle_pod_or_in_mid_answer() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let to = ground.row_key(&bob).await;
    let runs = || async { ground.store.messages().woke_count(to, Timestamp::UNIX_EPOCH).await.unwrap() };
    let idle = ground.send(&ada, &bob, "say first").await.unwrap().message_id;
    ground.until_receipt(&bob, &idle, ReceiptState::Answered).await;
    assert_eq!(runs().await, 1);

    ground.tell(&bob, "stream 1500 at 100").await;
    ground.until(&bob, |records| count(records, "text_chunk") > 1).await;
    let mut last = String::new();
    for text in ["say second", "say third"] {
        last = ground.send(&ada, &bob, text).await.unwrap().message_id;
    }
    ground.until_receipt(&bob, &last, ReceiptState::Answered).await;
    assert_eq!(runs().await, 2, "the two were read in one run");
}

#[tokio::test]
async fn both_sides_are_told_why_a_message_is_held() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    let bob = ground.create_with("bob", PeerPolicy::Open, false).await;
    ground.link(&ada, &bob).await;
    let mut held = None;
    for _ in 0..40 {
        held = Some(ground.send(&ada, &bob, "hm").await.unwrap()).filter(|sent| sent.state == ReceiptState::Held);
        if held.is_some() {
            break;
        }
    }
    let held = held.expect("one of forty at once is held").message_id;
    for pod in [&ada, &bob] {
        let reasons: Vec<_> =
            ground.records(pod).await.into_iter().filter_map(|record| reason_of(record, &held)).collect();
        assert!(matches!(&reasons[..], [reason] if reason.contains("write too fast")), "{reasons:?}");
    }
}

/// Why this message is held, if this record says so.
fn reason_of(record: Record, message: &str) -> Option<String> {
    match record.event {
        Event::Control(ControlEvent::MessageReceipt { message_id, reason, .. }) if message_id == message => reason,
        _ => None,
    }
}
