use pod_store::{Batch, NewRequest, PairRow, PeerChange, PeerLinkRow, PodKey, PodUpdate, Store, StoreError};
use protocol::PodName;

use crate::world::*;

pub(crate) fn link(a: PodKey, b: PodKey, second: i64) -> PeerChange {
    PeerChange::Link { a, b, by: format!("by {second}"), at: at(second) }
}

fn unlink(a: PodKey, b: PodKey) -> PeerChange {
    PeerChange::Unlink { a, b }
}

fn pace(a: PodKey, b: PodKey, level: u32, second: i64) -> PeerChange {
    PeerChange::Pace { a, b, level, at: at(second) }
}

pub(crate) fn request(from: PodKey, to: PodKey, second: i64) -> NewRequest {
    NewRequest {
        id: format!("request-{second}"),
        from,
        to,
        note: Some(format!("\"note\" {second}")),
        by: format!("by {second}"),
        at: at(second),
        expires_at: at(second + 100),
    }
}

fn ask(from: PodKey, to: PodKey, second: i64) -> PeerChange {
    PeerChange::Request(request(from, to, second))
}

fn settle(second: i64) -> PeerChange {
    PeerChange::RequestDone { id: format!("request-{second}") }
}

pub(crate) fn peers<const N: usize>(peers: [PeerChange; N]) -> Batch {
    Batch { peers: peers.into(), ..Batch::default() }
}

/// The name of each peer, and who linked them.
async fn known(store: &Store, pod: PodKey) -> Vec<(PodName, String)> {
    let links = store.peers().links(pod).await.unwrap();
    links.into_iter().map(|link| (link.pod.name, link.by)).collect()
}

async fn counts(store: &Store) -> Vec<u32> {
    store.pods().page(None, 9).await.unwrap().iter().map(|row| row.peers).collect()
}

async fn three(store: &Store) -> (PodKey, PodKey, PodKey) {
    (create(store, "ada").await, create(store, "bob").await, create(store, "eve").await)
}

pub(crate) async fn a_link_is_the_same_from_both_sides(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = three(&store).await;
    done(&store, peers([link(bob, ada, 5)])).await;
    // From the other side, later: the existing relation stays.
    done(&store, peers([link(ada, bob, 6), link(eve, ada, 4)])).await;
    let pair = PairRow { by: "by 5".to_owned(), since: at(5), pace_level: 0, pace_at: at(5) };
    assert_eq!(store.peers().link(ada, bob).await.unwrap(), Some(pair.clone()));
    assert_eq!(store.peers().link(bob, ada).await.unwrap(), Some(pair));
    assert_eq!(store.peers().link(bob, eve).await.unwrap(), None);
    assert_eq!(counts(&store).await, [2, 1, 1]);

    let rows = store.pods().page(None, 9).await.unwrap();
    let other =
        |index: usize, second| PeerLinkRow { pod: rows[index].clone(), by: format!("by {second}"), since: at(second) };
    assert_eq!(store.peers().links(ada).await.unwrap(), [other(2, 4), other(1, 5)]);
    assert_eq!(store.peers().links(bob).await.unwrap(), [other(0, 5)]);
    assert_eq!(store.pods().find_by_key(ada).await.unwrap().unwrap().peers, 2);

    done(&store, peers([unlink(bob, ada), unlink(bob, eve), unlink(ada, bob)])).await;
    assert_eq!(known(&store, bob).await, []);
    assert_eq!(known(&store, ada).await, [(name("eve"), "by 4".to_owned())]);
    assert_eq!(counts(&store).await, [1, 0, 1]);
}

pub(crate) async fn many_links_from_both_sides_at_once_are_one(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = three(&store).await;
    let links = (0..40).map(|turn| {
        let (from, to) = if turn % 2 == 0 { (ada, bob) } else { (bob, ada) };
        store.commit(peers([link(from, to, turn), link(to, eve, turn)]))
    });
    for outcome in futures_util::future::join_all(links).await {
        outcome.unwrap();
    }
    assert_eq!(world.count("select count(*) from peers").await, 3);
    assert_eq!(store.peers().link(ada, bob).await.unwrap().unwrap().by, "by 0");
    assert_eq!(counts(&store).await, [2, 2, 2]);
}

