//! One group of batches in one transaction, step by step.
//!
//! A step that no batch of the group needs costs nothing: no statement, no hop to the database's thread.

use std::collections::{HashMap, HashSet};

use protocol::{CommandId, Seq};

use super::{Job, Writer, leases::Beside, plan::Plan};
use crate::{CommandRow, Committed, PodChange, PodKey, Step, StoreError, engine::WriteError, heads::Heads};

/// Why nothing of a group was written, and whose fault it was.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The batch at this index is wrong; the others may be tried again without it.
    One(usize, StoreError),
    /// The database refused a statement: some batch is wrong.
    Someone(WriteError),
    /// It stood in another host's way, and may be tried again as it is.
    Again(String),
    /// The database cannot be written now. It is tried again until it can; in doubt whether it was written, it is looked first.
    Away(String),
    /// As [`Failure::Away`], because the database is gone; it is looked for until it is put back.
    Lost(String),
    /// Trying again would not help.
    All(StoreError),
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Failed(sentence) => Self::Away(sentence),
            WriteError::Lost(sentence) => Self::Lost(sentence),
            WriteError::Again(sentence) => Self::Again(sentence),
            refused => Self::Someone(refused),
        }
    }
}

impl Writer {
    /// Writes the whole group or nothing of it; one outcome for each job.
    pub(crate) async fn commit_in_txn(&mut self, jobs: &[Job]) -> Result<Vec<Committed>, Failure> {
        let outcomes = self.write(jobs).await;
        if outcomes.is_err() {
            self.pen.rollback().await;
            self.heads.roll_back();
        }
        outcomes
    }

    async fn write(&mut self, jobs: &[Job]) -> Result<Vec<Committed>, Failure> {
        self.pen.find()?;
        if self.doubt.is_none()
            && let Some(outcomes) = self.append_alone(jobs).await?
        {
            return Ok(outcomes);
        }
        self.fault(Step::Begin)?;
        self.pen.begin().await?;
        self.fence().await?;
        if let Some(outcomes) = self.found_written(jobs).await? {
            return Ok(outcomes);
        }
        let standing = self.commands(jobs).await?;
        let mut plan = Plan::of(jobs.iter().enumerate().filter(|(index, _)| !standing.contains_key(index)));
        self.check(&plan).await?;
        self.tables(&mut plan).await?;
        for chore in jobs.iter().filter_map(|job| job.chore.as_ref()) {
            self.pen.chore(chore).await?;
        }
        let outcome = |index| match standing.get(&index) {
            Some(row) => Committed::Repeated(row.clone()),
            None => plan.outcome(index),
        };
        let outcomes: Vec<Committed> = (0..jobs.len()).map(outcome).collect();
        self.finish(jobs, &outcomes).await?;
        Ok(outcomes)
    }

    pub(crate) fn fault(&self, step: Step) -> Result<(), Failure> {
        let failed = self.faults.as_ref().map_or(Ok(()), |faults| faults.before(step));
        failed.map_err(|error| match error {
            StoreError::Away(why) => Failure::Away(why),
            error => Failure::All(error),
        })
    }

    /// The outcomes of this group, if its commit failed and is on the disk all the same. Ends the transaction then.
    async fn found_written(&mut self, jobs: &[Job]) -> Result<Option<Vec<Committed>>, Failure> {
        if self.doubt.is_none() {
            return Ok(None);
        }
        let has_landed = match self.pen.landed().await? {
            Some(has_landed) => has_landed,
            None => self.is_in_journal(jobs).await?,
        };
        let outcomes = self.doubt.take().filter(|_| has_landed);
        if outcomes.is_some() {
            self.pen.rollback().await;
            self.heads.roll_back();
        }
        Ok(outcomes)
    }

    /// Whether the records of a group are there: with one of them all is. One without records cannot be told so; no engine
    /// that knows no better fails in a commit that counts.
    async fn is_in_journal(&mut self, jobs: &[Job]) -> Result<bool, Failure> {
        let mut changes = jobs.iter().flat_map(|job| &job.batch.changes);
        let Some((key, last)) = changes.find_map(|change| Some((change.key?, change.records.last()?.seq))) else {
            return Ok(false);
        };
        Ok(self.pen.heads(&[key]).await?.first().is_some_and(|(_, head)| *head >= last))
    }

    /// From here on nobody takes anything back.
    fn hold_to_it(&self, jobs: &[Job]) -> Result<(), Failure> {
        match jobs.iter().position(|job| !job.ticket.commit()) {
            Some(index) => Err(Failure::One(index, StoreError::Away("it was taken back".to_owned()))),
            None => Ok(()),
        }
    }

