//! What this page subscribes to, and what a frame means for it. No I/O: the socket calls in here.

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
    /// How the server called itself first.
    server: Option<String>,
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
            server: None,
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

    /// Gives where it had come to: the cursor, and the newest seq that was handed on. None for another one's number.
    pub(super) fn unwatch(&mut self, number: u64) -> Option<(String, Seq)> {
        self.watch.as_ref().filter(|watch| watch.number == number)?;
        self.end_subscription();
        self.watch.take().map(|watch| (watch.cursor, watch.applied))
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

    /// Takes a frame as the server wrote it. Gives what the page should say when a gap is over.
    pub(super) fn take(&mut self, text: String) -> Result<Option<String>, codec::Unreadable> {
        let frame = codec::read::<Heard>(&text)?;
        match frame.kind.as_str() {
            "hello" => {
                self.is_greeted = true;
                self.meet(format!("{} {}", frame.server, frame.build.unwrap_or_default()));
                self.console.link.set(Link::Live);
                self.console.stale_since.set(None);
            }
            "pods" if frame.id.as_deref() == Some(LIST) => self.list(frame.snapshot, frame.upserts, &frame.removed),
            "records" => self.records(frame, Written(text)),
            "snapshot" => self.snapshot(frame, Written(text)),
            "closed" => self.closed(frame),
            "diagnostic" if frame.code == DiagnosticCode::Unauthorized.as_str() => self.is_locked_out = true,
            _ => (),
        }
        let applied = self.watch.as_ref().map_or(Seq(0), |watch| watch.applied);
        Ok(self.gap.settle(applied))
    }

    /// The first one is the one that this page came from.
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

    /// Frames of a subscription that has ended are not drawn: they are about the Pod that was viewed before.
    fn watch_of(&mut self, frame: &Heard) -> Option<&mut Watch> {
        self.watch.as_mut().filter(|watch| frame.id.is_some() && watch.subscription == frame.id)
    }

    fn records(&mut self, frame: Heard, text: Written) {
        let Some(watch) = self.watch_of(&frame) else { return };
        if watch.cursor != frame.after {
            // A frame is missing. Ask again after the last one that we have.
            self.end_subscription();
            return;
        }
        watch.cursor = frame.cursor;
        watch.applied = frame.records.last().map_or(watch.applied, |record| record.seq);
        (watch.listener)(PodFeed::Records(text));
        self.gap.records(frame.records.len());
    }

    fn snapshot(&mut self, mut frame: Heard, records: Written) {
        let Some(summary) = frame.summary.take() else { return };
        let Some(watch) = self.watch_of(&frame) else { return };
        watch.cursor = frame.cursor;
        watch.applied = summary.head_seq;
        (watch.listener)(PodFeed::Snapshot { summary, records, has_more: frame.has_more });
        self.gap.snapshot();
    }

    fn closed(&mut self, frame: Heard) {
        let Some(watch) = self.watch_of(&frame) else { return };
        watch.is_closed = true;
        watch.subscription = None;
        (watch.listener)(PodFeed::Closed(frame.reason));
    }
}

#[cfg(test)]
mod tests;
