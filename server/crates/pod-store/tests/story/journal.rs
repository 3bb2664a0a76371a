use bytes::Bytes;
use pod_store::{Fold, FoundRecord, NewRecord, PodChange, PodKey, Portion, RecordClass, StoreError};
use protocol::{AlertLevel, ControlEvent, Event, Record, Seq};

use crate::world::*;

pub(crate) async fn records_are_read_in_pages_of_bounded_count_and_size(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(0));
    done(&store, one(records(ada, 1, 40))).await;
    done(&store, one(records(bob, 1, 3))).await;
    done(&store, one(records(ada, 41, 60))).await;
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(60));
    assert_eq!(store.journals().head(bob).await.unwrap(), Seq(3));

    let page = store.journals().after(ada, Seq(0), 25, ALL).await.unwrap();
    assert_eq!(seqs(&page), (1..=25).collect::<Vec<_>>());
    assert!(page.iter().all(|record| record.body == body(record.seq.0)));
    assert_eq!(seqs(&store.journals().after(ada, Seq(58), 25, ALL).await.unwrap()), [59, 60]);
    assert_eq!(seqs(&store.journals().after(ada, Seq(60), 25, ALL).await.unwrap()), [0; 0]);

    // Bytes: as many as fit, and at least one record.
    let three = body(10).len() * 3;
    assert_eq!(seqs(&store.journals().after(ada, Seq(10), 25, three).await.unwrap()), [11, 12, 13]);
    assert_eq!(seqs(&store.journals().after(ada, Seq(10), 25, three + 1).await.unwrap()), [11, 12, 13]);
    assert_eq!(seqs(&store.journals().after(ada, Seq(10), 25, three - 1).await.unwrap()), [11, 12]);
    assert_eq!(seqs(&store.journals().after(ada, Seq(10), 25, 0).await.unwrap()), [11]);
    assert!(matches!(store.journals().head(PodKey(999)).await, Err(StoreError::PodGone)));
}

pub(crate) async fn older_records_are_paged_backwards(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 10))).await;
    let before = async |before: Option<i64>, records| {
        let portion = Portion { records, bytes: ALL, each: ALL, larger: ALL };
        numbers(&store.journals().before(ada, before.map(Seq), portion).await.unwrap())
    };
    assert_eq!(before(None, 4).await, [7, 8, 9, 10]);
    assert_eq!(before(Some(7), 4).await, [3, 4, 5, 6]);
    assert_eq!(before(Some(3), 4).await, [1, 2]);
    assert_eq!(before(Some(1), 4).await, [0; 0]);
}

pub(crate) async fn a_page_ends_where_its_bytes_do_and_a_large_record_comes_by_itself(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let mut records: Vec<NewRecord> = (1..=6).map(|seq| record(seq, RecordClass::Turn)).collect();
    let large = |seq: i64| Bytes::from(format!("{{\"seq\":{seq},\"text\":\"{}\"}}", "é".repeat(100_000)));
    records[2].body = large(3);
    records[4].body = large(5);
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    let (small, each, larger) = (body(1).len(), 1_000, 600);
    let found = async |before: Option<i64>, bytes| {
        let portion = Portion { records: 10, bytes, each, larger };
        store.journals().before(ada, before.map(Seq), portion).await.unwrap()
    };
    // A large one counts as `larger`.
    assert_eq!(numbers(&found(None, 2 * small + 2 * larger).await), [3, 4, 5, 6]);
    assert_eq!(numbers(&found(None, 2 * small + 2 * larger - 1).await), [4, 5, 6]);
    assert_eq!(numbers(&found(None, small + larger - 1).await), [6]);
    // There is always one.
    assert_eq!(numbers(&found(Some(6), 0).await), [5]);
    let all = found(None, ALL).await;
    assert_eq!(numbers(&all), [1, 2, 3, 4, 5, 6]);
    for record in &all {
        let is_large = matches!(record.seq.0, 3 | 5);
        assert_eq!(record.body, (!is_large).then(|| body(record.seq.0)), "{}", record.seq);
    }
    assert_eq!(store.journals().record(ada, Seq(5)).await.unwrap().unwrap().body, large(5));
    assert_eq!(store.journals().record(ada, Seq(7)).await.unwrap(), None);
    // Whole ones, if none is too large.
    let whole = Portion { records: 10, bytes: large(5).len() + small, each: ALL, larger: ALL };
    let found = store.journals().before(ada, None, whole).await.unwrap();
    assert_eq!((numbers(&found), found[0].body.clone()), (vec![5, 6], Some(large(5))));
    // Forwards and for a model: the same.
    assert_eq!(seqs(&store.journals().after(ada, Seq(2), 10, large(3).len() + small).await.unwrap()), [3, 4]);
    assert_eq!(seqs(&store.journals().turns_back(ada, Seq(6), 10, large(5).len() + small).await.unwrap()), [5, 4]);
}

