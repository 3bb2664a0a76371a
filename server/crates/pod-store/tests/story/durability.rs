use std::sync::Arc;

use pod_store::{
    Batch, ChildRow, Committed, FarChange, Fold, InboxRow, LoanChange, MailPut, MailRow, ParentLink, PeerChange,
    PodChange, PodKey, RecordClass, Step, Store, StoreError, UsageRows,
};
use protocol::{PodState, ReceiptState, Segment, Seq};

use crate::{ledger::session, messages::state, usage::used, world::*};

fn input(text: &str) -> InboxRow {
    InboxRow {
        command_id: id(text),
        segments: vec![Segment::text("hi")],
        by: "ada".to_owned(),
        at: at(1),
        steers: false,
        blobs: protocol::Blobs::default(),
    }
}

fn letter(to: PodKey, round: i64) -> MailPut {
    MailPut { to, key: format!("mail-{round}"), body: format!("[{round}]"), at: at(round) }
}

/// Ada, who has one record, and Bob, her child.
pub(crate) async fn both(store: &Store) -> (PodKey, PodKey) {
    let ada = create(store, "ada").await;
    done(store, one(records(ada, 1, 1))).await;
    let parent = Some(ParentLink { parent: ada, scope: "[0]".to_owned() });
    done(store, one(PodChange { parent, ..creation("bob") })).await;
    (ada, store.pods().find(&worker("bob")).await.unwrap().unwrap().key)
}

/// A batch over two Pods that needs every step; `round` is its number, from 1 on. Ada gets two records, spawns one more
/// child and sends mail to Bob; Bob gets one record, has read the mail of the previous round, and is lent a scope or
/// returns it.
pub(crate) fn whole_batch(ada: PodKey, bob: PodKey, round: i64) -> Batch {
    let first = round * 2;
    let of_ada = PodChange {
        records: vec![record(first, RecordClass::Chunk), found_by(first + 1, &format!("word{round}"))],
        folds: vec![Fold { block: "b".to_owned(), from: Seq(first - 1), to: Seq(first) }],
        spent: vec![used(round)],
        inbox_put: vec![input(&format!("in-{round}"))],
        inbox_taken: vec![id(&format!("in-{}", round - 1))],
        mail_put: vec![letter(bob, round)],
        ..update(ada, checkpoint(PodState::Running, true, &format!("[{round}]"), first + 1))
    };
    let of_bob = PodChange {
        mail_taken: vec![letter(bob, round - 1).key],
        loan: Some(if round % 2 == 0 { LoanChange::Out } else { LoanChange::Back }),
        ..records(bob, round, round)
    };
    let parent = Some(ParentLink { parent: ada, scope: format!("[{round}]") });
    let of_child = PodChange { parent, ..creation(&format!("child-{round}")) };
    Batch {
        command: Some(command(&format!("key-{round}"), "{}")),
        changes: vec![of_ada, of_bob, of_child],
        audit: vec![audit(&format!("action-{round}"))],
        // They change nothing, so that the view stays small; `handshake` has those that do.
        peers: vec![PeerChange::RequestDone { id: "nobody's".to_owned() }],
        messages: vec![state(0, ReceiptState::Read, None, false, round)],
        far: vec![FarChange::Send { store: "far".to_owned(), body: format!("[{round}]") }],
        ..Batch::default()
    }
}

/// Everything a reader can see of Ada and Bob, and of what their batches brought with them.
#[derive(Debug, PartialEq)]
pub(crate) struct View {
    row: Option<pod_store::PodRow>,
    seqs: Vec<i64>,
    turns: usize,
    inbox: Vec<InboxRow>,
    children: Vec<ChildRow>,
    bob_seqs: Vec<i64>,
    bob_mail: Vec<MailRow>,
    pods: usize,
    audit: usize,
    command: bool,
    hits: usize,
    usage: UsageRows,
    put_out: i64,
}

pub(crate) async fn view(store: &Store, (ada, bob): (PodKey, PodKey), round: i64) -> View {
    View {
        row: store.pods().find(&worker("ada")).await.unwrap(),
        seqs: seqs(&store.journals().after(ada, Seq(0), 1000, ALL).await.unwrap()),
        turns: store.journals().turns(ada, Seq(0)).await.unwrap().len(),
        inbox: store.inboxes().inputs(ada).await.unwrap(),
        children: store.family().children(ada).await.unwrap(),
        bob_seqs: seqs(&store.journals().after(bob, Seq(0), 1000, ALL).await.unwrap()),
        bob_mail: store.inboxes().mail(bob).await.unwrap(),
        pods: store.pods().page(None, 100).await.unwrap().len(),
        audit: store.audit().page(None, 100).await.unwrap().len(),
        command: store.commands().find(&id(&format!("key-{round}"))).await.unwrap().is_some(),
        hits: store.search().find(&format!("word{round}"), 100).await.unwrap().len(),
        usage: store.usage().rows().await.unwrap(),
        put_out: store.far().position("far").await.unwrap().put_out,
    }
}

