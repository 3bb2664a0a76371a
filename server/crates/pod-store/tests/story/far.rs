//! Lines to other stores, and Pods with peers there.

use std::sync::Arc;

use pod_store::{
    Batch, FarChange, FarMessageRow, FarPeerRow, FarPosition, FarReceipt, FarState, PodChange, PodKey, Step, Store,
    StoreError,
};
use protocol::{ReceiptState, WorkerId};

use crate::world::*;

fn far(changes: impl IntoIterator<Item = FarChange>) -> Batch {
    Batch { far: changes.into_iter().collect(), ..Batch::default() }
}

fn send(text: &str) -> FarChange {
    FarChange::Send { store: "there".to_owned(), body: format!("{text:?}") }
}

fn took(seq: i64) -> FarChange {
    FarChange::Took { store: "there".to_owned(), seq }
}

fn eve() -> WorkerId {
    worker("eve")
}

fn peer(pod: PodKey, handshake: &str, state: FarState, round: i64) -> FarPeerRow {
    FarPeerRow {
        pod,
        store: "there".to_owned(),
        worker: eve(),
        handshake: handshake.to_owned(),
        state,
        note: Some(format!("note {round}")),
        by: format!("by {round}"),
        since: at(round),
        expires_at: (state != FarState::Linked).then(|| at(round + 10)),
        pace_level: 0,
        pace_at: at(round),
        told: String::new(),
    }
}

fn message(pod: PodKey, round: i64) -> FarMessageRow {
    FarMessageRow {
        pod,
        id: format!("message-{round}"),
        store: "there".to_owned(),
        worker: eve(),
        is_outgoing: round % 2 == 0,
        call_id: (round % 2 == 0).then(|| format!("call-{round}")),
        text: format!("text\0 {round}"),
        hops: 3,
        state: ReceiptState::Stored,
        turn: None,
        reason: None,
        at: at(round),
        changed_at: at(round),
        woke: round % 2 == 1,
    }
}

async fn items(store: &Store, after: i64) -> Vec<(i64, String)> {
    store.far().out("there", after, 99).await.unwrap()
}

pub(crate) async fn items_are_numbered_in_order_and_forgotten_when_the_other_store_has_them(world: World) {
    let store = world.open().await;
    assert_eq!(store.far().position("there").await.unwrap(), FarPosition::default());
    done(&store, far([send("a"), FarChange::Send { store: "elsewhere".to_owned(), body: "1".to_owned() }])).await;
    done(&store, far([send("b"), send("c")])).await;
    let numbered = |seq, text: &str| (seq, format!("{text:?}"));
    assert_eq!(items(&store, 0).await, [numbered(1, "a"), numbered(2, "b"), numbered(3, "c")]);
    assert_eq!(items(&store, 2).await, [numbered(3, "c")]);
    let acked = |seq| FarChange::Acked { store: "there".to_owned(), seq };
    done(&store, far([acked(2)])).await;
    // Going back has no effect, and neither has going beyond the end.
    done(&store, far([acked(1)])).await;
    done(&store, far([acked(9)])).await;
    drop(store);
    let store = world.open().await;
    assert_eq!(store.far().position("there").await.unwrap(), FarPosition { put_out: 3, acked: 2, taken: 0 });
    assert_eq!(items(&store, 0).await, [numbered(3, "c")]);
    assert_eq!(store.far().out("elsewhere", 0, 9).await.unwrap(), [(1, "1".to_owned())]);
    done(&store, far([send("d")])).await;
    assert_eq!(items(&store, 3).await, [numbered(4, "d")]);
}

pub(crate) async fn an_item_is_taken_once_and_only_in_its_turn(world: World) {
    let store = world.open().await;
    let refused = async |seq| matches!(store.commit(far([took(seq), send("answer")])).await, Err(StoreError::Conflict));
    assert!(refused(2).await);
    done(&store, far([took(1), send("answer")])).await;
    assert!(refused(1).await);
    assert!(refused(3).await);
    done(&store, far([took(2), took(3)])).await;
    assert_eq!(store.far().position("there").await.unwrap(), FarPosition { put_out: 1, acked: 0, taken: 3 });
}

