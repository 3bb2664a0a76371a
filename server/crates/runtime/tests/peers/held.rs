//! Held messages are released or dropped by a person on either side, once.

use jiff::{SignedDuration, Timestamp};
use pod_store::{Batch, PeerChange};
use protocol::{ControlVerb, ErrorCode, HeldDecision, ReceiptState, WorkerId};

use crate::ground::{Ground, fresh_key, receipts, received};
use crate::stage::origin;

/// A message that is held because the pair has written too much.
async fn held(ground: &Ground, from: &WorkerId, to: &WorkerId) -> String {
    let (a, b) = (ground.row_key(from).await, ground.row_key(to).await);
    // Nothing is delivered again before then.
    let pace = PeerChange::Pace { a, b, level: 0, at: Timestamp::now() + SignedDuration::from_hours(1) };
    ground.put(Batch { peers: vec![pace], ..Batch::default() }).await;
    let answer = ground.send(from, to, "say after all").await.unwrap();
    assert_eq!(answer.state, ReceiptState::Held);
    answer.message_id
}

#[tokio::test]
async fn either_side_releases_it_once_and_it_goes_its_way() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    for (round, decider) in [(1, &ada), (2, &bob)] {
        let message = held(&ground, &ada, &bob).await;
        assert_eq!(received(&ground.records(&bob).await).len(), round - 1);
        assert_eq!(ground.decide(decider, &message, HeldDecision::Release).await.unwrap().state, ReceiptState::Stored);
        let late = ground.decide(&bob, &message, HeldDecision::Drop).await.unwrap_err();
        assert_eq!(late.code, ErrorCode::AlreadyAnswered);
        for pod in [&ada, &bob] {
            let records = ground.until_receipt(pod, &message, ReceiptState::Answered).await;
            let states: Vec<_> = receipts(&records, &message).into_iter().map(|(state, _)| state).collect();
            use ReceiptState::{Answered, Held, Read, Stored};
            assert_eq!(states, [Held, Stored, Read, Answered]);
        }
        assert_eq!(received(&ground.records(&bob).await).len(), round);
    }
}

#[tokio::test]
async fn either_side_drops_it_once_and_the_receiver_never_has_it() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    for decider in [&ada, &bob] {
        let message = held(&ground, &ada, &bob).await;
        assert_eq!(ground.decide(decider, &message, HeldDecision::Drop).await.unwrap().state, ReceiptState::Refused);
        let late = ground.decide(decider, &message, HeldDecision::Release).await.unwrap_err();
        assert_eq!(late.code, ErrorCode::AlreadyAnswered);
        for pod in [&ada, &bob] {
            let known = receipts(&ground.records(pod).await, &message);
            assert_eq!(known, [(ReceiptState::Held, None), (ReceiptState::Refused, None)]);
        }
    }
    assert_eq!(received(&ground.records(&bob).await), []);
}

#[tokio::test]
async fn of_two_that_decide_at_once_one_is_told_that_it_was_late() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    for _ in 0..10 {
        let message = held(&ground, &ada, &bob).await;
        let (one, other) = tokio::join!(
            ground.decide(&ada, &message, HeldDecision::Release),
            ground.decide(&bob, &message, HeldDecision::Drop),
        );
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        let code = one.err().or(other.err()).unwrap().code;
        assert_eq!(code, ErrorCode::AlreadyAnswered);
    }
}

#[tokio::test]
async fn it_stays_held_over_a_restart_and_until_its_receiver_is_live() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let eve = ground.create("eve").await;
    let message = held(&ground, &ada, &bob).await;
    let ground = ground.restarted().await;
    ground.control(&bob, ControlVerb::Stop).await;
    let refused = ground.decide(&ada, &message, HeldDecision::Release).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotLive);
    assert_eq!(ground.decide(&eve, &message, HeldDecision::Release).await.unwrap_err().code, ErrorCode::NotFound);
    ground.control(&bob, ControlVerb::Restore).await;
    let key = fresh_key();
    let origin = origin();
    let decide = || ground.host().peers().decide_held(key.clone(), &origin, &ada, &message, HeldDecision::Release);
    let first = decide().await.unwrap();
    assert_eq!(decide().await.unwrap(), first, "the same command again");
    ground.until_receipt(&ada, &message, ReceiptState::Answered).await;
}
