//! Which Pods a group may write: those that this host owns or can claim now, and those that other hosts have paused for
//! it. Also checks that its records follow the heads of their journals.

use std::collections::{HashMap, HashSet};

use protocol::Seq;

use super::{failure::Failure, plan::Plan};
use crate::{ForeignPod, PodChange, PodKey, StoreError, engine::Pen, heads::Heads};

/// Existing Pods that are not this host's, as the open transaction sees them.
#[derive(Debug, Default)]
struct Beside {
    /// Paused by their hosts.
    foreign: HashMap<PodKey, Seq>,
    /// Only referred to.
    named: HashMap<PodKey, Seq>,
}

impl Beside {
    fn get(&self, pod: PodKey) -> Option<Seq> {
        self.foreign.get(&pod).or_else(|| self.named.get(&pod)).copied()
    }

    fn is_foreign(&self, pod: PodKey) -> bool {
        self.foreign.contains_key(&pod)
    }

    fn stage(&mut self, pod: PodKey, head: Seq) {
        self.foreign.insert(pod, head);
    }
}

/// Pods and their owners, in an open transaction.
pub(crate) struct Leases<'w> {
    pub(crate) pen: &'w mut dyn Pen,
    pub(crate) heads: &'w mut Heads,
    /// True if other hosts may serve the database too.
    pub(crate) is_shared: bool,
}

impl Leases<'_> {
    /// Refuses changes of Pods that do not exist or are not this host's, and records that do not follow the head.
    pub(crate) async fn check(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let mut beside = self.learn(plan).await?;
        let head = |heads: &Heads, key: PodKey, beside: &Beside| heads.get(key).or_else(|| beside.get(key));
        if let Some((job, _)) = plan.named().find(|(_, key)| head(self.heads, *key, &beside).is_none()) {
            return Err(Failure::One(job, StoreError::PodGone));
        }
        for planned in &plan.changes {
            let fail = |error| Failure::One(planned.job, error);
            if parent_of(planned.change).is_some_and(|parent| head(self.heads, parent, &beside).is_none()) {
                return Err(fail(StoreError::PodGone));
            }
            let known = match (planned.key, &planned.change.create) {
                (_, Some(_)) => Seq(0),
                (Some(key), None) => head(self.heads, key, &beside).ok_or_else(|| fail(StoreError::PodGone))?,
                (None, None) => return Err(fail(StoreError::PodGone)),
            };
            let next = match head_after(known, planned.change) {
                Err(StoreError::Conflict) => self.read_again(planned.key, planned.change).await?.map_err(fail)?,
                next => next.map_err(fail)?,
            };
            match planned.key {
                Some(key) if beside.is_foreign(key) => beside.stage(key, next),
                Some(key) => self.heads.stage(key, next),
                None => (),
            }
        }
        Ok(())
    }

    /// Reads the Pods of a group that are not known yet. On a single-host database this is one read.
    async fn learn(&mut self, plan: &Plan<'_>) -> Result<Beside, Failure> {
        let changed = plan.changes.iter().filter_map(|planned| planned.key);
        let parents = plan.changes.iter().filter_map(|planned| parent_of(planned.change));
        let named = parents.chain(plan.named().map(|(_, key)| key));
        if !self.is_shared {
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

    /// Pods that other hosts own and have paused. If one is no longer theirs, its batch is refused.
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

    /// For records that do not follow the known head: another host may have written, on this host's behalf, to a Pod
    /// that was paused for it.
    async fn read_again(
        &mut self,
        key: Option<PodKey>,
        change: &PodChange,
    ) -> Result<Result<Seq, StoreError>, Failure> {
        let Some(key) = key.filter(|_| change.create.is_none() && self.is_shared) else {
            return Ok(Err(StoreError::Conflict));
        };
        let head = self.pen.heads(&[key]).await?.first().map(|(_, head)| *head);
        Ok(head.ok_or(StoreError::PodGone).and_then(|head| head_after(head, change)))
    }
}

fn parent_of(change: &PodChange) -> Option<PodKey> {
    change.parent.as_ref().map(|link| link.parent)
}

/// The journal's head after a change's records, which must follow it without a gap. The journal of a new Pod may have
/// gaps, as any journal has whose chunks were folded.
pub(crate) fn head_after(head: Seq, change: &PodChange) -> Result<Seq, StoreError> {
    let may_leave_out = change.create.is_some();
    change.records.iter().try_fold(head, |head, record| {
        let follows = record.seq == head.next() || (may_leave_out && record.seq > head);
        if follows { Ok(record.seq) } else { Err(StoreError::Conflict) }
    })
}
