//! What this page subscribes to, and what a frame means for it. No I/O: the socket calls in here.

use leptos::prelude::*;
use protocol::{ClientFrame, DiagnosticCode, PodRef, PodSummary, Record, Seq, ServerFrame};

use super::PodFeed;
use crate::{
    console::Console,
    pod_book::PodBook,
    reconnect::{Gap, Link},
};

/// Takes what comes for the Pod that is viewed.
type Listener = Box<dyn FnMut(PodFeed)>;

/// The Pod that is viewed.
struct Watch {
    /// Told to the viewer, so that it can end exactly its own watch.
    number: u64,
    pod: PodRef,
    cursor: String,
    /// The newest seq that was handed on.
    applied: Seq,
    /// Name of the subscription on the present connection; none when there is none yet.
    subscription: Option<String>,
    /// The server said that nothing follows.
    is_closed: bool,
    listener: Listener,
}

/// All that has to survive a lost connection.
pub(super) struct Hub {
    console: Console,
    watch: Option<Watch>,
    gap: Gap,
    /// The list of Pods is subscribed to on the present connection.
    has_list: bool,
    /// Subscriptions that are to be ended.
    ended: Vec<String>,
    /// Never used twice: a late frame of an older subscription is known as such.
    next_number: u64,
    pub(super) is_greeted: bool,
    pub(super) is_locked_out: bool,
}

const LIST: &str = "pods";

