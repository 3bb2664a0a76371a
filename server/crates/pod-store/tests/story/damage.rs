//! Rows that differ from what was written, and files that cannot be read in places: detected, set aside, reported, and
//! harmless to everything else.

use std::fs;

use pod_store::{
    DamagedRecord, Database, FoundRecord, PodChange, PodKey, Portion, RecordClass, SearchFilter, Store, StoreError,
    StoreOptions, StoredRecord,
};
use protocol::{ControlEvent, Event, Record, Seq};

use crate::world::*;

/// The positions of the rows that were set aside, each with its sentence.
fn set_aside(records: &[StoredRecord]) -> Vec<(i64, String)> {
    let alert = |record: &StoredRecord| {
        let found: Record = serde_json::from_slice(&record.body).ok()?;
        assert_eq!(found.seq, record.seq);
        match found.event {
            Event::Control(ControlEvent::Alert { source, text, .. }) if source == "journal" => {
                Some((found.seq.0, text))
            }
            _ => None,
        }
    };
    records.iter().filter_map(alert).collect()
}

/// The newest records of a Pod.
async fn newest(store: &Store, pod: PodKey, records: u32) -> Vec<StoredRecord> {
    let portion = Portion { records, bytes: ALL, each: ALL, larger: ALL };
    let found = store.journals().before(pod, None, portion).await.unwrap().into_iter();
    found.map(|FoundRecord { seq, body }| StoredRecord { seq, body: body.unwrap() }).collect()
}

fn places(records: &[StoredRecord]) -> Vec<i64> {
    set_aside(records).into_iter().map(|(seq, _)| seq).collect()
}

/// Eight records of Ada's, all turns that a search finds; five of them are then changed behind the store's back, each
/// in another way, and remain valid JSON.
async fn tampered(world: &World, store: &Store) -> PodKey {
    let ada = create(store, "ada").await;
    let bob = create(store, "bob").await;
    let records: Vec<_> = (1..=8).map(|seq| found_by(seq, &format!("word number{seq}"))).collect();
    done(store, one(PodChange { records, ..PodChange::of(ada) })).await;
    done(store, one(crate::world::records(bob, 1, 2))).await;
    world.tamper("update journal set body = replace(body, 't2', 'tX') where pod = 1 and seq = 2").await;
    // Two are swapped.
    world.tamper("update journal set seq = -seq where pod = 1 and seq in (3, 4)").await;
    world.tamper("update journal set seq = 7 + seq where pod = 1 and seq < 0").await;
    world.tamper("update journal set class = 2 where pod = 1 and seq = 5").await;
    world.tamper("update journal set sum = sum + 1 where pod = 1 and seq = 6").await;
    ada
}

pub(crate) async fn a_row_that_was_altered_moved_or_swapped_is_set_aside_on_every_way_of_reading(world: World) {
    let store = world.open().await;
    let ada = tampered(&world, &store).await;
    for round in 0..2 {
        let all = store.journals().after(ada, Seq(0), 100, ALL).await.unwrap();
        assert_eq!(seqs(&all), (1..=8).collect::<Vec<_>>());
        let told = set_aside(&all);
        assert_eq!(places(&all), [2, 3, 4, 5, 6]);
        assert!(
            told[0].1.contains("record 2 (text_chunk) of this Pod is damaged: its checksum does not match"),
            "{told:?}"
        );
        for seq in [1, 7, 8] {
            assert_eq!(all[seq - 1].body, body(seq as i64));
        }
        assert_eq!(places(&newest(&store, ada, 5).await), [4, 5, 6]);
        // The fifth says that it is for people only.
        assert_eq!(places(&store.journals().turns(ada, Seq(1)).await.unwrap()), [2, 3, 4, 6]);
        assert_eq!(places(&store.journals().turns_back(ada, Seq(9), 100, ALL).await.unwrap()), [6, 4, 3, 2]);
        let hits = store.search().page("word", SearchFilter::default(), 100).await.unwrap();
        let dated: Vec<i64> = hits.iter().filter(|(_, hit)| hit.at.is_some()).map(|(_, hit)| hit.seq.0).collect();
        assert_eq!((hits.len(), dated), (8, vec![8, 7, 1]), "what cannot be relied on says nothing, not even its time");
        assert_eq!(store.health().failures().damaged, 5, "in round {round}");
    }
    // The finding is stored, and the row is unchanged.
    let copies =
        "select count(*) from quarantine join journal on journal.pod = quarantine.pod and journal.seq = quarantine.seq
                  where quarantine.body = BODY and quarantine.reason = 'its checksum does not match'";
    let copies = match world.database {
        Database::Sqlite { .. } => copies.replace("BODY", "cast(journal.body as blob)"),
        Database::Postgres { .. } => copies.replace("BODY", "journal.body"),
    };
    assert_eq!(world.count(copies.leak()).await, 5);
    done(&store, one(crate::world::records(ada, 9, 9))).await;
    store.close().await;

    let store = world.open().await;
    assert_eq!(store.health().failures().damaged, 5, "it is known after a restart");
    assert_eq!(places(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap()), [2, 3, 4, 5, 6]);
    done(&store, one(deletion(ada))).await;
    assert_eq!(store.health().failures().damaged, 0);
}

