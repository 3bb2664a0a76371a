//! Several callers want the same thing, or opposite things, at once: one relation, and journals that agree.

use std::sync::Arc;

use protocol::{PeerPolicy, WorkerId};

use crate::{
    ground::{Ground, fresh_key, received},
    stage::{key, origin},
};

const ROUNDS: usize = 15;

#[derive(Debug, Clone, Copy)]
enum Hand {
    Introduce,
    Part,
}

/// Both sides, two clients each, at once; returns how many requests made a new link.
async fn at_once(ground: &Arc<Ground>, pods: [&WorkerId; 2], hands: &[Hand]) -> usize {
    let mut doing = Vec::new();
    for (number, hand) in hands.iter().enumerate() {
        let (one, other) = (pods[number % 2].clone(), pods[(number + 1) % 2].clone());
        let (ground, hand) = (ground.clone(), *hand);
        doing.push(tokio::spawn(async move {
            match hand {
                Hand::Introduce => usize::from(!ground.introduce(&one, &other).await.unwrap().stood),
                Hand::Part => {
                    ground.unlink(&one, &other).await.unwrap();
                    0
                }
            }
        }));
    }
    let mut fresh = 0;
    for done in doing {
        fresh += done.await.unwrap();
    }
    fresh
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_from_both_sides_at_once_end_in_one_link() {
    let ground = Arc::new(Ground::new().await);
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    for round in 0..ROUNDS {
        assert_eq!(at_once(&ground, [&ada, &bob], &[Hand::Introduce; 4]).await, 1, "round {round}");
        assert_eq!(ground.relation(&ada, &bob).await.len(), round * 2 + 1);
        at_once(&ground, [&ada, &bob], &[Hand::Part; 4]).await;
        assert_eq!(ground.relation(&ada, &bob).await.len(), round * 2 + 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn adding_and_removing_peers_at_once_leaves_one_truth() {
    let ground = Arc::new(Ground::new().await);
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    use Hand::{Introduce, Part};
    let mut linked = 0;
    for _ in 0..ROUNDS {
        linked += at_once(&ground, [&ada, &bob], &[Introduce, Part, Part, Introduce, Introduce, Part]).await;
        let steps = ground.relation(&ada, &bob).await;
        assert!(steps.iter().enumerate().all(|(at, step)| (step == "peer_linked") == (at % 2 == 0)), "{steps:?}");
        assert_eq!(steps.iter().filter(|step| *step == "peer_linked").count(), linked);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_that_ask_each_other_at_once_are_linked_and_no_request_is_left() {
    let ground = Arc::new(Ground::new().await);
    for round in 0..ROUNDS {
        let ada = ground.create_with(&format!("ada{round}"), PeerPolicy::Ask, true).await;
        let bob = ground.create_with(&format!("bob{round}"), PeerPolicy::Ask, true).await;
        at_once(&ground, [&ada, &bob], &[Hand::Introduce; 4]).await;
        assert_eq!(ground.relation(&ada, &bob).await, ["peer_requested", "peer_linked"]);
        assert!(ground.host().peers().open_requests().await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_command_sent_by_many_at_once_is_carried_out_once() {
    let ground = Arc::new(Ground::new().await);
    let (ada, bob) = ground.pair().await;
    for round in 0..ROUNDS {
        let id = format!("message-{round}");
        let sending: Vec<_> = (0..4)
            .map(|_| {
                let (ground, ada, bob, id) = (ground.clone(), ada.clone(), bob.clone(), id.clone());
                tokio::spawn(async move {
                    ground.host().peers().send(key(&id), &origin(), &ada, &bob, "say hi").await.unwrap()
                })
            })
            .collect();
        let mut answers = Vec::new();
        for sent in sending {
            answers.push(sent.await.unwrap());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
    }
    assert_eq!(received(&ground.records(&bob).await).len(), ROUNDS);
    // A separate key is a separate message.
    ground.host().peers().send(fresh_key(), &origin(), &ada, &bob, "say hi").await.unwrap();
    assert_eq!(received(&ground.records(&bob).await).len(), ROUNDS + 1);
}
