use pod_store::{Batch, Committed, InboxRow, PodChange, PodGroup, PodKey, PodRow, PodUpdate, StoreError};
use protocol::{PodState, Segment, Seq};

use crate::world::*;

pub(crate) async fn a_pod_is_found_by_id_and_by_name_and_in_pages(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let row = PodRow {
        key: ada,
        worker_id: worker("ada"),
        name: name("ada"),
        created_at: at(0),
        updated_at: at(0),
        state: PodState::Idle,
        open: false,
        spec: r#"{"model":"m"}"#.to_owned(),
        checkpoint: "{}".to_owned(),
        head: Seq(0),
        unread: 0,
        parent: None,
        children: 0,
        peers: 0,
        queued: 0,
    };
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap(), Some(row.clone()));
    assert_eq!(store.pods().find_by_name(&name("ada")).await.unwrap(), Some(row.clone()));
    // Case-sensitive.
    assert_eq!(store.pods().find_by_name(&name("Ada")).await.unwrap(), None);

    let changed = PodUpdate {
        name: Some(name("Ada")),
        spec: Some("\"s\"".to_owned()),
        unread: Some(3),
        ..checkpoint(PodState::Running, true, r#"{"turns":["a \"b\""]}"#, 9)
    };
    done(&store, one(update(ada, changed))).await;
    let changed = PodRow {
        name: name("Ada"),
        updated_at: at(9),
        state: PodState::Running,
        open: true,
        spec: "\"s\"".to_owned(),
        checkpoint: r#"{"turns":["a \"b\""]}"#.to_owned(),
        head: Seq(9),
        unread: 3,
        ..row
    };
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap(), Some(changed.clone()));
    done(&store, one(update(ada, PodUpdate { unread: Some(0), ..PodUpdate::default() }))).await;
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap(), Some(PodRow { unread: 0, ..changed }));
    assert_eq!(store.pods().drafts(ada).await.unwrap(), None);
    for drafts in ["{\"version\":1}", "{}"] {
        let noted = PodUpdate { drafts: Some(drafts.to_owned()), ..PodUpdate::default() };
        done(&store, one(update(ada, noted))).await;
        done(&store, one(update(ada, PodUpdate { unread: Some(0), ..PodUpdate::default() }))).await;
        assert_eq!(store.pods().drafts(ada).await.unwrap().as_deref(), Some(drafts));
    }

    // Two in one batch, keys in order; and one with its first records and values.
    let both = Batch { changes: vec![creation("zoe"), creation("bob")], ..Batch::default() };
    let Committed::Done { created } = store.commit(both).await.unwrap() else { panic!() };
    assert_eq!(store.pods().find(&worker("zoe")).await.unwrap().unwrap().key, created[0]);
    assert_eq!(store.pods().find(&worker("bob")).await.unwrap().unwrap().key, created[1]);
    let born = PodChange {
        update: Some(checkpoint(PodState::Waiting, true, "{}", 2)),
        records: records(ada, 1, 2).records,
        ..creation("eve")
    };
    let Committed::Done { created } = store.commit(one(born)).await.unwrap() else { panic!() };
    assert_eq!(store.journals().head(created[0]).await.unwrap(), Seq(2));
    done(&store, one(records(created[0], 3, 3))).await;

    let first = store.pods().page(None, 2).await.unwrap();
    assert_eq!(names(&first), ["Ada", "zoe"]);
    let second = store.pods().page(Some(first[1].key), 2).await.unwrap();
    assert_eq!(names(&second), ["bob", "eve"]);
    assert_eq!(store.pods().page(Some(second[1].key), 2).await.unwrap(), []);
}

