//! Viewers of Pods that other hosts run: their journals are read here, once for all who look, into the same tails that
//! the Pods of this host write to. The list of Pods, too.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use pod_store::{PodKey, StoreError, StoredRecord};
use protocol::{Seq, WorkerId};

use super::{Call, Cluster, Route};
use crate::actor::{RECORDS_AT_ONCE, feed::Feed};

/// How often is looked when no notice comes.
const POLL: Duration = Duration::from_millis(400);
/// Notices of busy hosts are gathered for so long …
const ROUND: Duration = Duration::from_millis(20);
/// … and what changed in the list of Pods for so long.
const LIST_ROUND: Duration = Duration::from_millis(100);
/// A host that is alone looks so often more: another one may have written as it went.
const ROUNDS_ALONE_MAX: u32 = 10;
/// Changes that are kept in mind, so that one that is found twice is told once.
const KNOWN_MAX: usize = 20_000;

/// From now on: what changes after this is told.
pub(super) async fn start(cluster: &Arc<Cluster>) -> Result<(), StoreError> {
    let position = Some(cluster.store.hosts().moves_since(None).await?.position);
    cluster.tracker.spawn(follow_on(cluster.clone(), List { position, ..List::default() }));
    Ok(())
}

async fn follow_on(cluster: Arc<Cluster>, mut list: List) {
    let Some(mut wake_ups) = cluster.store.hosts().wake_ups() else { return };
    loop {
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            changed = wake_ups.moved.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(POLL) => (),
        }
        if list.is_alone(&cluster) {
            continue;
        }
        if let Err(error) = follow_once(&cluster, &mut list).await {
            tracing::debug!(%error, "what other hosts have written could not be read; trying again");
        }
        tokio::time::sleep(ROUND).await;
    }
}

async fn follow_once(cluster: &Arc<Cluster>, list: &mut List) -> Result<(), StoreError> {
    // The list first: a Pod that is gone is told once its last records have been shown.
    list.look(cluster).await?;
    while follow_feeds(cluster).await? {}
    for worker_id in std::mem::take(&mut list.gone) {
        tell_gone(cluster, &worker_id);
    }
    Ok(())
}

/// What is known of the rows of Pods.
#[derive(Debug, Default)]
struct List {
    position: Option<String>,
    known: HashMap<PodKey, String>,
    /// Pods that were deleted, and of which nobody here was told yet.
    gone: Vec<WorkerId>,
    looked_at: Option<Instant>,
    /// Rounds since another host was there last.
    rounds_alone: u32,
}

impl List {
    /// This host has been the only one for some time, so nobody else writes.
    fn is_alone(&mut self, cluster: &Cluster) -> bool {
        self.rounds_alone = if cluster.store.hosts().has_others() { 0 } else { self.rounds_alone.saturating_add(1) };
        self.rounds_alone > ROUNDS_ALONE_MAX
    }

    /// Tells of rows that have changed. What came while it was not looked is found at the next look.
    async fn look(&mut self, cluster: &Cluster) -> Result<(), StoreError> {
        if self.looked_at.is_some_and(|at| at.elapsed() < LIST_ROUND) {
            return Ok(());
        }
        self.looked_at = Some(Instant::now());
        let moves = cluster.store.hosts().moves_since(self.position.as_deref()).await?;
        self.position = Some(moves.position);
        if self.known.len() > KNOWN_MAX {
            self.known.clear();
        }
        for (key, worker_id, number) in moves.changed {
            let is_new = self.known.insert(key, number.clone()).is_none_or(|before| before != number);
            // Of its own Pods a host tells itself.
            if is_new && !cluster.actors.tasks.has(&worker_id) {
                cluster.list.tell_changed(&worker_id);
            }
        }
        self.gone.extend(moves.gone);
        Ok(())
    }
}

/// Shows what has been written to the Pods that are watched here and run elsewhere. True: there may be more.
async fn follow_feeds(cluster: &Arc<Cluster>) -> Result<bool, StoreError> {
    let feeds: Vec<(WorkerId, Arc<Feed>)> = feeds_without_task(cluster);
    let followed = show_followed(cluster, &feeds).await;
    for (worker_id, feed) in &feeds {
        cluster.actors.feeds.release(worker_id, feed);
    }
    followed
}

async fn show_followed(cluster: &Arc<Cluster>, feeds: &[(WorkerId, Arc<Feed>)]) -> Result<bool, StoreError> {
    if feeds.is_empty() {
        return Ok(false);
    }
    let pods: Vec<(PodKey, Seq)> = feeds.iter().map(|(_, feed)| (feed.key, feed.head())).collect();
    let mut has_more = false;
    for followed in cluster.store.hosts().follow(&pods, RECORDS_AT_ONCE).await? {
        let Some((worker_id, feed)) = feeds.iter().find(|(_, feed)| feed.key == followed.pod) else { continue };
        has_more |= followed.records.len() >= RECORDS_AT_ONCE as usize;
        let ends_run = feed.is_watched() && followed.records.iter().any(ends_run);
        feed.publish(followed.records.into_iter().map(|record| (record.seq, record.body)));
        if ends_run {
            tell_read(cluster.clone(), worker_id.clone());
        }
    }
    Ok(has_more)
}

fn tell_gone(cluster: &Cluster, worker_id: &WorkerId) {
    if let Some(feed) = cluster.actors.feeds.get(worker_id) {
        feed.tell_gone();
        cluster.actors.feeds.release(worker_id, &feed);
    }
    cluster.list.tell_changed(worker_id);
}

/// Somebody here has seen the end of a run, which the Pod's own host counts as unread.
fn tell_read(cluster: Arc<Cluster>, worker_id: WorkerId) {
    cluster.clone().tracker.spawn(async move {
        if let Ok(Route::There(host)) = cluster.route(&worker_id).await {
            cluster.calls.tell(&host, &Call::Read { worker_id }).await;
        }
    });
}

fn feeds_without_task(cluster: &Cluster) -> Vec<(WorkerId, Arc<Feed>)> {
    let own: BTreeSet<WorkerId> = cluster.actors.tasks.pods();
    cluster.actors.feeds.held().into_iter().filter(|(worker_id, _)| !own.contains(worker_id)).collect()
}

fn ends_run(record: &StoredRecord) -> bool {
    std::str::from_utf8(&record.body).is_ok_and(|body| body.contains("\"kind\":\"run_finished\""))
}
