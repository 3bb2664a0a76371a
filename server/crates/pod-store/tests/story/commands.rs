use pod_store::{Batch, CommandRow, Committed, StoreError};
use protocol::Seq;

use crate::world::*;

pub(crate) async fn a_repeated_command_writes_nothing_and_gives_the_first_answer(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let first = command("key-1", r#"{"answer":"first"}"#);
    let batch = Batch { command: Some(first.clone()), audit: vec![audit("input")], ..one(records(ada, 1, 1)) };
    done(&store, batch).await;
    assert_eq!(store.commands().find(&id("key-1")).await.unwrap(), Some(first.clone()));
    assert_eq!(store.commands().find(&id("key-2")).await.unwrap(), None);

    // It is not even examined: these records would not fit, and this name is taken.
    let again = Batch {
        command: Some(command("key-1", r#"{"answer":"second"}"#)),
        changes: vec![records(ada, 1, 1), creation("ada")],
        audit: vec![audit("input")],
        ..Batch::default()
    };
    for is_reopened in [false, true] {
        let store = if is_reopened { world.open().await } else { store.clone() };
        assert_eq!(store.commit(again.clone()).await.unwrap(), Committed::Repeated(first.clone()));
        assert_eq!(store.journals().head(ada).await.unwrap(), Seq(1));
        assert_eq!(store.audit().page(None, 9).await.unwrap().len(), 1);
    }
}

pub(crate) async fn one_command_sent_many_times_at_once_happens_once(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let outcomes = futures_util::future::join_all((0..60).map(|number| {
        let key = format!("key-{}", number % 3);
        let row = command(&key, &format!("{number}"));
        let seq = number % 3 + 1;
        store.commit(Batch { command: Some(row), ..one(records(ada, seq, seq)) })
    }))
    .await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        match (number, outcome.unwrap()) {
            (0..3, outcome) => assert_eq!(outcome, Committed::Done { created: vec![] }),
            (number, outcome) => {
                let first = (number % 3).to_string();
                assert_eq!(outcome, Committed::Repeated(command(&format!("key-{first}"), &first)));
            }
        }
    }
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(3));

    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (store, row) = (store.clone(), command("race", &number.to_string()));
            tokio::spawn(async move {
                store.commit(Batch { command: Some(row), ..one(creation(&format!("pod-{number}"))) }).await.unwrap()
            })
        })
        .collect();
    let outcomes = futures_util::future::join_all(tasks).await;
    let won = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Committed::Done { .. }))).count();
    assert_eq!((won, store.pods().page(None, 99).await.unwrap().len()), (1, 2));
}

pub(crate) async fn a_command_whose_batch_failed_may_be_sent_again(world: World) {
    let store = world.open().await;
    create(&store, "ada").await;
    let taken = Batch { command: Some(command("key", "1")), ..one(creation("ada")) };
    // Both are in the group that fails, and neither is carried out.
    let (first, second) = tokio::join!(store.commit(taken.clone()), store.commit(taken));
    for outcome in [first, second] {
        assert!(matches!(outcome, Err(StoreError::NameTaken(_) | StoreError::Conflict)), "{outcome:?}");
    }
    assert_eq!(store.commands().find(&id("key")).await.unwrap(), None);
    done(&store, Batch { command: Some(command("key", "2")), ..one(creation("bob")) }).await;
    assert_eq!(store.commands().find(&id("key")).await.unwrap(), Some(command("key", "2")));
}

pub(crate) async fn a_key_that_was_sent_on_is_taken_until_it_is_answered_or_freed(world: World) {
    let store = world.open().await;
    let other = CommandRow { fingerprint: [8; 32], ..command("k", "other") };
    assert_eq!(store.commands().claim(command("k", "unused")).await.unwrap(), None);
    let open = store.commands().find(&id("k")).await.unwrap().unwrap();
    assert!(open.is_open() && open.fingerprint == [7; 32]);
    // Whatever the id is claimed for next, the answer is the command that has it.
    assert_eq!(store.commands().claim(other.clone()).await.unwrap(), Some(open.clone()));
    assert_eq!(
        store.commit(Batch { command: Some(other.clone()), ..Batch::default() }).await.unwrap(),
        Committed::Repeated(open)
    );
    // Another command neither releases nor answers it.
    store.commands().free(id("k"), other.fingerprint).await.unwrap();
    store.commands().settle(other.clone()).await.unwrap();
    assert!(store.commands().find(&id("k")).await.unwrap().unwrap().is_open());
    assert_eq!(store.commands().claim(command("sent", "")).await.unwrap(), None);
    let open = store.commands().open().await.unwrap();
    assert_eq!(open.iter().map(|row| row.id.as_str()).collect::<std::collections::BTreeSet<_>>(), ["k", "sent"].into());
    store.commands().settle(command("sent", "{}")).await.unwrap();
    store.commands().free(id("k"), [7; 32]).await.unwrap();
    assert_eq!(store.commands().open().await.unwrap(), []);
    assert_eq!(store.commands().find(&id("k")).await.unwrap(), None);
    // An answer is kept, even if a repeat was refused before it arrived, and across a restart.
    store.commands().settle(command("k", "{}")).await.unwrap();
    store.commands().settle(command("k", "later")).await.unwrap();
    store.commands().free(id("k"), [7; 32]).await.unwrap();
    store.close().await;
    let store = world.open().await;
    assert_eq!(store.commands().find(&id("k")).await.unwrap(), Some(command("k", "{}")));
    assert_eq!(store.commands().claim(other).await.unwrap(), Some(command("k", "{}")));
}
