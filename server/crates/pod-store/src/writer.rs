//! The journal writer: one task, and the only place that changes a database.
//!
//! It never answers before the commit, and never lets one bad batch affect another.

mod commands;
mod failure;
mod group;
mod leases;
mod plan;
mod tables;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use self::failure::Failure;
pub(crate) use self::group::Committer;
use crate::{
    Batch, Committed, MessageChange, PodChange, PodKey, StoreError,
    chore::Chore,
    meters::{Meters, Waiting},
    on_the_spot::settled,
    outage::{OutageKind, Ticket},
    reader::Reader,
    txn::WriteError,
};

/// How many batches may wait for the writer; beyond that, [`crate::Store::commit`] waits.
pub(crate) const QUEUE_JOBS_MAX: usize = 1024;
/// The most records and bytes in one transaction; the rest goes into the next. A batch is never split.
const GROUP_RECORDS_MAX: usize = 16_384;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Memory is released after this long without writes.
const REST_AFTER: Duration = Duration::from_secs(2);

/// How often a group that conflicted with another host is retried at once.
const AGAIN_MAX: usize = 5;

/// The first pause before a database that could not be written is tried again; it doubles each time up to the maximum.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(1);

/// One batch, and where its outcome goes.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) batch: Batch,
    pub(crate) chore: Option<Chore>,
    pub(crate) answer: oneshot::Sender<Result<Committed, StoreError>>,
    pub(crate) ticket: Ticket,
    /// `None` if nobody waits.
    pub(crate) waiting: Option<Waiting>,
}

impl Job {
    /// Writes nothing new, and nobody waits for it.
    pub(crate) fn probe() -> Self {
        let (answer, _) = oneshot::channel();
        Self { batch: Batch::default(), chore: Some(Chore::Probe), answer, ticket: Ticket::default(), waiting: None }
    }

    fn answer(self, outcome: Result<Committed, StoreError>) {
        // The caller may have stopped waiting; the batch counts all the same.
        drop(self.answer.send(outcome));
    }

    /// True if it has to be the only job in its group.
    fn goes_alone(&self) -> bool {
        self.is_rejoin() || self.batch.changes.iter().any(|change| change.delete)
    }

    fn is_rejoin(&self) -> bool {
        matches!(self.chore, Some(Chore::Rejoin))
    }

    fn records(&self) -> usize {
        self.batch.changes.iter().map(|change| change.records.len()).sum()
    }

    fn size(&self) -> (usize, usize) {
        let records = || self.batch.changes.iter().flat_map(|change| &change.records);
        let mail = self.batch.changes.iter().flat_map(|change| &change.mail_put);
        let mail = mail.map(|mail| mail.body.len());
        let messages = self.batch.messages.iter().map(|change| match change {
            MessageChange::Put(message) => message.text.len(),
            MessageChange::State { .. } => 0,
        });
        let bytes = records().map(|record| record.body.len()).chain(mail).chain(messages).sum();
        (records().count(), bytes)
    }
}

/// Gathers jobs, has them committed in groups, and answers everyone.
pub(crate) struct Writer {
    committer: Committer,
    /// For finding out which Pod name was taken; not used for good batches.
    reader: Reader,
    meters: Meters,
    /// How often the current group has conflicted with another host.
    again: usize,
    /// How long to wait before the next try.
    retry_after: Duration,
}

impl Writer {
    pub(crate) fn new(committer: Committer, reader: Reader, meters: Meters) -> Self {
        Self { committer, reader, meters, again: 0, retry_after: RETRY_FIRST }
    }

    /// Runs until every sender is gone and the queue is empty.
    pub(crate) async fn run(mut self, mut incoming: mpsc::Receiver<Job>) {
        let mut gathered = Vec::with_capacity(QUEUE_JOBS_MAX);
        while self.gather(&mut incoming, &mut gathered).await > 0 {
            let mut groups = cut_into_groups(gathered.drain(..));
            while let Some(group) = groups.pop_front() {
                self.meters.set_oldest(oldest(&group));
                for rest in self.settle(group).await.into_iter().rev() {
                    groups.push_front(rest);
                }
            }
            self.meters.set_oldest(None);
        }
        if !self.reader.health.is_out() {
            settled(self.committer.close()).await;
        }
    }

