//! The live tails of the Pods that are running or viewed, each shared by all its holders.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use jiff::Timestamp;
use pod_store::{PodRow, StoreError};
use protocol::{ReasoningPolicy, Seq, WorkerId};

use super::{Actors, feed::Feed};
use crate::view;

/// The most records of one Pod to read at once.
pub(crate) const RECORDS_AT_ONCE: u32 = 1_000;

/// The tails by Pod. Each holder must release its tail.
#[derive(Debug, Default)]
pub(crate) struct Feeds(Mutex<HashMap<WorkerId, Weak<Feed>>>);

impl Feeds {
    fn all(&self) -> MutexGuard<'_, HashMap<WorkerId, Weak<Feed>>> {
        self.0.lock().expect("no holder of the feeds panics")
    }

    pub(crate) fn get(&self, worker_id: &WorkerId) -> Option<Arc<Feed>> {
        self.all().get(worker_id).and_then(Weak::upgrade)
    }

    /// The tails that are held now.
    pub(crate) fn held(&self) -> Vec<(WorkerId, Arc<Feed>)> {
        let feeds = self.all();
        feeds.iter().filter_map(|(worker_id, feed)| Some((worker_id.clone(), feed.upgrade()?))).collect()
    }

    /// When the oldest record was committed that an open stream has not been sent.
    pub(crate) fn oldest_unsent(&self) -> Option<Timestamp> {
        // Under the lock, because whoever holds a tail beyond it would have to release it.
        self.all().values().filter_map(Weak::upgrade).filter_map(|feed| feed.oldest_unsent()).min()
    }

    fn share(&self, row: &PodRow, head: Seq, policy: ReasoningPolicy) -> Arc<Feed> {
        let mut feeds = self.all();
        if let Some(feed) = feeds.get(&row.worker_id).and_then(Weak::upgrade) {
            return feed;
        }
        let feed = Arc::new(Feed::new(row.key, head, policy, row.unread));
        feeds.insert(row.worker_id.clone(), Arc::downgrade(&feed));
        feed
    }

    /// Called by each holder right before it drops its tail.
    pub(crate) fn release(&self, worker_id: &WorkerId, feed: &Arc<Feed>) {
        let mut feeds = self.all();
        let is_last = Arc::strong_count(feed) == 1;
        if is_last && feeds.get(worker_id).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(feed))) {
            feeds.remove(worker_id);
            feeds.shrink_to(64);
        }
    }
}

impl Actors {
    /// The Pod's live tail, shared with its other holders.
    pub(crate) async fn feed(&self, row: &PodRow) -> Result<Arc<Feed>, StoreError> {
        if let Some(feed) = self.feeds.get(&row.worker_id) {
            if self.store.hosts().is_shared() && !self.tasks.has(&row.worker_id) {
                self.follow_now(&feed).await?;
            }
            return Ok(feed);
        }
        let head = self.store.journals().head(row.key).await?;
        let policy = view::open(row).map(|opened| opened.spec.reasoning).unwrap_or_default();
        Ok(self.feeds.share(row, head, policy))
    }

    /// Brings a tail up to date with the journal, so that a cursor issued by another host is valid here.
    pub(crate) async fn follow_now(&self, feed: &Feed) -> Result<(), StoreError> {
        loop {
            let found = self.store.hosts().follow(&[(feed.key, feed.head())], RECORDS_AT_ONCE).await?;
            let Some(followed) = found.into_iter().next() else { return Ok(()) };
            feed.publish(followed.records.into_iter().map(|record| (record.seq, record.body)));
        }
    }
}