pub(crate) async fn a_row_of_another_pod_is_not_taken_for_one_of_this(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    done(&store, one(records(ada, 1, 3))).await;
    done(&store, one(records(bob, 1, 1))).await;
    world.tamper("update journal set pod = 2 where pod = 1 and seq in (2, 3)").await;
    assert_eq!(places(&store.journals().after(ada, Seq(0), 9, ALL).await.unwrap()), [0; 0]);
    let of_bob = store.journals().after(bob, Seq(0), 9, ALL).await.unwrap();
    assert_eq!((seqs(&of_bob), places(&of_bob)), (vec![1, 2, 3], vec![2, 3]));
}

pub(crate) async fn questions_and_what_streams_in_are_checked_like_everything_else(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    for seq in 1..=3 {
        done(&store, one(PodChange { records: vec![record(seq, RecordClass::Question)], ..PodChange::of(ada) })).await;
    }
    done(&store, one(PodChange { records: vec![record(4, RecordClass::Chunk)], ..PodChange::of(ada) })).await;
    world.tamper("update journal set body = replace(body, 't2', 'no') where seq = 2").await;
    world.tamper("update journal set body = replace(body, 't4', 'no') where seq = 4").await;
    assert_eq!(places(&store.journals().questions(ada).await.unwrap()), [2]);
    assert_eq!(places(&store.journals().after(ada, Seq(0), 9, ALL).await.unwrap()), [2, 4]);
    if store.hosts().is_shared() {
        let followed = store.hosts().follow(&[(ada, Seq(0))], 9).await.unwrap();
        assert_eq!(places(&followed[0].records), [2, 4]);
    }
}

pub(crate) async fn what_was_written_before_there_were_checksums_is_read_as_it_stands(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    done(&store, one(records(ada, 1, 2))).await;
    world.tamper("update journal set sum = null, body = replace(body, 't1', 'tX') where seq = 1").await;
    world.tamper(r#"update journal set sum = null, body = '{"seq":' where seq = 2"#).await;
    let read = store.journals().after(ada, Seq(0), 9, ALL).await.unwrap();
    assert_eq!(places(&read), [2]);
    assert!(set_aside(&read)[0].1.contains("record 2 of this Pod is damaged: it is not JSON"));
}

/// What can be queried directly, without a server.
pub(crate) async fn a_look_from_the_side_lists_damaged_records_with_their_places(world: World) {
    let store = world.open().await;
    let ada = tampered(&world, &store).await;
    store.journals().after(ada, Seq(2), 2, ALL).await.unwrap();
    store.close().await;
    let found = match &world.database {
        Database::Sqlite { .. } => world.database.inspect().await.unwrap().unwrap().damaged,
        Database::Postgres { .. } => world.database.probe().await.unwrap().unwrap().damaged,
    };
    let place = |record: &DamagedRecord| {
        assert_eq!((record.pod.as_str(), record.reason.as_str()), ("ada", "its checksum does not match"));
        (record.seq.0, record.set_aside_at.is_some())
    };
    let places: Vec<_> = found.listed.iter().map(place).collect();
    match &world.database {
        // Every row was examined.
        Database::Sqlite { .. } => {
            assert_eq!((found.count, places), (5, vec![(2, false), (3, true), (4, true), (5, false), (6, false)]));
        }
        Database::Postgres { .. } => assert_eq!((found.count, places), (2, vec![(3, true), (4, true)])),
    }
}

pub(crate) async fn a_page_that_cannot_be_read_is_told_with_its_file_and_a_way_out_and_harms_no_other(world: World) {
    let Database::Sqlite { path } = world.database.clone() else { return };
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    for pod in [ada, bob] {
        for from in [1, 101, 201, 301] {
            done(&store, one(records(pod, from, from + 99))).await;
        }
    }
    store.close().await;
    let mut bytes = fs::read(&path).unwrap();
    // One of Ada's, which come first in the file.
    let at = bytes.windows(6).position(|window| window == br#"t200"}"#).unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 512].fill(0xA5);
    fs::write(&path, &bytes).unwrap();

    let store = world.open().await;
    let refused = store.journals().after(ada, Seq(0), 1000, ALL).await;
    let Err(StoreError::Damaged(told)) = &refused else { panic!("{refused:?}") };
    let expected = [&*path.to_string_lossy(), ".recover", "backup", "docs/operations.md", "cannot read a journal"];
    assert!(expected.iter().all(|part| told.contains(part)), "{told}");
    assert_eq!(store.health().failures().reads, 1);
    assert_eq!(seqs(&store.journals().after(bob, Seq(0), 1000, ALL).await.unwrap()).len(), 400);
    done(&store, one(records(bob, 401, 401))).await;
    store.close().await;

    fs::write(&path, "this is no database, and long enough to have been one").unwrap();
    let refused = Store::open(StoreOptions::new(world.database.clone())).await;
    assert!(
        matches!(&refused, Err(StoreError::Damaged(told)) if told.contains(&*path.to_string_lossy())),
        "{refused:?}"
    );
}
