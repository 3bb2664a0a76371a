use pod_store::{
    Batch, ChildRow, Committed, LoanChange, ParentLink, ParentRow, PodChange, PodKey, PodUpdate, Store, StoreError,
};

use crate::world::*;

const SCOPE: &str = r#"[{"path":"/home/\"ada\"","mode":"write"}]"#;

fn child_of(parent: PodKey, text: &str) -> PodChange {
    PodChange { parent: Some(link(parent, SCOPE)), ..creation(text) }
}

fn link(parent: PodKey, scope: &str) -> ParentLink {
    ParentLink { parent, scope: scope.to_owned() }
}

fn loan(child: PodKey, loan: LoanChange) -> PodChange {
    PodChange { loan: Some(loan), ..PodChange::of(child) }
}

async fn spawn(store: &Store, parent: PodKey, text: &str) -> PodKey {
    let Committed::Done { created } = store.commit(one(child_of(parent, text))).await.unwrap() else { panic!() };
    created[0]
}

/// Name, scope, and whether it is lent, of each child.
async fn family(store: &Store, parent: PodKey) -> Vec<(String, String, bool)> {
    let children = store.family().children(parent).await.unwrap();
    children.into_iter().map(|child| (child.pod.name.to_string(), child.scope, child.is_lent)).collect()
}

fn lent(text: &str) -> (String, String, bool) {
    (text.to_owned(), SCOPE.to_owned(), true)
}

pub(crate) async fn a_spawned_pod_knows_its_parent_and_the_parent_counts_it(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let zoe = spawn(&store, ada, "zoe").await;
    // With its parent's records, and a grandchild: two Pods in one batch, each with its own parent.
    let batch =
        Batch { changes: vec![records(ada, 1, 2), child_of(ada, "bob"), child_of(zoe, "eve")], ..Batch::default() };
    done(&store, batch).await;

    let store = world.open().await;
    let rows = store.pods().page(None, 9).await.unwrap();
    assert_eq!(names(&rows), ["ada", "zoe", "bob", "eve"]);
    let parent = |text: &str, key| Some(ParentRow { key, worker_id: worker(text) });
    let parents: Vec<_> = rows.iter().map(|row| row.parent.clone()).collect();
    assert_eq!(parents, [None, parent("ada", ada), parent("ada", ada), parent("zoe", zoe)]);
    assert_eq!(rows.iter().map(|row| row.children).collect::<Vec<_>>(), [2, 1, 0, 0]);
    for row in &rows {
        assert_eq!(store.pods().find(&row.worker_id).await.unwrap().as_ref(), Some(row));
        assert_eq!(store.pods().find_by_name(&row.name).await.unwrap().as_ref(), Some(row));
        assert_eq!(store.pods().find_by_key(row.key).await.unwrap().as_ref(), Some(row));
    }
    assert_eq!(store.pods().find_by_key(PodKey(4711)).await.unwrap(), None);

    let child = |index: usize| ChildRow { pod: rows[index].clone(), scope: SCOPE.to_owned(), is_lent: true };
    assert_eq!(store.family().children(ada).await.unwrap(), [child(1), child(2)]);
    assert_eq!(store.family().children(zoe).await.unwrap(), [child(3)]);
    assert_eq!(store.family().children(rows[3].key).await.unwrap(), []);
    assert_eq!(store.family().child(zoe).await.unwrap(), Some(child(1)));
    assert_eq!(store.family().child(ada).await.unwrap(), None);
    assert_eq!(store.family().child(PodKey(4711)).await.unwrap(), None);
}

