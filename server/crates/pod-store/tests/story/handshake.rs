//! Pairs and messages together with everything else that a batch may contain: all of it or nothing.

use std::sync::Arc;

use pod_store::{
    Batch, Committed, MessageChange, MessageRow, PairRow, PeerChange, PodKey, RequestRow, Step, Store, StoreError,
};
use protocol::ReceiptState;

use crate::{
    durability::{View, both, view, whole_batch},
    messages::{message, row, state},
    peers::{link, peers, request},
    world::*,
};

/// Two linked Pods with records, and a third one that asks.
struct Cast {
    ada: PodKey,
    bob: PodKey,
    eve: PodKey,
}

async fn cast(store: &Store) -> Cast {
    let (ada, bob) = both(store).await;
    Cast { ada, bob, eve: create(store, "eve").await }
}

/// A whole batch that touches every table; the link alternates from round to round, and each message is read in the
/// round after it was sent.
fn handshake(cast: &Cast, round: i64) -> Batch {
    let Cast { ada, bob, eve } = *cast;
    let changes = match round % 2 {
        1 => vec![link(ada, bob, round), PeerChange::Pace { a: bob, b: ada, level: 1_000, at: at(round) }],
        _ => vec![PeerChange::Unlink { a: bob, b: ada }],
    };
    let asking = PeerChange::Request(request(eve, bob, round));
    let settled = PeerChange::RequestDone { id: format!("request-{}", round - 1) };
    let read = state(round - 1, ReceiptState::Read, Some(round.unsigned_abs()), true, round);
    Batch {
        peers: [changes, vec![settled, asking]].concat(),
        messages: vec![MessageChange::Put(message(ada, bob, round)), read],
        ..whole_batch(ada, bob, round)
    }
}

#[derive(Debug, PartialEq)]
struct Whole {
    rest: View,
    pair: Option<PairRow>,
    counts: Vec<u32>,
    requests: Vec<RequestRow>,
    messages: Vec<MessageRow>,
}

async fn whole(store: &Store, cast: &Cast, round: i64) -> Whole {
    let Cast { ada, bob, eve } = *cast;
    let (of_ada, of_bob) = (store.peers().links(ada).await.unwrap(), store.peers().links(bob).await.unwrap());
    // Never one-sided.
    assert_eq!(of_ada.iter().map(|link| link.pod.key).collect::<Vec<_>>(), vec![bob; of_ada.len()]);
    assert_eq!(of_bob.iter().map(|link| link.pod.key).collect::<Vec<_>>(), vec![ada; of_ada.len()]);
    let requests = store.peers().requests(eve).await.unwrap();
    assert_eq!(store.peers().requests(bob).await.unwrap(), requests);
    let rows = store.pods().page(None, 99).await.unwrap();
    Whole {
        rest: view(store, (ada, bob), round).await,
        pair: store.peers().link(bob, ada).await.unwrap(),
        counts: rows.iter().map(|row| row.peers).take(2).collect(),
        requests,
        messages: store.messages().of_pair(ada, bob, None, 99).await.unwrap(),
    }
}

impl Whole {
    fn assert_is(&self, cast: &Cast, round: i64) {
        let pair = (round % 2 == 1).then(|| PairRow {
            by: format!("by {round}"),
            since: at(round),
            pace_level: 1_000,
            pace_at: at(round),
        });
        assert_eq!((&self.pair, &self.counts), (&pair, &vec![u32::from(pair.is_some()); 2]));
        let requests: Vec<_> = self.requests.iter().map(|row| row.id.clone()).collect();
        assert_eq!(requests, [format!("request-{round}")]);
        let sent = |second: i64| row(message(cast.ada, cast.bob, second));
        let read = (1..round).rev().map(|second| MessageRow {
            state: ReceiptState::Read,
            turn: Some((second + 1).unsigned_abs()),
            changed_at: at(second + 1),
            woke: true,
            ..sent(second)
        });
        assert_eq!(self.messages, [sent(round)].into_iter().chain(read).collect::<Vec<_>>());
    }
}

pub(crate) async fn a_failure_at_any_step_of_a_handshake_leaves_nothing_or_everything_on_both_sides(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let cast = cast(&store).await;
    for (round, step) in (1..).zip(Step::ALL.into_iter().cycle().take(30)) {
        let batch = handshake(&cast, round);
        let before = whole(&store, &cast, round).await;
        faults.arm(step);
        let failed = store.commit(batch.clone()).await;
        assert!(matches!(failed, Err(StoreError::Injected(failed)) if failed == step), "{step:?}: {failed:?}");
        assert!(!faults.is_armed(), "{step:?} was not reached");
        if step == Step::Answer {
            let repeated = store.commit(batch).await.unwrap();
            assert_eq!(repeated, Committed::Repeated(command(&format!("key-{round}"), "{}")));
        } else {
            assert_eq!(whole(&store, &cast, round).await, before, "{step:?}");
            done(&store, batch).await;
        }
        whole(&store, &cast, round).await.assert_is(&cast, round);
    }
}

pub(crate) async fn pairs_requests_and_messages_are_there_after_a_restart(world: World) {
    let store = world.open().await;
    let cast = cast(&store).await;
    done(&store, handshake(&cast, 1)).await;
    let before = whole(&store, &cast, 1).await;
    store.close().await;
    for _ in 0..2 {
        let store = world.open().await;
        assert_eq!(whole(&store, &cast, 1).await, before);
        // Not closed: as after a kill.
        drop(store);
    }
    let store = world.open().await;
    done(&store, handshake(&cast, 2)).await;
    whole(&store, &cast, 2).await.assert_is(&cast, 2);
}

pub(crate) async fn a_refused_message_takes_records_and_links_of_its_batch_with_it(world: World) {
    let store = world.open().await;
    let cast = cast(&store).await;
    done(&store, handshake(&cast, 1)).await;
    let before = whole(&store, &cast, 2).await;
    let mut batch = handshake(&cast, 2);
    batch.messages = vec![MessageChange::Put(message(cast.ada, cast.bob, 1))];
    assert!(matches!(store.commit(batch).await, Err(StoreError::Conflict)));
    let mut batch = handshake(&cast, 2);
    batch.peers.push(PeerChange::Request(request(cast.bob, cast.eve, 9)));
    assert!(matches!(store.commit(batch).await, Err(StoreError::Conflict)));
    assert_eq!(whole(&store, &cast, 2).await, before);
    done(&store, handshake(&cast, 2)).await;
    whole(&store, &cast, 2).await.assert_is(&cast, 2);
}

pub(crate) async fn a_failure_at_any_step_of_a_deletion_leaves_links_and_messages(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let cast = cast(&store).await;
    done(&store, handshake(&cast, 1)).await;
    let before = whole(&store, &cast, 1).await;
    for pod in [cast.ada, cast.bob] {
        for step in [Step::Begin, Step::Fence, Step::Pods, Step::Commit] {
            faults.arm(step);
            assert!(store.commit(one(deletion(pod))).await.is_err());
            assert_eq!(whole(&store, &cast, 1).await, before, "{step:?}");
        }
    }
    faults.arm(Step::Answer);
    assert!(store.commit(one(deletion(cast.bob))).await.is_err());
    let rows = "select (select count(*) from peers) + (select count(*) from peer_requests)
                + (select count(*) from messages)";
    assert_eq!(world.count(rows).await, 0);
    assert!(matches!(store.commit(peers([link(cast.ada, cast.bob, 2)])).await, Err(StoreError::PodGone)));
}