fn numbers(found: &[FoundRecord]) -> Vec<i64> {
    found.iter().map(|record| record.seq.0).collect()
}

pub(crate) async fn only_turn_records_are_given_to_a_model(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    use RecordClass::{Chunk, Control, Turn};
    let classes = [Control, Turn, Chunk, Chunk, Turn, Control, Turn];
    let records = (1..).zip(classes).map(|(seq, class)| record(seq, class)).collect();
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    assert_eq!(seqs(&store.journals().turns(ada, Seq(0)).await.unwrap()), [2, 5, 7]);
    assert_eq!(seqs(&store.journals().turns(ada, Seq(5)).await.unwrap()), [5, 7]);
}

pub(crate) async fn turn_records_are_paged_backwards_in_pages_of_bounded_count_and_size(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    use RecordClass::{Chunk, Control, Turn};
    let classes = [Turn, Control, Turn, Chunk, Chunk, Turn, Control, Turn];
    let records = (1..).zip(classes).map(|(seq, class)| record(seq, class)).collect();
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    let page = async |before, records, bytes| {
        seqs(&store.journals().turns_back(ada, Seq(before), records, bytes).await.unwrap())
    };
    assert_eq!(page(i64::MAX, 3, usize::MAX).await, [8, 6, 3]);
    assert_eq!(page(3, 3, usize::MAX).await, [1]);
    assert_eq!(page(1, 3, usize::MAX).await, [0; 0]);
    let two = body(8).len() + body(6).len();
    assert_eq!(page(i64::MAX, 9, two).await, [8, 6]);
    assert_eq!(page(i64::MAX, 9, 1).await, [8], "one, however large it is");
}

pub(crate) async fn questions_are_listed_and_given_to_no_model(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    use RecordClass::{Chunk, Control, Question, Turn};
    let classes = [Control, Question, Turn, Chunk, Question, Chunk, Turn];
    for pod in [ada, bob] {
        let records = (1..).zip(classes).map(|(seq, class)| record(seq, class)).collect();
        done(&store, one(PodChange { records, ..PodChange::of(pod) })).await;
    }
    assert_eq!(seqs(&store.journals().questions(ada).await.unwrap()), [2, 5]);
    assert_eq!(seqs(&store.journals().turns(ada, Seq(0)).await.unwrap()), [3, 7]);
    let fold = Fold { block: "b".to_owned(), from: Seq(4), to: Seq(6) };
    done(&store, one(PodChange { folds: vec![fold], ..PodChange::of(ada) })).await;
    let questions = store.journals().questions(ada).await.unwrap();
    assert_eq!(questions.iter().map(|record| &record.body).collect::<Vec<_>>(), [&body(2), &body(5)]);

    world.tamper("update journal set body = 'no json' where seq = 5").await;
    let questions = store.journals().questions(ada).await.unwrap();
    assert_eq!(questions[0].body, body(2));
    assert!(std::str::from_utf8(&questions[1].body).unwrap().contains("record 5 of this Pod is damaged"));
    assert_eq!(store.journals().questions(PodKey(4711)).await.unwrap(), []);
}

pub(crate) async fn a_fold_drops_the_chunks_of_its_block_and_nothing_else(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    use RecordClass::{Chunk, Control, Turn};
    let classes = [Turn, Chunk, Chunk, Control, Chunk, Turn, Chunk];
    for pod in [ada, bob] {
        let records = (1..).zip(classes).map(|(seq, class)| record(seq, class)).collect();
        done(&store, one(PodChange { records, ..PodChange::of(pod) })).await;
    }
    // The finished record is in the same batch.
    let fold = Fold { block: "b".to_owned(), from: Seq(2), to: Seq(5) };
    let records = vec![record(8, Turn)];
    done(&store, one(PodChange { folds: vec![fold], records, ..PodChange::of(ada) })).await;
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [1, 4, 6, 7, 8]);
    assert_eq!(store.journals().after(bob, Seq(0), 100, ALL).await.unwrap().len(), 7);
    assert_eq!(store.journals().head(ada).await.unwrap(), Seq(8));
}

pub(crate) async fn records_that_do_not_follow_on_the_head_are_refused(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(records(ada, 1, 5))).await;
    for (from, to) in [(7, 8), (5, 6), (1, 1), (0, 0)] {
        let (wrong, right) =
            tokio::join!(store.commit(one(records(ada, from, to))), store.commit(one(PodChange::of(bob))));
        assert!(matches!(wrong, Err(StoreError::Conflict)), "{from}..={to}: {wrong:?}");
        assert!(right.is_ok());
    }
    let gap =
        PodChange { records: vec![record(6, RecordClass::Turn), record(8, RecordClass::Turn)], ..PodChange::of(ada) };
    assert!(matches!(store.commit(one(gap)).await, Err(StoreError::Conflict)));
    done(&store, one(records(ada, 6, 6))).await;
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [1, 2, 3, 4, 5, 6]);
    // A store that has not seen this journal yet knows its head too.
    let store = world.open().await;
    assert!(matches!(store.commit(one(records(ada, 6, 6))).await, Err(StoreError::Conflict)));
    done(&store, one(records(ada, 7, 7))).await;
}

