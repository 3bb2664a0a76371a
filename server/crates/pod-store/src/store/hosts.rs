//! The hosts that serve the database.

use protocol::{Seq, WorkerId};
use tokio::sync::watch;

use super::{Shared, journals::Journals, pods::Pods};
use crate::{
    Batch, Followed, HostCall, HostRow, Moves, Patience, PodChange, PodKey, PodRow, StoreError, WakeUps, Whereabouts,
    chore::Chore, engine::Cluster,
};

/// This host among those that serve a store.
#[derive(Debug, Clone, Copy)]
pub struct Hosts<'s>(pub(super) &'s Shared);

impl<'s> Hosts<'s> {
    /// Other hosts may serve this database, too.
    pub fn is_shared(self) -> bool {
        self.0.cluster().is_some()
    }

    /// This host's number and name; none for a database that one host serves alone.
    pub fn this(self) -> Option<HostRow> {
        self.0.cluster().map(|hosts| hosts.this())
    }

    /// Another host serves the database now, as far as the last heartbeat saw.
    pub fn has_others(self) -> bool {
        self.0.cluster().is_some_and(|hosts| hosts.has_others())
    }

    /// Makes this host the owner of a Pod that nobody owns. [`StoreError::Elsewhere`]: another host does.
    pub async fn claim(self, pod: PodKey) -> Result<(), StoreError> {
        let batch = Batch { changes: vec![PodChange::of(pod)], ..Batch::default() };
        self.0.commit(Patience::Short, batch).await.map(drop)
    }

    /// True while this host was declared dead, or cannot say that it lives: whatever it knew of Pods may be over. Ends
    /// with [`Hosts::rejoin`].
    pub fn lost(self) -> Option<watch::Receiver<bool>> {
        self.0.cluster().map(|hosts| hosts.lost())
    }

    /// Takes a new number, owning nothing. To be called once nothing is left that relied on the old one.
    /// [`StoreError::Fenced`]: this host was replaced by one that is the same, and is over.
    pub async fn rejoin(self) -> Result<(), StoreError> {
        self.0.chore(Chore::Rejoin).await
    }

    pub fn wake_ups(self) -> Option<WakeUps> {
        self.0.cluster().map(|hosts| hosts.wake_ups())
    }

    /// All hosts that serve the database now.
    pub async fn now(self) -> Result<Vec<HostRow>, StoreError> {
        match self.0.cluster() {
            Some(hosts) => hosts.all().await,
            None => Ok(Vec::new()),
        }
    }

    pub async fn whereabouts(self, pod: PodKey) -> Result<Whereabouts, StoreError> {
        match self.0.cluster() {
            Some(hosts) => hosts.whereabouts(pod).await,
            None => Ok(Whereabouts::default()),
        }
    }

    /// Pods that nobody runs and that ran on another host than this one, with that host's name.
    pub async fn left_behind(self) -> Result<Vec<(WorkerId, String)>, StoreError> {
        match self.0.cluster() {
            Some(hosts) => hosts.left_behind().await,
            None => Ok(Vec::new()),
        }
    }

    /// As [`Pods::open`], those alone that no host owns.
    pub async fn orphaned(self) -> Result<Vec<PodRow>, StoreError> {
        let Some(hosts) = self.0.cluster() else { return Pods(self.0).open().await };
        hosts.orphaned().await
    }

    /// Asks something of a host; the number is for the answer.
    pub async fn call_put(self, host: i64, body: &str) -> Result<i64, StoreError> {
        self.shared()?.call_put(host, body).await
    }

    /// Takes what this host is asked, oldest first.
    pub async fn calls_take(self) -> Result<Vec<HostCall>, StoreError> {
        self.shared()?.calls_take().await
    }

    pub async fn call_answer(self, id: i64, answer: &str) -> Result<(), StoreError> {
        self.shared()?.call_answer(id, answer).await
    }

    /// A call that nobody waits for is done.
    pub async fn call_forget(self, id: i64) -> Result<(), StoreError> {
        self.shared()?.call_forget(id).await
    }

    /// Takes the answers that have come.
    pub async fn answers_take(self) -> Result<Vec<(i64, String)>, StoreError> {
        self.shared()?.answers_take().await
    }

    /// Takes a call back. False when it was taken, so that nobody knows what comes of it.
    pub async fn call_withdraw(self, id: i64) -> Result<bool, StoreError> {
        self.shared()?.call_withdraw(id).await
    }

    /// What has changed since a position (none: since now).
    pub async fn moves_since(self, position: Option<&str>) -> Result<Moves, StoreError> {
        self.shared()?.moves_since(position).await
    }

    /// New records of several Pods after a position each; at most `max_records` of each.
    pub async fn follow(self, pods: &[(PodKey, Seq)], max_records: u32) -> Result<Vec<Followed>, StoreError> {
        let mut followed = Vec::new();
        for (pod, found) in self.shared()?.follow(pods, max_records).await? {
            followed.push(Followed { pod, records: Journals(self.0).mended(pod, found).await });
        }
        Ok(followed)
    }

    fn shared(self) -> Result<&'s dyn Cluster, StoreError> {
        self.0.cluster().ok_or_else(|| StoreError::Database("a SQLite file is served by one host alone".to_owned()))
    }
}