    /// Text that streams in is records and nothing else, of Pods that are known: one statement, which is a transaction.
    async fn append_alone(&mut self, jobs: &[Job]) -> Result<Option<Vec<Committed>>, Failure> {
        let is_append = |job: &Job| job.chore.is_none() && job.batch.has_records_alone();
        let is_known = |job: &Job| {
            job.batch.changes.iter().filter_map(|change| change.key).all(|key| self.heads.get(key).is_some())
        };
        if self.cluster.is_some() || !jobs.iter().all(|job| is_append(job) && is_known(job)) {
            return Ok(None);
        }
        let plan = Plan::of(jobs.iter().enumerate());
        if self.check(&plan).await.is_err() {
            // Step by step it is found out what is wrong; that another host has come goes before all.
            self.heads.roll_back();
            return Ok(None);
        }
        for step in [Step::Begin, Step::Fence, Step::Records, Step::Commit] {
            self.fault(step)?;
        }
        self.hold_to_it(jobs)?;
        let outcomes: Vec<Committed> = (0..jobs.len()).map(|index| plan.outcome(index)).collect();
        match self.pen.records_append_alone(self.host_epoch, &plan.records()).await {
            Ok(Some(true)) => (),
            Ok(Some(false)) => return Err(self.fenced()),
            Ok(None) => {
                self.heads.roll_back();
                return Ok(None);
            }
            // It may be on the disk or not.
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
        self.fault(Step::Fence)?;
        match self.pen.host_epoch().await? == self.host_epoch {
            true => Ok(()),
            false => Err(self.fenced()),
        }
    }

    fn fenced(&mut self) -> Failure {
        self.is_fenced = true;
        match &self.cluster {
            Some(hosts) => hosts.tell_lost(),
            None => tracing::error!("another yoi process has taken over the database; nothing more is written here"),
        }
        Failure::All(StoreError::Fenced)
    }

    /// Claims the group's command ids. Gives the rows of those batches whose id stood before, or is claimed by an
    /// earlier batch of the group.
    async fn commands(&mut self, jobs: &[Job]) -> Result<HashMap<usize, CommandRow>, Failure> {
        let rows = jobs.iter().enumerate().filter_map(|(index, job)| Some((index, job.batch.command.as_ref()?)));
        let rows: Vec<(usize, &CommandRow)> = rows.collect();
        if rows.is_empty() {
            return Ok(HashMap::new());
        }
        self.fault(Step::Command)?;
        let mut first_of_id: HashMap<&CommandId, &CommandRow> = HashMap::new();
        let mut repeated = Vec::new();
        for (index, row) in rows {
            if first_of_id.contains_key(&row.id) {
                repeated.push((index, &row.id));
            } else {
                first_of_id.insert(&row.id, row);
            }
        }
        let mut first: Vec<&CommandRow> = first_of_id.values().copied().collect();
        first.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
        let inserted = self.pen.commands_insert(&first).await?;
        let standing = self.commands_standing(&first, &inserted).await?;
        let row_of = |id: &CommandId| standing.get(id).or_else(|| first_of_id.get(id).copied()).cloned();

        let old = jobs.iter().enumerate().filter_map(|(index, job)| {
            let id = &job.batch.command.as_ref()?.id;
            standing.contains_key(id).then_some((index, id))
        });
        Ok(old.chain(repeated).filter_map(|(index, id)| Some((index, row_of(id)?))).collect())
    }

    async fn commands_standing(
        &mut self,
        rows: &[&CommandRow],
        inserted: &HashSet<CommandId>,
    ) -> Result<HashMap<CommandId, CommandRow>, Failure> {
        let old: Vec<&CommandId> = rows.iter().map(|row| &row.id).filter(|id| !inserted.contains(*id)).collect();
        if old.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self.pen.commands_find(&old).await?;
        Ok(found.into_iter().map(|row| (row.id.clone(), row)).collect())
    }

    /// Refuses changes of Pods that are not there or not this host's, and records that do not follow on the head.
    async fn check(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let mut beside = self.learn(plan).await?;
        let head = |heads: &Heads, key: PodKey, beside: &Beside| heads.get(key).or_else(|| beside.get(key));
        if let Some((job, _)) = plan.named().find(|(_, key)| head(&self.heads, *key, &beside).is_none()) {
            return Err(Failure::One(job, StoreError::PodGone));
        }
        for planned in &plan.changes {
            let fail = |error| Failure::One(planned.job, error);
            if parent_of(planned.change).is_some_and(|parent| head(&self.heads, parent, &beside).is_none()) {
                return Err(fail(StoreError::PodGone));
            }
            let known = match (planned.key, &planned.change.create) {
                (_, Some(_)) => Seq(0),
                (Some(key), None) => head(&self.heads, key, &beside).ok_or_else(|| fail(StoreError::PodGone))?,
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

    async fn finish(&mut self, jobs: &[Job], outcomes: &[Committed]) -> Result<(), Failure> {
        self.fault(Step::Commit)?;
        self.hold_to_it(jobs)?;
        if let Err(error) = self.pen.commit().await {
            self.heads.forget();
            return Err(match error {
                // It may be on the disk or not: that is found out before anything is tried again.
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

    /// It is on the disk; unless the file was deleted meanwhile.
    fn written(&mut self, outcomes: &[Committed]) -> Result<(), Failure> {
        self.heads.commit();
        let told = self.fault(Step::Answer).and_then(|()| Ok(self.pen.find()?));
        if matches!(told, Err(Failure::Away(_) | Failure::Lost(_))) {
            self.doubt(outcomes);
        }
        told
    }

    fn doubt(&mut self, outcomes: &[Committed]) {
        self.heads.forget();
        self.doubt = Some(outcomes.to_vec());
    }
}

pub(crate) fn parent_of(change: &PodChange) -> Option<PodKey> {
    change.parent.as_ref().map(|link| link.parent)
}

/// The journal's head after a change's records, which must follow on it without a gap. The journal of a Pod that comes
/// into being may have some, as any journal has whose chunks were folded away.
pub(crate) fn head_after(head: Seq, change: &PodChange) -> Result<Seq, StoreError> {
    let may_leave_out = change.create.is_some();
    change.records.iter().try_fold(head, |head, record| {
        let follows = record.seq == head.next() || (may_leave_out && record.seq > head);
        if follows { Ok(record.seq) } else { Err(StoreError::Conflict) }
    })
}