pub(crate) async fn what_a_pod_is_to_a_far_one_comes_back_as_it_was_put_and_is_counted_once_linked(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let count = async || store.pods().find_by_key(ada).await.unwrap().unwrap().peers;
    let card =
        |text: &str| FarChange::Card { store: "there".to_owned(), worker: eve(), body: text.to_owned(), at: at(1) };
    done(&store, far([card("\"unknown\"")])).await;
    assert_eq!(store.far().cards().await.unwrap(), []);
    for (round, state) in
        [FarState::Proposed, FarState::Waiting, FarState::Asked, FarState::Linked].into_iter().enumerate()
    {
        let row = peer(ada, "h-1", state, round as i64);
        done(&store, far([FarChange::Put(row.clone()), card("1")])).await;
        assert_eq!(store.far().peers(ada).await.unwrap(), std::slice::from_ref(&row));
        assert_eq!(store.far().peer_of("there", "h-1").await.unwrap(), Some(row.clone()));
        assert_eq!(store.far().peers_all().await.unwrap(), [row]);
        assert_eq!(count().await, u32::from(state == FarState::Linked));
    }
    let same = store.commit(far([FarChange::Put(peer(bob, "h-1", FarState::Asked, 5))])).await;
    assert!(matches!(same, Err(StoreError::Conflict)), "{same:?}");
    let gone = store.commit(far([FarChange::Put(peer(PodKey(99), "h-9", FarState::Asked, 5))])).await;
    assert!(matches!(gone, Err(StoreError::Conflict)), "{gone:?}");
    assert_eq!(store.far().named().await.unwrap(), []);
    for name in ["desk", "box"] {
        done(&store, far([FarChange::Named { store: "there".to_owned(), name: name.to_owned() }])).await;
        assert_eq!(store.far().named().await.unwrap(), [("there".to_owned(), name.to_owned())]);
    }
    let pace = FarChange::Pace { pod: ada, store: "there".to_owned(), worker: eve(), level: 7, at: at(9) };
    let told = FarChange::Told { pod: ada, store: "there".to_owned(), worker: eve(), told: "me".to_owned() };
    done(&store, far([pace, told, card("2")])).await;
    let row = store.far().peers(ada).await.unwrap().remove(0);
    assert_eq!((row.pace_level, row.pace_at, row.told.as_str()), (7, at(9), "me"));
    assert_eq!(store.far().card("there", &eve()).await.unwrap().unwrap().body, "2");
    done(&store, far([FarChange::Remove { pod: ada, store: "there".to_owned(), worker: eve() }])).await;
    assert_eq!(
        (store.far().peers(ada).await.unwrap(), store.far().cards().await.unwrap(), count().await),
        (vec![], vec![], 0)
    );
}

pub(crate) async fn many_items_at_once_get_dense_numbers(world: World) {
    let store = world.open().await;
    let sends = (0..50).map(|round| {
        let store = store.clone();
        tokio::spawn(async move { done(&store, far([send(&format!("{round}"))])).await })
    });
    for sent in sends.collect::<Vec<_>>() {
        sent.await.unwrap();
    }
    let seqs: Vec<i64> = items(&store, 0).await.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, (1..=50).collect::<Vec<_>>());
}

pub(crate) async fn a_far_message_comes_back_as_it_was_put_and_goes_with_its_pod(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    for round in 1..=4 {
        done(&store, far([FarChange::Message(message(ada, round))])).await;
    }
    assert_eq!(store.far().message(ada, "message-3").await.unwrap(), Some(message(ada, 3)));
    assert_eq!(store.far().message_of_call(ada, "call-2").await.unwrap(), Some(message(ada, 2)));
    assert_eq!(store.messages().woke_count(ada, at(2)).await.unwrap(), 1);
    let again = store.commit(far([FarChange::Message(message(ada, 2))])).await;
    assert!(matches!(again, Err(StoreError::Conflict)));
    let receipt = FarReceipt {
        pod: ada,
        id: "message-2".to_owned(),
        state: ReceiptState::Read,
        turn: Some(4),
        reason: Some("1".to_owned()),
        woke: false,
        at: at(7),
    };
    done(&store, far([FarChange::MessageState(receipt)])).await;
    let row = store.far().message(ada, "message-2").await.unwrap().unwrap();
    assert_eq!(
        (row.state, row.turn, row.reason.as_deref(), row.changed_at),
        (ReceiptState::Read, Some(4), Some("1"), at(7))
    );
    let page = async |before, limit| {
        let rows = store.far().messages(ada, "there", &eve(), before, limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 2).await, ["message-4", "message-3"]);
    assert_eq!(page(Some((at(3), "message-3".to_owned())), 9).await, ["message-2", "message-1"]);
    done(&store, far([FarChange::Put(peer(ada, "h", FarState::Linked, 1))])).await;
    done(&store, one(deletion(ada))).await;
    let rows = "select (select count(*) from far_peers) + (select count(*) from far_messages)";
    assert_eq!(world.count(rows).await, 0);
}

pub(crate) async fn a_failure_at_any_step_leaves_the_line_and_the_pair_together(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    let mut round = 0;
    for step in [Step::Begin, Step::Fence, Step::Records, Step::Far, Step::Commit, Step::Answer] {
        let batch = |round: i64| {
            let link = FarChange::Put(peer(ada, &format!("h-{round}"), FarState::Linked, round));
            let change = PodChange { far: vec![send("accepted")], ..records(ada, round, round) };
            Batch { far: vec![took(round), link], ..one(change) }
        };
        faults.arm(step);
        let failed = store.commit(batch(round + 1)).await;
        assert!(matches!(failed, Err(StoreError::Injected(_))), "{step:?}: {failed:?}");
        if step == Step::Answer {
            round += 1;
        } else {
            let position = store.far().position("there").await.unwrap();
            assert_eq!((position.taken, position.put_out), (round, round), "{step:?}");
            done(&store, batch(round + 1)).await;
            round += 1;
        }
        let position = store.far().position("there").await.unwrap();
        assert_eq!((position.taken, position.put_out), (round, round), "{step:?}");
        assert_eq!(store.far().peers(ada).await.unwrap(), [peer(ada, &format!("h-{round}"), FarState::Linked, round)]);
    }
}
