//! A line that loses, repeats and delays: everything arrives once, in order; both sides end in the same state.

use std::collections::BTreeMap;

use protocol::ReceiptState;

use crate::{
    ground::{Shuttle, Two, fresh_key, introduce, invite, receipts, received},
    stage::origin,
};

const MESSAGES: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_bad_line_each_message_comes_once_in_order_and_its_receipts_in_theirs() {
    let two = Two::new().await;
    let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
    two.name_each_other(false);
    let shuttle = Shuttle::start(&two, 35);
    two.introduce(&ada, &bob).await.unwrap();
    two.a.until_peers(&ada, |peers| peers[0].link == protocol::PeerLink::Linked).await;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for round in 0..MESSAGES {
        here.push(two.send(&ada, &bob, &format!("say {round}")).await.unwrap().message_id);
        there.push(two.send_back(&bob, &ada, &format!("say {round}")).await.unwrap().message_id);
    }
    for id in &here {
        two.a.until_receipt(&ada, id, ReceiptState::Answered).await;
    }
    for id in &there {
        two.b.until_receipt(&bob, id, ReceiptState::Answered).await;
    }
    let lost = shuttle.stop().await;
    assert!(lost > 0, "the line was good");
    two.settle().await;
    for (side, pod, sent) in [(&two.a, &ada, &there), (&two.b, &bob, &here)] {
        let ids: Vec<String> = received(&side.records(pod).await).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, *sent);
    }
    for (side, pod, sent) in [(&two.a, &ada, &here), (&two.b, &bob, &there)] {
        let records = side.records(pod).await;
        for id in sent {
            let states: Vec<_> = receipts(&records, id).into_iter().map(|(state, _)| state).collect();
            use ReceiptState::{Answered, Read, Sent, Stored};
            assert_eq!(states, [Sent, Stored, Read, Answered]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_bad_line_adding_and_removing_peers_from_both_sides_ends_alike() {
    let two = Two::new().await;
    two.name_each_other(false);
    let mut pairs = BTreeMap::new();
    for number in 0..6 {
        pairs.insert(two.a.create(&format!("ada{number}")).await, two.b.create(&format!("bob{number}")).await);
    }
    let shuttle = Shuttle::start(&two, 35);
    for round in 0..8_u128 {
        for (ada, bob) in &pairs {
            // Random choices each time; a repeated run may find something else.
            match (uuid::Uuid::new_v4().as_u128() + round) % 7 {
                0 => drop(two.introduce(ada, bob).await),
                1 => drop(introduce(&two.b, &two.a, bob, ada, fresh_key()).await),
                2 => two.a.host.peers().unlink(fresh_key(), &origin(), ada, &two.of_b(bob)).await.unwrap(),
                3 => two.b.host.peers().unlink(fresh_key(), &origin(), bob, &two.of_a(ada)).await.unwrap(),
                4 => drop(invite(&two.a, &two.b, ada, bob, fresh_key()).await),
                5 => drop(invite(&two.b, &two.a, bob, ada, fresh_key()).await),
                _ => drop(two.send(ada, bob, "say hi").await),
            }
        }
    }
    shuttle.stop().await;
    two.settle().await;
    for (ada, bob) in &pairs {
        two.is_linked(ada, bob).await;
        let counts = (two.a.peers(ada).await.len(), two.b.peers(bob).await.len());
        assert_eq!(counts.0, counts.1);
    }
}
