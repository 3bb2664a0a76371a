//! From staged events to committed and published records.

use std::sync::atomic::Ordering;

use pod::Step;
use pod_store::{
    Batch, CommandRow, Committed, InboxRow, LoanChange, MailPut, Patience, PodChange, PodUpdate, RuleChange, StoreError,
};
use protocol::{ApiError, AuditAbout, AuditEntry, CommandId, Event, PodState};

use super::{
    Actor,
    receipts::{Receipts, receipts},
    running,
    staged::{Change, RunEnd, Shown, Staged},
    state::{State, checkpoint},
};
use crate::{git, mail};

/// What else belongs in the transaction.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) command: Option<CommandRow>,
    pub(crate) audit: Option<AuditEntry>,
    pub(crate) inbox_put: Option<InboxRow>,
    pub(crate) inbox_taken: Vec<CommandId>,
    pub(crate) mail_put: Vec<MailPut>,
    pub(crate) mail_taken: Vec<String>,
    pub(crate) loan: Option<LoanChange>,
    /// Changes to the rules of folders and of the whole server.
    pub(crate) rules: Vec<RuleChange>,
    pub(crate) update: PodUpdate,
    pub(crate) delete: bool,
}

impl Extras {
    /// Adds details to the audit row.
    pub(crate) fn about(mut self, about: AuditAbout) -> Self {
        if let Some(audit) = &mut self.audit {
            audit.about = Some(about);
        }
        self
    }
}

/// The outcome of a commit.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Done,
    /// The command had been carried out before; nothing was written.
    Repeated(CommandRow),
}

impl Actor {
    /// Folds steps into the state and encodes them. If the commit then fails, the state is read again from the store.
    pub(super) fn add(&mut self, staged: &mut Staged, steps: Vec<Step>) {
        for mut step in steps {
            self.calls.time(&mut step.event);
            let runs = self.state.pod.bare_runs.len();
            let seq = staged.add(&mut self.state, self.exchange.asked_of(), &step);
            if let Event::Turn(event) = &step.event {
                let begun = &self.state.pod.bare_runs[runs..];
                self.exchange.hear(begun, seq, step.run_id.as_deref(), event);
            }
        }
    }

    /// Commits, then publishes. On failure the state is reloaded from the store.
    pub(super) async fn commit(&mut self, staged: Staged, mut extras: Extras) -> Result<Outcome, ApiError> {
        let (command, audit, rules) = (extras.command.take(), extras.audit.take(), std::mem::take(&mut extras.rules));
        // A command's sender waits and can send it again; for what a Pod does by itself there is nobody to try again.
        let patience = if command.is_some() { Patience::UntilKnown } else { Patience::Endless };
        let Change { change, messages, shown } = match self.change(staged, extras).await {
            Ok(change) => change,
            Err(error) => {
                self.reload().await?;
                return Err(error);
            }
        };
        let audit = audit.into_iter().collect();
        let batch = Batch { command, changes: vec![change], audit, messages, rules, ..Batch::default() };
        match self.exchange.gathering(self.actors.store.commit_with(patience, batch)).await {
            Ok(Committed::Done { .. }) => {
                self.show(shown);
                Ok(Outcome::Done)
            }
            Ok(Committed::Repeated(row)) => {
                self.reload().await?;
                Ok(Outcome::Repeated(row))
            }
            Err(failure) => {
                // These failures affect only this command; everything else continues.
                if !matches!(failure, StoreError::NameTaken(_) | StoreError::Away(_) | StoreError::Lost(_)) {
                    self.exchange.abort();
                    self.calls.abort();
                }
                self.reload().await?;
                Err(failure.into())
            }
        }
    }

    /// What is to be written for this Pod, and what follows once it is.
    pub(super) async fn change(&mut self, staged: Staged, extras: Extras) -> Result<Change, ApiError> {
        let Receipts { receipts, far } = receipts(&self.actors, &self.state, &staged).await?;
        let mut update = extras.update;
        if staged.moves_checkpoint {
            update.checkpoint = Some(checkpoint(&self.state.pod));
            update.updated_at = Some(staged.at);
        }
        if staged.ended.is_some() {
            update.unread = self.feed.count_unread();
        }
        let news = news(&self.state, &staged);
        let shows_row = staged.moves_checkpoint || update.name.is_some() || update.spec.is_some() || extras.delete;
        // What is noted on changes is in the row, and no list shows it.
        let changes_row = shows_row || update.drafts.is_some();
        let shown = Shown {
            records: staged.records.iter().map(|record| (record.seq, record.body.clone())).collect(),
            answers: staged.answers,
            changes_row: shows_row,
            wakes_parent: news.is_some(),
            senders: receipts.iter().map(|receipt| receipt.sender.clone()).collect(),
            counted: staged.counted,
        };
        let mut mail_put = extras.mail_put;
        mail_put.extend(news);
        let (letters, messages): (Vec<_>, Vec<_>) =
            receipts.into_iter().map(|receipt| (receipt.letter, receipt.change)).unzip();
        mail_put.extend(letters);
        let change = PodChange {
            records: staged.records,
            folds: staged.folds,
            spent: staged.spent,
            inbox_put: extras.inbox_put.into_iter().collect(),
            inbox_taken: extras.inbox_taken,
            mail_put,
            mail_taken: extras.mail_taken,
            loan: extras.loan,
            update: (changes_row && !extras.delete).then_some(update),
            delete: extras.delete,
            far,
            ..PodChange::of(self.state.key)
        };
        Ok(Change { change, messages, shown })
    }

