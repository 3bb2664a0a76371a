use std::sync::Arc;

use pod_store::{Batch, Committed, Fold, InboxRow, PodChange, PodKey, RecordClass, Step, Store, StoreError};
use protocol::{PodState, Segment, Seq};

use crate::world::*;

fn input(text: &str) -> InboxRow {
    InboxRow { command_id: id(text), segments: vec![Segment::text("hi")], by: "ada".to_owned(), at: at(1) }
}

/// A batch that needs every step; `round` is its number, from 1 on. Each appends two records.
fn whole_batch(pod: PodKey, round: i64) -> Batch {
    let first = round * 2;
    let change = PodChange {
        records: vec![record(first, RecordClass::Chunk), found_by(first + 1, &format!("word{round}"))],
        folds: vec![Fold { block: "b".to_owned(), from: Seq(first - 1), to: Seq(first) }],
        inbox_put: vec![input(&format!("in-{round}"))],
        inbox_taken: vec![id(&format!("in-{}", round - 1))],
        ..update(pod, checkpoint(PodState::Running, true, &format!("[{round}]"), first + 1))
    };
    Batch {
        command: Some(command(&format!("key-{round}"), "{}")),
        changes: vec![change, creation(&format!("child-{round}"))],
        audit: vec![audit(&format!("action-{round}"))],
    }
}

/// Everything a reader can see of `ada`, and of what her batches brought along.
#[derive(Debug, PartialEq)]
struct View {
    row: Option<pod_store::PodRow>,
    seqs: Vec<i64>,
    turns: usize,
    inbox: Vec<InboxRow>,
    pods: usize,
    audit: usize,
    command: bool,
    hits: usize,
}

async fn view(store: &Store, pod: PodKey, round: i64) -> View {
    View {
        row: store.pod_find(&worker("ada")).await.unwrap(),
        seqs: seqs(&store.records_after(pod, Seq(0), 1000, ALL).await.unwrap()),
        turns: store.turn_records(pod, Seq(0)).await.unwrap().len(),
        inbox: store.inbox(pod).await.unwrap(),
        pods: store.pods_page(None, 100).await.unwrap().len(),
        audit: store.audit_page(None, 100).await.unwrap().len(),
        command: store.command_find(&id(&format!("key-{round}"))).await.unwrap().is_some(),
        hits: store.search(&format!("word{round}"), 100).await.unwrap().len(),
    }
}

pub(crate) async fn a_failure_at_any_step_leaves_nothing_or_after_the_commit_everything(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 1))).await;
    let mut round = 0;
    for step in Step::ALL {
        round += 1;
        let batch = whole_batch(ada, round);
        let before = view(&store, ada, round).await;
        faults.arm(step);
        let failed = store.commit(batch.clone()).await;
        assert!(matches!(failed, Err(StoreError::Injected(failed)) if failed == step), "{step:?}: {failed:?}");
        assert!(!faults.is_armed(), "{step:?} was not reached");

        let after = view(&store, ada, round).await;
        match step {
            Step::Answer => {
                assert_eq!(store.head(ada).await.unwrap(), Seq(round * 2 + 1));
                let repeated = store.commit(batch.clone()).await.unwrap();
                assert_eq!(repeated, Committed::Repeated(command(&format!("key-{round}"), "{}")));
            }
            _ => {
                assert_eq!(after, before, "{step:?}");
                done(&store, batch).await;
            }
        }
        let whole = view(&store, ada, round).await;
        assert_eq!(whole.row.unwrap().checkpoint, format!("[{round}]"), "{step:?}");
        assert!(whole.seqs.ends_with(&[round * 2 + 1]), "{step:?}: {:?}", whole.seqs);
        assert_eq!(whole.inbox, [input(&format!("in-{round}"))], "{step:?}");
        let counts = (whole.pods as i64, whole.audit as i64, whole.command, whole.hits);
        assert_eq!(counts, (round + 1, round, true, 1), "{step:?}");
    }
}

pub(crate) async fn a_failure_at_any_step_of_a_deletion_leaves_the_pod_whole(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 1))).await;
    done(&store, whole_batch(ada, 1)).await;
    let before = view(&store, ada, 1).await;
    for step in [Step::Begin, Step::Fence, Step::Pods, Step::Commit] {
        faults.arm(step);
        assert!(store.commit(one(deletion(ada))).await.is_err());
        assert_eq!(view(&store, ada, 1).await, before, "{step:?}");
    }
    faults.arm(Step::Answer);
    assert!(store.commit(one(deletion(ada))).await.is_err());
    assert_eq!(store.pod_find(&worker("ada")).await.unwrap(), None);
    assert!(matches!(store.commit(one(deletion(ada))).await, Err(StoreError::PodGone)));
}

pub(crate) async fn everything_is_there_after_a_restart(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 1))).await;
    done(&store, whole_batch(ada, 1)).await;
    store.session_put([9; 32], at(100)).await.unwrap();
    let (before, epoch) = (view(&store, ada, 1).await, store.epoch().to_owned());
    assert!(before.command && !epoch.is_empty());
    store.close().await;
    for _ in 0..3 {
        let store = world.open().await;
        assert_eq!(store.epoch(), epoch);
        assert_eq!(view(&store, ada, 1).await, before);
        assert!(store.session_find(&[9; 32], at(1)).await.unwrap());
        // Not closed: as after a kill.
        drop(store);
    }
    done(&world.open().await, whole_batch(ada, 2)).await;
    #[cfg(unix)]
    if let pod_store::Database::Sqlite { path } = &world.database {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

pub(crate) async fn whoever_opens_the_database_next_fences_the_one_before(world: World) {
    let old = world.open().await;
    let ada = create(&old, "ada").await;
    let new = world.open().await;
    assert_eq!(new.epoch(), old.epoch());
    done(&new, one(records(ada, 1, 1))).await;
    for _ in 0..2 {
        let refused = old.commit(one(records(ada, 2, 2))).await;
        assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
        assert!(matches!(old.session_put([1; 32], at(9)).await, Err(StoreError::Fenced)));
    }
    new.close().await;
    assert!(matches!(old.commit(one(records(ada, 2, 2))).await, Err(StoreError::Fenced)));
    // It still reads, and sees what the new one wrote.
    assert_eq!(old.head(ada).await.unwrap(), Seq(1));
}

pub(crate) async fn a_closed_store_finishes_what_it_took_and_takes_no_more(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let commits = futures_util::future::join_all((1..=50).map(|seq| store.commit(one(records(ada, seq, seq)))));
    let (outcomes, (), ()) = tokio::join!(commits, store.close(), store.close());
    // Whatever was refused was refused from some point on.
    let kept = outcomes.iter().take_while(|outcome| outcome.is_ok()).count();
    assert!(outcomes[kept..].iter().all(|outcome| matches!(outcome, Err(StoreError::Closed))), "{outcomes:?}");
    assert!(matches!(store.commit(one(PodChange::of(ada))).await, Err(StoreError::Closed)));
    assert!(matches!(store.head(ada).await, Err(StoreError::Closed)));
    assert_eq!(world.open().await.head(ada).await.unwrap(), Seq(kept as i64));
    if let pod_store::Database::Sqlite { path } = &world.database {
        let folder = path.parent().unwrap();
        let log = folder.join("yoi.db-wal");
        assert!(log.metadata().map_or(0, |log| log.len()) < 1_000_000);
    }
}
