use pod_store::{InboxRow, PodChange};
use protocol::{AuditEntry, Segment};

use crate::world::*;

fn input(text: &str) -> InboxRow {
    let segments = vec![
        Segment::text(format!("{text} \"quoted\" \0 😀")),
        Segment::Paste { text: "line\nline".to_owned() },
        Segment::FileRef { path: "src/main.rs".to_owned() },
    ];
    InboxRow { command_id: id(text), segments, by: "ada".to_owned(), at: at(5) }
}

pub(crate) async fn an_inbox_is_read_in_order_and_emptied_by_id(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let put = |pod, ids: &[&str]| {
        one(PodChange { inbox_put: ids.iter().map(|id| input(id)).collect(), ..PodChange::of(pod) })
    };
    done(&store, put(ada, &["z", "a", "m"])).await;
    done(&store, put(bob, &["z"])).await;
    done(&store, put(ada, &["b"])).await;
    // Delivered twice, it waits once.
    done(&store, put(ada, &["a"])).await;
    assert_eq!(store.inbox(ada).await.unwrap(), ["z", "a", "m", "b"].map(input));
    let taken = PodChange { inbox_taken: vec![id("a"), id("z"), id("unknown")], ..PodChange::of(ada) };
    done(&store, one(taken)).await;
    assert_eq!(store.inbox(ada).await.unwrap(), ["m", "b"].map(input));
    assert_eq!(store.inbox(bob).await.unwrap(), [input("z")]);
}

pub(crate) async fn the_audit_is_paged_from_the_newest(world: World) {
    let store = world.open().await;
    for number in 0..5 {
        store.audit_append(audit(&format!("action-{number}"))).await.unwrap();
    }
    store.audit_append(AuditEntry { by: "a\0b".to_owned(), ..audit("nul") }).await.unwrap();
    assert_eq!(store.audit_page(None, 1).await.unwrap()[0].1.by, "a b");
    let refused = AuditEntry { target: None, code: Some("busy".to_owned()), ..audit("refused") };
    store.audit_append(refused.clone()).await.unwrap();
    let first = store.audit_page(None, 4).await.unwrap();
    assert_eq!(first[0].1, refused);
    assert_eq!(first[2].1, audit("action-4"));
    let second = store.audit_page(Some(first[3].0), 4).await.unwrap();
    assert_eq!(
        second.iter().map(|(_, entry)| entry.action.as_str()).collect::<Vec<_>>(),
        ["action-2", "action-1", "action-0"]
    );
    assert_eq!(store.audit_page(Some(second[2].0), 4).await.unwrap(), []);
}

pub(crate) async fn a_session_is_known_until_it_expires_or_is_deleted(world: World) {
    let store = world.open().await;
    let [short, long, gone] = [[1; 32], [2; 32], [3; 32]];
    store.session_put(short, at(10)).await.unwrap();
    store.session_put(long, at(10)).await.unwrap();
    store.session_put(long, at(1000)).await.unwrap();
    store.session_put(gone, at(1000)).await.unwrap();
    store.session_delete(&gone).await.unwrap();
    assert!(store.session_find(&short, at(9)).await.unwrap());
    assert!(!store.session_find(&short, at(10)).await.unwrap());
    assert!(store.session_find(&long, at(10)).await.unwrap());
    assert!(!store.session_find(&gone, at(0)).await.unwrap());
    store.sessions_purge(at(10)).await.unwrap();
    assert!(!store.session_find(&short, at(9)).await.unwrap());
    assert!(store.session_find(&long, at(10)).await.unwrap());
}
