//! Viewers of Pods that other hosts run: their journals are read here, once for all viewers, into the same tails that
//! this host's own Pods write to. The list of Pods is followed as well.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use pod_store::{PodKey, StoreError, StoredRecord};
use protocol::{Seq, WorkerId};

use super::{Call, Cluster, Route};
use crate::actor::{RECORDS_AT_ONCE, feed::Feed};

/// How often to look when no notice comes.
const POLL: Duration = Duration::from_millis(400);
/// How long to gather notices from busy hosts …
const ROUND: Duration = Duration::from_millis(20);
/// … and changes in the list of Pods.
const LIST_ROUND: Duration = Duration::from_millis(100);
/// How many more rounds a host keeps looking after the last other host has left, which may have written as it left.
const ROUNDS_ALONE_MAX: u32 = 10;
/// How many changes are remembered, so that one that is found twice is announced once.
const KNOWN_MAX: usize = 20_000;

/// Announces changes from now on.
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
    // The list comes first: a Pod's deletion is announced once its last records have been published.
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
    /// Deleted Pods that have not been announced here yet.
    gone: Vec<WorkerId>,
    looked_at: Option<Instant>,
    /// Rounds since another host was last there.
    rounds_alone: u32,
}

impl List {
    /// True if this host has been the only one for some time, so that nobody else writes.
    fn is_alone(&mut self, cluster: &Cluster) -> bool {
        self.rounds_alone = if cluster.store.hosts().has_others() { 0 } else { self.rounds_alone.saturating_add(1) };
        self.rounds_alone > ROUNDS_ALONE_MAX
    }

    /// Announces rows that have changed. Changes that arrive in between are found at the next look.
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
            // A host announces changes of its own Pods itself.
            if is_new && !cluster.actors.tasks.has(&worker_id) {
                cluster.list.tell_changed(&worker_id);
            }
        }
        self.gone.extend(moves.gone);
        Ok(())
    }
}

/// Publishes what other hosts have written to the Pods viewed here. Returns true if there may be more.
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

/// Tells the Pod's own host that somebody here has seen the end of a run, which it counts as unread.
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
