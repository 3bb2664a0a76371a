//! Marks Pods that cannot work while the database is away, for lists.

use std::{collections::BTreeSet, sync::Arc};

use pod_store::OutageKind;
use protocol::{PodState, PodSummary, WorkerId};

use super::Actors;
use crate::ground::reason;

impl Actors {
    /// Adds the outage to the summaries of the Pods that it holds up: those that are working or, if the database is
    /// lost, all live ones.
    pub(crate) fn with_outage(&self, mut summaries: Vec<PodSummary>) -> Vec<PodSummary> {
        if let Some(outage) = self.store.health().outage().borrow().as_ref() {
            let is_lost = outage.kind == OutageKind::Lost;
            let held_up = summaries.iter_mut().filter(|summary| {
                summary.state != PodState::Stopped && (is_lost || self.tasks.has(&summary.pod.worker_id))
            });
            held_up.for_each(|summary| {
                summary.activity = None;
                summary.state_reason = Some(reason(outage));
            });
        }
        summaries
    }
}

/// Refreshes the list entries of the Pods that an outage holds up, when it begins and when it ends.
pub(crate) async fn tell(inner: Arc<Actors>) {
    let mut outage = inner.store.health().outage();
    let mut held_up: BTreeSet<WorkerId> = BTreeSet::new();
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            changed = outage.changed() => if changed.is_err() { return },
        }
        let kind = outage.borrow_and_update().as_ref().map(|outage| outage.kind);
        match kind {
            Some(OutageKind::Away) => {
                held_up.extend(inner.tasks.pods());
                held_up.iter().for_each(|worker_id| inner.list.tell_changed(worker_id));
            }
            Some(OutageKind::Lost) => inner.list.tell_all(),
            None => {
                held_up.clear();
                // Something whose caller had given up may have been written after all.
                inner.list.tell_all();
            }
        }
    }
}
