use pod_store::{Batch, MessageChange, MessageRow, NewMessage, PodKey, Store, StoreError};
use protocol::ReceiptState;

use crate::world::*;

/// The message of one second, different from all others.
pub(crate) fn message(sender: PodKey, receiver: PodKey, second: i64) -> NewMessage {
    NewMessage {
        id: format!("message-{second:03}"),
        sender,
        receiver,
        call_id: format!("call-{second}"),
        text: format!("\"text\" of {second}\n"),
        hops: 2,
        state: ReceiptState::Stored,
        woke: false,
        at: at(second),
    }
}

pub(crate) fn row(new: NewMessage) -> MessageRow {
    let NewMessage { id, sender, receiver, call_id, text, hops, state, woke, at } = new;
    MessageRow { id, sender, receiver, call_id, text, hops, state, turn: None, at, changed_at: at, woke }
}

pub(crate) fn state(second: i64, state: ReceiptState, turn: Option<u64>, woke: bool, now: i64) -> MessageChange {
    MessageChange::State { id: format!("message-{second:03}"), state, turn, woke, at: at(now) }
}

fn messages(messages: impl IntoIterator<Item = MessageChange>) -> Batch {
    Batch { messages: messages.into_iter().collect(), ..Batch::default() }
}

fn put(messages: impl IntoIterator<Item = NewMessage>) -> Batch {
    self::messages(messages.into_iter().map(MessageChange::Put))
}

async fn two(store: &Store) -> (PodKey, PodKey) {
    (create(store, "ada").await, create(store, "bob").await)
}

fn ids(rows: &[MessageRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

pub(crate) async fn a_message_comes_back_as_it_was_put(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let plain = message(ada, bob, 1);
    let odd = NewMessage {
        text: format!("NUL \0, 'quotes' \"\u{7}\" {{}} \u{1f642} {}", "é".repeat(32_000)),
        hops: u32::MAX,
        state: ReceiptState::Held,
        woke: true,
        ..message(bob, ada, 2)
    };
    done(&store, put([plain.clone(), odd.clone()])).await;
    for new in [plain, odd] {
        let row = row(new);
        assert_eq!(store.messages().find(&row.id).await.unwrap().as_ref(), Some(&row));
        assert_eq!(store.messages().of_call(row.sender, &row.call_id).await.unwrap().as_ref(), Some(&row));
        assert_eq!(store.messages().of_call(row.receiver, &row.call_id).await.unwrap(), None);
    }
    assert_eq!(store.messages().find("nobody's").await.unwrap(), None);
}

pub(crate) async fn what_is_sent_again_is_there_once(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let sends = (1..=20).map(|turn| {
        let new = NewMessage { call_id: "call".to_owned(), ..message(ada, bob, turn) };
        store.commit(Batch { audit: vec![audit("message")], ..put([new]) })
    });
    let outcomes = futures_util::future::join_all(sends).await;
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, Err(StoreError::Conflict))), "{outcomes:?}");
    assert_eq!(store.audit().page(None, 99).await.unwrap().len(), 1);
    // An id that is taken; twice in one batch; another one's call with the same id.
    let taken = NewMessage { call_id: "other".to_owned(), ..message(bob, ada, 1) };
    assert!(matches!(store.commit(put([taken])).await, Err(StoreError::Conflict)));
    let twice = NewMessage { id: "again".to_owned(), ..message(ada, bob, 30) };
    assert!(matches!(store.commit(put([message(ada, bob, 30), twice])).await, Err(StoreError::Conflict)));
    done(&store, put([NewMessage { call_id: "call".to_owned(), ..message(bob, ada, 40) }])).await;
    let rows = store.messages().of_pair(ada, bob, None, 99).await.unwrap();
    assert_eq!(ids(&rows), ["message-040", "message-001"]);
}

pub(crate) async fn a_receipt_goes_on_and_forgets_nothing(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let all = [
        (ReceiptState::Held, None, false),
        (ReceiptState::Stored, None, true),
        (ReceiptState::Read, Some(u64::from(u32::MAX)), false),
        (ReceiptState::Answered, None, false),
        (ReceiptState::Refused, None, false),
        (ReceiptState::Expired, Some(7), false),
    ];
    done(&store, put([message(ada, bob, 1), message(ada, bob, 2)])).await;
    let mut expected = row(message(ada, bob, 1));
    for (now, (to, turn, woke)) in (10..).zip(all) {
        done(&store, messages([state(1, to, turn, woke, now)])).await;
        expected.turn = turn.or(expected.turn);
        expected = MessageRow { state: to, woke: expected.woke || woke, changed_at: at(now), ..expected };
        assert_eq!(store.messages().find("message-001").await.unwrap().as_ref(), Some(&expected));
    }
    assert_eq!((expected.turn, expected.woke), (Some(7), true));
    assert_eq!(store.messages().find("message-002").await.unwrap(), Some(row(message(ada, bob, 2))));

    // In one batch with the message itself, and for one that does not exist.
    let both = [
        MessageChange::Put(message(bob, ada, 3)),
        state(3, ReceiptState::Read, Some(1), true, 20),
        state(99, ReceiptState::Read, Some(1), true, 20),
        state(3, ReceiptState::Answered, None, false, 21),
    ];
    done(&store, messages(both)).await;
    let MessageRow { state, turn, woke, changed_at, .. } = store.messages().find("message-003").await.unwrap().unwrap();
    assert_eq!((state, turn, woke, changed_at), (ReceiptState::Answered, Some(1), true, at(21)));
}

