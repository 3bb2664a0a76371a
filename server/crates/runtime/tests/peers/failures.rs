//! The disk fails at any step: exactly the earlier state on both sides, and everything works the next time (B13).

use std::sync::{Arc, Mutex};

use pod_store::{Faults, Step, StoreError};
use protocol::{Record, WorkerId};

use crate::ground::{Ground, count, is_at_rest, receipts, received};

/// Fails once, at the step it is told.
#[derive(Debug, Default)]
struct Disk(Mutex<Option<Step>>);

impl Disk {
    fn arm(&self, step: Option<Step>) {
        *self.0.lock().unwrap() = step;
    }

    fn is_armed(&self) -> bool {
        self.0.lock().unwrap().is_some()
    }
}

impl Faults for Disk {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let mut armed = self.0.lock().unwrap();
        match *armed == Some(step) {
            true => {
                *armed = None;
                Err(StoreError::Injected(step))
            }
            false => Ok(()),
        }
    }
}

/// Everything that can be seen of the two.
async fn whole(ground: &Ground, one: &WorkerId, other: &WorkerId) -> (Vec<Vec<Record>>, Vec<String>, Vec<String>) {
    let relation = ground.relation(one, other).await;
    let (mut records, mut views) = (Vec::new(), Vec::new());
    for pod in [one, other] {
        records.push(ground.records(pod).await);
        views.push(format!("{:?} {}", ground.peers(pod).await, ground.history(pod).await));
    }
    (records, views, relation)
}

#[tokio::test]
async fn a_new_peer_that_the_disk_refuses_changes_neither_side() {
    let disk = Arc::new(Disk::default());
    let ground = Ground::with_faults(Some(disk.clone())).await;
    let (ada, bob) = ground.pair().await;
    let mut reached = Vec::new();
    for step in Step::ALL {
        // The existing link, then the one that is made again.
        for is_linked in [true, false] {
            let before = whole(&ground, &ada, &bob).await;
            disk.arm(Some(step));
            let failed = match is_linked {
                true => ground.unlink(&ada, &bob).await.is_err(),
                false => ground.introduce(&ada, &bob).await.is_err(),
            };
            assert_eq!(failed, !disk.is_armed(), "{step:?}");
            disk.arm(None);
            if failed && step != Step::Answer {
                reached.push(step);
                assert_eq!(whole(&ground, &ada, &bob).await, before, "{step:?}");
                match is_linked {
                    true => ground.unlink(&ada, &bob).await.unwrap(),
                    false => ground.link(&ada, &bob).await,
                }
            }
            let after = ground.relation(&ada, &bob).await;
            assert_eq!(after.len(), before.2.len() + 1, "{step:?}: {after:?}");
        }
    }
    for step in [Step::Begin, Step::Command, Step::Peers, Step::Records, Step::Audit, Step::Commit] {
        assert_eq!(reached.iter().filter(|known| **known == step).count(), 2, "{step:?} did not come: {reached:?}");
    }
}

#[tokio::test]
async fn a_message_that_the_disk_refuses_is_nowhere_and_is_sent_once_the_next_time() {
    let disk = Arc::new(Disk::default());
    let ground = Ground::with_faults(Some(disk.clone())).await;
    let (ada, bob) = ground.pair().await;
    let mut sent = 0;
    for step in [Step::Begin, Step::Command, Step::Peers, Step::Records, Step::Messages, Step::Audit, Step::Commit] {
        let before = whole(&ground, &ada, &bob).await;
        disk.arm(Some(step));
        assert!(ground.send(&ada, &bob, "say yes").await.is_err(), "{step:?}");
        assert!(!disk.is_armed(), "{step:?}");
        assert_eq!(whole(&ground, &ada, &bob).await, before, "{step:?}");
        let message = ground.send(&ada, &bob, "say yes").await.unwrap().message_id;
        sent += 1;
        let of_ada = ground.until_receipt(&ada, &message, protocol::ReceiptState::Answered).await;
        // Nothing of his run is still being written when that fails.
        ground.until(&bob, |records| count(records, "run_finished") == sent && is_at_rest(records)).await;
        assert_eq!(received(&ground.records(&bob).await).len(), sent, "{step:?}");
        assert_eq!(receipts(&of_ada, &message).len(), 3, "{step:?}");
    }
}