impl View {
    /// Nothing of the batch is missing, and nothing of it is there twice.
    pub(crate) fn assert_whole(&self, bob: PodKey, round: i64) {
        assert_eq!(self.row.as_ref().unwrap().checkpoint, format!("[{round}]"));
        assert!(self.seqs.ends_with(&[round * 2 + 1]), "{:?}", self.seqs);
        assert_eq!(self.inbox, [input(&format!("in-{round}"))]);
        let is_lent: Vec<bool> = self.children.iter().map(|child| child.is_lent).collect();
        assert_eq!((is_lent.len() as i64, is_lent[0]), (round + 1, round % 2 == 0), "{is_lent:?}");
        assert!(is_lent[1..].iter().all(|is_lent| *is_lent), "{is_lent:?}");
        assert_eq!(self.bob_seqs, (1..=round).collect::<Vec<_>>());
        let MailPut { key, body, at, .. } = letter(bob, round);
        assert_eq!(self.bob_mail, [MailRow { key, body, at }]);
        let input: u64 = self.usage.days.iter().map(|day| day.tokens.input).sum();
        assert_eq!((input as i64, self.usage.links[0].runs as i64), (100 * round, round));
        let counts = (self.pods as i64, self.audit as i64, self.command, self.hits);
        assert_eq!(counts, (round + 2, round, true, 1));
        assert_eq!(self.put_out, round);
    }
}

pub(crate) async fn a_failure_at_any_step_leaves_nothing_or_after_the_commit_everything(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = both(&store).await;
    let mut round = 0;
    for step in Step::ALL {
        round += 1;
        let batch = whole_batch(ada, bob, round);
        let before = view(&store, (ada, bob), round).await;
        faults.arm(step);
        let failed = store.commit(batch.clone()).await;
        assert!(matches!(failed, Err(StoreError::Injected(failed)) if failed == step), "{step:?}: {failed:?}");
        assert!(!faults.is_armed(), "{step:?} was not reached");

        let after = view(&store, (ada, bob), round).await;
        match step {
            Step::Answer => {
                assert_eq!(store.journals().head(ada).await.unwrap(), Seq(round * 2 + 1));
                let repeated = store.commit(batch.clone()).await.unwrap();
                assert_eq!(repeated, Committed::Repeated(command(&format!("key-{round}"), "{}")));
            }
            _ => {
                assert_eq!(after, before, "{step:?}");
                done(&store, batch).await;
            }
        }
        view(&store, (ada, bob), round).await.assert_whole(bob, round);
    }
}

pub(crate) async fn a_batch_with_nothing_for_a_step_does_not_come_to_it(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, _) = both(&store).await;
    let steps = [
        Step::Command,
        Step::Pods,
        Step::Relations,
        Step::Peers,
        Step::Folds,
        Step::Usage,
        Step::Inbox,
        Step::Mail,
        Step::Messages,
        Step::Audit,
    ];
    for step in steps {
        faults.arm(step);
        let next = store.journals().head(ada).await.unwrap().0 + 1;
        done(&store, one(records(ada, next, next))).await;
        assert!(faults.is_armed(), "{step:?}");
    }
}

pub(crate) async fn a_failure_at_any_step_of_a_deletion_leaves_the_pod_whole(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = both(&store).await;
    done(&store, whole_batch(ada, bob, 1)).await;
    let before = view(&store, (ada, bob), 1).await;
    for pod in [ada, bob] {
        for step in [Step::Begin, Step::Fence, Step::Pods, Step::Commit] {
            faults.arm(step);
            assert!(store.commit(one(deletion(pod))).await.is_err());
            assert_eq!(view(&store, (ada, bob), 1).await, before, "{step:?}");
        }
    }
    faults.arm(Step::Answer);
    assert!(store.commit(one(deletion(ada))).await.is_err());
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap(), None);
    assert_eq!(store.family().child(bob).await.unwrap(), None);
    let after = store.usage().rows().await.unwrap();
    assert_eq!((&after.days, after.links.len()), (&before.usage.days, 0));
    assert!(matches!(store.commit(one(deletion(ada))).await, Err(StoreError::PodGone)));
}

