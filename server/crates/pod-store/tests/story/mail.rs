use pod_store::{Batch, MailPut, MailRow, PodChange, PodKey, PodUpdate};
use protocol::PodState;

use crate::world::*;

fn mail(to: PodKey, key: &str, second: i64) -> MailPut {
    MailPut { to, key: key.to_owned(), body: format!(r#"{{"says":"\"{key}\" é\n"}}"#), at: at(second) }
}

fn sends(from: PodKey, mail_put: Vec<MailPut>) -> Batch {
    one(PodChange { mail_put, ..PodChange::of(from) })
}

fn takes(pod: PodKey, keys: &[&str]) -> PodChange {
    PodChange { mail_taken: keys.iter().map(|key| (*key).to_owned()).collect(), ..PodChange::of(pod) }
}

fn row(put: &MailPut) -> MailRow {
    MailRow { key: put.key.clone(), body: put.body.clone(), at: put.at }
}

pub(crate) async fn mail_waits_in_order_until_it_is_taken(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let [a, z, m, other] = [mail(bob, "a", 3), mail(bob, "z", 1), mail(bob, "m", 2), mail(ada, "a", 4)];
    done(&store, sends(ada, vec![z.clone(), a.clone(), other.clone()])).await;
    // Also to itself.
    done(&store, sends(bob, vec![m.clone()])).await;
    let store = world.open().await;
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), [row(&z), row(&a), row(&m)]);
    assert_eq!(store.inboxes().mail(ada).await.unwrap(), [row(&other)]);

    let taken = PodChange { mail_taken: takes(bob, &["a", "m"]).mail_taken, ..records(bob, 1, 2) };
    done(&store, one(taken)).await;
    let store = world.open().await;
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), [row(&z)]);
    assert_eq!(store.inboxes().mail(ada).await.unwrap(), [row(&other)]);
    assert_eq!(store.inboxes().mail(PodKey(4711)).await.unwrap(), []);
}

pub(crate) async fn a_key_is_put_in_once_for_ever(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let first = mail(bob, "k", 1);
    let second = MailPut { body: "[2]".to_owned(), ..mail(bob, "k", 2) };
    // Twice in one batch, and in many batches at once.
    done(&store, sends(ada, vec![first.clone(), second.clone()])).await;
    let again = (0..20).map(|_| store.commit(sends(ada, vec![second.clone()])));
    for outcome in futures_util::future::join_all(again).await {
        outcome.unwrap();
    }
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), [row(&first)]);
    done(&store, one(takes(bob, &["k", "k"]))).await;
    done(&store, one(takes(bob, &["k"]))).await;
    let store = world.open().await;
    done(&store, sends(ada, vec![second.clone(), mail(bob, "l", 3)])).await;
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), [row(&mail(bob, "l", 3))]);
    // Only the key remains.
    assert_eq!(world.count("select count(*) from mail where key = 'k' and body = ''").await, 1);
    // The same key in another mailbox is other mail.
    done(&store, sends(bob, vec![mail(ada, "k", 4)])).await;
    assert_eq!(store.inboxes().mail(ada).await.unwrap(), [row(&mail(ada, "k", 4))]);
}

pub(crate) async fn what_was_taken_before_it_came_is_not_put_in(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    // It makes no difference whether they come one by one or gathered into one group.
    done(&store, one(takes(bob, &["early"]))).await;
    done(&store, sends(ada, vec![mail(bob, "early", 1)])).await;
    let (taken, put) = (one(takes(bob, &["both"])), sends(ada, vec![mail(bob, "both", 1)]));
    let (taken, put) = tokio::join!(store.commit(taken), store.commit(put));
    assert!(taken.is_ok() && put.is_ok());
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), []);
}

pub(crate) async fn mail_for_a_pod_that_is_gone_is_no_failure(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = (create(&store, "ada").await, create(&store, "bob").await, create(&store, "eve").await);
    done(&store, sends(ada, vec![mail(bob, "before", 1), mail(eve, "before", 1)])).await;
    // A deleted Pod's last mail reaches others; its own mailbox goes with it.
    let last_word = PodChange { mail_put: vec![mail(eve, "farewell", 2), mail(bob, "self", 2)], ..deletion(bob) };
    done(&store, one(last_word)).await;
    done(&store, sends(ada, vec![mail(bob, "late", 3), mail(PodKey(4711), "never", 3), mail(eve, "late", 3)])).await;
    assert_eq!(store.inboxes().mail(bob).await.unwrap(), []);
    let rest = ["before", "farewell", "late"].iter().zip(1..).map(|(key, second)| row(&mail(eve, key, second)));
    assert_eq!(store.inboxes().mail(eve).await.unwrap(), rest.collect::<Vec<_>>());
    assert_eq!(world.count("select count(*) from mail").await, 3);
}

pub(crate) async fn a_restart_looks_at_pods_with_mail_unless_they_are_stopped(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = (create(&store, "ada").await, create(&store, "bob").await, create(&store, "eve").await);
    let set = |pod, state| update(pod, checkpoint(state, false, "{}", 0));
    done(&store, one(set(eve, PodState::Stopped))).await;
    let letters = vec![mail(bob, "1", 1), mail(bob, "2", 2), mail(eve, "1", 1)];
    done(&store, sends(ada, letters)).await;
    let store = world.open().await;
    assert_eq!(names(&store.pods().open().await.unwrap()), ["bob"]);
    done(&store, one(takes(bob, &["1"]))).await;
    assert_eq!(names(&store.pods().open().await.unwrap()), ["bob"]);
    done(&store, one(takes(bob, &["2"]))).await;
    assert_eq!(names(&store.pods().open().await.unwrap()), [""; 0]);
    // It is kept as long as the Pod is stopped.
    done(&store, one(set(eve, PodState::Idle))).await;
    done(&store, one(update(bob, PodUpdate { unread: Some(1), ..PodUpdate::default() }))).await;
    assert_eq!(names(&store.pods().open().await.unwrap()), ["eve"]);
    assert_eq!(store.inboxes().mail(eve).await.unwrap(), [row(&mail(eve, "1", 1))]);
}
