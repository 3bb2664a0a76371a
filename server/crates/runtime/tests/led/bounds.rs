//! Every wait for another Pod is bounded (C14), and what is given up in the middle is still in one state or the other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use pod_store::{Faults, Step, StoreError};
use protocol::{ControlVerb, PodLimits, PodState};
use serde_json::json;
use testkit::until_so;

use crate::ground::{Ground, count, heard, is_at_rest, news, said, write};

/// Well beyond the five seconds in which a caller is answered.
const STUCK_FOR: Duration = Duration::from_secs(8);

/// A disk that can block: right before a step, at its n-th occurrence from now.
#[derive(Debug)]
struct Stuck {
    step: Step,
    left: AtomicU32,
    is_stuck: AtomicBool,
}

impl Stuck {
    fn at(step: Step) -> Arc<Self> {
        Arc::new(Self { step, left: AtomicU32::new(0), is_stuck: AtomicBool::new(false) })
    }

    fn arm(&self, count: u32) {
        self.left.store(count, Ordering::Release);
    }

    async fn until_stuck(&self) {
        until_so("the disk is stuck", async || self.is_stuck.load(Ordering::Acquire)).await;
    }

    fn release(&self) {
        self.is_stuck.store(false, Ordering::Release);
    }
}

impl Faults for Stuck {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let less = |left: u32| left.checked_sub(1);
        if step == self.step && self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) == Ok(1) {
            self.is_stuck.store(true, Ordering::Release);
            tokio::task::block_in_place(|| {
                while self.is_stuck.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_target_that_is_stuck_does_not_hang_the_caller() {
    let disk = Stuck::at(Step::Command);
    let ground = Arc::new(Ground::with_faults(Some(disk.clone())).await);
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    // The call itself is a command and completes; the message to bob is the next, and is blocked.
    disk.arm(2);
    let calling = tokio::spawn({
        let (ground, ada) = (ground.clone(), ada.clone());
        async move { ground.call(&ada, "SendToPod", json!({ "name": "bob", "message": "say late" })).await }
    });
    disk.until_stuck().await;
    let stuck_since = Instant::now();
    tokio::time::sleep(STUCK_FOR).await;
    let stuck_for = stuck_since.elapsed().as_millis() as u64;
    disk.release();
    let answer = calling.await.unwrap();
    assert_eq!(answer.code.as_deref(), Some("timeout"), "{answer:?}");
    assert_eq!(answer.summary, "sending to the Pod took longer than 5 s; check what happened before you try again");
    let records = ground.stage.records(&ada).await;
    let finished = records.iter().rev().find(|record| record.event.kind() == "tool_finished").unwrap();
    let waited = serde_json::to_value(&finished.event).unwrap()["duration_ms"].as_u64().unwrap();
    assert!((4_900..stuck_for).contains(&waited), "{waited} ms, and it was stuck for {stuck_for} ms");
    // The journals show that it was completed after all, and once.
    let records = ground.stage.until(&bob, |records| count(records, "run_finished") == 2 && is_at_rest(records)).await;
    assert_eq!(heard(&records), ["say done", "say late"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_whose_caller_went_away_in_the_middle_is_whole_all_the_same() {
    let disk = Stuck::at(Step::Command);
    let ground = Arc::new(Ground::with_faults(Some(disk.clone())).await);
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[write(&ground.path("b"))]).await;
    disk.arm(1);
    let stopping = tokio::spawn({
        let (ground, bob) = (ground.clone(), bob.clone());
        async move { ground.control(&bob, ControlVerb::Stop).await }
    });
    disk.until_stuck().await;
    stopping.abort();
    assert!(stopping.await.unwrap_err().is_cancelled());
    // Enough time for anyone to give up what is on its way as lost.
    tokio::time::sleep(Duration::from_millis(300)).await;
    disk.release();
    ground.until_state(&bob, PodState::Stopped).await;
    assert_eq!(ground.may(&ada, &ground.path("b")).await.1, "yes");
    let told = [("shut_down".to_owned(), "bob".to_owned())];
    ground.stage.until(&ada, |records| news(records) == told && is_at_rest(records)).await;
    // Both know what is on disk: every further change fits.
    ground.done(&ada, "RestorePod", json!({ "name": "bob" })).await;
    ground.done(&ada, "SendToPod", json!({ "name": "bob", "message": "say on" })).await;
    let records = ground.stage.until(&bob, is_at_rest).await;
    assert!(said(&records).contains(&"on".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_child_whose_parent_is_paused_while_it_is_spawned_has_its_task() {
    let disk = Stuck::at(Step::Relations);
    let ground = Arc::new(Ground::with_faults(Some(disk.clone())).await);
    let ada = ground.lead("ada").await;
    disk.arm(1);
    let call = json!({ "name": "bob", "task": "say begun", "scope": [write(&ground.path("a"))] });
    ground.tell(&ada, &format!("call SpawnPod {call}")).await;
    disk.until_stuck().await;
    let pausing = tokio::spawn({
        let (ground, ada) = (ground.clone(), ada.clone());
        async move { ground.control(&ada, ControlVerb::Pause).await }
    });
    disk.release();
    pausing.await.unwrap().unwrap();
    assert_eq!(count(&ground.stage.records(&ada).await, "child_spawned"), 1);
    let bob = ground.named("bob").await.unwrap();
    let records = ground.stage.until(&bob, |records| count(records, "run_finished") == 1).await;
    assert_eq!(heard(&records), ["say begun"]);
    assert_eq!(ground.seen(&ada, "bob").await.scope, [write(&ground.path("a"))]);
}

#[tokio::test]
async fn a_pod_with_many_children_makes_no_more_before_one_is_stopped() {
    let ground = Ground::new().await;
    let lead = ground.lead("lead").await;
    for number in 0..32 {
        ground.spawn(&lead, &format!("kid-{number}"), "say done", &[]).await;
    }
    let more = json!({ "name": "one-more", "task": "say done", "scope": [] });
    let (code, sentence) = ground.refused(&lead, "SpawnPod", more.clone()).await;
    assert_eq!(code, "rate_limited");
    assert!(sentence.contains("32 children") && sentence.contains("stop one first"), "{sentence}");
    assert!(sentence.contains("children_max in [pods]"), "{sentence}");
    assert_eq!(ground.named("one-more").await, None, "nothing was made");
    ground.done(&lead, "StopPod", json!({ "name": "kid-0" })).await;
    ground.done(&lead, "SpawnPod", more).await;
}

#[tokio::test]
async fn how_many_pods_a_pod_leads_is_a_setting() {
    let ground = Ground::with_limits(PodLimits { children_max: 2, family_max: 3, ..PodLimits::default() }).await;
    let lead = ground.lead("lead").await;
    let child = ground.spawn(&lead, "kid-0", "say done", &[]).await;
    ground.spawn(&child, "grandkid-0", "say done", &[]).await;
    ground.spawn(&lead, "kid-1", "say done", &[]).await;
    let more = json!({ "name": "one-more", "task": "say done", "scope": [] });
    for (by, told) in [(&lead, ["it has 2", "children_max"]), (&child, ["its family has 3", "family_max"])] {
        let (code, sentence) = ground.refused(by, "SpawnPod", more.clone()).await;
        assert_eq!(code, "rate_limited");
        assert!(told.iter().all(|words| sentence.contains(words)), "{sentence}");
    }
    assert_eq!(ground.named("one-more").await, None, "nothing was made");
}

#[tokio::test]
async fn a_server_has_no_more_pods_than_allowed_whoever_creates_them() {
    let ground = Ground::with_limits(PodLimits { max: 3, ..PodLimits::default() }).await;
    let lead = ground.lead("lead").await;
    ground.spawn(&lead, "kid-0", "say done", &[]).await;
    ground.spawn(&lead, "kid-1", "say done", &[]).await;
    let more = json!({ "name": "one-more", "task": "say done", "scope": [] });
    let (code, sentence) = ground.refused(&lead, "SpawnPod", more.clone()).await;
    assert_eq!(code, "rate_limited");
    assert!(sentence.contains("this server has 3 Pods") && sentence.contains("max in [pods]"), "{sentence}");
    assert_eq!(ground.named("one-more").await, None, "nothing was made");

    // A stopped one makes room for another, and is not restored while there is none.
    ground.done(&lead, "StopPod", json!({ "name": "kid-0" })).await;
    ground.done(&lead, "SpawnPod", more).await;
    let (code, _) = ground.refused(&lead, "RestorePod", json!({ "name": "kid-0" })).await;
    assert_eq!(code, "rate_limited");
    ground.done(&lead, "StopPod", json!({ "name": "one-more" })).await;
    ground.done(&lead, "RestorePod", json!({ "name": "kid-0" })).await;
}