pub(crate) async fn everything_is_there_after_a_restart(world: World) {
    let store = world.open().await;
    let (ada, bob) = both(&store).await;
    done(&store, whole_batch(ada, bob, 1)).await;
    store.sessions().put(session(9, 1, 100)).await.unwrap();
    let (before, epoch) = (view(&store, (ada, bob), 1).await, store.epoch().to_owned());
    assert!(before.command && !epoch.is_empty());
    store.close().await;
    for _ in 0..3 {
        let store = world.open().await;
        assert_eq!(store.epoch(), epoch);
        assert_eq!(view(&store, (ada, bob), 1).await, before);
        assert!(store.sessions().find(&[9; 32], at(1)).await.unwrap().is_some());
        // Not closed: as after a kill.
        drop(store);
    }
    done(&world.open().await, whole_batch(ada, bob, 2)).await;
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
        assert!(matches!(old.sessions().put(session(1, 1, 9)).await, Err(StoreError::Fenced)));
    }
    new.close().await;
    assert!(matches!(old.commit(one(records(ada, 2, 2))).await, Err(StoreError::Fenced)));
    // It can still read, and sees what the new one wrote.
    assert_eq!(old.journals().head(ada).await.unwrap(), Seq(1));
}

/// Records alone take another path in some engines: they are fenced, atomic and identified like any other batch.
pub(crate) async fn what_streams_in_is_fenced_like_any_other_batch(world: World) {
    let old = world.open().await;
    let ada = create(&old, "ada").await;
    done(&old, one(records(ada, 1, 2))).await;
    let new = world.open().await;
    // It would fit the head that the old one knows, and the actual one.
    for _ in 0..2 {
        let refused = old.commit(one(records(ada, 3, 3))).await;
        assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    }
    done(&new, one(records(ada, 3, 3))).await;
    assert_eq!(seqs(&new.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [1, 2, 3]);
}

pub(crate) async fn a_failure_while_text_streams_in_leaves_nothing_or_after_the_commit_everything(world: World) {
    let faults = Arc::new(FailOnce::default());
    let store = world.open_with(faults.clone()).await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(records(ada, 1, 1))).await;
    let both =
        |seq| Batch { changes: vec![records(ada, seq, seq), records(bob, seq - 1, seq - 1)], ..Batch::default() };
    for step in [Step::Begin, Step::Fence, Step::Records, Step::Commit, Step::Answer] {
        let head = store.journals().head(ada).await.unwrap().0;
        faults.arm(step);
        assert!(store.commit(both(head + 1)).await.is_err() && !faults.is_armed(), "{step:?}");
        let written = i64::from(step == Step::Answer);
        assert_eq!(store.journals().head(ada).await.unwrap(), Seq(head + written), "{step:?}");
        assert_eq!(store.journals().head(bob).await.unwrap(), Seq(head - 1 + written), "{step:?}");
        done(&store, both(head + written + 1)).await;
    }
    let head = store.journals().head(ada).await.unwrap().0;
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), (1..=head).collect::<Vec<_>>());
}

/// Only the database detects what is wrong: the cached heads do not tell.
pub(crate) async fn a_record_that_stands_already_harms_only_its_own_batch_while_text_streams_in(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(records(ada, 1, 1))).await;
    done(&store, one(records(bob, 1, 1))).await;
    world
        .tamper("insert into journal (pod, seq, class, body) select pod, 2, class, body from journal where pod = 1")
        .await;
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(2));
    let (wrong, right) = tokio::join!(store.commit(one(records(ada, 2, 2))), store.commit(one(records(bob, 2, 2))));
    assert!(matches!(wrong, Err(StoreError::Conflict)), "{wrong:?}");
    assert!(right.is_ok(), "{right:?}");
    // The head is read again.
    done(&store, one(records(ada, 3, 3))).await;
    done(&store, one(records(bob, 3, 3))).await;
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [1, 2, 3]);
    assert_eq!(seqs(&store.journals().after(bob, Seq(0), 100, ALL).await.unwrap()), [1, 2, 3]);
}

pub(crate) async fn a_closed_store_finishes_what_it_took_and_takes_no_more(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let commits = futures_util::future::join_all((1..=50).map(|seq| store.commit(one(records(ada, seq, seq)))));
    let (outcomes, (), ()) = tokio::join!(commits, store.close(), store.close());
    // Everything from the first refused batch on was refused.
    let kept = outcomes.iter().take_while(|outcome| outcome.is_ok()).count();
    assert!(outcomes[kept..].iter().all(|outcome| matches!(outcome, Err(StoreError::Closed))), "{outcomes:?}");
    assert!(matches!(store.commit(one(PodChange::of(ada))).await, Err(StoreError::Closed)));
    assert!(matches!(store.journals().head(ada).await, Err(StoreError::Closed)));
    assert_eq!(world.open().await.journals().head(ada).await.unwrap(), Seq(kept as i64));
    if let pod_store::Database::Sqlite { path } = &world.database {
        let folder = path.parent().unwrap();
        let log = folder.join("yoi.db-wal");
        assert!(log.metadata().map_or(0, |log| log.len()) < 1_000_000);
    }
}
