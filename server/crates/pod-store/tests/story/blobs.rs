use pod_store::{BlobRow, InboxRow, NewRecord, PodChange, RecordClass};
use protocol::{BlobId, BlobView, Blobs};

use crate::world::*;

pub(crate) async fn what_is_kept_is_there_once_and_whole(world: World) {
    let store = world.open().await;
    let blob = BlobId::parse(&"0f".repeat(32)).unwrap();
    let body: bytes::Bytes = (0..=255_u8).cycle().take(3 << 20).collect::<Vec<_>>().into();
    let view = BlobView { blob: blob.clone(), media_type: "image/png".to_owned(), bytes: body.len() as u64 };
    assert_eq!(store.blobs().find(&blob).await.unwrap(), None);
    assert!(store.blobs().read(&blob).await.unwrap().is_none());
    let row = BlobRow { view: view.clone(), body: body.clone(), created_at: at(0) };
    assert!(!format!("{row:?}").contains("255"), "what it holds is no matter of a log");
    store.blobs().put(row.clone()).await.unwrap();
    // Its name is its content: whatever has the same name is the same.
    let again = BlobRow { view: BlobView { media_type: "text/html".to_owned(), ..view.clone() }, ..row };
    store.blobs().put(again).await.unwrap();
    for _ in 0..2 {
        let store = world.open().await;
        assert_eq!(store.blobs().find(&blob).await.unwrap().as_ref(), Some(&view));
        assert_eq!(store.blobs().read(&blob).await.unwrap(), Some((view.clone(), body.clone())));
        assert_eq!(store.blobs().find(&BlobId::parse(&"0e".repeat(32)).unwrap()).await.unwrap(), None);
    }
}

pub(crate) async fn what_no_journal_names_is_swept_once_nobody_asks_for_it(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let name = |number: u8| BlobId::parse(&format!("{number:02x}").repeat(32)).unwrap();
    for number in 0..4 {
        let view = BlobView { blob: name(number), media_type: "text/plain".to_owned(), bytes: 1 };
        store.blobs().put(BlobRow { view, body: vec![number].into(), created_at: at(0) }).await.unwrap();
    }
    let names = |blob: &BlobId| {
        let body = format!(r#"{{"event":{{"kind":"user_message","segments":[{{"type":"image","blob":"{blob}"}}]}}}}"#);
        NewRecord { seq: protocol::Seq(1), class: RecordClass::Turn, body: body.into(), search: None }
    };
    for pod in [ada, bob] {
        done(&store, one(PodChange { records: vec![names(&name(0))], ..PodChange::of(pod) })).await;
    }
    let waits = InboxRow {
        segments: vec![protocol::Segment::File { blob: name(1), name: "notes".to_owned() }],
        command_id: id("q-1"),
        by: "operator".to_owned(),
        at: at(5),
        steers: false,
        blobs: Blobs::default(),
    };
    done(&store, one(PodChange { inbox_put: vec![waits], ..PodChange::of(bob) })).await;
    store.blobs().touch(vec![name(2)], at(60)).await.unwrap();
    let left = async || {
        let mut left = Vec::new();
        for number in 0..4 {
            left.extend(store.blobs().find(&name(number)).await.unwrap().map(|_| number));
        }
        left
    };
    store.blobs().sweep(at(0)).await.unwrap();
    assert_eq!(left().await, [0, 1, 2, 3], "nothing is old enough");
    store.blobs().sweep(at(30)).await.unwrap();
    assert_eq!(left().await, [0, 1, 2]);
    store.blobs().sweep(at(90)).await.unwrap();
    assert_eq!(left().await, [0, 1]);
    done(&store, one(deletion(ada))).await;
    store.blobs().sweep(at(90)).await.unwrap();
    assert_eq!(left().await, [0, 1], "another one names it");
    done(&store, one(deletion(bob))).await;
    store.blobs().sweep(at(90)).await.unwrap();
    assert_eq!(left().await, [0_u8; 0]);
}
