use std::sync::{Arc, Mutex};

use protocol::{PodState, RuntimeId, ServerFrame, WorkerId};
use serde_json::json;

use super::*;
use commands::samples::pod;

type Told = Arc<Mutex<Vec<String>>>;

fn hub() -> Hub {
    let owner = Owner::new();
    owner.set();
    let console = Console::provide();
    // Signals live as long as their owner; it is leaked until the test process ends.
    std::mem::forget(owner);
    Hub::new(console)
}

fn listener(heard: &Told, name: &'static str) -> Listener {
    let heard = heard.clone();
    Box::new(move |feed| {
        let words = match feed {
            PodFeed::Records(records) => format!("{name}: {} records", records.read().len()),
            PodFeed::Snapshot { records, .. } => format!("{name}: snapshot of {}", records.read().len()),
            PodFeed::Closed(reason) => format!("{name}: {reason}"),
        };
        heard.lock().unwrap().push(words);
    })
}

fn pod_ref(name: &str) -> PodRef {
    PodRef::new(RuntimeId::local(), WorkerId::parse(name).unwrap())
}

/// The frame in the server's own encoding; anything that is not a valid frame fails here.
fn frame(json: serde_json::Value) -> String {
    written(&serde_json::from_value(json).unwrap())
}

fn written(frame: &ServerFrame) -> String {
    serde_json::to_string(frame).unwrap()
}

fn take(hub: &mut Hub, text: String) -> Option<String> {
    hub.take(text, 0).unwrap()
}

fn hello() -> String {
    frame(json!({ "type": "hello", "protocol": 1, "server": "yoi", "heartbeat_ms": 5000 }))
}

fn records(id: &str, after: &str, cursor: &str, seqs: &[i64]) -> String {
    let event = json!({ "kind": "text_chunk", "block": "b", "text": "x" });
    let record = |seq: &i64| json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "event": event });
    let records: Vec<_> = seqs.iter().map(record).collect();
    frame(json!({ "type": "records", "id": id, "after": after, "cursor": cursor, "records": records }))
}

fn list(head: i64) -> String {
    let ada = PodSummary { head_seq: Seq(head), ..pod("ada", PodState::Running) };
    written(&ServerFrame::Pods {
        id: "s1".to_owned(),
        revision: 1,
        snapshot: true,
        upserts: vec![ada],
        removed: vec![],
    })
}

/// The id and the cursor of the subscription to the Pod on screen, if it is among these frames.
fn subscription(frames: &[ClientFrame]) -> Option<(String, String)> {
    frames.iter().find_map(|frame| match frame {
        ClientFrame::Subscribe { id, pod: Some(_), after: Some(after), .. } => Some((id.clone(), after.clone())),
        _ => None,
    })
}

#[test]
fn nothing_is_said_before_the_server_says_hello() {
    let (mut hub, heard) = (hub(), Told::default());
    hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
    assert_eq!(hub.outgoing(0), []);
    take(&mut hub, hello());
    assert_eq!(hub.outgoing(0).len(), 2);
    assert_eq!(hub.outgoing(0), []);
}

#[test]
fn a_late_frame_of_the_pod_viewed_before_is_not_drawn() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "a1".into(), Seq(1), listener(&heard, "ada"));
    let (ada, _) = subscription(&hub.outgoing(0)).unwrap();
    hub.watch(pod_ref("bob"), "b1".into(), Seq(1), listener(&heard, "bob"));
    let frames = hub.outgoing(0);
    assert!(frames.contains(&ClientFrame::Unsubscribe { id: ada.clone() }));
    let (bob, _) = subscription(&frames).unwrap();
    take(&mut hub, records(&ada, "a1", "a2", &[2]));
    take(&mut hub, records(&bob, "b1", "b2", &[2, 3]));
    assert_eq!(*heard.lock().unwrap(), ["bob: 2 records"]);
}

#[test]
fn leaving_a_page_late_does_not_end_the_watch_of_the_next() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    let ada = hub.watch(pod_ref("ada"), "a1".into(), Seq(1), listener(&heard, "ada"));
    hub.watch(pod_ref("bob"), "b1".into(), Seq(1), listener(&heard, "bob"));
    assert_eq!(hub.unwatch(ada), None);
    assert!(subscription(&hub.outgoing(0)).is_some());
}

