//! Several hosts on one database, PostgreSQL or the file that stands for it in the simulation: leases, fencing, takeover, calls, and what one host sees of another one's writes.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use pod_store::{
    Batch, Committed, Faults, ForeignPod, HostIdentity, PeerChange, PodChange, PodKey, PodUpdate, Step, Store,
    StoreError, StoreOptions, WakeUps,
};
use prometheus_client::registry::Registry;
use protocol::Seq;
use testkit::{until_so, within};

use crate::world::{one as alone, *};

pub(crate) async fn host(world: &World, name: &str) -> Store {
    let identity = HostIdentity { uid: format!("uid-of-{name}"), name: name.to_owned() };
    Store::open_as(world.options(), identity).await.unwrap()
}

async fn host_with(world: &World, name: &str, faults: Arc<dyn Faults>) -> Store {
    let identity = HostIdentity { uid: format!("uid-of-{name}"), name: name.to_owned() };
    Store::open_as(world.options().with_faults(faults), identity).await.unwrap()
}

/// How many are waiting for somebody else's lock.
const WAITING: &str =
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/// Makes the host look silent for a minute; another one notices.
pub(crate) async fn silence(world: &World, name: &'static str) {
    let long_ago = if world.is_shared_file() { "0" } else { "now() - interval '1 minute'" };
    let sql = format!("update hosts set heartbeat_at = {long_ago} where name = '{name}'");
    world.tamper(Box::leak(sql.into_boxed_str())).await;
}

fn owner_of(outcome: Result<Committed, StoreError>) -> String {
    match outcome {
        Err(StoreError::Elsewhere(host)) => host.name,
        other => panic!("{other:?}"),
    }
}

/// Holds the transaction of one host right before its commit, until it is told to continue.
#[derive(Debug, Default)]
struct Held {
    is_armed: Mutex<bool>,
    is_there: Mutex<bool>,
    may_go: Mutex<bool>,
}

