//! A database that cannot be written for a while: pending writes happen once it can, in order and once.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use pod_store::{Batch, Committed, Faults, Patience, Step, StoreError};
use protocol::Seq;

use crate::{
    durability::{both, view, whole_batch},
    world::*,
};

const FULL: &str = "the disk is full";

/// The database is unavailable at one step, this many times.
#[derive(Debug, Default)]
struct AwayAt(Mutex<Option<(Step, usize)>>);

impl AwayAt {
    fn arm(&self, step: Step, times: usize) {
        *self.0.lock().unwrap() = Some((step, times));
    }

    fn left(&self) -> usize {
        self.0.lock().unwrap().map_or(0, |(_, times)| times)
    }
}

impl Faults for AwayAt {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let mut armed = self.0.lock().unwrap();
        match armed.as_mut() {
            Some((at, times)) if *at == step && *times > 0 => {
                *times -= 1;
                Err(StoreError::Away(FULL.to_owned()))
            }
            _ => Ok(()),
        }
    }
}

pub(crate) async fn what_fails_at_any_step_for_a_while_is_written_once(world: World) {
    let faults = Arc::new(AwayAt::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = both(&store).await;
    let mut round = 0;
    for step in Step::ALL {
        for patience in [Patience::Endless, Patience::UntilKnown] {
            round += 1;
            // It is found there at the second attempt.
            faults.arm(step, if step == Step::Answer { 1 } else { 2 });
            let batch = whole_batch(ada, bob, round);
            let done = store.commit_with(patience, batch.clone()).await.unwrap();
            assert!(matches!(&done, Committed::Done { created } if created.len() == 1), "{step:?}: {done:?}");
            assert_eq!(faults.left(), 0, "{step:?} was not reached");
            view(&store, (ada, bob), round).await.assert_whole(bob, round);
            assert!(matches!(store.commit(batch).await.unwrap(), Committed::Repeated(_)));
        }
    }
    assert_eq!(store.health().failures().writes, 4 * Step::ALL.len() as u64 - 2);
    assert!(!store.health().is_out());
}

pub(crate) async fn text_that_streams_in_meanwhile_is_written_once_and_in_order(world: World) {
    let faults = Arc::new(AwayAt::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(records(ada, 1, 1))).await;
    done(&store, one(records(bob, 1, 1))).await;
    for step in [Step::Begin, Step::Fence, Step::Records, Step::Commit, Step::Answer] {
        let head = store.journals().head(ada).await.unwrap().0;
        faults.arm(step, 2);
        // Those that arrive while the first one waits, wait behind it.
        let write = |pod, seq| store.commit_with(Patience::Endless, one(records(pod, seq, seq)));
        let of_ada = async {
            for seq in head + 1..=head + 3 {
                write(ada, seq).await.unwrap();
            }
        };
        let of_bob = async { write(bob, head + 1).await.unwrap() };
        tokio::join!(of_ada, of_bob);
        for seq in head + 2..=head + 3 {
            done(&store, one(records(bob, seq, seq))).await;
        }
    }
    for pod in [ada, bob] {
        let found = seqs(&store.journals().after(pod, Seq(0), 100, ALL).await.unwrap());
        assert_eq!(found, (1..=16).collect::<Vec<_>>());
    }
}

pub(crate) async fn whoever_cannot_wait_is_told_that_nothing_was_written(world: World) {
    let faults = Arc::new(AwayAt::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    faults.arm(Step::Begin, usize::MAX);
    let patient = tokio::spawn({
        let store = store.clone();
        async move { store.commit_with(Patience::Endless, one(records(ada, 1, 1))).await }
    });
    let mut outage = store.health().outage();
    assert_eq!(outage.wait_for(Option::is_some).await.unwrap().as_ref().unwrap().why, FULL);
    let batch = Batch { command: Some(command("key", "{}")), ..one(records(ada, 2, 2)) };
    for patience in [Patience::Short, Patience::UntilKnown] {
        let refused = store.commit_with(patience, batch.clone()).await;
        assert!(matches!(&refused, Err(StoreError::Away(why)) if why == FULL), "{refused:?}");
    }
    assert!(matches!(store.probe().await, Err(StoreError::Away(_))));
    faults.arm(Step::Begin, 0);
    patient.await.unwrap().unwrap();
    outage.wait_for(Option::is_none).await.unwrap();
    assert_eq!(store.commands().find(&id("key")).await.unwrap(), None, "what was taken back is not written later");
    assert!(matches!(store.commit(batch).await.unwrap(), Committed::Done { .. }));
    store.probe().await.unwrap();
}

pub(crate) async fn an_outage_is_over_by_itself_when_nobody_writes_any_more(world: World) {
    let faults = Arc::new(AwayAt::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    faults.arm(Step::Begin, usize::MAX);
    assert!(matches!(store.commit(one(records(ada, 1, 1))).await, Err(StoreError::Away(_))));
    faults.arm(Step::Begin, 0);
    store.health().outage().wait_for(Option::is_none).await.unwrap();
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(0));
}

pub(crate) async fn a_store_that_is_closed_in_an_outage_lets_those_go_who_wait(world: World) {
    let faults = Arc::new(AwayAt::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    faults.arm(Step::Commit, usize::MAX);
    let waiting = store.commit_with(Patience::Endless, one(records(ada, 1, 1)));
    let closing = async {
        store.health().outage().wait_for(Option::is_some).await.unwrap();
        store.close().await;
    };
    let (outcome, ()) = tokio::join!(waiting, closing);
    assert!(matches!(outcome, Err(StoreError::Closed)), "{outcome:?}");
    assert_eq!(world.open().await.journals().head(ada).await.unwrap(), Seq(0));
}

/// On PostgreSQL, each connection of the store is cut right before a commit, so that nobody learns how it ended.
#[derive(Debug)]
struct CutOff {
    url: String,
    at: Mutex<Option<Step>>,
}

impl Faults for CutOff {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if self.at.lock().unwrap().take_if(|at| *at == step).is_some() {
            let url = self.url.clone();
            let sql = "select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null";
            std::thread::spawn(move || {
                let cutting = async {
                    testkit::postgres::execute(&url, sql).await.unwrap();
                    // It is over only when the transaction is.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                };
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(cutting);
            })
            .join()
            .unwrap();
        }
        Ok(())
    }
}

pub(crate) async fn a_connection_that_is_lost_costs_nothing_but_time(world: World) {
    let pod_store::Database::Postgres { url } = world.database.clone() else { return };
    let faults = Arc::new(CutOff { url, at: Mutex::new(None) });
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = both(&store).await;
    for (round, step) in [Step::Fence, Step::Records, Step::Commit, Step::Answer].into_iter().enumerate() {
        let round = round as i64 + 1;
        *faults.at.lock().unwrap() = Some(step);
        done(&store, whole_batch(ada, bob, round)).await;
        view(&store, (ada, bob), round).await.assert_whole(bob, round);
    }
}