pub(crate) async fn a_pair_has_one_pace_and_forgets_it_with_the_link(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = three(&store).await;
    done(&store, peers([link(ada, bob, 1), link(bob, eve, 1)])).await;
    let paces = (1..=30).map(|turn| {
        let (from, to) = if turn % 2 == 0 { (ada, bob) } else { (bob, ada) };
        store.commit(peers([pace(from, to, turn * 1_000, turn.into()), pace(eve, bob, turn, turn.into())]))
    });
    for outcome in futures_util::future::join_all(paces).await {
        outcome.unwrap();
    }
    let of_pair = async |a, b| store.peers().link(a, b).await.unwrap().map(|pair| (pair.pace_level, pair.pace_at));
    assert_eq!(of_pair(ada, bob).await, Some((30_000, at(30))));
    assert_eq!(of_pair(eve, bob).await, Some((30, at(30))));
    assert_eq!(store.peers().link(ada, bob).await.unwrap().unwrap().since, at(1));
    done(&store, peers([pace(ada, bob, u32::MAX, 31), unlink(eve, bob), pace(eve, bob, 7, 31)])).await;
    assert_eq!(of_pair(ada, bob).await, Some((u32::MAX, at(31))));
    assert_eq!(of_pair(eve, bob).await, None);
    done(&store, peers([unlink(ada, bob), link(ada, bob, 40)])).await;
    assert_eq!(of_pair(ada, bob).await, Some((0, at(40))));
}

pub(crate) async fn a_request_is_seen_from_both_sides_until_it_is_settled(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = three(&store).await;
    let without_note = NewRequest { note: None, ..request(eve, bob, 1) };
    done(&store, peers([ask(bob, ada, 2), PeerChange::Request(without_note)])).await;
    let of_bob = store.peers().requests(bob).await.unwrap();
    let sides: Vec<_> = of_bob.iter().map(|row| (row.id.as_str(), row.from.key, row.to.key)).collect();
    assert_eq!(sides, [("request-1", eve, bob), ("request-2", bob, ada)]);
    assert_eq!((&of_bob[0].note, &of_bob[0].by), (&None, &"by 1".to_owned()));
    assert_eq!(of_bob[1].note.as_deref(), Some("\"note\" 2"));
    assert_eq!((of_bob[1].at, of_bob[1].expires_at), (at(2), at(102)));
    assert_eq!(of_bob[1].from, store.pods().find_by_key(bob).await.unwrap().unwrap());

    assert_eq!(store.peers().requests(ada).await.unwrap(), of_bob[1..]);
    assert_eq!(store.peers().request("request-1").await.unwrap().as_ref(), Some(&of_bob[0]));
    assert_eq!(store.peers().request("request-9").await.unwrap(), None);
    assert_eq!(store.peers().request_of(bob, eve).await.unwrap().as_ref(), Some(&of_bob[0]));
    assert_eq!(store.peers().request_of(ada, eve).await.unwrap(), None);
    assert_eq!(store.peers().requests_expired(at(100)).await.unwrap(), []);
    assert_eq!(store.peers().requests_expired(at(101)).await.unwrap(), of_bob[..1]);
    assert_eq!(store.peers().requests_expired(at(999)).await.unwrap(), of_bob);
    assert_eq!((counts(&store).await, known(&store, bob).await), (vec![0, 0, 0], vec![]));

    // Nobody asks twice, nor back, nor under an id that is taken; and of several at once, one succeeds.
    for again in [ask(bob, ada, 3), ask(ada, bob, 4), ask(ada, eve, 1)] {
        assert!(matches!(store.commit(peers([again])).await, Err(StoreError::Conflict)));
    }
    done(&store, peers([settle(1), settle(2), settle(9)])).await;
    let asks = (10..30).map(|turn| store.commit(peers([ask(ada, bob, turn)])));
    let outcomes = futures_util::future::join_all(asks).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(StoreError::Conflict))), "{outcomes:?}");
    assert_eq!(store.peers().requests(ada).await.unwrap().len(), 1);
}

