//! One group of batches in one transaction, step by step.
//!
//! A step that no batch of the group needs costs nothing: no statement, no round trip to the database's thread.

use std::sync::Arc;

use super::{
    Job, commands,
    failure::{Failure, Steps},
    leases::Leases,
    plan::Plan,
    tables::Tables,
};
use crate::{
    Committed, Faults, Step, StoreError, chore,
    engine::{Cluster, Pen},
    heads::Heads,
    on_the_spot::settled,
    txn::WriteError,
};

/// Commits groups, one at a time. Knows nothing of the waiting callers.
pub(crate) struct Committer {
    pen: Box<dyn Pen>,
    host_epoch: i64,
    steps: Steps,
    heads: Heads,
    /// Once fenced, it stays fenced until this host rejoins (where it can): the other host may be gone, but it has
    /// written.
    is_fenced: bool,
    /// `Some` if other hosts may serve the database too.
    cluster: Option<Arc<dyn Cluster>>,
    /// The outcomes of the current group, if its commit failed but may have been written.
    doubt: Option<Vec<Committed>>,
}

impl Committer {
    pub(crate) fn new(
        pen: Box<dyn Pen>,
        host_epoch: i64,
        faults: Option<Arc<dyn Faults>>,
        cluster: Option<Arc<dyn Cluster>>,
    ) -> Self {
        let (steps, heads) = (Steps(faults), Heads::default());
        Self { pen, host_epoch, steps, heads, is_fenced: false, cluster, doubt: None }
    }

    pub(crate) fn is_fenced(&self) -> bool {
        self.is_fenced
    }

