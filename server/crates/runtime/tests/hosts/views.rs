//! A viewer at another host sees the same.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::StreamExt;
use pod_store::{Faults, Step, StoreError};
use protocol::{ControlEvent, Event, PodState};
use runtime::{FeedItem, PodQuery};

use crate::{
    ground::*,
    stage::{kinds, origin, read_all},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_on_another_host_sees_a_run_as_it_comes_and_nothing_twice() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let watching = tokio::spawn({
        let (two, ada) = (two.clone(), ada.clone());
        async move { watch(&two, &ada, is_finished).await }
    });
    let mine = tokio::spawn({
        let (one, ada) = (one.clone(), ada.clone());
        async move { watch(&one, &ada, is_finished).await }
    });
    until("two viewers", async || one.health().viewers() == 1 && two.health().viewers() == 1).await;
    tell(&one, &ada, "say hello\nstream 900 at 60\nsay the end").await;
    let (seen, own) = (watching.await.unwrap(), mine.await.unwrap());
    for seen in [&seen, &own] {
        assert!(seen.windows(2).all(|pair| pair[0].seq < pair[1].seq), "out of order, or twice");
    }
    assert!(seen.iter().filter(|record| record.event.kind() == "text_chunk").count() > 20, "it came in pieces");
    until("at rest", async || state(&one, &ada).await == PodState::Idle).await;
    let journal = ordered(&one, &ada).await;
    assert_eq!(journal, ordered(&two, &ada).await);
    let whole = |records: &[protocol::Record]| {
        records.iter().filter(|record| !record.event.kind().ends_with("_chunk")).cloned().collect::<Vec<_>>()
    };
    let last = seen.last().unwrap().seq;
    let expected: Vec<_> = whole(&journal).into_iter().filter(|record| record.seq <= last).collect();
    assert_eq!(whole(&seen), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_of_one_host_goes_on_at_another_one() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    // This tail is older than the cursor will be.
    let mut early = two.journals().observe(&ada, None, 10).await;
    early.next().await.unwrap();
    tell(&one, &ada, "say hello").await;
    watch(&one, &ada, is_finished).await;
    let mut viewer = one.journals().observe(&ada, None, 1_000).await;
    let FeedItem::Snapshot { cursor, records, .. } = viewer.next().await.unwrap() else { panic!("no snapshot") };
    let before = read_all(&records);
    let mut after = two.journals().observe(&ada, Some(cursor), 10).await;
    tell(&two, &ada, "say more").await;
    let mut seen = Vec::new();
    while !seen.iter().any(is_finished) {
        match within("more of the run", after.next()).await.unwrap() {
            FeedItem::Records { records, .. } => seen.extend(read_all(&records)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen[0].seq, before.last().unwrap().seq.next());
}

/// While it is deaf, a host commits once more and hears no answer any more.
#[derive(Debug, Default)]
struct Deaf {
    is_deaf: AtomicBool,
    has_written: AtomicBool,
}

impl Faults for Deaf {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let is_deaf = self.is_deaf.load(Ordering::Acquire);
        if is_deaf && step == Step::Answer {
            self.has_written.store(true, Ordering::Release);
        }
        match is_deaf && self.has_written.load(Ordering::Acquire) {
            true => Err(StoreError::Away("nothing is heard".to_owned())),
            false => Ok(()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_goes_on_at_the_pods_own_host_before_that_knows_that_its_commit_is_written() {
    let ground = Ground::new().await;
    let deaf = Arc::new(Deaf::default());
    let (one, two) = (ground.host_with("one", deaf.clone()).await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let mut early = one.journals().observe(&ada, None, 10).await;
    early.next().await.unwrap();
    let mut elsewhere = two.journals().observe(&ada, None, 10).await;
    elsewhere.next().await.unwrap();
    deaf.is_deaf.store(true, Ordering::Release);
    let telling = tokio::spawn({
        let (one, ada) = (one.clone(), ada.clone());
        async move { tell(&one, &ada, "say hello").await }
    });
    let FeedItem::Records { cursor, .. } = within("the commit is seen", elsewhere.next()).await.unwrap() else {
        panic!("no records")
    };
    let mut after = one.journals().observe(&ada, Some(cursor.clone()), 10).await;
    deaf.is_deaf.store(false, Ordering::Release);
    match within("more of the run", after.next()).await.unwrap() {
        FeedItem::Records { after, .. } => assert_eq!(after, cursor),
        other => panic!("{other:?}"),
    }
    telling.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_each_host_follows_what_happens_on_the_others() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let mut list = two.pods().observe();
    assert!(list.next().await.unwrap().snapshot);
    let ada = create(&one, "ada").await;
    let next = async |list: &mut runtime::PodsObservation| within("the list changes", list.next()).await.unwrap();
    assert_eq!(next(&mut list).await.upserts[0].name.as_str(), "ada");
    tell(&one, &ada, "say hello").await;
    watch(&one, &ada, is_finished).await;
    let head = one.pods().get(&ada).await.unwrap().summary.head_seq;
    while !next(&mut list).await.upserts.iter().any(|pod| pod.head_seq == head) {}
    one.pods().delete(fresh_key(), &origin(), &ada, Some("ada")).await.unwrap();
    while !next(&mut list).await.removed.iter().any(|pod| pod.worker_id == ada) {}
    assert!(two.pods().list(&PodQuery::default()).await.unwrap().items.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_is_told_when_the_pod_is_deleted_on_another_host() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let mut viewer = two.journals().observe(&ada, None, 10).await;
    viewer.next().await.unwrap();
    // Also requested at the other host.
    two.pods().delete(fresh_key(), &origin(), &ada, Some("ada")).await.unwrap();
    let gone = within("the viewer is told", async {
        while let Some(item) = viewer.next().await {
            if let FeedItem::Closed { reason } = item {
                return reason;
            }
        }
        String::new()
    });
    assert_eq!(gone.await, "pod_gone");
    assert!(one.pods().get(&ada).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_read_on_one_host_is_read_on_all() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    for _ in 0..2 {
        tell(&one, &ada, "say hello").await;
        until("the run is over", async || one.pods().get(&ada).await.unwrap().summary.state.as_str() == "idle").await;
    }
    assert_eq!(two.pods().get(&ada).await.unwrap().summary.unread, 2);
    let _viewer = two.journals().observe(&ada, None, 10).await;
    until("read", async || one.pods().get(&ada).await.unwrap().summary.unread == 0).await;
    // And stays so while somebody watches.
    tell(&one, &ada, "say more").await;
    until("the run is over", async || {
        let records = ordered(&one, &ada).await;
        records.iter().filter(|record| is_finished(record)).count() == 3
    })
    .await;
    until("read again", async || one.pods().get(&ada).await.unwrap().summary.unread == 0).await;
    let is_note = |record: &protocol::Record| matches!(record.event, Event::Control(ControlEvent::Alert { .. }));
    assert!(!ordered(&one, &ada).await.iter().any(is_note), "{:?}", kinds(&ordered(&one, &ada).await));
}