/// The expected state of a pair after each order of steps, by a model of two lines.
pub(crate) async fn links_and_requests_in_every_order_come_to_what_each_step_says(world: World) {
    let store = world.open().await;
    let (ada, bob, _) = three(&store).await;
    for order in 0..64 {
        let steps = [order / 16, order / 4 % 4, order % 4];
        for is_one_batch in [true, false] {
            done(&store, peers([unlink(ada, bob), settle(0), settle(1), settle(2)])).await;
            let mut changes = Vec::new();
            let (mut is_linked, mut asked, mut is_refused) = (false, None, false);
            for (second, step) in (0_i64..).zip(steps) {
                let (from, to) = if second == 1 { (bob, ada) } else { (ada, bob) };
                let (change, is_wrong) = match step {
                    0 => (link(from, to, second), false),
                    1 => (unlink(from, to), false),
                    2 => (ask(from, to, second), is_linked || asked.is_some()),
                    _ => (settle(asked.unwrap_or(0)), false),
                };
                is_refused |= is_wrong;
                if !is_wrong {
                    is_linked = step == 0 || (is_linked && step != 1);
                    asked = if step == 2 { Some(second) } else { asked.filter(|_| step == 1) };
                }
                if is_one_batch {
                    changes.push(change);
                    continue;
                }
                let outcome = store.commit(peers([change])).await;
                assert_eq!(matches!(outcome, Err(StoreError::Conflict)), is_wrong, "{steps:?}: {outcome:?}");
            }
            if is_one_batch {
                let outcome = store.commit(Batch { peers: changes, ..Batch::default() }).await;
                assert_eq!(matches!(outcome, Err(StoreError::Conflict)), is_refused, "{steps:?}: {outcome:?}");
                (is_linked, asked) = if is_refused { (false, None) } else { (is_linked, asked) };
            }
            assert_eq!(store.peers().link(ada, bob).await.unwrap().is_some(), is_linked, "{steps:?}");
            let request = store.peers().request_of(bob, ada).await.unwrap().map(|row| row.id);
            assert_eq!(request, asked.map(|second| format!("request-{second}")), "{steps:?}");
        }
    }
}

pub(crate) async fn a_link_survives_a_rename_and_goes_with_either_pod(world: World) {
    let store = world.open().await;
    for (round, goes) in [0_usize, 1].into_iter().enumerate() {
        let pods = three(&store).await;
        let (ada, bob, eve) = pods;
        done(&store, peers([link(ada, bob, 1), link(bob, eve, 2), ask(ada, eve, round as i64)])).await;
        done(&store, one(update(bob, PodUpdate { name: Some(name("rob")), ..PodUpdate::default() }))).await;
        assert_eq!(known(&store, ada).await, [(name("rob"), "by 1".to_owned())]);
        assert_eq!(known(&store, eve).await, [(name("rob"), "by 2".to_owned())]);

        let (gone, stays) = if goes == 0 { (ada, bob) } else { (bob, ada) };
        done(&store, one(deletion(gone))).await;
        assert_eq!(store.peers().link(ada, bob).await.unwrap(), None);
        assert_eq!(known(&store, gone).await, []);
        assert_eq!(known(&store, stays).await.len(), 1 - goes);
        assert_eq!(store.peers().requests(eve).await.unwrap().len(), goes);
        assert_eq!(counts(&store).await, if goes == 0 { [1, 1] } else { [0, 0] });
        for refused in [link(gone, stays, 1), link(stays, gone, 1), ask(stays, gone, 7), pace(stays, gone, 1, 1)] {
            assert!(matches!(store.commit(peers([refused])).await, Err(StoreError::PodGone)));
        }
        done(&store, Batch { changes: vec![deletion(stays), deletion(eve)], ..Batch::default() }).await;
        assert_eq!(world.count("select (select count(*) from peers) + (select count(*) from peer_requests)").await, 0);
    }
}

pub(crate) async fn a_wrong_link_harms_only_its_own_batch(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = three(&store).await;
    let outcomes = futures_util::future::join_all((1..=20).map(|seq| {
        let change = match seq {
            5 => link(ada, PodKey(4711), seq),
            9 => link(ada, ada, seq),
            _ if seq % 2 == 0 => link(ada, bob, seq),
            _ => link(bob, eve, seq),
        };
        store.commit(Batch { peers: vec![change], audit: vec![audit("peer")], ..Batch::default() })
    }))
    .await;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match index + 1 {
            5 => assert!(matches!(outcome, Err(StoreError::PodGone)), "{outcome:?}"),
            9 => assert!(matches!(outcome, Err(StoreError::Database(_))), "{outcome:?}"),
            _ => drop(outcome.unwrap()),
        }
    }
    assert_eq!(store.audit().page(None, 99).await.unwrap().len(), 18);
    assert_eq!(counts(&store).await, [1, 2, 1]);
    // A Pod that the same batch deletes is linked to nobody.
    let last_will = Batch { peers: vec![link(eve, ada, 30)], ..one(deletion(eve)) };
    done(&store, last_will).await;
    assert_eq!(counts(&store).await, [1, 1]);
    assert_eq!(world.count("select count(*) from peers").await, 1);
}
