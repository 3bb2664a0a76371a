//! Which Pods a group may write: those that this host owns or can claim now, and those that other hosts hold still for
//! it.

use std::collections::{HashMap, HashSet};

use protocol::Seq;

use super::{
    Writer,
    group::{Failure, head_after, parent_of},
    plan::Plan,
};
use crate::{ForeignPod, PodChange, PodKey, StoreError};

/// Pods that are there and not this host's, as the open transaction sees them.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Held still by their hosts.
    foreign: HashMap<PodKey, Seq>,
    /// Only named.
    named: HashMap<PodKey, Seq>,
}

impl Beside {
    pub(crate) fn get(&self, pod: PodKey) -> Option<Seq> {
        self.foreign.get(&pod).or_else(|| self.named.get(&pod)).copied()
    }

    pub(crate) fn is_foreign(&self, pod: PodKey) -> bool {
        self.foreign.contains_key(&pod)
    }

    pub(crate) fn stage(&mut self, pod: PodKey, head: Seq) {
        self.foreign.insert(pod, head);
    }
}

impl Writer {
    /// Learns of the Pods of a group that are not known. Where one host serves the database alone, this is one read.
    pub(crate) async fn learn(&mut self, plan: &Plan<'_>) -> Result<Beside, Failure> {
        let changed = plan.changes.iter().filter_map(|planned| planned.key);
        let parents = plan.changes.iter().filter_map(|planned| parent_of(planned.change));
        let named = parents.chain(plan.named().map(|(_, key)| key));
        if self.cluster.is_none() {
            let unknown: HashSet<_> = changed.chain(named).filter(|key| self.heads.get(*key).is_none()).collect();
            if !unknown.is_empty() {
                let learned = self.pen.heads(&unknown.into_iter().collect::<Vec<_>>()).await?;
                self.heads.learn(learned);
            }
            return Ok(Beside::default());
        }
        let mut beside = Beside { foreign: self.foreign(plan).await?, named: HashMap::new() };
        let unknown: HashSet<PodKey> =
            changed.filter(|key| !beside.is_foreign(*key) && self.heads.get(*key).is_none()).collect();
        if !unknown.is_empty() {
            let unknown: Vec<PodKey> = unknown.into_iter().collect();
            let claimed = self.pen.claim(&unknown).await?;
            self.heads.learn(claimed);
            self.refuse_unowned(plan, &unknown).await?;
        }
        let unknown: HashSet<PodKey> =
            named.filter(|key| self.heads.get(*key).is_none() && beside.get(*key).is_none()).collect();
        if !unknown.is_empty() {
            beside.named = self.pen.heads(&unknown.into_iter().collect::<Vec<_>>()).await?.into_iter().collect();
        }
        Ok(beside)
    }

    /// Pods that other hosts own and hold still. One that is not theirs any more refuses its batch.
    async fn foreign(&mut self, plan: &Plan<'_>) -> Result<HashMap<PodKey, Seq>, Failure> {
        if plan.foreign.is_empty() {
            return Ok(HashMap::new());
        }
        let pods: Vec<ForeignPod> = plan.foreign.iter().map(|(_, pod)| *pod).collect();
        let found: HashMap<PodKey, Seq> = self.pen.foreign(&pods).await?.into_iter().collect();
        match plan.foreign.iter().find(|(_, pod)| !found.contains_key(&pod.pod)) {
            Some((job, _)) => Err(Failure::One(*job, StoreError::Conflict)),
            None => Ok(found),
        }
    }

    async fn refuse_unowned(&mut self, plan: &Plan<'_>, wanted: &[PodKey]) -> Result<(), Failure> {
        let missed: Vec<PodKey> = wanted.iter().copied().filter(|key| self.heads.get(*key).is_none()).collect();
        if missed.is_empty() {
            return Ok(());
        }
        let owners = self.pen.owners(&missed).await?;
        for planned in &plan.changes {
            let owner = owners.iter().find(|(key, _)| planned.key == Some(*key));
            if let Some((_, host)) = owner {
                return Err(Failure::One(planned.job, StoreError::Elsewhere(host.clone())));
            }
        }
        Ok(())
    }

    /// Records that do not follow on what is known: another host may have written, for this one, to a Pod that was held
    /// still for it.
    pub(crate) async fn read_again(
        &mut self,
        key: Option<PodKey>,
        change: &PodChange,
    ) -> Result<Result<Seq, StoreError>, Failure> {
        let (Some(key), Some(_)) = (key.filter(|_| change.create.is_none()), &self.cluster) else {
            return Ok(Err(StoreError::Conflict));
        };
        let head = self.pen.heads(&[key]).await?.first().map(|(_, head)| *head);
        Ok(head.ok_or(StoreError::PodGone).and_then(|head| head_after(head, change)))
    }
}
