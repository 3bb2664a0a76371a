use super::*;

fn known() -> Arc<Known> {
    Arc::new(Known::new(Arc::new(Terms::new("box".parse().unwrap()))))
}

fn pod(worker_id: &str, name: &str) -> PodSummary {
    serde_json::from_value(serde_json::json!({
        "pod": { "runtime_id": "box", "worker_id": worker_id }, "name": name, "state": "idle", "provider": "p",
        "model": "m", "cwd": "/", "created_at": "2026-11-21T00:00:00Z", "updated_at": "2026-11-21T00:00:00Z",
        "head_seq": 1, "needs_you": false, "unread": 0, "relations": { "children": 0, "peers": 0 },
        "usage": { "input": 0, "cached": 0, "output": 0 }
    }))
    .unwrap()
}

fn names(items: &[PodSummary]) -> Vec<&str> {
    items.iter().map(|summary| summary.name.as_str()).collect()
}

#[test]
fn a_list_is_paged_by_cursors_that_name_the_runtime() {
    let known = known();
    known.set_pods(vec![pod("w1", "ada"), pod("w2", "bob"), pod("w3", "eve")]);
    let page = |after: Option<&str>| {
        known.page(&PodQuery { limit: Some(2), after: after.map(str::to_owned), ..PodQuery::default() })
    };
    let first = page(None).unwrap();
    assert_eq!((names(&first.items), first.next.as_deref()), (vec!["ada", "bob"], Some(&*seal_cursor("box.w2"))));
    let second = page(first.next.as_deref()).unwrap();
    assert_eq!((names(&second.items), second.next), (vec!["eve"], None));
    let sealed = ["local.1", "w2", "box.", "box-2.w2"].map(seal_cursor);
    for bad in sealed.iter().map(String::as_str).chain(["box.w2"]) {
        assert_eq!(page(Some(bad)).unwrap_err().code, ErrorCode::CursorInvalid, "{bad}");
    }
}

#[tokio::test]
async fn a_runtime_that_is_away_shows_its_pods_as_they_were_and_as_unreachable() {
    let known = known();
    known.set_pods(vec![pod("w1", "ada")]);
    known.set_state(RuntimeState::Live, None);
    let mut list = known.observe();
    let whole = list.next().await.unwrap();
    assert_eq!((whole.snapshot, whole.upserts[0].state), (true, PodState::Idle));
    known.set_state(RuntimeState::Unreachable, Some("connection refused".to_owned()));
    let whole = list.next().await.unwrap();
    assert_eq!((whole.snapshot, whole.upserts[0].state), (true, PodState::Unreachable));
    assert_eq!(known.named(&"ada".parse().unwrap()), Some("box/w1".parse().unwrap()));
    assert_eq!(known.unavailable().code, ErrorCode::RuntimeUnavailable);
    let since = known.view().since;
    known.set_state(RuntimeState::Unreachable, Some("no route".to_owned()));
    let view = known.view();
    assert_eq!((view.since, view.detail.as_deref()), (since, Some("no route")), "it is away since the first failure");
}

#[tokio::test]
async fn a_list_of_before_the_start_is_shown_as_last_seen_until_the_runtime_has_told_its_own() {
    let known = known();
    known.restore(vec![pod("w1", "ada"), pod("w2", "bob")], "2026-11-21T10:00:00Z".parse().unwrap());
    let shown = || {
        let pods = known.page(&PodQuery::default()).unwrap().items;
        (pods[0].state, pods[0].state_reason.clone().unwrap_or_default(), pods.len())
    };
    let (state, reason, count) = shown();
    assert_eq!((state, count), (PodState::Unreachable, 2));
    assert_eq!(
        reason,
        "the runtime \"box\" has not answered yet; it was idle when it was last seen, 2026-11-21T10:00:00Z"
    );
    known.set_state(RuntimeState::Unreachable, None);
    assert!(shown().1.contains("does not answer; it was idle when it was last seen"));
    known.set_pods(vec![pod("w1", "ada")]);
    known.set_state(RuntimeState::Live, None);
    assert_eq!(shown(), (PodState::Idle, String::new(), 1));
}

#[tokio::test]
async fn changes_of_a_list_come_together_and_it_ends_with_its_runtime() {
    let known = known();
    let mut list = known.observe();
    assert!(list.next().await.unwrap().upserts.is_empty());
    known.put_pod(pod("w1", "ada"));
    known.put_pod(pod("w2", "bob"));
    known.remove_pod(&"w1".parse().unwrap());
    let item = list.next().await.unwrap();
    assert_eq!(
        (item.snapshot, names(&item.upserts), item.removed),
        (false, vec!["bob"], vec!["box/w1".parse().unwrap()])
    );
    drop(known);
    assert!(list.next().await.is_none());
}
