//! The page's subscriptions, and the handling of each frame. No I/O: the socket calls into it.

use follow::{Step, Subscriptions};
use leptos::prelude::*;
use protocol::{ClientFrame, DiagnosticCode, PodRef, PodSummary, Seq};

use super::{
    PodFeed,
    heard::{Heard, Written},
};
use crate::{
    codec,
    console::{Console, pod_book::PodBook},
    reconnect::{Gap, Link},
};

/// Receives the feed of the Pod on screen.
type Listener = Box<dyn FnMut(PodFeed)>;

/// The watch on the Pod on screen.
struct Watch {
    /// Returned to the viewer, so that it ends exactly its own watch.
    number: u64,
    pod: PodRef,
    /// The subscription's id.
    id: String,
    /// The newest seq that was passed on.
    applied: Seq,
    /// The server has said that nothing follows for now.
    is_closed: bool,
    listener: Listener,
}

/// All state that survives a lost connection.
pub(super) struct Hub {
    console: Console,
    subscriptions: Subscriptions,
    /// The id of the subscription to the list of Pods.
    list: String,
    watch: Option<Watch>,
    gap: Gap,
    next_number: u64,
    /// The identity that the server gave at first.
    server: Option<String>,
    pub(super) is_greeted: bool,
    pub(super) is_locked_out: bool,
}

impl Hub {
    pub(super) fn new(console: Console) -> Self {
        let mut subscriptions = Subscriptions::default();
        let list = subscriptions.add_pods();
        Self {
            console,
            subscriptions,
            list,
            watch: None,
            gap: Gap::default(),
            next_number: 0,
            server: None,
            is_greeted: false,
            is_locked_out: false,
        }
    }

    pub(super) fn watch(&mut self, pod: PodRef, cursor: String, applied: Seq, listener: Listener) -> u64 {
        self.end_watch();
        self.next_number += 1;
        let number = self.next_number;
        let id = self.subscriptions.add_pod(pod.clone(), Some(cursor), crate::server_fns::TAIL_RECORDS);
        self.watch = Some(Watch { number, pod, id, applied, is_closed: false, listener });
        number
    }

    /// Ends the watch. Returns where it had got to: the cursor, and the newest seq that was passed on. `None` if the
    /// number is not the current watch's.
    pub(super) fn unwatch(&mut self, number: u64) -> Option<(String, Seq)> {
        self.watch.as_ref().filter(|watch| watch.number == number)?;
        self.end_watch()
    }

    fn end_watch(&mut self) -> Option<(String, Seq)> {
        let watch = self.watch.take()?;
        Some((self.subscriptions.remove(&watch.id)?, watch.applied))
    }

    /// The connection is lost. Returns true if it had been established.
    pub(super) fn lost(&mut self) -> bool {
        self.subscriptions.connection_is_new();
        let was_greeted = std::mem::take(&mut self.is_greeted);
        if was_greeted {
            self.gap.begin();
        }
        was_greeted
    }

    /// The frames to send so that the server's subscriptions match ours.
    pub(super) fn outgoing(&mut self, now_ms: u64) -> Vec<ClientFrame> {
        // Gaps are detected from the heads in the list (`Gap`), so no subscription is marked as resumed.
        if self.is_greeted { self.subscriptions.take_due(now_ms, false) } else { Vec::new() }
    }

    /// Handles a frame from the server. Returns what the page should say when a gap is over.
    pub(super) fn take(&mut self, text: String, now_ms: u64) -> Result<Option<String>, codec::Unreadable> {
        let frame = codec::read::<Heard>(&text)?;
        match frame.kind.as_str() {
            "hello" => {
                self.is_greeted = true;
                self.meet(format!("{} {}", frame.server, frame.build.unwrap_or_default()));
                self.console.link.set(Link::Live);
                self.console.stale_since.set(None);
            }
            "pods" if frame.id.as_ref() == Some(&self.list) => self.list(frame.snapshot, frame.upserts, &frame.removed),
            "records" => self.records(frame, Written(text)),
            "snapshot" => self.snapshot(frame, Written(text)),
            "closed" => self.closed(frame, now_ms),
            "diagnostic" => self.diagnostic(&frame),
            _ => (),
        }
        let applied = self.watch.as_ref().map_or(Seq(0), |watch| watch.applied);
        Ok(self.gap.settle(applied))
    }

    /// The first identity is that of the server which rendered this page.
    fn meet(&mut self, server: String) {
        match &self.server {
            Some(known) if *known != server => self.console.is_outdated.set(true),
            Some(_) => (),
            None => self.server = Some(server),
        }
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

    fn diagnostic(&mut self, frame: &Heard) {
        let is = |code: DiagnosticCode| frame.code == code.as_str();
        if is(DiagnosticCode::Unauthorized) {
            self.is_locked_out = true;
        } else if let (true, Some(id)) = (is(DiagnosticCode::RuntimeUnavailable), &frame.id) {
            self.subscriptions.note_diagnostic(id, DiagnosticCode::RuntimeUnavailable);
        }
    }

    /// Frames of an ended subscription are ignored: they are about the Pod that was on screen before.
    fn watch_of<'a>(watch: &'a mut Option<Watch>, frame: &Heard) -> Option<&'a mut Watch> {
        watch.as_mut().filter(|watch| frame.id.as_ref() == Some(&watch.id))
    }

    fn records(&mut self, frame: Heard, text: Written) {
        let Some(watch) = Self::watch_of(&mut self.watch, &frame) else { return };
        if self.subscriptions.note_records(&watch.id, &frame.after, &frame.cursor, frame.records.len()) == Step::Gap {
            if let Some(again) = self.subscriptions.ask_again(&watch.id) {
                watch.id = again;
            }
            return;
        }
        watch.is_closed = false;
        watch.applied = frame.records.last().map_or(watch.applied, |record| record.seq);
        (watch.listener)(PodFeed::Records(text));
        self.gap.records(frame.records.len());
    }

    fn snapshot(&mut self, mut frame: Heard, records: Written) {
        let Some(summary) = frame.summary.take() else { return };
        let Some(watch) = Self::watch_of(&mut self.watch, &frame) else { return };
        self.subscriptions.note_snapshot(&watch.id, &frame.cursor);
        watch.is_closed = false;
        watch.applied = summary.head_seq;
        (watch.listener)(PodFeed::Snapshot { summary, records, has_more: frame.has_more });
        self.gap.snapshot();
    }

    fn closed(&mut self, frame: Heard, now_ms: u64) {
        let Some(id) = &frame.id else { return };
        self.subscriptions.note_closed(id, now_ms);
        let Some(watch) = Self::watch_of(&mut self.watch, &frame) else { return };
        watch.is_closed = true;
        (watch.listener)(PodFeed::Closed(frame.reason));
    }
}

#[cfg(test)]
mod tests;
