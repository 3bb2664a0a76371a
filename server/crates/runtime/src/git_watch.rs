//! Keeps the git state in the list of Pods up to date: looks again a moment after something has happened to a Pod, one
//! folder after the other. The list itself never waits for git.
//!
//! Pods share folders, possibly thousands of them one: what is waited for is a folder, and one look serves all its Pods.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

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
    let mut due = Due::default();
    loop {
        let next = due.next();
        tokio::select! {
            () = ground.stopping.cancelled() => return,
            stale = list::stale(&mut changes) => match stale {
                Some(Stale::Some(pods)) => {
                    let at = Instant::now() + SETTLE;
                    pods.into_iter().for_each(|pod| due.add(pod, at));
                }
                Some(Stale::All) => (),
                None => return,
            },
            () = git::is_wanted() => {
                let now = Instant::now();
                git::wanted().into_iter().for_each(|pod| due.add(pod, now));
            }
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                let now = Instant::now();
                if let Some(pod) = due.pod(now) {
                    place(&ground, pod, &mut due).await;
                } else if let Some((spot, pods)) = due.spot(now)
                    && git::looked_again(spot).await
                {
                    pods.iter().for_each(|pod| ground.list.tell_changed(pod));
                }
            }
        }
    }
}

/// Finds out which folder the Pod has.
async fn place(ground: &Ground, pod: WorkerId, due: &mut Due) {
    let Some(row) = ground.store.pods().find(&pod).await.ok().flatten() else { return };
    let Ok(opened) = view::open(&row) else { return };
    let spot = Spot::of(&opened.spec);
    let at = Instant::now() + git::pause(&spot, PAUSE_MIN).unwrap_or_default();
    due.place(pod, spot, at);
}

/// The Pods and folders to look at, and when.
#[derive(Debug, Default)]
struct Due {
    /// Pods that something has happened to, the earliest first.
    pods: VecDeque<(Instant, WorkerId)>,
    waiting: BTreeSet<WorkerId>,
    /// Folders, with the Pods that are told if something is different there.
    spots: HashMap<Spot, (Instant, BTreeSet<WorkerId>)>,
}

impl Due {
    /// The first moment at which there is something to do.
    fn next(&self) -> Option<Instant> {
        let spots = self.spots.values().map(|(at, _)| *at);
        spots.chain(self.pods.front().map(|(at, _)| *at)).min()
    }

    /// A Pod that is waited for already stays in its place.
    fn add(&mut self, pod: WorkerId, at: Instant) {
        if self.waiting.insert(pod.clone()) {
            let place = self.pods.partition_point(|(other, _)| *other <= at);
            self.pods.insert(place, (at, pod));
        }
    }

    fn place(&mut self, pod: WorkerId, spot: Spot, at: Instant) {
        self.spots.entry(spot).or_insert_with(|| (at, BTreeSet::new())).1.insert(pod);
    }

    /// Takes a Pod whose time has come.
    fn pod(&mut self, now: Instant) -> Option<WorkerId> {
        self.pods.front().filter(|(at, _)| *at <= now)?;
        let (_, pod) = self.pods.pop_front()?;
        self.waiting.remove(&pod);
        Some(pod)
    }

    /// Takes a folder whose time has come.
    fn spot(&mut self, now: Instant) -> Option<(Spot, BTreeSet<WorkerId>)> {
        let spot = self.spots.iter().find(|(_, (at, _))| *at <= now)?.0.clone();
        let (_, pods) = self.spots.remove(&spot)?;
        Some((spot, pods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_pods_in_one_folder_cost_one_look_and_all_are_told() {
        let (now, mut due) = (Instant::now(), Due::default());
        let pods: Vec<WorkerId> = (0..5_000).map(|number| WorkerId::parse(&format!("pod-{number}")).unwrap()).collect();
        for at in [now + SETTLE, now] {
            pods.iter().for_each(|pod| due.add(pod.clone(), at));
        }
        assert_eq!((due.next(), due.pod(now)), (Some(now + SETTLE), None), "they stay in their place");
        while let Some(pod) = due.pod(now + SETTLE) {
            due.place(pod, Spot::at("/one"), now + PAUSE_MIN);
        }
        assert_eq!((due.next(), due.spot(now)), (Some(now + PAUSE_MIN), None), "the folder was looked at a moment ago");
        let (_, told) = due.spot(now + PAUSE_MIN).unwrap();
        assert_eq!((told.len(), due.next()), (pods.len(), None));
    }
}