#[test]
fn a_returning_viewer_continues_after_the_last_record_that_was_handed_on() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    let ada = hub.watch(pod_ref("ada"), "a1".into(), Seq(1), listener(&heard, "ada"));
    let (first, _) = subscription(&hub.outgoing(0)).unwrap();
    take(&mut hub, records(&first, "a1", "a3", &[2, 3]));
    let (cursor, applied) = hub.unwatch(ada).unwrap();
    assert_eq!((cursor.as_str(), applied), ("a3", Seq(3)));
    hub.watch(pod_ref("ada"), cursor, applied, listener(&heard, "ada again"));
    let (again, after) = subscription(&hub.outgoing(0)).unwrap();
    assert_eq!(after, "a3");
    take(&mut hub, records(&first, "a3", "a4", &[4]));
    take(&mut hub, records(&again, "a3", "a4", &[4]));
    assert_eq!(*heard.lock().unwrap(), ["ada: 2 records", "ada again: 1 records"]);
}

#[test]
fn a_reconnect_goes_on_after_the_last_cursor_and_says_how_much_was_missed() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
    let (id, _) = subscription(&hub.outgoing(0)).unwrap();
    take(&mut hub, records(&id, "c1", "c3", &[2, 3]));
    assert!(hub.lost());
    assert!(!hub.lost(), "a second attempt that never got a hello is not a good connection");
    assert_eq!(take(&mut hub, hello()), None);
    let (again, after) = subscription(&hub.outgoing(0)).unwrap();
    assert_eq!(after, "c3");
    assert_eq!(take(&mut hub, list(5)), None);
    assert_eq!(take(&mut hub, records(&again, "c3", "c5", &[4, 5])), Some("caught up: 2 events".to_owned()));
}

#[test]
fn a_missing_frame_is_asked_for_again() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
    let (id, _) = subscription(&hub.outgoing(0)).unwrap();
    take(&mut hub, records(&id, "c2", "c3", &[3]));
    assert!(heard.lock().unwrap().is_empty());
    let (again, after) = subscription(&hub.outgoing(0)).unwrap();
    assert_eq!((again != id, after.as_str()), (true, "c1"));
}

#[test]
fn a_snapshot_takes_the_place_of_what_is_there_and_is_said() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "bad".into(), Seq(1), listener(&heard, "ada"));
    let (id, _) = subscription(&hub.outgoing(0)).unwrap();
    take(&mut hub, frame(json!({ "type": "diagnostic", "id": id, "code": "cursor_invalid", "detail": "not yours" })));
    let snapshot = ServerFrame::Snapshot {
        id,
        cursor: "c9".into(),
        summary: Box::new(pod("ada", PodState::Idle)),
        records: vec![],
        has_more: false,
    };
    assert_eq!(take(&mut hub, written(&snapshot)), Some("reloaded from a snapshot".to_owned()));
    assert_eq!(*heard.lock().unwrap(), ["ada: snapshot of 0"]);
}

#[test]
fn a_pod_that_is_gone_is_not_asked_for_again() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
    let (id, _) = subscription(&hub.outgoing(0)).unwrap();
    take(&mut hub, frame(json!({ "type": "closed", "id": id, "reason": "pod_gone" })));
    assert_eq!(*heard.lock().unwrap(), ["ada: pod_gone"]);
    assert_eq!(subscription(&hub.outgoing(0)), None);
}

#[test]
fn a_pod_whose_runtime_is_away_is_asked_for_again_and_goes_on() {
    let (mut hub, heard) = (hub(), Told::default());
    take(&mut hub, hello());
    hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
    let (id, _) = subscription(&hub.outgoing(0)).unwrap();
    let away = json!({ "type": "diagnostic", "id": id, "code": "runtime_unavailable", "detail": "no answer" });
    take(&mut hub, frame(away));
    take(&mut hub, frame(json!({ "type": "closed", "id": id, "reason": "runtime_unavailable" })));
    assert_eq!(subscription(&hub.outgoing(1_999)), None);
    assert_eq!(subscription(&hub.outgoing(2_000)), Some((id.clone(), "c1".to_owned())));
    take(&mut hub, records(&id, "c1", "c2", &[2]));
    assert_eq!(*heard.lock().unwrap(), ["ada: runtime_unavailable", "ada: 1 records"]);
}

#[test]
fn an_expired_login_is_noticed_on_the_socket() {
    let mut hub = hub();
    take(&mut hub, frame(json!({ "type": "diagnostic", "id": null, "code": "unauthorized", "detail": "log in" })));
    assert!(hub.is_locked_out);
}

#[test]
fn a_server_of_another_build_is_told_and_the_same_one_after_a_gap_is_not() {
    let mut hub = hub();
    let outdated = hub.console.is_outdated;
    take(&mut hub, hello());
    hub.lost();
    take(&mut hub, hello());
    assert!(!outdated.get_untracked());
    hub.lost();
    take(&mut hub, frame(json!({ "type": "hello", "protocol": 1, "server": "yoi 2", "heartbeat_ms": 5000 })));
    assert!(outdated.get_untracked());
}