pub(crate) async fn a_loan_is_taken_back_and_lent_again(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let (bob, eve) = (spawn(&store, ada, "bob").await, spawn(&store, ada, "eve").await);
    done(&store, one(loan(bob, LoanChange::Back))).await;
    let back = |text: &str| (text.to_owned(), SCOPE.to_owned(), false);
    assert_eq!(family(&store, ada).await, [back("bob"), lent("eve")]);
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap().unwrap().children, 2);

    let both = vec![loan(bob, LoanChange::Out), loan(eve, LoanChange::Back)];
    done(&store, Batch { changes: both, ..Batch::default() }).await;
    assert_eq!(family(&store, ada).await, [lent("bob"), back("eve")]);

    // Many in one group: the last one applies.
    let turns = (1..=21).map(|turn| {
        let change = if turn % 2 == 0 { LoanChange::Out } else { LoanChange::Back };
        store.commit(one(loan(bob, change)))
    });
    for outcome in futures_util::future::join_all(turns).await {
        outcome.unwrap();
    }
    assert_eq!(family(&store, ada).await, [back("bob"), back("eve")]);

    // Ada is nobody's child: there is nothing to take back.
    done(&store, one(loan(ada, LoanChange::Back))).await;
    assert_eq!(store.family().child(ada).await.unwrap(), None);
}

pub(crate) async fn a_pod_that_is_there_may_get_a_parent_or_another_loan(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = (create(&store, "ada").await, create(&store, "bob").await, create(&store, "eve").await);
    for (parent, scope) in [(ada, "[1]"), (ada, "[2]"), (bob, "[3]")] {
        done(&store, one(loan(eve, LoanChange::Back))).await;
        done(&store, one(PodChange { parent: Some(link(parent, scope)), ..PodChange::of(eve) })).await;
        assert_eq!(family(&store, parent).await, [("eve".to_owned(), scope.to_owned(), true)]);
    }
    assert_eq!(family(&store, ada).await, []);
    let rows = store.pods().page(None, 9).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.children).collect::<Vec<_>>(), [0, 1, 0]);
    // Made a child and taken back at once.
    let change = PodChange { parent: Some(link(ada, "[4]")), ..loan(eve, LoanChange::Back) };
    done(&store, one(change)).await;
    assert_eq!(family(&store, ada).await, [("eve".to_owned(), "[4]".to_owned(), false)]);
}

pub(crate) async fn children_of_a_deleted_pod_go_on_without_a_parent(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let bob = spawn(&store, ada, "bob").await;
    let eve = spawn(&store, bob, "eve").await;
    done(&store, one(deletion(bob))).await;
    assert_eq!(family(&store, ada).await, []);
    assert_eq!(store.family().children(bob).await.unwrap(), []);
    assert_eq!(store.family().child(eve).await.unwrap(), None);
    let rows = store.pods().page(None, 9).await.unwrap();
    assert_eq!(names(&rows), ["ada", "eve"]);
    assert!(rows.iter().all(|row| row.parent.is_none() && row.children == 0), "{rows:?}");
    assert_eq!(world.count("select count(*) from children").await, 0);
}

pub(crate) async fn a_deleted_child_is_counted_no_more(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let (bob, _) = (spawn(&store, ada, "bob").await, spawn(&store, ada, "eve").await);
    done(&store, one(deletion(bob))).await;
    assert_eq!(family(&store, ada).await, [lent("eve")]);
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap().unwrap().children, 1);
    // Its name is free, and a new Pod of that name is a child of its own.
    spawn(&store, ada, "bob").await;
    assert_eq!(family(&store, ada).await, [lent("eve"), lent("bob")]);
}

pub(crate) async fn nobody_becomes_the_child_of_a_pod_that_is_gone(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(deletion(ada))).await;
    let spawns = [child_of(ada, "eve"), child_of(bob, "zoe")].map(|change| store.commit(one(change)));
    let outcomes = futures_util::future::join_all(spawns).await;
    assert!(matches!(outcomes[0], Err(StoreError::PodGone)), "{:?}", outcomes[0]);
    assert!(matches!(outcomes[1], Ok(Committed::Done { .. })), "{:?}", outcomes[1]);
    // Deleted in the same batch: the child is created without a parent.
    let last_will = Batch { changes: vec![deletion(bob), child_of(bob, "heir")], ..Batch::default() };
    done(&store, last_will).await;
    let rows = store.pods().page(None, 9).await.unwrap();
    assert_eq!(names(&rows), ["zoe", "heir"]);
    assert!(rows.iter().all(|row| row.parent.is_none()), "{rows:?}");
    done(&store, one(update(rows[0].key, PodUpdate { unread: Some(1), ..PodUpdate::default() }))).await;
}
