//! Keeps the git state in the list of Pods up to date: looks again a moment after something has happened to a Pod, one
//! folder after the other. The list itself never waits for git.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use protocol::WorkerId;
use tokio::time::{Instant, sleep_until};

use crate::{
    git::{self, Spot},
    ground::Ground,
    list::{self, Stale},
    view,
};

/// How long after a change to look. More may follow it.
const SETTLE: Duration = Duration::from_millis(700);
/// The shortest time between two looks at one folder; a folder that takes long to look at has ten times as long.
const PAUSE_MIN: Duration = Duration::from_secs(2);

/// Runs until the host stops.
pub(crate) async fn watch(ground: Arc<Ground>) {
    let mut changes = ground.list.listen();
    let mut due: BTreeMap<WorkerId, Instant> = BTreeMap::new();
    loop {
        let next = due.values().min().copied();
        tokio::select! {
            () = ground.stopping.cancelled() => return,
            stale = list::stale(&mut changes) => match stale {
                Some(Stale::Some(pods)) => {
                    let at = Instant::now() + SETTLE;
                    for pod in pods {
                        due.entry(pod).or_insert(at);
                    }
                }
                Some(Stale::All) => (),
                None => return,
            },
            () = git::is_wanted() => {
                let now = Instant::now();
                due.extend(git::wanted().into_iter().map(|pod| (pod, now)));
            }
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                let now = Instant::now();
                let pod = due.iter().find(|(_, at)| **at <= now).map(|(pod, _)| pod.clone());
                if let Some(pod) = pod {
                    due.remove(&pod);
                    if let Some(again) = refresh(&ground, &pod).await {
                        due.insert(pod, again);
                    }
                }
            }
        }
    }
}

/// Looks at the Pod's folder and tells the list if something is different. Returns when to try again if it was looked
/// at a moment ago.
async fn refresh(ground: &Ground, pod: &WorkerId) -> Option<Instant> {
    let row = ground.store.pods().find(pod).await.ok().flatten()?;
    let spot = Spot::of(&view::open(&row).ok()?.spec);
    if let Some(left) = git::pause(&spot, PAUSE_MIN) {
        return Some(Instant::now() + left);
    }
    if git::looked_again(spot).await {
        ground.list.tell_changed(pod);
    }
    None
}