impl Hub {
    pub(super) fn new(console: Console) -> Self {
        Self {
            console,
            watch: None,
            gap: Gap::default(),
            has_list: false,
            ended: Vec::new(),
            next_number: 0,
            is_greeted: false,
            is_locked_out: false,
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    pub(super) fn watch(&mut self, pod: PodRef, cursor: String, applied: Seq, listener: Listener) -> u64 {
        self.end_subscription();
        let number = self.number();
        self.watch = Some(Watch { number, pod, cursor, applied, subscription: None, is_closed: false, listener });
        number
    }

    pub(super) fn unwatch(&mut self, number: u64) {
        if self.watch.as_ref().is_some_and(|watch| watch.number == number) {
            self.end_subscription();
            self.watch = None;
        }
    }

    fn end_subscription(&mut self) {
        let subscription = self.watch.as_mut().and_then(|watch| watch.subscription.take());
        self.ended.extend(subscription);
    }

    /// The connection is gone. True when it had been a good one.
    pub(super) fn lost(&mut self) -> bool {
        self.has_list = false;
        self.ended.clear();
        if let Some(watch) = &mut self.watch {
            watch.subscription = None;
        }
        let was_greeted = std::mem::take(&mut self.is_greeted);
        if was_greeted {
            self.gap.begin();
        }
        was_greeted
    }

    /// What has to be said so that the server sends what we want.
    pub(super) fn outgoing(&mut self) -> Vec<ClientFrame> {
        let mut frames = Vec::new();
        if !self.is_greeted {
            return frames;
        }
        frames.extend(self.ended.drain(..).map(|id| ClientFrame::Unsubscribe { id }));
        if !self.has_list {
            self.has_list = true;
            frames.push(ClientFrame::Subscribe {
                id: LIST.to_owned(),
                pods: Some(true),
                pod: None,
                after: None,
                tail: None,
            });
        }
        let number = self.number();
        if let Some(watch) = self.watch.as_mut().filter(|watch| watch.subscription.is_none() && !watch.is_closed) {
            let id = format!("pod-{number}");
            watch.subscription = Some(id.clone());
            frames.push(ClientFrame::Subscribe {
                id,
                pods: None,
                pod: Some(watch.pod.clone()),
                after: Some(watch.cursor.clone()),
                tail: Some(crate::server_fns::TAIL_RECORDS),
            });
        }
        frames
    }

    /// Takes what the server says. Gives what the page should say when a gap is over.
    pub(super) fn take(&mut self, frame: ServerFrame) -> Option<String> {
        match frame {
            ServerFrame::Hello { .. } => {
                self.is_greeted = true;
                self.console.link.set(Link::Live);
            }
            ServerFrame::Pods { id, snapshot, upserts, removed, .. } if id == LIST => {
                self.list(snapshot, upserts, &removed);
            }
            ServerFrame::Records { id, after, cursor, records } => self.records(&id, &after, cursor, records),
            ServerFrame::Snapshot { id, cursor, summary, records, has_more } => {
                self.snapshot(&id, cursor, summary, records, has_more);
            }
            ServerFrame::Closed { id, reason } => self.closed(&id, reason),
            ServerFrame::Diagnostic { code: DiagnosticCode::Unauthorized, .. } => self.is_locked_out = true,
            _ => (),
        }
        let applied = self.watch.as_ref().map_or(Seq(0), |watch| watch.applied);
        self.gap.settle(applied)
    }

    fn list(&mut self, snapshot: bool, upserts: Vec<PodSummary>, removed: &[PodRef]) {
        let before = self.console.book.get_untracked().unwrap_or_default();
        let mut book = match snapshot {
            true => PodBook::default(),
            false => before.clone(),
        };
        book.apply(snapshot, upserts, removed);
        if snapshot {
            let viewed = self.watch.as_ref().filter(|watch| !watch.is_closed);
            let head = viewed.map(|watch| book.get(&watch.pod).map_or(watch.applied, |pod| pod.head_seq));
            self.gap.list(head, book.events_since(&before));
        }
        if before != book {
            self.console.book.set(Some(book));
        }
    }

    /// Frames of a subscription that has ended are not drawn: they are about the Pod that was viewed before.
    fn watch_of(&mut self, id: &str) -> Option<&mut Watch> {
        self.watch.as_mut().filter(|watch| watch.subscription.as_deref() == Some(id))
    }

    fn records(&mut self, id: &str, after: &str, cursor: String, records: Vec<Record>) {
        let Some(watch) = self.watch_of(id) else { return };
        if watch.cursor != after {
            // A frame is missing. Ask again after the last one that we have.
            self.end_subscription();
            return;
        }
        watch.cursor = cursor;
        watch.applied = records.last().map_or(watch.applied, |record| record.seq);
        let count = records.len();
        (watch.listener)(PodFeed::Records(records));
        self.gap.records(count);
    }

    fn snapshot(&mut self, id: &str, cursor: String, summary: Box<PodSummary>, records: Vec<Record>, has_more: bool) {
        let Some(watch) = self.watch_of(id) else { return };
        watch.cursor = cursor;
        watch.applied = summary.head_seq;
        (watch.listener)(PodFeed::Snapshot { summary, records, has_more });
        self.gap.snapshot();
    }

    fn closed(&mut self, id: &str, reason: String) {
        let Some(watch) = self.watch_of(id) else { return };
        watch.is_closed = true;
        watch.subscription = None;
        (watch.listener)(PodFeed::Closed(reason));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use protocol::{PodState, RuntimeId, WorkerId};
    use serde_json::json;

    use super::*;
    use crate::grouping::tests::pod;

    type Heard = Arc<Mutex<Vec<String>>>;

    fn hub() -> Hub {
        let owner = Owner::new();
        owner.set();
        let console = Console::provide();
        // Signals live as long as their owner; the test ends before the process does.
        std::mem::forget(owner);
        Hub::new(console)
    }

    fn listener(heard: &Heard, name: &'static str) -> Listener {
        let heard = heard.clone();
        Box::new(move |feed| {
            let words = match feed {
                PodFeed::Records(records) => format!("{name}: {} records", records.len()),
                PodFeed::Snapshot { records, .. } => format!("{name}: snapshot of {}", records.len()),
                PodFeed::Closed(reason) => format!("{name}: {reason}"),
            };
            heard.lock().unwrap().push(words);
        })
    }

    fn pod_ref(name: &str) -> PodRef {
        PodRef::new(RuntimeId::local(), WorkerId::parse(name).unwrap())
    }

    fn frame(json: serde_json::Value) -> ServerFrame {
        serde_json::from_value(json).unwrap()
    }

    fn hello() -> ServerFrame {
        frame(json!({ "type": "hello", "protocol": 1, "server": "yoi", "heartbeat_ms": 5000 }))
    }

    fn records(id: &str, after: &str, cursor: &str, seqs: &[i64]) -> ServerFrame {
        let event = json!({ "kind": "text_chunk", "block": "b", "text": "x" });
        let record = |seq: &i64| json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "event": event });
        let records: Vec<_> = seqs.iter().map(record).collect();
        frame(json!({ "type": "records", "id": id, "after": after, "cursor": cursor, "records": records }))
    }

    fn list(head: i64) -> ServerFrame {
        let ada = PodSummary { head_seq: Seq(head), ..pod("ada", PodState::Running) };
        ServerFrame::Pods { id: LIST.to_owned(), revision: 1, snapshot: true, upserts: vec![ada], removed: vec![] }
    }

    /// The subscription to the viewed Pod among what has to be said: its name and its cursor.
    fn subscription(frames: &[ClientFrame]) -> Option<(String, String)> {
        frames.iter().find_map(|frame| match frame {
            ClientFrame::Subscribe { id, pod: Some(_), after: Some(after), .. } => Some((id.clone(), after.clone())),
            _ => None,
        })
    }

    #[test]
    fn nothing_is_said_before_the_server_says_hello() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
        assert_eq!(hub.outgoing(), []);
        hub.take(hello());
        assert_eq!(hub.outgoing().len(), 2);
        assert_eq!(hub.outgoing(), []);
    }

