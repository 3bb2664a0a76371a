use pod_store::BlobRow;
use protocol::{BlobId, BlobView};

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
    // It is named by what it holds: what comes under the same name is the same.
    let again = BlobRow { view: BlobView { media_type: "text/html".to_owned(), ..view.clone() }, ..row };
    store.blobs().put(again).await.unwrap();
    for _ in 0..2 {
        let store = world.open().await;
        assert_eq!(store.blobs().find(&blob).await.unwrap().as_ref(), Some(&view));
        assert_eq!(store.blobs().read(&blob).await.unwrap(), Some((view.clone(), body.clone())));
        assert_eq!(store.blobs().find(&BlobId::parse(&"0e".repeat(32)).unwrap()).await.unwrap(), None);
    }
}
