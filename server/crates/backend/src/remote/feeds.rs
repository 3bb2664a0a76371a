//! Which viewers are attached to which subscription of the one socket.
//!
//! A Pod has one subscription that its viewers share. A viewer that begins elsewhere in the stream, with a snapshot or
//! after an older cursor, has a subscription of its own until it has caught up with the shared one, and then joins
//! that.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use protocol::{DiagnosticCode, PodRef, RuntimeId, ServerFrame, WorkerId};
use runtime::FeedItem;

use super::{line::Attach, queue::Feeder};
use crate::Terms;

/// A socket allows 256, and one of them is the list.
const SUBSCRIPTIONS_MAX: usize = 250;

/// Where subscriptions are made: the socket.
pub(super) trait Upstream {
    fn subscribe(&self, pod: PodRef, after: Option<String>, tail: u32) -> String;
    fn unsubscribe(&self, id: &str);
}

impl Upstream for client::EventStream {
    fn subscribe(&self, pod: PodRef, after: Option<String>, tail: u32) -> String {
        self.subscribe_pod(pod, after, tail)
    }

    fn unsubscribe(&self, id: &str) {
        client::EventStream::unsubscribe(self, id);
    }
}

/// All subscriptions, by their ids on the socket.
#[derive(Debug, Default)]
pub(super) struct Feeds {
    feeds: BTreeMap<String, Feed>,
    /// The shared one of each Pod.
    shared: HashMap<WorkerId, String>,
}

#[derive(Debug)]
struct Feed {
    worker_id: WorkerId,
    position: Position,
    viewers: Vec<Viewer>,
}

#[derive(Debug)]
struct Viewer {
    feeder: Feeder,
    position: Position,
}

/// The position after which the next record comes. After a given cursor, the seq is unknown until something has
/// arrived.
#[derive(Debug, Clone, Default)]
struct Position {
    cursor: Option<String>,
    seq: Option<i64>,
}

impl Position {
    /// True if a viewer at this position can continue on `other`: it is at the same position or ahead of it.
    fn can_join(&self, other: &Self) -> bool {
        self.cursor.is_some()
            && (self.cursor == other.cursor
                || matches!((self.seq, other.seq), (Some(here), Some(there)) if here >= there))
    }
}

impl Feeds {
    pub(super) fn attach(&mut self, up: &impl Upstream, attach: Attach) {
        let Attach { worker_id, after, tail, feeder } = attach;
        let position = Position { cursor: after.clone(), seq: None };
        let shared = self.shared.get(&worker_id).and_then(|id| self.feeds.get_mut(id));
        if let Some(feed) = shared
            && position.can_join(&feed.position)
        {
            let position = feed.position.clone();
            feed.viewers.push(Viewer { feeder, position });
            return;
        }
        if self.feeds.len() >= SUBSCRIPTIONS_MAX {
            let code = DiagnosticCode::RuntimeUnavailable;
            let detail = "too many Pods of this runtime are looked at at once; close some".to_owned();
            feeder.put(FeedItem::Diagnostic { code, detail });
            feeder.put(FeedItem::Closed { reason: code.as_str().to_owned() });
            return;
        }
        let id = up.subscribe(PodRef::new(RuntimeId::local(), worker_id.clone()), after, tail);
        self.shared.entry(worker_id.clone()).or_insert_with(|| id.clone());
        let viewers = vec![Viewer { feeder, position: position.clone() }];
        self.feeds.insert(id, Feed { worker_id, position, viewers });
    }

    /// Takes a frame of a subscription with the records that belong to it.
    pub(super) fn take(&mut self, up: &impl Upstream, terms: &Terms, frame: ServerFrame, records: Vec<Bytes>) {
        let records = || records.into_iter().map(|record| terms.record(record)).collect::<Vec<_>>();
        let (id, is_last) = match frame {
            ServerFrame::Snapshot { id, cursor, summary, has_more, .. } => {
                let Some(feed) = self.feeds.get_mut(&id) else { return };
                let position = Position { cursor: Some(cursor.clone()), seq: Some(summary.head_seq.0) };
                let (summary, records) = (Box::new(terms.summary(*summary)), records());
                feed.tell(&position, || FeedItem::Snapshot {
                    cursor: cursor.clone(),
                    summary: summary.clone(),
                    records: records.clone(),
                    has_more,
                });
                (id, false)
            }
            ServerFrame::Records { id, after, cursor, .. } => {
                let Some(feed) = self.feeds.get_mut(&id) else { return };
                feed.tell_records(&after, cursor, &records());
                (id, false)
            }
            ServerFrame::Diagnostic { id: Some(id), code, detail } => {
                let Some(feed) = self.feeds.get_mut(&id) else { return };
                let position = feed.position.clone();
                feed.tell(&position, || FeedItem::Diagnostic { code, detail: detail.clone() });
                (id, false)
            }
            ServerFrame::Closed { id, reason } => {
                let Some(feed) = self.feeds.get_mut(&id) else { return };
                let position = feed.position.clone();
                feed.tell(&position, || FeedItem::Closed { reason: reason.clone() });
                (id, true)
            }
            _ => return,
        };
        let Some(worker_id) = self.feeds.get(&id).map(|feed| feed.worker_id.clone()) else { return };
        if is_last {
            self.end(up, &id);
        }
        self.prune(up);
        self.join(up, &worker_id);
    }

