use std::{cell::RefCell, sync::Arc};

use protocol::DiagnosticCode;

use super::*;
use crate::remote::queue::{Queue, Taken};

/// Records subscriptions: `sN` with its `after`.
#[derive(Default)]
struct Socket {
    open: RefCell<Vec<(String, Option<String>)>>,
    made: RefCell<usize>,
}

impl Upstream for Socket {
    fn subscribe(&self, pod: PodRef, after: Option<String>, _: u32) -> String {
        assert_eq!(pod.to_string(), "local/w");
        *self.made.borrow_mut() += 1;
        let id = format!("s{}", self.made.borrow());
        self.open.borrow_mut().push((id.clone(), after));
        id
    }

    fn unsubscribe(&self, id: &str) {
        self.open.borrow_mut().retain(|(open, _)| open != id);
    }
}

#[derive(Default)]
struct Scene {
    socket: Socket,
    feeds: Feeds,
}

impl Scene {
    fn attach(&mut self, after: Option<&str>) -> Arc<Queue> {
        let (feeder, queue) = Queue::new();
        let after = after.map(str::to_owned);
        self.feeds.attach(&self.socket, Attach { worker_id: "w".parse().unwrap(), after, tail: 10, feeder });
        queue
    }

    fn snapshot(&mut self, id: &str, seq: i64) {
        let summary = serde_json::from_value(serde_json::json!({
            "pod": { "runtime_id": "local", "worker_id": "w" }, "name": "ada", "state": "idle", "provider": "p",
            "model": "m", "cwd": "/", "created_at": "2026-11-21T00:00:00Z", "updated_at": "2026-11-21T00:00:00Z",
            "head_seq": seq, "needs_you": false, "unread": 0, "relations": { "children": 0, "peers": 0 },
            "usage": { "input": 0, "cached": 0, "output": 0 }
        }))
        .unwrap();
        let cursor = format!("c{seq}");
        let frame = ServerFrame::Snapshot { id: id.to_owned(), cursor, summary, records: Vec::new(), has_more: false };
        self.take(frame, Vec::new());
    }

    fn records(&mut self, id: &str, after: i64, last: i64) {
        let (after_seq, after, cursor) = (after, format!("c{after}"), format!("c{last}"));
        let records = (after_seq + 1..=last).map(|seq| Bytes::from(format!("{{\"seq\":{seq},\"x\":1}}"))).collect();
        let frame = ServerFrame::Records { id: id.to_owned(), after, cursor, records: Vec::new() };
        self.take(frame, records);
    }

    fn take(&mut self, frame: ServerFrame, records: Vec<Bytes>) {
        let terms = Terms::new(RuntimeId::parse("box").unwrap());
        self.feeds.take(&self.socket, &terms, frame, records);
    }

    fn open(&self) -> Vec<String> {
        self.socket.open.borrow().iter().map(|(id, _)| id.clone()).collect()
    }
}

/// What is queued for a viewer: `snapshot@cursor`, or `after>seqs>cursor`.
async fn told(queue: &Queue) -> Vec<String> {
    let mut told = Vec::new();
    while let Ok(Taken::Item(item)) = tokio::time::timeout(std::time::Duration::ZERO, queue.take()).await {
        told.push(match item {
            FeedItem::Snapshot { cursor, summary, .. } => format!("{}@{cursor}", summary.pod.runtime_id),
            FeedItem::Records { after, cursor, records } => {
                let seqs: Vec<String> = records.iter().map(|record| seq_of(record).unwrap().to_string()).collect();
                format!("{after}>{}>{cursor}", seqs.join(","))
            }
            FeedItem::Diagnostic { code, .. } => code.as_str().to_owned(),
            FeedItem::Closed { reason } => format!("closed {reason}"),
        });
    }
    told
}

#[tokio::test]
async fn viewers_at_the_live_end_share_one_subscription() {
    let mut scene = Scene::default();
    let first = scene.attach(None);
    scene.snapshot("s1", 5);
    let second = scene.attach(None);
    let third = scene.attach(Some("c5"));
    assert_eq!(scene.open(), ["s1", "s2"], "the third stands where the first does");
    scene.snapshot("s2", 5);
    assert_eq!(scene.open(), ["s1"]);
    scene.records("s1", 5, 7);
    assert_eq!(told(&first).await, ["box@c5", "c5>6,7>c7"]);
    assert_eq!(told(&second).await, ["box@c5", "c5>6,7>c7"]);
    assert_eq!(told(&third).await, ["c5>6,7>c7"]);
}

#[tokio::test]
async fn a_viewer_that_is_ahead_sees_nothing_twice_and_one_that_is_behind_catches_up_alone() {
    let mut scene = Scene::default();
    let first = scene.attach(None);
    scene.snapshot("s1", 5);
    let (ahead, behind) = (scene.attach(None), scene.attach(Some("c1")));
    scene.snapshot("s2", 8);
    assert_eq!(scene.open(), ["s1", "s3"]);
    scene.records("s1", 5, 7);
    scene.records("s3", 1, 4);
    assert_eq!(scene.open(), ["s1", "s3"]);
    scene.records("s1", 7, 10);
    scene.records("s3", 4, 10);
    assert_eq!(scene.open(), ["s1"]);
    scene.records("s1", 10, 11);
    assert_eq!(told(&first).await, ["box@c5", "c5>6,7>c7", "c7>8,9,10>c10", "c10>11>c11"]);
    assert_eq!(told(&ahead).await, ["box@c8", "c8>9,10>c10", "c10>11>c11"]);
    assert_eq!(told(&behind).await, ["c1>2,3,4>c4", "c4>5,6,7,8,9,10>c10", "c10>11>c11"]);
}

#[tokio::test]
async fn a_subscription_without_viewers_ends_and_another_one_is_shared_then() {
    let mut scene = Scene::default();
    let first = scene.attach(None);
    scene.snapshot("s1", 5);
    let second = scene.attach(Some("c1"));
    drop(first);
    scene.feeds.prune(&scene.socket);
    assert_eq!(scene.open(), ["s2"]);
    scene.records("s2", 1, 5);
    let third = scene.attach(Some("c5"));
    assert_eq!(scene.open(), ["s2"]);
    drop((second, third));
    scene.feeds.prune(&scene.socket);
    assert!(scene.open().is_empty() && scene.feeds.shared.is_empty());
}

#[tokio::test]
async fn the_end_of_a_pod_is_told_to_all_its_viewers() {
    let mut scene = Scene::default();
    let first = scene.attach(None);
    scene.snapshot("s1", 5);
    let second = scene.attach(Some("c5"));
    let (id, code) = (Some("s1".to_owned()), DiagnosticCode::PodGone);
    scene.take(ServerFrame::Diagnostic { id, code, detail: String::new() }, Vec::new());
    scene.take(ServerFrame::Closed { id: "s1".to_owned(), reason: "pod_gone".to_owned() }, Vec::new());
    assert_eq!(told(&first).await[1..], ["pod_gone", "closed pod_gone"]);
    assert_eq!(told(&second).await, ["pod_gone", "closed pod_gone"]);
    assert!(scene.open().is_empty() && scene.feeds.feeds.is_empty());
}