pub(crate) async fn an_exchange_is_paged_from_the_newest_and_holds_no_other(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let eve = create(&store, "eve").await;
    let one_of = |second: i64| {
        let (sender, receiver) = if second % 3 == 0 { (bob, ada) } else { (ada, bob) };
        // Four with the same time: distinguished by their ids.
        NewMessage { at: at(second / 4), ..message(sender, receiver, second) }
    };
    done(&store, put((0..50).map(one_of))).await;
    done(&store, put((50..60).flat_map(|second| [message(ada, eve, second), message(eve, bob, second + 10)]))).await;
    let expected: Vec<MessageRow> = (0..50).rev().map(|second| row(one_of(second))).collect();
    for page in [1, 7, 50, 60] {
        let (mut rows, mut before): (Vec<MessageRow>, _) = (Vec::new(), None);
        loop {
            let more = store.messages().of_pair(bob, ada, before.clone(), page).await.unwrap();
            assert!(more.len() <= page as usize);
            let Some(last) = more.last() else { break };
            before = Some((last.at, last.id.clone()));
            rows.extend(more);
        }
        assert_eq!(rows, expected, "pages of {page}");
    }
    let rows = store.messages().of_pair(eve, ada, None, 3).await.unwrap();
    assert_eq!(ids(&rows), ["message-059", "message-058", "message-057"]);
    assert_eq!(store.messages().of_pair(ada, ada, None, 9).await.unwrap(), []);
}

pub(crate) async fn held_messages_are_listed_for_both_and_waking_ones_are_counted(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let eve = create(&store, "eve").await;
    let held = |sender, receiver, second| NewMessage { state: ReceiptState::Held, ..message(sender, receiver, second) };
    done(&store, put([held(bob, ada, 2), held(ada, bob, 1), message(ada, bob, 3), held(eve, bob, 4)])).await;
    let of = async |pod| store.messages().held(pod).await.unwrap();
    assert_eq!(ids(&of(ada).await), ["message-001", "message-002"]);
    assert_eq!(of(bob).await, [row(held(ada, bob, 1)), row(held(bob, ada, 2)), row(held(eve, bob, 4))]);
    done(
        &store,
        messages([state(1, ReceiptState::Stored, None, true, 9), state(4, ReceiptState::Refused, None, false, 9)]),
    )
    .await;
    assert_eq!(ids(&of(bob).await), ["message-002"]);
    assert_eq!(ids(&of(eve).await), Vec::<&str>::new());

    let woke = |sender, receiver, second| NewMessage { woke: true, ..message(sender, receiver, second) };
    done(&store, put([woke(ada, bob, 10), woke(eve, bob, 11), woke(bob, ada, 12), message(ada, bob, 13)])).await;
    let counts = async |pod, since| store.messages().woke_count(pod, at(since)).await.unwrap();
    assert_eq!((counts(bob, 0).await, counts(bob, 2).await, counts(bob, 11).await), (3, 2, 1));
    assert_eq!((counts(bob, 12).await, counts(ada, 0).await, counts(eve, 0).await), (0, 1, 0));
}

pub(crate) async fn messages_go_with_either_pod_and_none_is_put_for_one_that_is_gone(world: World) {
    let store = world.open().await;
    let (ada, bob) = two(&store).await;
    let (eve, zoe) = (create(&store, "eve").await, create(&store, "zoe").await);
    done(&store, put([message(ada, bob, 1), message(bob, ada, 2), message(ada, eve, 3), message(eve, zoe, 4)])).await;
    done(&store, one(deletion(bob))).await;
    assert_eq!(store.messages().of_pair(ada, bob, None, 9).await.unwrap(), []);
    assert_eq!(store.messages().find("message-001").await.unwrap(), None);
    assert_eq!(world.count("select count(*) from messages").await, 2);
    let sends = [message(bob, ada, 5), message(ada, bob, 6), message(ada, eve, 7)];
    let outcomes = futures_util::future::join_all(sends.map(|new| store.commit(put([new])))).await;
    assert!(matches!(outcomes[0], Err(StoreError::PodGone)), "{outcomes:?}");
    assert!(matches!(outcomes[1], Err(StoreError::PodGone)), "{outcomes:?}");
    assert!(outcomes[2].is_ok(), "{outcomes:?}");
    // An update about a message that is gone is not an error, so nothing else in the batch is lost.
    done(&store, messages([state(1, ReceiptState::Read, Some(1), false, 9)])).await;
    // To a Pod that the same batch deletes: never reported as sent, and the Pod stays.
    let last_word = Batch { changes: vec![deletion(eve)], ..put([message(ada, eve, 8)]) };
    assert!(matches!(store.commit(last_word).await, Err(StoreError::Conflict)));
    assert!(store.messages().find("message-007").await.unwrap().is_some());
    done(&store, one(deletion(eve))).await;
    assert_eq!(world.count("select count(*) from messages").await, 0);
}