    /// Drops viewers that are gone, and subscriptions without viewers.
    pub(super) fn prune(&mut self, up: &impl Upstream) {
        let mut empty = Vec::new();
        for (id, feed) in &mut self.feeds {
            feed.viewers.retain(|viewer| !viewer.feeder.is_left());
            if feed.viewers.is_empty() {
                empty.push(id.clone());
            }
        }
        for id in empty {
            self.end(up, &id);
        }
    }

    /// Drops everything; each viewer is told that the runtime is unavailable.
    pub(super) fn clear(&mut self, up: &impl Upstream) {
        for id in std::mem::take(&mut self.feeds).keys() {
            up.unsubscribe(id);
        }
        self.shared.clear();
    }

    fn end(&mut self, up: &impl Upstream, id: &str) {
        up.unsubscribe(id);
        let Some(Feed { worker_id, .. }) = self.feeds.remove(id) else { return };
        if self.shared.get(&worker_id).is_some_and(|shared| shared == id) {
            let next = self.feeds.iter().find(|(_, feed)| feed.worker_id == worker_id).map(|(id, _)| id.clone());
            match next {
                Some(next) => self.shared.insert(worker_id, next),
                None => self.shared.remove(&worker_id),
            };
        }
    }

    /// Moves the viewers of a Pod that have caught up to the shared subscription.
    fn join(&mut self, up: &impl Upstream, worker_id: &WorkerId) {
        let Some(shared) = self.shared.get(worker_id).cloned() else { return };
        let Some(position) = self.feeds.get(&shared).map(|feed| feed.position.clone()) else { return };
        let arrived: Vec<String> = self
            .feeds
            .iter()
            .filter(|(id, feed)| **id != shared && feed.worker_id == *worker_id && feed.position.can_join(&position))
            .map(|(id, _)| id.clone())
            .collect();
        for id in arrived {
            up.unsubscribe(&id);
            let moved = self.feeds.remove(&id).map(|feed| feed.viewers).unwrap_or_default();
            if let Some(feed) = self.feeds.get_mut(&shared) {
                feed.viewers.extend(moved);
            }
        }
    }
}

impl Feed {
    fn tell(&mut self, position: &Position, item: impl Fn() -> FeedItem) {
        self.position = position.clone();
        self.viewers.retain_mut(|viewer| {
            viewer.position = position.clone();
            viewer.feeder.put(item())
        });
    }

    fn tell_records(&mut self, after: &str, cursor: String, records: &[Bytes]) {
        let last = records.last().and_then(|record| seq_of(record)).or(self.position.seq);
        self.position = Position { cursor: Some(cursor), seq: last };
        let position = &self.position;
        self.viewers.retain_mut(|viewer| viewer.put_records(after, position, records));
    }
}

impl Viewer {
    /// Delivers records. A viewer that came from a subscription of its own may have seen some of them already.
    fn put_records(&mut self, after: &str, position: &Position, records: &[Bytes]) -> bool {
        let Some(cursor) = position.cursor.clone() else { return true };
        let (after, records) = match (&self.position.cursor, self.position.seq) {
            (Some(own), Some(seen)) if own != after => {
                let seen = records.iter().take_while(|record| seq_of(record).is_none_or(|seq| seq <= seen)).count();
                (own.clone(), &records[seen..])
            }
            _ => (after.to_owned(), records),
        };
        if records.is_empty() {
            return true;
        }
        self.position = position.clone();
        self.feeder.put(FeedItem::Records { after, cursor, records: records.to_vec() })
    }
}

/// The seq of a record. In records of ours it is the first field; anything else is parsed in full.
fn seq_of(record: &[u8]) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        seq: i64,
    }
    if let Some(rest) = record.strip_prefix(b"{\"seq\":") {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if rest.get(digits) == Some(&b',') {
            return std::str::from_utf8(&rest[..digits]).ok()?.parse().ok();
        }
    }
    serde_json::from_slice::<Numbered>(record).ok().map(|numbered| numbered.seq)
}

#[cfg(test)]
mod tests;
