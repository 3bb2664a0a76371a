//! The disk fails in the middle: everything is as it was, and can be tried again (D11, C12).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use pod_store::{Faults, Step, StoreError};
use protocol::PodState;
use serde_json::json;

use crate::ground::{Ground, count, is_at_rest, news, said, write};

/// Fails once, at the first parent or child change after it was told to.
#[derive(Debug, Default)]
struct Fail(AtomicBool);

impl Faults for Fail {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        match step == Step::Relations && self.0.swap(false, Ordering::AcqRel) {
            true => Err(StoreError::Injected(step)),
            false => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_spawn_that_the_disk_refuses_leaves_nothing_and_works_the_next_time() {
    let disk = Arc::new(Fail::default());
    let ground = Ground::with_faults(Some(disk.clone())).await;
    let ada = ground.lead("ada").await;
    let arguments = json!({ "name": "bob", "task": "say done", "scope": [write(&ground.path("a"))] });
    disk.0.store(true, Ordering::Release);
    assert_eq!(ground.refused(&ada, "SpawnPod", arguments.clone()).await.0, "internal");
    assert_eq!(ground.named("bob").await, None);
    assert_eq!(count(&ground.stage.records(&ada).await, "child_spawned"), 0);
    assert_eq!(ground.may(&ada, &ground.path("a")).await.1, "yes");
    ground.done(&ada, "SpawnPod", arguments).await;
    let records = ground.stage.until(&ada, |records| news(records).len() == 1 && is_at_rest(records)).await;
    assert_eq!(count(&records, "child_spawned"), 1);
    let seqs: Vec<_> = records.iter().map(|record| record.seq).collect();
    assert!(seqs.is_sorted_by(|one, two| one < two), "{seqs:?}");
}

#[tokio::test]
async fn a_stop_that_the_disk_refuses_leaves_the_child_paused_with_its_loan_and_works_the_next_time() {
    let disk = Arc::new(Fail::default());
    let ground = Ground::with_faults(Some(disk.clone())).await;
    let ada = ground.lead("ada").await;
    let a = ground.path("a");
    let bob = ground.busy_child(&ada, "bob", &[write(&a)]).await;
    disk.0.store(true, Ordering::Release);
    assert_eq!(ground.refused(&ada, "StopPod", json!({ "name": "bob" })).await.0, "internal");
    // Its own work was ended before anything was written: it says so, and nothing keeps running unseen.
    let records = ground.until_state(&bob, PodState::Paused).await;
    assert_eq!(said(&records), ["at work"]);
    assert!(ground.may(&ada, &a).await.1.contains("is lent"));
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!((ground.state(&bob).await, ground.may(&ada, &a).await.1), (PodState::Stopped, "yes".to_owned()));
    disk.0.store(true, Ordering::Release);
    assert_eq!(ground.refused(&ada, "RestorePod", json!({ "name": "bob" })).await.0, "internal");
    assert_eq!((ground.state(&bob).await, ground.may(&ada, &a).await.1), (PodState::Stopped, "yes".to_owned()));
    ground.done(&ada, "RestorePod", json!({ "name": "bob" })).await;
    assert!(ground.may(&ada, &a).await.1.contains("is lent"));
}