pub(crate) async fn pods_with_rules_and_pods_that_stand_still_are_found_among_all(world: World) {
    let store = world.open().await;
    let rules = r#"{"instructions":"no \"permissions\":[{ here","permissions":[{"tool":"Bash","decision":"allow"}]}"#;
    let none = r#"{"instructions":"no \"permissions\":[{ here","permissions":[]}"#;
    let mut keys = Vec::new();
    for number in 0..40 {
        let mut change = creation(&format!("pod-{number}"));
        change.create.as_mut().unwrap().spec = if number % 10 == 3 { rules } else { none }.to_owned();
        let Committed::Done { created } = store.commit(one(change)).await.unwrap() else { panic!() };
        keys.push(created[0]);
    }
    let ruled = store.pods().page_of(PodGroup::WithRules, None, 3).await.unwrap();
    assert_eq!(names(&ruled), ["pod-3", "pod-13", "pod-23"]);
    assert_eq!(names(&store.pods().page_of(PodGroup::WithRules, Some(keys[23]), 3).await.unwrap()), ["pod-33"]);

    // A changed value is found as it is now.
    let spec = |spec: &str| PodUpdate { spec: Some(spec.to_owned()), ..PodUpdate::default() };
    done(&store, one(update(keys[3], spec(none)))).await;
    done(&store, one(update(keys[4], spec(rules)))).await;
    assert_eq!(names(&store.pods().page_of(PodGroup::WithRules, None, 2).await.unwrap()), ["pod-4", "pod-13"]);

    assert_eq!(store.pods().page_of(PodGroup::Halted, None, 9).await.unwrap(), []);
    for (key, state) in [(7, PodState::Paused), (5, PodState::Waiting), (6, PodState::Running)] {
        done(&store, one(update(keys[key], checkpoint(state, true, "{}", 0)))).await;
    }
    assert_eq!(names(&store.pods().page_of(PodGroup::Halted, None, 9).await.unwrap()), ["pod-5", "pod-7"]);

    // Of those that a usage limit paused, the ones that resume by themselves.
    let (limit, told) = (r#"{"limit":{"until":"2026-11-24T17:05:00Z"}}"#, r#"{"auto_resume":true}"#);
    for (key, spec_text, json) in [(10, told, limit), (11, told, "{}"), (12, r#"{"auto_resume":false}"#, limit)] {
        done(&store, one(update(keys[key], spec(spec_text)))).await;
        done(&store, one(update(keys[key], checkpoint(PodState::Paused, false, json, 0)))).await;
    }
    assert_eq!(names(&store.pods().page_of(PodGroup::Limited, None, 9).await.unwrap()), ["pod-10"]);

    // Stopped ones are not counted.
    assert_eq!(store.pods().living_count(100).await.unwrap(), 40);
    done(&store, one(update(keys[9], checkpoint(PodState::Stopped, false, "{}", 0)))).await;
    assert_eq!((store.pods().living_count(100).await.unwrap(), store.pods().living_count(7).await.unwrap()), (39, 7));

    let mut known: Vec<String> = store.pods().names().await.unwrap().iter().map(ToString::to_string).collect();
    known.sort();
    let mut made: Vec<String> = (0..40).map(|number| format!("pod-{number}")).collect();
    made.sort();
    assert_eq!(known, made);
}

pub(crate) async fn a_taken_name_harms_only_its_own_batch(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let mut tasks = Vec::new();
    for number in 0..30 {
        let wanted = if number % 10 == 5 { "ada".to_owned() } else { format!("pod-{number}") };
        let mut change = creation(&format!("pod-{number}"));
        change.create.as_mut().unwrap().name = name(&wanted);
        let store = store.clone();
        tasks.push(tokio::spawn(async move { (wanted, store.commit(one(change)).await) }));
    }
    for task in tasks {
        match task.await.unwrap() {
            (wanted, Err(StoreError::NameTaken(taken))) => assert_eq!((wanted.as_str(), taken), ("ada", name("ada"))),
            (wanted, outcome) => {
                assert_ne!(wanted, "ada");
                outcome.unwrap();
            }
        }
    }
    assert_eq!(store.pods().page(None, 100).await.unwrap().len(), 28);

    // A rename, and a batch with several names: the error names the one that is taken.
    let rename = PodUpdate { name: Some(name("pod-1")), ..PodUpdate::default() };
    let refused = store.commit(one(update(ada, rename))).await;
    assert!(matches!(&refused, Err(StoreError::NameTaken(taken)) if *taken == name("pod-1")), "{refused:?}");
    let mut second = creation("second");
    second.create.as_mut().unwrap().name = name("pod-2");
    let several = Batch { changes: vec![creation("new"), second], ..Batch::default() };
    let refused = store.commit(several).await;
    assert!(matches!(&refused, Err(StoreError::NameTaken(taken)) if *taken == name("pod-2")), "{refused:?}");
    assert_eq!(store.pods().find_by_name(&name("new")).await.unwrap(), None);
    let mut same_id = creation("ada");
    same_id.create.as_mut().unwrap().name = name("other");
    assert!(matches!(store.commit(one(same_id)).await, Err(StoreError::Conflict)));
}

pub(crate) async fn a_name_is_free_again_after_a_rename_or_a_deletion(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    done(&store, one(update(ada, PodUpdate { name: Some(name("eve")), ..PodUpdate::default() }))).await;
    let mut second = creation("second");
    second.create.as_mut().unwrap().name = name("ada");
    done(&store, one(second.clone())).await;
    // Deleted and created again in one batch.
    let bob = create(&store, "bob").await;
    let mut reborn = creation("reborn");
    reborn.create.as_mut().unwrap().name = name("bob");
    let batch = Batch { changes: vec![deletion(bob), reborn], ..Batch::default() };
    let Committed::Done { created } = store.commit(batch).await.unwrap() else { panic!() };
    assert_ne!(created, [bob]);
    assert_eq!(names(&store.pods().page(None, 9).await.unwrap()), ["eve", "ada", "bob"]);
}

pub(crate) async fn a_restart_looks_at_open_pods_and_at_those_with_waiting_input(world: World) {
    let store = world.open().await;
    let mut keys = Vec::new();
    for text in ["idle", "running", "queued", "finished"] {
        keys.push(create(&store, text).await);
    }
    done(&store, one(update(keys[1], checkpoint(PodState::Running, true, "{}", 0)))).await;
    done(&store, one(update(keys[3], checkpoint(PodState::Running, true, "{}", 0)))).await;
    done(&store, one(update(keys[3], checkpoint(PodState::Idle, false, "{}", 0)))).await;
    let waiting = InboxRow {
        command_id: id("c"),
        segments: vec![Segment::text("hi")],
        by: "ada".into(),
        at: at(1),
        steers: false,
        blobs: protocol::Blobs::default(),
    };
    done(&store, one(PodChange { inbox_put: vec![waiting], ..PodChange::of(keys[2]) })).await;
    assert_eq!(names(&store.pods().open().await.unwrap()), ["running", "queued"]);
    done(&store, one(PodChange { inbox_taken: vec![id("c")], ..PodChange::of(keys[2]) })).await;
    let store = world.open().await;
    assert_eq!(names(&store.pods().open().await.unwrap()), ["running"]);
}

pub(crate) async fn the_head_of_a_row_is_that_of_the_journal_also_while_chunks_stream_in(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let head = async || store.pods().find(&worker("ada")).await.unwrap().unwrap().head;
    let begun =
        PodChange { records: records(ada, 1, 4).records, ..update(ada, checkpoint(PodState::Running, true, "{}", 4)) };
    done(&store, one(begun)).await;
    done(&store, one(records(ada, 5, 90))).await;
    assert_eq!(head().await, Seq(90));
    assert_eq!(store.pods().page(None, 9).await.unwrap()[0].head, Seq(90));
    let over =
        PodChange { records: records(ada, 91, 91).records, ..update(ada, checkpoint(PodState::Idle, false, "{}", 91)) };
    done(&store, one(over)).await;
    assert_eq!(head().await, Seq(91));
}

pub(crate) async fn updates_of_one_pod_in_many_batches_end_with_the_last(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    // Queued by one task in this order, they share a few groups.
    let rounds = (1..=50).map(|round| {
        let change = PodChange {
            records: records(ada, round, round).records,
            ..update(ada, checkpoint(PodState::Running, true, &format!("[{round}]"), round))
        };
        store.commit(one(change))
    });
    for outcome in futures_util::future::join_all(rounds).await {
        outcome.unwrap();
    }
    let row = store.pods().find(&worker("ada")).await.unwrap().unwrap();
    assert_eq!((row.checkpoint.as_str(), row.head, row.updated_at), ("[50]", Seq(50), at(50)));
}

pub(crate) async fn a_deleted_pod_leaves_nothing_but_audit_and_commands(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let input = InboxRow {
        command_id: id("c"),
        segments: vec![Segment::text("hi")],
        by: "ada".into(),
        at: at(1),
        steers: false,
        blobs: protocol::Blobs::default(),
    };
    for pod in [ada, bob] {
        let mut change = PodChange { inbox_put: vec![input.clone()], ..records(pod, 1, 3) };
        change.records[0] = found_by(1, "needle");
        let batch = Batch { audit: vec![audit("input")], ..one(change) };
        done(&store, Batch { command: Some(command(&format!("of-{}", pod.0), "{}")), ..batch }).await;
    }
    world.tamper("update journal set body = 'no json' where seq = 2").await;
    assert_eq!(store.journals().after(ada, Seq(0), 9, ALL).await.unwrap().len(), 3);
    assert_eq!(store.search().find("needle", 9).await.unwrap().len(), 2);

    // The last mail to another Pod is part of the same batch.
    let batch = Batch { changes: vec![deletion(ada), records(bob, 4, 4)], ..Batch::default() };
    done(&store, batch).await;
    assert_eq!(store.pods().find(&worker("ada")).await.unwrap(), None);
    assert_eq!(store.pods().find_by_name(&name("ada")).await.unwrap(), None);
    assert_eq!(store.journals().after(ada, Seq(0), 9, ALL).await.unwrap(), []);
    assert_eq!(store.inboxes().inputs(ada).await.unwrap(), []);
    assert_eq!(store.search().find("needle", 9).await.unwrap().len(), 1);
    assert_eq!(names(&store.pods().open().await.unwrap()), ["bob"]);
    assert_eq!(world.count("select count(*) from quarantine").await, 0);
    assert_eq!(store.journals().head(bob).await.unwrap(), Seq(4));
    assert_eq!(store.audit().page(None, 9).await.unwrap().len(), 2);
    assert!(store.commands().find(&id(&format!("of-{}", ada.0))).await.unwrap().is_some());
    assert!(matches!(store.commit(one(records(ada, 4, 4))).await, Err(StoreError::PodGone)));
    assert!(matches!(store.commit(one(deletion(ada))).await, Err(StoreError::PodGone)));
}

pub(crate) async fn a_change_of_a_pod_that_is_not_there_harms_only_its_own_batch(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let outcomes = futures_util::future::join_all((1..=20).map(|seq| {
        let pod = if seq == 7 { PodKey(4711) } else { ada };
        let first = if seq > 7 { seq - 1 } else { seq };
        store.commit(one(records(pod, first, first)))
    }))
    .await;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match index {
            6 => assert!(matches!(outcome, Err(StoreError::PodGone)), "{outcome:?}"),
            _ => drop(outcome.unwrap()),
        }
    }
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(19));
}