    /// Collects what has arrived and returns how many; 0 when nothing will ever come again.
    async fn gather(&mut self, incoming: &mut mpsc::Receiver<Job>, gathered: &mut Vec<Job>) -> usize {
        while self.reader.health.is_out() {
            match timeout(RETRY_MAX, incoming.recv_many(gathered, QUEUE_JOBS_MAX)).await {
                Ok(count) => return count,
                // Nobody writes, so nobody would notice that writing works again.
                Err(_) => drop(self.settle(vec![Job::probe()]).await),
            }
        }
        if let Ok(count) = timeout(REST_AFTER, incoming.recv_many(gathered, QUEUE_JOBS_MAX)).await {
            return count;
        }
        settled(self.committer.rest()).await;
        incoming.recv_many(gathered, QUEUE_JOBS_MAX).await
    }

    /// Commits a group and answers it. Returns what has to be tried again, in smaller groups.
    async fn settle(&mut self, mut group: Vec<Job>) -> Vec<Vec<Job>> {
        if group.first().is_some_and(Job::is_rejoin) {
            let joined = self.committer.rejoin().await;
            group.into_iter().for_each(|job| job.answer(joined.clone()));
            return Vec::new();
        }
        if !self.committer.is_in_doubt() {
            // Taken-back jobs must not hold up later ones.
            group.retain(|job| !job.ticket.is_taken_back());
        }
        if group.is_empty() {
            return Vec::new();
        }
        if self.committer.is_fenced() {
            self.meters.fenced.inc();
            return answer_all(group, &StoreError::Fenced);
        }
        let tried = self.commit(&group).await;
        if matches!(tried, Ok(_) | Err(Failure::All(_))) {
            self.retry_after = RETRY_FIRST;
            self.reader.health.written();
        }
        match tried {
            Ok(outcomes) => {
                self.again = 0;
                group.into_iter().zip(outcomes).for_each(|(job, outcome)| job.answer(Ok(outcome)));
                Vec::new()
            }
            Err(Failure::One(index, error)) => {
                let before = group.len();
                group.retain(|job| !job.ticket.is_taken_back());
                if group.len() == before {
                    group.remove(index).answer(Err(error));
                }
                if group.is_empty() { Vec::new() } else { vec![group] }
            }
            // Bisecting finds the bad batch with few transactions, however many were gathered.
            Err(Failure::Someone(_)) if group.len() > 1 => {
                let tail = group.split_off(group.len() / 2);
                vec![group, tail]
            }
            Err(Failure::Someone(error)) => {
                let error = match group.first() {
                    Some(job) => self.explain(error, &job.batch).await,
                    None => StoreError::Conflict,
                };
                answer_all(group, &error)
            }
            Err(Failure::Again(sentence)) if self.again >= AGAIN_MAX => {
                self.again = 0;
                self.wait_out(group, OutageKind::Away, &sentence).await
            }
            Err(Failure::Again(_)) => {
                self.again += 1;
                vec![group]
            }
            Err(Failure::Away(sentence)) => self.wait_out(group, OutageKind::Away, &sentence).await,
            Err(Failure::Lost(sentence)) => self.wait_out(group, OutageKind::Lost, &sentence).await,
            Err(Failure::All(error)) => answer_all(group, &error),
        }
    }

    async fn commit(&mut self, group: &[Job]) -> Result<Vec<Committed>, Failure> {
        let records: usize = group.iter().map(Job::records).sum();
        // Of no run: a transaction writes for many at once.
        let span = tracing::span!(
            target: "otel", parent: None, tracing::Level::TRACE, "commit",
            "yoi.commit.batches" = group.len(),
            "yoi.commit.records" = records,
            "error.type" = tracing::field::Empty,
            "otel.status_code" = tracing::field::Empty,
        );
        let began = Instant::now();
        let tried = self.committer.commit_in_txn(group).await;
        match &tried {
            Ok(_) => {
                self.meters.committed(began.elapsed(), group.len(), records);
            }
            Err(Failure::All(StoreError::Fenced)) => {
                self.meters.fenced.inc();
            }
            Err(_) => (),
        }
        if let Err(failure) = &tried {
            span.record("error.type", failure.word());
            span.record("otel.status_code", "ERROR");
        }
        tried
    }