pub(crate) async fn a_pod_may_come_into_being_with_a_journal_that_leaves_out_seqs(world: World) {
    let store = world.open().await;
    let with = |name: &str, seqs: &[i64]| {
        let records = seqs.iter().map(|seq| record(*seq, RecordClass::Turn)).collect();
        one(PodChange { records, ..creation(name) })
    };
    done(&store, with("ada", &[3, 4, 90])).await;
    let ada = store.pods().find_by_name(&name("ada")).await.unwrap().unwrap().key;
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [3, 4, 90]);
    assert!(matches!(store.commit(one(records(ada, 92, 92))).await, Err(StoreError::Conflict)));
    done(&store, one(records(ada, 91, 92))).await;
    for wrong in [&[2, 2][..], &[5, 4], &[0], &[-1, 1]] {
        assert!(matches!(store.commit(with("bob", wrong)).await, Err(StoreError::Conflict)), "{wrong:?}");
    }
    assert_eq!(store.pods().find_by_name(&name("bob")).await.unwrap(), None);
}

pub(crate) async fn a_body_comes_back_byte_for_byte(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let bodies = [
        r#"{"text":"quotes \" and \\ and \n and \u0000 and \ud83d\ude00 and 😀 and é"}"#,
        r#"{"a":1.50,"b":1e400,"c":-0,"d":123456789012345678901234567890,"z":[],"y":{},"x":[null,true]}"#,
        r#"{"b":1,"a":2,"b":3}"#,
        r#"{"text":"'; drop table journal; --  $1 ? :x @y"}"#,
    ];
    let records = (1..).zip(bodies).map(|(seq, body)| NewRecord {
        body: Bytes::from_static(body.as_bytes()),
        ..record(seq, RecordClass::Control)
    });
    done(&store, one(PodChange { records: records.collect(), ..PodChange::of(ada) })).await;
    let read = store.journals().after(ada, Seq(0), 100, ALL).await.unwrap();
    assert_eq!(read.iter().map(|record| std::str::from_utf8(&record.body).unwrap()).collect::<Vec<_>>(), bodies);

    let no_text = NewRecord { body: Bytes::from_static(b"{\"a\":\"\xff\"}"), ..record(5, RecordClass::Turn) };
    let refused = store.commit(one(PodChange { records: vec![no_text], ..PodChange::of(ada) })).await;
    assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
}

pub(crate) async fn a_damaged_record_is_set_aside_and_harms_no_other(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 5))).await;
    world.tamper(r#"update journal set body = '{"seq":3,"at":' where seq = 3"#).await;

    let read = store.journals().after(ada, Seq(0), 100, ALL).await.unwrap();
    assert_eq!(seqs(&read), [1, 2, 3, 4, 5]);
    assert_eq!(read[3].body, body(4));
    let stand_in: Record = serde_json::from_slice(&read[2].body).unwrap();
    let alert = ControlEvent::Alert {
        level: AlertLevel::Error,
        source: "journal".to_owned(),
        text: "record 3 of this Pod is damaged: its checksum does not match; it was set aside and is shown to no one, including the model".to_owned(),
        model: None,
    };
    assert_eq!((stand_in.seq, stand_in.event), (Seq(3), Event::Control(alert)));

    assert_eq!(store.journals().turns(ada, Seq(3)).await.unwrap()[0].seq, Seq(3));
    let three = Portion { records: 3, bytes: ALL, each: ALL, larger: ALL };
    assert_eq!(store.journals().before(ada, None, three).await.unwrap()[0].seq, Seq(3));
    let copies = "select count(*) from quarantine where seq = 3 and found_at > 0";
    assert_eq!(world.count(copies).await, 1);
    done(&store, one(records(ada, 6, 6))).await;
}

pub(crate) async fn many_batches_at_once_are_all_answered(world: World) {
    let store = world.open().await;
    let mut tasks = Vec::new();
    for number in 0..40 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let pod = create(&store, &format!("pod-{number}")).await;
            for round in 0..10 {
                done(&store, one(records(pod, round * 3 + 1, round * 3 + 3))).await;
            }
            pod
        }));
    }
    for task in tasks {
        let pod = task.await.unwrap();
        let read = store.journals().after(pod, Seq(0), 100, ALL).await.unwrap();
        assert_eq!(seqs(&read), (1..=30).collect::<Vec<_>>());
    }
}