    /// True if the last group may have been written; then it has to be retried unchanged.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubt.is_some()
    }

    /// Writes the whole group or nothing. Returns one outcome for each job.
    pub(crate) async fn commit_in_txn(&mut self, jobs: &[Job]) -> Result<Vec<Committed>, Failure> {
        self.heads.bound();
        let mut outcomes = match self.pass().await {
            Ok(()) => settled(self.write(jobs)).await,
            Err(failure) => Err(failure),
        };
        if let Ok(written) = &outcomes
            && let Err(failure) = self.pass().await
        {
            self.doubt(written);
            outcomes = Err(failure);
        }
        if outcomes.is_err() {
            settled(self.pen.rollback()).await;
            self.heads.roll_back();
        }
        match outcomes {
            Ok(_) | Err(Failure::All(_)) => {
                self.doubt = None;
                self.pen.settle();
            }
            Err(Failure::Away(_) | Failure::Lost(_)) => self.pen.part(),
            _ => (),
        }
        if let (Ok(_), Some(hosts)) = (&outcomes, &self.cluster) {
            hosts.member().tell_moved();
        }
        outcomes
    }

    /// The way of a request to a database that is elsewhere, or of its answer back.
    fn pass(&self) -> impl Future<Output = Result<(), Failure>> + Send + use<> {
        let cluster = self.cluster.clone();
        async move {
            match cluster {
                Some(hosts) => hosts.pass().await.map_err(Failure::Away),
                None => Ok(()),
            }
        }
    }

    async fn write(&mut self, jobs: &[Job]) -> Result<Vec<Committed>, Failure> {
        self.pen.find()?;
        if self.doubt.is_none()
            && let Some(outcomes) = self.append_alone(jobs).await?
        {
            return Ok(outcomes);
        }
        self.steps.reach(Step::Begin)?;
        self.pen.begin().await?;
        self.fence().await?;
        if let Some(outcomes) = self.found_written(jobs).await? {
            return Ok(outcomes);
        }
        let standing = commands::claimed(&mut *self.pen, &self.steps, jobs).await?;
        let mut plan = Plan::of(jobs.iter().enumerate().filter(|(index, _)| !standing.contains_key(index)));
        self.leases().check(&plan).await?;
        Tables { pen: &mut *self.pen, heads: &mut self.heads, steps: &self.steps }.write(&mut plan).await?;
        for chore in jobs.iter().filter_map(|job| job.chore.as_ref()) {
            chore::do_in_txn(self.pen.words()?, chore).await?;
        }
        let outcome = |index| match standing.get(&index) {
            Some(row) => Committed::Repeated(row.clone()),
            None => plan.outcome(index),
        };
        let outcomes: Vec<Committed> = (0..jobs.len()).map(outcome).collect();
        self.finish(jobs, &outcomes).await?;
        Ok(outcomes)
    }

    /// The outcomes of this group if its commit failed but was written after all; then this also ends the transaction.
    async fn found_written(&mut self, jobs: &[Job]) -> Result<Option<Vec<Committed>>, Failure> {
        if self.doubt.is_none() {
            return Ok(None);
        }
        let has_landed = match self.pen.landed().await? {
            Some(has_landed) => has_landed,
            None => self.is_in_journal(jobs).await?,
        };
        if has_landed {
            // One more commit, because what a standby has not confirmed can be read already and may still be lost.
            self.pen.commit().await?;
            self.heads.roll_back();
        }
        Ok(self.doubt.take().filter(|_| has_landed))
    }

    /// Whether the records of a group are in the journal: if one of them is, all are. A group without records cannot be
    /// checked like this, but on an engine that has no better way, no commit that matters fails so.
    async fn is_in_journal(&mut self, jobs: &[Job]) -> Result<bool, Failure> {
        let mut changes = jobs.iter().flat_map(|job| &job.batch.changes);
        let Some((key, last)) = changes.find_map(|change| Some((change.key?, change.records.last()?.seq))) else {
            return Ok(false);
        };
        Ok(self.pen.heads(&[key]).await?.first().is_some_and(|(_, head)| *head >= last))
    }

    /// Streaming text is records and nothing else, of known Pods: one statement, which is a transaction of its own.
    async fn append_alone(&mut self, jobs: &[Job]) -> Result<Option<Vec<Committed>>, Failure> {
        let is_append = |job: &Job| job.chore.is_none() && job.batch.has_records_alone();
        let is_known = |job: &Job| {
            job.batch.changes.iter().filter_map(|change| change.key).all(|key| self.heads.get(key).is_some())
        };
        if self.cluster.is_some() || !jobs.iter().all(|job| is_append(job) && is_known(job)) {
            return Ok(None);
        }
        let plan = Plan::of(jobs.iter().enumerate());
        // Records that refer to files also need rows in another table.
        if !plan.blob_uses().is_empty() {
            return Ok(None);
        }
        if self.leases().check(&plan).await.is_err() {
            // The step-by-step way finds out what is wrong; that another host has taken over is checked first there.
            self.heads.roll_back();
            return Ok(None);
        }
        for step in [Step::Begin, Step::Fence, Step::Records, Step::Commit] {
            self.steps.reach(step)?;
        }
        hold_to_it(jobs)?;
        let outcomes: Vec<Committed> = (0..jobs.len()).map(|index| plan.outcome(index)).collect();
        match self.pen.records_append_alone(self.host_epoch, &plan.records()).await {
            Ok(Some(true)) => (),
            Ok(Some(false)) => return Err(self.fenced()),
            Ok(None) => {
                self.heads.roll_back();
                return Ok(None);
            }
            // It may have been written or not.
            Err(WriteError::Failed(sentence)) => {
                self.doubt(&outcomes);
                return Err(Failure::Away(sentence));
            }
            Err(error) => return Err(error.into()),
        }
        self.written(&outcomes)?;
        Ok(Some(outcomes))
    }

    async fn fence(&mut self) -> Result<(), Failure> {
        self.steps.reach(Step::Fence)?;
        match self.pen.host_epoch().await? == self.host_epoch {
            true => Ok(()),
            false => Err(self.fenced()),
        }
    }

    fn fenced(&mut self) -> Failure {
        self.is_fenced = true;
        match &self.cluster {
            Some(hosts) => hosts.member().tell_lost(),
            None => tracing::error!("another yoi process has taken over the database; nothing more is written here"),
        }
        Failure::All(StoreError::Fenced)
    }

    async fn finish(&mut self, jobs: &[Job], outcomes: &[Committed]) -> Result<(), Failure> {
        self.steps.reach(Step::Commit)?;
        hold_to_it(jobs)?;
        if let Err(error) = self.pen.commit().await {
            self.heads.forget();
            return Err(match error {
                // It may have been written or not, which is checked before anything is retried.
                WriteError::Failed(sentence) => {
                    self.doubt(outcomes);
                    Failure::Away(sentence)
                }
                WriteError::Lost(sentence) => {
                    self.doubt(outcomes);
                    Failure::Lost(sentence)
                }
                WriteError::Again(sentence) => Failure::Again(sentence),
                WriteError::Damaged(sentence) => Failure::All(StoreError::Damaged(sentence)),
                WriteError::Refused(sentence) => Failure::All(StoreError::Database(sentence)),
                WriteError::Conflict | WriteError::NameTaken => Failure::All(StoreError::Conflict),
            });
        }
        self.written(outcomes)
    }

    /// The group is written, unless the file was deleted meanwhile.
    fn written(&mut self, outcomes: &[Committed]) -> Result<(), Failure> {
        self.heads.commit();
        let told = self.steps.reach(Step::Answer).and_then(|()| Ok(self.pen.find()?));
        if matches!(told, Err(Failure::Away(_) | Failure::Lost(_))) {
            self.doubt(outcomes);
        }
        told
    }

    fn doubt(&mut self, outcomes: &[Committed]) {
        self.heads.forget();
        self.doubt = Some(outcomes.to_vec());
    }

    fn leases(&mut self) -> Leases<'_> {
        Leases { pen: &mut *self.pen, heads: &mut self.heads, is_shared: self.cluster.is_some() }
    }

    /// Joins the hosts again, owning nothing.
    pub(crate) async fn rejoin(&mut self) -> Result<Committed, StoreError> {
        self.heads.forget();
        let lost = |failure| match failure {
            Failure::Away(why) => StoreError::Away(why),
            _ => StoreError::Closed,
        };
        self.pass().await.map_err(lost)?;
        let joined = settled(self.pen.rejoin()).await;
        self.pass().await.map_err(lost)?;
        match joined {
            Ok(Some(number)) => {
                if let Some(hosts) = &self.cluster {
                    hosts.member().adopt(number);
                }
                self.host_epoch = number;
                self.is_fenced = false;
                Ok(Committed::Done { created: Vec::new() })
            }
            Ok(None) => Err(StoreError::Fenced),
            Err(error) => Err(error.into()),
        }
    }

    /// Drops the cached heads, because the database may have changed.
    pub(crate) fn forget(&mut self) {
        self.heads.forget();
    }

    pub(crate) async fn rest(&mut self) {
        self.pen.rest().await;
    }

    pub(crate) async fn close(self) {
        self.pen.close().await;
    }
}

/// From here on no job can be taken back.
fn hold_to_it(jobs: &[Job]) -> Result<(), Failure> {
    match jobs.iter().position(|job| !job.ticket.commit()) {
        Some(index) => Err(Failure::One(index, StoreError::Away("it was taken back".to_owned()))),
        None => Ok(()),
    }
}