    /// Waits a little, and returns the group without the jobs that were taken back, to be retried before anything that
    /// came later. In doubt the group stays unchanged.
    async fn wait_out(&mut self, mut group: Vec<Job>, kind: OutageKind, why: &str) -> Vec<Vec<Job>> {
        self.reader.health.write_failed(kind, why);
        if !self.committer.is_in_doubt() {
            group.iter().for_each(|job| job.ticket.reopen());
            group.retain(|job| !job.ticket.is_taken_back());
        }
        let mut closing = self.reader.health.closing.subscribe();
        // If this fails, whoever closes the store is still there.
        let is_closing = timeout(self.retry_after, closing.wait_for(|closing| *closing)).await.is_ok();
        self.retry_after = (self.retry_after * 2).min(RETRY_MAX);
        match is_closing {
            true => answer_all(group, &StoreError::Closed),
            false if group.is_empty() => Vec::new(),
            false => vec![group],
        }
    }

    /// What the refusal of a single batch means to its caller.
    async fn explain(&mut self, error: WriteError, batch: &Batch) -> StoreError {
        match error {
            WriteError::NameTaken => self.name_taken(batch).await,
            WriteError::Conflict => {
                self.committer.forget();
                StoreError::Conflict
            }
            error => error.into(),
        }
    }

    async fn name_taken(&mut self, batch: &Batch) -> StoreError {
        for change in &batch.changes {
            let Some(name) = wanted_name(change) else { continue };
            let holder = self.reader.select("select key from pods where name = $1").bind(name.as_str());
            match holder.one("look up a Pod by name", |(key,)| Ok(PodKey(key))).await {
                Ok(Some(holder)) if Some(holder) != change.key => return StoreError::NameTaken(name.clone()),
                Ok(_) => {}
                Err(error) => return error,
            }
        }
        // No existing Pod has the name: the batch itself gives two Pods the same one.
        match batch.changes.iter().rev().find_map(wanted_name) {
            Some(name) => StoreError::NameTaken(name.clone()),
            None => StoreError::Conflict,
        }
    }
}

/// Since when the oldest of these jobs waits.
fn oldest(group: &[Job]) -> Option<Instant> {
    group.iter().filter_map(|job| job.waiting.as_ref()).map(|waiting| waiting.since).min()
}

fn wanted_name(change: &PodChange) -> Option<&protocol::PodName> {
    let created = change.create.as_ref().map(|pod| &pod.name);
    change.update.as_ref().and_then(|update| update.name.as_ref()).or(created)
}

fn answer_all(group: Vec<Job>, error: &StoreError) -> Vec<Vec<Job>> {
    group.into_iter().for_each(|job| job.answer(Err(error.clone())));
    Vec::new()
}

/// Groups within the limits, in order. A batch that deletes a Pod goes alone, because within a group the order of
/// changes to one Pod is lost.
fn cut_into_groups(jobs: impl Iterator<Item = Job>) -> VecDeque<Vec<Job>> {
    let mut groups = VecDeque::new();
    let mut group: Vec<Job> = Vec::new();
    let (mut records, mut bytes) = (0, 0);
    for job in jobs {
        let (job_records, job_bytes) = job.size();
        let is_full = records + job_records > GROUP_RECORDS_MAX || bytes + job_bytes > GROUP_BYTES_MAX;
        if !group.is_empty() && (is_full || job.goes_alone() || group.last().is_some_and(Job::goes_alone)) {
            groups.push_back(std::mem::take(&mut group));
            (records, bytes) = (0, 0);
        }
        records += job_records;
        bytes += job_bytes;
        group.push(job);
    }
    if !group.is_empty() {
        groups.push_back(group);
    }
    groups
}
