//! Messages and their receipts, over the line and back.

use protocol::{ControlVerb, ErrorCode, HeldDecision, ReceiptState};
use serde_json::json;
use testkit::{until, until_so};

use crate::{
    ground::{Two, fresh_key, receipts, received},
    stage::{origin, say},
};
use ReceiptState::{Answered, Held, Read, Refused, Sent, Stored};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_goes_over_wakes_its_receiver_and_its_receipts_come_back_in_order() {
    let two = Two::new().await;
    let (ada, bob, _shuttle) = two.linked().await;
    let sent = two.send(&ada, &bob, "say hello").await.unwrap();
    // Whoever waits for more than two seconds is told that it is on its way.
    assert!(matches!(sent.state, Sent | Stored), "{sent:?}");
    let here = two.a.until_receipt(&ada, &sent.message_id, Answered).await;
    let there = two.b.records(&bob).await;
    assert_eq!(received(&there), [(sent.message_id.clone(), "say hello".to_owned())]);
    // First on its way, and then delivered.
    let story = [(Sent, false), (Stored, false), (Read, false), (Answered, false)];
    assert_eq!(receipts(&here, &sent.message_id), story);
    assert_eq!(receipts(&there, &sent.message_id), story[1..]);
    for (side, own, peer) in [(&two.a, &ada, two.of_b(&bob)), (&two.b, &bob, two.of_a(&ada))] {
        let page = side.host.peers().exchange_far(own, &peer, None, 9).await.unwrap();
        let message = &page.items[0];
        assert_eq!((page.items.len(), message.state, message.turn), (1, Answered, Some(1)));
        assert_eq!((message.from.worker_id.clone(), message.to.worker_id.clone()), (ada.clone(), bob.clone()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_write_to_each_other_by_name_and_are_told_what_is_true() {
    let two = Two::new().await;
    let (ada, bob, shuttle) = two.linked().await;
    let input = say(
        "call SendToPeerPod {\"name\": \"bob\", \"message\": \"call SendToPeerPod {\\\"name\\\": \\\"ada@abc\\\", \\\"message\\\": \\\"say back\\\"}\"}",
    );
    two.a.host.work().input(fresh_key(), &origin(), &ada, input).await.unwrap();
    let here = two.a.until(&ada, |records| !received(records).is_empty()).await;
    assert_eq!(received(&here)[0].1, "say back");
    let told = |name: &str| json!({ "name": name, "message": "say x" });
    // One that takes longer than two seconds is reported as being on its way.
    until_so("a message is delivered at once", async || {
        let sent = two.a.call(&ada, "SendToPeerPod", told("bob@bcd")).await;
        let is_delivered = sent.summary.starts_with("delivered to bob@bcd");
        assert!(is_delivered || sent.summary.starts_with("sent to bob@bcd"), "{sent:?}");
        is_delivered
    })
    .await;
    assert!(two.a.call(&ada, "ListPods", json!({})).await.content.unwrap().contains("bob@bcd [peer]"));
    for tool in ["StopPod", "ReadPodOutput", "RestorePod"] {
        let refused = two.a.call(&ada, tool, json!({ "name": "bob" })).await;
        assert_eq!(refused.code.as_deref(), Some("permission_denied"), "{tool}");
    }
    // A second one of this name, here.
    let other = two.a.create("bob").await;
    two.a.host.peers().introduce(fresh_key(), &origin(), &ada, &other, None).await.unwrap();
    let sent = two.a.call(&ada, "SendToPeerPod", told("bob")).await;
    assert_eq!(sent.code.as_deref(), Some("ambiguous_name"));
    assert!(sent.summary.contains("bob@local") && sent.summary.contains("bob@bcd"), "{sent:?}");
    assert!(two.a.call(&ada, "SendToPeerPod", told("bob@local")).await.summary.starts_with("delivered to bob ("));
    shuttle.stop().await;
    two.name_each_other(false);
    let sent = two.a.call(&ada, "SendToPeerPod", told("bob@bcd")).await;
    assert!(sent.summary.starts_with("sent to bob@bcd"), "{sent:?}");
    let before = received(&two.b.records(&bob).await).len();
    two.settle().await;
    assert_eq!(received(&two.b.records(&bob).await).len(), before + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_stopped_or_a_link_that_has_ended_refuse_and_say_so() {
    let two = Two::new().await;
    let (ada, bob, shuttle) = two.linked().await;
    two.b.host.pods().control(fresh_key(), &origin(), &bob, ControlVerb::Stop).await.unwrap();
    // What is not known within two seconds is reported later, when the sender has moved on.
    let refused = until("a message is refused at once", async || {
        let sent = two.send(&ada, &bob, "say x").await;
        assert!(sent.as_ref().is_ok_and(|sent| sent.state == Sent) || sent.is_err(), "{sent:?}");
        sent.err()
    })
    .await;
    assert_eq!(refused.code, ErrorCode::NotLive);
    let tool = until("a model's message is refused at once", async || {
        let tool = two.a.call(&ada, "SendToPeerPod", json!({ "name": "bob", "message": "say x" })).await;
        tool.is_error.then_some(tool)
    })
    .await;
    assert_eq!(tool.code.as_deref(), Some("not_live"));
    two.b.host.pods().control(fresh_key(), &origin(), &bob, ControlVerb::Restore).await.unwrap();
    shuttle.stop().await;
    two.name_each_other(false);
    // It is on its way while the link ends there.
    let sent = two.send(&ada, &bob, "say late").await.unwrap();
    two.b.host.peers().unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
    two.settle().await;
    let here = two.a.until_receipt(&ada, &sent.message_id, Refused).await;
    assert_eq!(receipts(&here, &sent.message_id), [(Sent, false), (Refused, true)]);
    assert_eq!(received(&two.b.records(&bob).await), []);
    assert_eq!(two.send(&ada, &bob, "say x").await.unwrap_err().code, ErrorCode::NotVisible);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_circle_over_two_stores_stops_by_itself_and_either_side_releases_or_drops() {
    let two = Two::new().await;
    let (ada, bob, _shuttle) = two.linked().await;
    two.send(&ada, &bob, "relay ada\nrelay bob").await.unwrap();
    // Hops 0 to 8 are delivered; the tenth message, with 9, is held: bob sends those with odd hops.
    let held = |records: &[protocol::Record]| {
        let mut messages = records.iter().filter_map(|record| match &record.event {
            protocol::Event::Control(protocol::ControlEvent::MessageReceipt { message_id, state: Held, .. }) => {
                Some(message_id.clone())
            }
            _ => None,
        });
        messages.next_back()
    };
    let id = held(&two.a.until(&ada, |records| held(records).is_some()).await).unwrap();
    let there = two.b.until_receipt(&bob, &id, Held).await;
    assert_eq!(received(&two.a.records(&ada).await).len(), 4);
    assert_eq!(received(&there).len(), 5);
    // The sender's side releases it; what follows is held in turn, at bob.
    two.b.host.peers().decide_held(fresh_key(), &origin(), &bob, &id, HeldDecision::Release).await.unwrap();
    let next = held(&two.b.until(&bob, |records| held(records).is_some_and(|next| next != id)).await).unwrap();
    assert_eq!(received(&two.a.records(&ada).await).len(), 5);
    two.b.host.peers().decide_held(fresh_key(), &origin(), &bob, &next, HeldDecision::Drop).await.unwrap();
    two.a.until_receipt(&ada, &next, Refused).await;
    let again =
        two.b.host.peers().decide_held(fresh_key(), &origin(), &bob, &next, HeldDecision::Release).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::AlreadyAnswered);
    assert_eq!(received(&two.b.records(&bob).await).len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pace_of_a_pair_is_one_over_both_directions() {
    let two = Two::new().await;
    let (ada, bob, _shuttle) = two.linked().await;
    two.b.host.pods().control(fresh_key(), &origin(), &bob, ControlVerb::Pause).await.ok();
    let mut states = Vec::new();
    // In two seconds a pair regains one of its thirty.
    for round in 0..100 {
        states.push(two.send(&ada, &bob, &format!("say {round}")).await.unwrap().state);
        states.push(two.send_back(&bob, &ada, &format!("say {round}")).await.unwrap().state);
        if states.contains(&Held) {
            break;
        }
    }
    assert!(!states[..28].contains(&Held), "{states:?}");
    assert!(states.contains(&Held), "{states:?}");
}
