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
    /// True if other hosts may serve this database too.
    pub fn is_shared(self) -> bool {
        self.0.cluster().is_some()
    }

    /// This host's number and name; `None` for a single-host database.
    pub fn this(self) -> Option<HostRow> {
        self.0.cluster().map(|hosts| hosts.member().this())
    }

    /// True if another host serves the database now, as of the last heartbeat.
    pub fn has_others(self) -> bool {
        self.0.cluster().is_some_and(|hosts| hosts.member().has_others())
    }

    /// Makes this host the owner of a Pod that no host owns. [`StoreError::Elsewhere`]: another host owns it.
    pub async fn claim(self, pod: PodKey) -> Result<(), StoreError> {
        let batch = Batch { changes: vec![PodChange::of(pod)], ..Batch::default() };
        self.0.commit(Patience::Short, batch).await.map(drop)
    }

    /// True while this host has been declared dead or cannot send its heartbeat; whatever it knew of Pods may be out of
    /// date. Ends with [`Hosts::rejoin`].
    pub fn lost(self) -> Option<watch::Receiver<bool>> {
        self.0.cluster().map(|hosts| hosts.member().lost())
    }

    /// Takes a new number, owning nothing. Call this once nothing relies on the old one any more.
    /// [`StoreError::Fenced`]: this host was replaced by one with the same identity and has to end.
    pub async fn rejoin(self) -> Result<(), StoreError> {
        self.0.chore(Chore::Rejoin).await
    }

    pub fn wake_ups(self) -> Option<WakeUps> {
        self.0.cluster().map(|hosts| hosts.member().wake_ups())
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

    /// Pods that no host runs and that last ran on another host than this one, with that host's name.
    pub async fn left_behind(self) -> Result<Vec<(WorkerId, String)>, StoreError> {
        match self.0.cluster() {
            Some(hosts) => hosts.left_behind().await,
            None => Ok(Vec::new()),
        }
    }

    /// Like [`Pods::open`], with only the Pods that no host owns.
    pub async fn orphaned(self) -> Result<Vec<PodRow>, StoreError> {
        let Some(hosts) = self.0.cluster() else { return Pods(self.0).open().await };
        hosts.orphaned().await
    }

    /// Calls another host; the returned number identifies the answer.
    pub async fn call_put(self, host: i64, body: &str) -> Result<i64, StoreError> {
        self.shared()?.call_put(host, body).await
    }

    /// Takes the calls to this host, oldest first.
    pub async fn calls_take(self) -> Result<Vec<HostCall>, StoreError> {
        self.shared()?.calls_take().await
    }

    pub async fn call_answer(self, id: i64, answer: &str) -> Result<(), StoreError> {
        self.shared()?.call_answer(id, answer).await
    }

    /// Removes a call that was carried out and for whose answer nobody waits.
    pub async fn call_forget(self, id: i64) -> Result<(), StoreError> {
        self.shared()?.call_forget(id).await
    }

    /// Takes the answers that have arrived.
    pub async fn answers_take(self) -> Result<Vec<(i64, String)>, StoreError> {
        self.shared()?.answers_take().await
    }

    /// Withdraws a call. Returns false if it was already taken, so that its outcome is unknown.
    pub async fn call_withdraw(self, id: i64) -> Result<bool, StoreError> {
        self.shared()?.call_withdraw(id).await
    }

    /// What has changed since a position (`None`: since now).
    pub async fn moves_since(self, position: Option<&str>) -> Result<Moves, StoreError> {
        self.shared()?.moves_since(position).await
    }

    /// New records of several Pods, after a position for each; at most `max_records` of each.
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