    /// Publishes what is now on the disk and notifies those who wait for it.
    pub(super) fn show(&mut self, shown: Shown) {
        let count = shown.records.len() as u64;
        self.feed.publish(shown.records);
        self.actors.records.fetch_add(count, Ordering::Relaxed);
        shown.counted.iter().for_each(|counted| self.actors.meters.add(counted));
        if shown.changes_row {
            git::touched(&self.state.spec);
            self.actors.list.tell_changed(&self.state.worker_id);
            self.tell_of_limit();
        }
        for (call_id, answer) in shown.answers {
            self.waiters.tell(&call_id, &answer);
        }
        if let Some(parent) = self.state.parent.as_ref().filter(|_| shown.wakes_parent) {
            self.actors.wake(&parent.worker_id);
        }
        for sender in shown.senders {
            self.actors.wake(&sender);
        }
    }

    /// If a usage limit ends by itself later, wakes the task that watches the clock.
    pub(super) fn tell_of_limit(&self) {
        if self.state.pod.resumes_at(&self.state.spec).is_some() {
            self.actors.limited.notify_one();
        }
    }

    /// Reads the state again from the store after a failed commit.
    async fn reload(&mut self) -> Result<(), ApiError> {
        (self.state, _) = State::read(&self.actors, &self.state.worker_id).await?;
        self.exchange.forget();
        self.read_tail().await?;
        self.exchange.ask_again(&self.actors, &self.state, &self.servers.clients);
        Ok(())
    }

    /// Folds in what the journal has beyond the checkpoint.
    pub(super) async fn read_tail(&mut self) -> Result<(), ApiError> {
        let actors = &self.actors;
        if actors.store.hosts().is_shared() {
            // Another host may have written to this journal, for its own run of the Pod or on its behalf; viewers get
            // those records first.
            actors.patiently(|| actors.follow_now(&self.feed)).await?;
        }
        self.state.fold_in_tail(actors).await
    }

    /// Closes what a crash left open.
    pub(super) async fn recover(&mut self) -> Result<(), ApiError> {
        let decision = self.state.recovery(&self.actors);
        let pod = &self.state.pod;
        let open: Vec<_> = pod.calls.iter().chain(&pod.operator_calls).map(|call| call.call_id.clone()).collect();
        if !decision.steps.is_empty() {
            let mut staged = Staged::new();
            self.add(&mut staged, decision.steps);
            self.commit(staged, Extras::default()).await?;
        }
        let outputs = self.actors.outputs_of(&self.state.worker_id);
        open.iter().for_each(|call_id| running::forget(&outputs, call_id));
        Ok(())
    }

    /// Reloads the state after a change that was not made. If work was ended for the change it cannot continue, so its
    /// run is closed as after a crash.
    pub(super) async fn read_again(&mut self, has_ended_work: bool) {
        let mut read = self.reload().await;
        if read.is_ok() && has_ended_work {
            read = self.recover().await;
        }
        if let Err(error) = read {
            tracing::error!(%error, pod = %self.state.name, "a Pod's state could not be read again");
        }
    }
}

/// The mail that tells the parent how a run ended. A stop is reported by whoever stops the Pod.
fn news(state: &State, staged: &Staged) -> Option<MailPut> {
    let parent = state.parent.as_ref().filter(|_| state.pod.state != PodState::Stopped)?;
    let RunEnd { outcome, detail, at } = staged.ended.as_ref()?;
    let body = mail::of_run(state.label(), *outcome, detail.as_deref())?;
    // The position of the end tells two ends apart when the next run begins in the same change.
    let key = format!("run:{}:{}:{at}", state.worker_id, state.pod.runs);
    Some(MailPut { to: parent.key, key, body: body.encode(), at: staged.at })
}