impl Faults for Held {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if step == Step::Commit && std::mem::take(&mut *self.is_armed.lock().unwrap()) {
            *self.is_there.lock().unwrap() = true;
            tokio::task::block_in_place(|| {
                while !*self.may_go.lock().unwrap() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        Ok(())
    }
}

pub(crate) async fn a_pod_has_one_owner_and_others_cannot_write_to_it(world: World) {
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    assert_eq!(one.epoch(), two.epoch());
    let ada = create(&one, "ada").await;
    done(&one, one_record(ada, 1)).await;
    assert_eq!(owner_of(two.commit(one_record(ada, 2)).await), "one");
    assert_eq!(owner_of(two.hosts().claim(ada).await.map(|()| Committed::Done { created: vec![] })), "one");
    assert_eq!(two.journals().head(ada).await.unwrap(), Seq(1), "it reads what the other one wrote");
    let place = two.hosts().whereabouts(ada).await.unwrap();
    assert_eq!((place.owner, place.home), (one.hosts().this(), Some("one".to_owned())));
    // A batch of several is refused as a whole, and its neighbours are not affected.
    let bob = create(&two, "bob").await;
    let both = Batch { changes: vec![records(bob, 1, 1), records(ada, 2, 2)], ..Batch::default() };
    let (refused, fine) = tokio::join!(two.commit(both), two.commit(one_record(bob, 1)));
    assert_eq!(owner_of(refused), "one");
    fine.unwrap();
    // A deleted one is gone for both.
    done(&one, alone(deletion(ada))).await;
    assert!(matches!(two.commit(one_record(ada, 2)).await, Err(StoreError::PodGone)));
}

pub(crate) fn one_record(pod: PodKey, seq: i64) -> Batch {
    alone(records(pod, seq, seq))
}

pub(crate) async fn a_host_that_goes_gives_its_pods_back_at_once(world: World) {
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let ada = create(&one, "ada").await;
    done(&one, one_record(ada, 1)).await;
    one.close().await;
    done(&two, one_record(ada, 2)).await;
    assert_eq!(two.left_behind_names().await, Vec::<String>::new());
    two.close().await;
    let one = host(&world, "one").await;
    assert_eq!(one.left_behind_names().await, ["two"]);
    done(&one, one_record(ada, 3)).await;
    assert_eq!(seqs(&one.journals().after(ada, Seq(0), 10, ALL).await.unwrap()), [1, 2, 3]);
}

trait LeftBehind {
    async fn left_behind_names(&self) -> Vec<String>;
}

impl LeftBehind for Store {
    async fn left_behind_names(&self) -> Vec<String> {
        self.hosts().left_behind().await.unwrap().into_iter().map(|(_, home)| home).collect()
    }
}

pub(crate) async fn the_pods_of_a_silent_host_go_to_whoever_is_first_and_it_writes_nothing_any_more(world: World) {
    let (one, two, three) = (host(&world, "one").await, host(&world, "two").await, host(&world, "three").await);
    let mut pods = Vec::new();
    for round in 0..20 {
        let pod = create(&one, &format!("pod-{round}")).await;
        done(&one, one_record(pod, 1)).await;
        pods.push(pod);
    }
    until_so("the Pod has another owner", async || {
        silence(&world, "one").await;
        two.hosts().claim(pods[0]).await.is_ok()
    })
    .await;
    // Both claim all of them, at the same time.
    let want = async |store: &Store| {
        let claims = futures_util::future::join_all(pods[1..].iter().map(|pod| store.hosts().claim(*pod))).await;
        pods[1..].iter().zip(claims).filter_map(|(pod, claim)| claim.ok().map(|()| *pod)).collect::<BTreeSet<_>>()
    };
    let (of_two, of_three) = tokio::join!(want(&two), want(&three));
    assert!(of_two.is_disjoint(&of_three), "{of_two:?} {of_three:?}");
    assert_eq!(of_two.len() + of_three.len(), 19);
    // It is alive, and does not know.
    for pod in &pods {
        let refused = one.commit(one_record(*pod, 2)).await;
        assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    }
    assert!(matches!(one.commit(alone(creation("new"))).await, Err(StoreError::Fenced)));
    assert!(*one.hosts().lost().unwrap().borrow());
    for (store, own) in [(&two, &of_two), (&three, &of_three)] {
        for pod in own {
            done(store, one_record(*pod, 2)).await;
        }
    }
    // It joins again, owning nothing, and keeps serving.
    let before = one.hosts().this().unwrap().id;
    one.hosts().rejoin().await.unwrap();
    assert!(one.hosts().this().unwrap().id > before);
    assert!(!*one.hosts().lost().unwrap().borrow());
    assert!(["two", "three"].contains(&owner_of(one.commit(one_record(pods[1], 3)).await).as_str()));
    create(&one, "new").await;
    for pod in &pods[1..] {
        assert_eq!(seqs(&one.journals().after(*pod, Seq(0), 10, ALL).await.unwrap()), [1, 2]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_host_that_never_heard_that_it_has_joined_again_is_not_taken_for_another_one() {
    let world = World::shared();
    let way = Arc::new(AtHand::default());
    let identity = HostIdentity { uid: "uid-of-one".to_owned(), name: "one".to_owned() };
    let one = Store::open_as(StoreOptions::new(world.database.clone()).shared_over(way.clone()), identity).await;
    let (one, two) = (one.unwrap(), host(&world, "two").await);
    until_so("it is declared dead", async || {
        silence(&world, "one").await;
        *one.hosts().lost().unwrap().borrow()
    })
    .await;
    // The request arrives, the answer does not.
    way.loses.store(2, Ordering::Relaxed);
    assert!(matches!(one.hosts().rejoin().await, Err(StoreError::Away(_))));
    one.hosts().rejoin().await.unwrap();
    let names: Vec<String> = two.hosts().now().await.unwrap().into_iter().map(|host| host.name).collect();
    assert_eq!(names, ["two", "one"]);
    create(&one, "ada").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_commit_that_is_under_way_is_waited_for_before_its_host_is_declared_dead() {
    let world = World::postgres().await;
    let held = Arc::new(Held::default());
    let (one, two) = (host_with(&world, "one", held.clone()).await, host(&world, "two").await);
    let ada = create(&one, "ada").await;
    *held.is_armed.lock().unwrap() = true;
    let writes = tokio::spawn({
        let one = one.clone();
        async move { one.commit(one_record(ada, 1)).await }
    });
    until_so("it is held", async || *held.is_there.lock().unwrap()).await;
    until_so("the other one tries to end it, and waits", async || {
        silence(&world, "one").await;
        world.count(WAITING).await > 0
    })
    .await;
    assert!(matches!(two.hosts().claim(ada).await, Err(StoreError::Elsewhere(_))));
    *held.may_go.lock().unwrap() = true;
    writes.await.unwrap().unwrap();
    until_so("the Pod has another owner", async || {
        silence(&world, "one").await;
        two.hosts().claim(ada).await.is_ok()
    })
    .await;
    assert_eq!(two.journals().head(ada).await.unwrap(), Seq(1), "the new owner begins after it");
    assert!(matches!(one.commit(one_record(ada, 2)).await, Err(StoreError::Fenced)));
    done(&two, one_record(ada, 2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_host_that_is_held_up_within_a_commit_loses_it_and_its_pods() {
    let world = World::postgres().await;
    let held = Arc::new(Held::default());
    let (one, two) = (host_with(&world, "one", held.clone()).await, host(&world, "two").await);
    let ada = create(&one, "ada").await;
    *held.is_armed.lock().unwrap() = true;
    let writes = tokio::spawn({
        let one = one.clone();
        async move { one.commit(one_record(ada, 1)).await }
    });
    until_so("it is held", async || *held.is_there.lock().unwrap()).await;
    until_so("the Pod has another owner", async || {
        silence(&world, "one").await;
        two.hosts().claim(ada).await.is_ok()
    })
    .await;
    assert_eq!(two.journals().head(ada).await.unwrap(), Seq(0));
    done(&two, one_record(ada, 1)).await;
    *held.may_go.lock().unwrap() = true;
    assert!(writes.await.unwrap().is_err());
    assert!(matches!(one.commit(one_record(ada, 2)).await, Err(StoreError::Fenced)));
    one.hosts().rejoin().await.unwrap();
    assert_eq!(owner_of(one.commit(one_record(ada, 2)).await), "two");
    assert_eq!(seqs(&one.journals().after(ada, Seq(0), 10, ALL).await.unwrap()), [1]);
}

pub(crate) async fn a_host_that_starts_again_has_its_pods_at_once_and_the_one_before_is_over(world: World) {
    let (before, two) = (host(&world, "one").await, host(&world, "two").await);
    let ada = create(&before, "ada").await;
    let after = host(&world, "one").await;
    done(&after, one_record(ada, 1)).await;
    assert!(matches!(before.commit(one_record(ada, 2)).await, Err(StoreError::Fenced)));
    assert!(
        matches!(before.hosts().rejoin().await, Err(StoreError::Fenced)),
        "the same host twice would push each other out"
    );
    assert_eq!(owner_of(two.commit(one_record(ada, 2)).await), "one");
}

/// A counter, as a scrape has it.
fn counter(store: &Store, name: &str) -> u64 {
    let mut registry = Registry::default();
    store.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("_total "));
    value.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn leases_that_are_taken_kept_and_lost_are_counted() {
    let world = World::postgres().await;
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let leased = async |store: &Store| store.census().await.unwrap().leased;
    let lost_and_fenced = |store: &Store| ["leases_lost", "lease_fenced"].map(|name| counter(store, name));
    let (ada, eve) = (create(&one, "ada").await, create(&one, "eve").await);
    assert_eq!((leased(&one).await, leased(&two).await), (2, 0), "taken");
    let beat = "select (extract(epoch from heartbeat_at) * 1000000)::bigint from hosts where name = 'one'";
    let first = world.count(beat).await;
    until_so("its lease is renewed", async || world.count(beat).await > first).await;
    done(&one, one_record(ada, 1)).await;
    assert_eq!((leased(&one).await, lost_and_fenced(&one)), (2, [0, 0]), "kept");
    until_so("the other one has a Pod of it", async || {
        silence(&world, "one").await;
        two.hosts().claim(ada).await.is_ok()
    })
    .await;
    assert_eq!((leased(&one).await, leased(&two).await), (0, 1), "lost");
    until_so("it has noticed", async || counter(&one, "leases_lost") == 1).await;
    assert!(matches!(one.commit(one_record(eve, 1)).await, Err(StoreError::Fenced)));
    assert!(matches!(one.commit(one_record(ada, 2)).await, Err(StoreError::Fenced)));
    assert_eq!((lost_and_fenced(&one), lost_and_fenced(&two)), ([1, 2], [0, 0]));
    one.hosts().rejoin().await.unwrap();
    one.hosts().claim(eve).await.unwrap();
    done(&one, one_record(eve, 1)).await;
    assert_eq!((leased(&one).await, lost_and_fenced(&one)), (1, [1, 2]), "one lease, lost once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_heartbeat_that_fails_is_counted_and_a_host_that_is_alone_keeps_its_pods() {
    let world = World::postgres().await;
    let one = host(&world, "one").await;
    let ada = create(&one, "ada").await;
    until_so("it knows that it is alone", async || !one.hosts().has_others()).await;
    assert_eq!(counter(&one, "lease_renewals_failed"), 0);
    world.tamper("alter table hosts rename to hosts_elsewhere").await;
    until_so("heartbeats fail", async || counter(&one, "lease_renewals_failed") > 0).await;
    world.tamper("alter table hosts_elsewhere rename to hosts").await;
    done(&one, one_record(ada, 1)).await;
    assert_eq!((counter(&one, "leases_lost"), one.census().await.unwrap().leased), (0, 1));
}

pub(crate) async fn two_pods_of_two_hosts_change_in_one_transaction_while_the_other_one_is_held(world: World) {
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let (ada, bob) = (create(&one, "ada").await, create(&two, "bob").await);
    done(&two, one_record(bob, 1)).await;
    let link = || PeerChange::Link { a: ada, b: bob, by: "operator".to_owned(), at: at(1) };
    let both = |first: i64, second: i64, host: i64| Batch {
        changes: vec![records(ada, first, first), records(bob, second, second)],
        peers: vec![link()],
        foreign: vec![ForeignPod { pod: bob, host }],
        ..Batch::default()
    };
    let number = two.hosts().this().unwrap().id;
    done(&one, both(1, 2, number)).await;
    // The other one's owner continues after it, though nobody told it.
    done(&two, one_record(bob, 3)).await;
    assert!(matches!(one.commit(both(2, 2, number)).await, Err(StoreError::Conflict)), "bob has moved on");
    assert!(matches!(one.commit(both(2, 4, number + 7)).await, Err(StoreError::Conflict)), "no such host");
    assert!(matches!(two.commit(one_record(bob, 3)).await, Err(StoreError::Conflict)));
    done(&one, both(2, 4, number)).await;
    // It belongs to another host by now.
    two.close().await;
    assert!(matches!(one.commit(both(3, 5, number)).await, Err(StoreError::Conflict)));
    for (pod, count) in [(ada, 2), (bob, 4)] {
        let all: Vec<i64> = (1..=count).collect();
        assert_eq!(seqs(&one.journals().after(pod, Seq(0), 10, ALL).await.unwrap()), all);
    }
}

pub(crate) async fn hosts_that_write_to_the_same_rows_in_any_order_both_get_through(world: World) {
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let mut pods = Vec::new();
    for round in 0..10 {
        pods.push(create(if round % 2 == 0 { &one } else { &two }, &format!("pod-{round}")).await);
    }
    let letter = |to: PodKey, text: String| pod_store::MailPut { to, key: text, body: "{}".to_owned(), at: at(1) };
    // The same keys from both sides, in opposite orders.
    let write = async |store: &Store, own: PodKey, is_reversed: bool| {
        for round in 0..40 {
            let mut to = pods.clone();
            if is_reversed {
                to.reverse();
            }
            let mail_put = to.iter().map(|pod| letter(*pod, format!("letter-{round}"))).collect();
            done(store, alone(PodChange { mail_put, ..PodChange::of(own) })).await;
        }
    };
    tokio::join!(write(&one, pods[0], false), write(&two, pods[1], true));
    for pod in &pods {
        assert_eq!(one.inboxes().mail(*pod).await.unwrap().len(), 40);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_one_host_writes_the_others_find_and_are_woken_for() {
    let world = World::postgres().await;
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let (ada, eve) = (create(&one, "ada").await, create(&one, "eve").await);
    let mut moved = two.hosts().wake_ups().unwrap().moved;
    let start = two.hosts().moves_since(None).await.unwrap().position;
    let nothing = two.hosts().moves_since(Some(&start)).await.unwrap();
    let number = |moves: &pod_store::Moves| moves.changed.iter().find(|(key, ..)| *key == ada).map(|it| it.2.clone());
    let mut seqs_of_eve = 1..;
    until_so("one has found two, and wakes it", async || {
        done(&one, one_record(eve, seqs_of_eve.next().unwrap())).await;
        moved.has_changed().unwrap()
    })
    .await;
    moved.borrow_and_update();
    done(&one, one_record(ada, 1)).await;
    within("it is woken", moved.changed()).await.unwrap();
    let followed = two.hosts().follow(&[(ada, Seq(0))], 10).await.unwrap();
    assert_eq!((followed.len(), seqs(&followed[0].records)), (1, vec![1]));
    assert!(two.hosts().follow(&[(ada, Seq(1))], 10).await.unwrap().is_empty());
    let unread = PodUpdate { unread: Some(3), ..PodUpdate::default() };
    done(&one, alone(update(ada, unread))).await;
    let moves = two.hosts().moves_since(Some(&start)).await.unwrap();
    assert!(number(&moves).is_some() && number(&moves) != number(&nothing));
    done(&one, alone(deletion(ada))).await;
    let moves = two.hosts().moves_since(Some(&moves.position)).await.unwrap();
    assert_eq!(moves.gone, [worker("ada")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_host_that_was_alone_wakes_one_that_has_just_joined() {
    let world = World::postgres().await;
    let one = host(&world, "one").await;
    let ada = create(&one, "ada").await;
    // Repeated: a heartbeat of the first one that falls between the two steps would tell it of the second one as well.
    for seq in 1..=3 {
        until_so("it knows that it is alone", async || !one.hosts().has_others()).await;
        let two = host(&world, "two").await;
        let WakeUps { mut moved, called, .. } = two.hosts().wake_ups().unwrap();
        let number = two.hosts().this().unwrap().id;
        until_so("the second one hears, at least itself", async || {
            two.hosts().call_put(number, "listen").await.unwrap();
            called.has_changed().unwrap()
        })
        .await;
        moved.borrow_and_update();
        done(&one, one_record(ada, seq)).await;
        within("it is woken by the first thing that is written", moved.changed()).await.unwrap();
        two.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_is_taken_once_answered_once_or_taken_back() {
    let world = World::postgres().await;
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let number = two.hosts().this().unwrap().id;
    let (mut called, mut answered) = (two.hosts().wake_ups().unwrap().called, one.hosts().wake_ups().unwrap().answered);
    let id = one.hosts().call_put(number, "do it").await.unwrap();
    within("it is called", called.changed()).await.unwrap();
    let (first, second) = tokio::join!(two.hosts().calls_take(), two.hosts().calls_take());
    let calls = [first.unwrap(), second.unwrap()].concat();
    assert_eq!(calls.iter().map(|call| (call.id, call.body.as_str())).collect::<Vec<_>>(), [(id, "do it")]);
    assert!(!one.hosts().call_withdraw(id).await.unwrap(), "it was taken");
    two.hosts().call_answer(id, "done").await.unwrap();
    within("it is answered", answered.changed()).await.unwrap();
    assert_eq!(one.hosts().answers_take().await.unwrap(), [(id, "done".to_owned())]);
    assert!(one.hosts().answers_take().await.unwrap().is_empty());
    let id = one.hosts().call_put(number, "never mind").await.unwrap();
    assert!(one.hosts().call_withdraw(id).await.unwrap());
    assert!(two.hosts().calls_take().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_answer_to_a_call_from_before_the_server_died_answers_no_later_call() {
    let world = World::postgres().await;
    let (one, two) = (host(&world, "one").await, host(&world, "two").await);
    let number = two.hosts().this().unwrap().id;
    let before = one.hosts().call_put(number, "before").await.unwrap();
    assert_eq!(two.hosts().calls_take().await.unwrap().len(), 1);
    // What a crash of the server, or a promotion, does to an unlogged table and its sequence.
    world.tamper("truncate host_calls restart identity").await;
    let after = one.hosts().call_put(number, "after").await.unwrap();
    assert!(after > before, "calls are taken in the order of their numbers");
    two.hosts().call_answer(before, "of the one before").await.unwrap();
    assert!(one.hosts().answers_take().await.unwrap().is_empty());
}