    #[test]
    fn a_late_frame_of_the_pod_viewed_before_is_not_drawn() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        hub.watch(pod_ref("ada"), "a1".into(), Seq(1), listener(&heard, "ada"));
        let (ada, _) = subscription(&hub.outgoing()).unwrap();
        hub.watch(pod_ref("bob"), "b1".into(), Seq(1), listener(&heard, "bob"));
        let frames = hub.outgoing();
        assert!(frames.contains(&ClientFrame::Unsubscribe { id: ada.clone() }));
        let (bob, _) = subscription(&frames).unwrap();
        hub.take(records(&ada, "a1", "a2", &[2]));
        hub.take(records(&bob, "b1", "b2", &[2, 3]));
        assert_eq!(*heard.lock().unwrap(), ["bob: 2 records"]);
    }

    #[test]
    fn leaving_a_page_late_does_not_end_the_watch_of_the_next() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        let ada = hub.watch(pod_ref("ada"), "a1".into(), Seq(1), listener(&heard, "ada"));
        hub.watch(pod_ref("bob"), "b1".into(), Seq(1), listener(&heard, "bob"));
        hub.unwatch(ada);
        assert!(subscription(&hub.outgoing()).is_some());
    }

    #[test]
    fn a_reconnect_goes_on_after_the_last_cursor_and_says_how_much_was_missed() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
        let (id, _) = subscription(&hub.outgoing()).unwrap();
        hub.take(records(&id, "c1", "c3", &[2, 3]));
        assert!(hub.lost());
        assert!(!hub.lost(), "a second attempt that never got a hello is not a good connection");
        assert_eq!(hub.take(hello()), None);
        let (again, after) = subscription(&hub.outgoing()).unwrap();
        assert_eq!(after, "c3");
        assert_ne!(again, id);
        assert_eq!(hub.take(list(5)), None);
        assert_eq!(hub.take(records(&again, "c3", "c5", &[4, 5])), Some("caught up: 2 events".to_owned()));
    }

    #[test]
    fn a_missing_frame_is_asked_for_again() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
        let (id, _) = subscription(&hub.outgoing()).unwrap();
        hub.take(records(&id, "c2", "c3", &[3]));
        assert!(heard.lock().unwrap().is_empty());
        let (again, after) = subscription(&hub.outgoing()).unwrap();
        assert_eq!((again != id, after.as_str()), (true, "c1"));
    }

    #[test]
    fn a_snapshot_takes_the_place_of_what_is_there_and_is_said() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        hub.watch(pod_ref("ada"), "bad".into(), Seq(1), listener(&heard, "ada"));
        let (id, _) = subscription(&hub.outgoing()).unwrap();
        hub.take(frame(json!({ "type": "diagnostic", "id": id, "code": "cursor_invalid", "detail": "not yours" })));
        let snapshot = ServerFrame::Snapshot {
            id,
            cursor: "c9".into(),
            summary: Box::new(pod("ada", PodState::Idle)),
            records: vec![],
            has_more: false,
        };
        assert_eq!(hub.take(snapshot), Some("reloaded from a snapshot".to_owned()));
        assert_eq!(*heard.lock().unwrap(), ["ada: snapshot of 0"]);
    }

    #[test]
    fn a_pod_that_is_gone_is_not_asked_for_again() {
        let (mut hub, heard) = (hub(), Heard::default());
        hub.take(hello());
        hub.watch(pod_ref("ada"), "c1".into(), Seq(1), listener(&heard, "ada"));
        let (id, _) = subscription(&hub.outgoing()).unwrap();
        hub.take(frame(json!({ "type": "closed", "id": id, "reason": "pod_gone" })));
        assert_eq!(*heard.lock().unwrap(), ["ada: pod_gone"]);
        assert_eq!(subscription(&hub.outgoing()), None);
    }

    #[test]
    fn an_expired_login_is_noticed_on_the_socket() {
        let mut hub = hub();
        hub.take(frame(json!({ "type": "diagnostic", "id": null, "code": "unauthorized", "detail": "log in" })));
        assert!(hub.is_locked_out);
    }
}
