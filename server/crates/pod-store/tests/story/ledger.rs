use pod_store::{AuditFilter, InboxRow, PodChange, SessionRow};
use protocol::{AuditAbout, AuditEntry, BlobId, BlobView, Blobs, Decision, RuleScope, Segment};

use crate::world::*;

fn input(text: &str) -> InboxRow {
    let segments = vec![
        Segment::text(format!("{text} \"quoted\" \0 😀")),
        Segment::Paste { text: "line\nline".to_owned() },
        Segment::FileRef { path: "src/main.rs".to_owned() },
    ];
    let view = |blob| BlobView { blob, media_type: "image/png".to_owned(), bytes: 7 };
    let blobs = Blobs(
        BlobId::parse(&"0a".repeat(32)).ok().filter(|_| text == "m" || text == "b").map(view).into_iter().collect(),
    );
    InboxRow { command_id: id(text), segments, by: "ada".to_owned(), at: at(5), steers: text == "m", blobs }
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
    // Delivered twice, it is queued once.
    done(&store, put(ada, &["a"])).await;
    assert_eq!(store.inboxes().inputs(ada).await.unwrap(), ["z", "a", "m", "b"].map(input));
    let taken = PodChange { inbox_taken: vec![id("a"), id("z"), id("unknown")], ..PodChange::of(ada) };
    done(&store, one(taken)).await;
    assert_eq!(store.inboxes().inputs(ada).await.unwrap(), ["m", "b"].map(input));
    assert_eq!(store.inboxes().inputs(bob).await.unwrap(), [input("z")]);
}

pub(crate) async fn the_audit_is_paged_from_the_newest(world: World) {
    let store = world.open().await;
    for number in 0..5 {
        store.audit().append(audit(&format!("action-{number}"))).await.unwrap();
    }
    store.audit().append(AuditEntry { by: "a\0b".to_owned(), ..audit("nul") }).await.unwrap();
    assert_eq!(store.audit().page(None, 1).await.unwrap()[0].1.by, "a b");
    let refused = AuditEntry { target: None, code: Some("busy".to_owned()), ..audit("refused") };
    store.audit().append(refused.clone()).await.unwrap();
    let about = AuditAbout {
        tool: Some("Bash".to_owned()),
        subject: Some("printf 'a\\0b\\n'\n\0 😀".to_owned()),
        decision: Some(Decision::Deny),
        remembered: true,
        scope: Some(RuleScope::Folder),
        pattern: Some("printf *".to_owned()),
    };
    let approved = AuditEntry { about: Some(about), ..audit("approve") };
    store.audit().append(approved.clone()).await.unwrap();
    assert_eq!(store.audit().page(None, 1).await.unwrap()[0].1, approved);
    let first = store.audit().page(None, 5).await.unwrap();
    assert_eq!(first[1].1, refused);
    assert_eq!(first[3].1, audit("action-4"));
    let second = store.audit().page(Some(first[4].0), 4).await.unwrap();
    assert_eq!(
        second.iter().map(|(_, entry)| entry.action.as_str()).collect::<Vec<_>>(),
        ["action-2", "action-1", "action-0"]
    );
    assert_eq!(store.audit().page(Some(second[2].0), 4).await.unwrap(), []);
}

pub(crate) async fn the_audit_is_read_by_action_result_and_target(world: World) {
    let store = world.open().await;
    for number in 0..6 {
        let target = (number % 2 == 0).then(|| "local/ada".to_owned());
        let result = if number % 3 == 0 { "refused" } else { "done" };
        let action = if number < 3 { "input" } else { "stop" };
        store.audit().append(AuditEntry { target, result: result.to_owned(), ..audit(action) }).await.unwrap();
    }
    let find = async |action: Option<&str>, result: Option<&str>, target: Option<&str>, after| {
        let [action, result, target] = [action, result, target].map(|text| text.map(str::to_owned));
        let rows = store.audit().find(&AuditFilter { action, result, target }, after, 9).await.unwrap();
        rows.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(find(None, None, None, None).await, [6, 5, 4, 3, 2, 1]);
    assert_eq!(find(Some("input"), None, None, None).await, [3, 2, 1]);
    assert_eq!(find(None, Some("refused"), None, None).await, [4, 1]);
    assert_eq!(find(None, None, Some("local/ada"), None).await, [5, 3, 1]);
    assert_eq!(find(None, None, Some("local/ada"), Some(5)).await, [3, 1]);
    assert_eq!(find(Some("input"), Some("refused"), Some("local/ada"), None).await, [1]);
    assert!(find(Some("input' or '1"), None, Some("x\0"), None).await.is_empty());
}

pub(crate) fn session(mark: u8, seen: i64, expires: i64) -> SessionRow {
    let client = format!("Browser {mark}");
    SessionRow { hash: [mark; 32], client, created_at: at(1), seen_at: at(seen), expires_at: at(expires) }
}

pub(crate) async fn a_session_is_known_until_it_expires_or_is_deleted(world: World) {
    let store = world.open().await;
    let [short, long, gone] = [[1; 32], [2; 32], [3; 32]];
    store.sessions().put(session(1, 1, 10)).await.unwrap();
    store.sessions().put(session(2, 1, 10)).await.unwrap();
    store.sessions().put(session(2, 1, 1000)).await.unwrap();
    store.sessions().put(session(3, 1, 1000)).await.unwrap();
    store.sessions().delete(&gone).await.unwrap();
    assert_eq!(store.sessions().find(&short, at(9)).await.unwrap(), Some(session(1, 1, 10)));
    assert_eq!(store.sessions().find(&short, at(10)).await.unwrap(), None);
    assert_eq!(store.sessions().find(&long, at(10)).await.unwrap(), Some(session(2, 1, 1000)));
    assert_eq!(store.sessions().find(&gone, at(0)).await.unwrap(), None);
    store.sessions().purge(at(10)).await.unwrap();
    assert_eq!(store.sessions().find(&short, at(9)).await.unwrap(), None);
    assert!(store.sessions().find(&long, at(10)).await.unwrap().is_some());
}

pub(crate) async fn sessions_are_listed_by_when_they_were_seen_and_ended_all_but_one(world: World) {
    let store = world.open().await;
    for (mark, expires) in [(1, 100), (2, 100), (3, 20), (4, 100)] {
        store.sessions().put(session(mark, i64::from(mark), expires)).await.unwrap();
    }
    store.sessions().seen(&[1; 32], at(30)).await.unwrap();
    // A late entry with an earlier time, and one of a login that does not exist.
    store.sessions().seen(&[1; 32], at(5)).await.unwrap();
    store.sessions().seen(&[9; 32], at(30)).await.unwrap();
    let listed = store.sessions().list(at(25)).await.unwrap();
    assert_eq!(listed, [session(1, 30, 100), session(4, 4, 100), session(2, 2, 100)]);
    store.sessions().delete_others(Some(&[4; 32])).await.unwrap();
    assert_eq!(store.sessions().list(at(0)).await.unwrap(), [session(4, 4, 100)]);
    store.sessions().delete_others(None).await.unwrap();
    assert_eq!(store.sessions().list(at(0)).await.unwrap(), []);
}
