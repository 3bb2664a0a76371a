//! From decided events to committed and shown records.

use jiff::Timestamp;
use pod::{Pod, Step, recover};
use pod_store::{
    Batch, Checkpoint, CommandRow, Committed, Fold, InboxRow, LoanChange, MailPut, MessageChange, NewRecord, Patience,
    PodChange, PodUpdate, Spent, StoreError,
};
use protocol::{
    ApiError, AuditAbout, AuditEntry, CommandId, ControlEvent, Event, Outcome as RunOutcome, PeerLabel, PodState,
    ReceiptState, Record, Seq, ToolAnswer, ToolBy, Trigger, TurnEvent, WorkerId,
};

use super::{PodTask, portion::gathering, receipts::Receipts, running, spending};
use crate::{clock, encode, error, mail};

/// Records read at once while a journal's end is folded in.
const CATCH_UP_RECORDS: u32 = 10_000;

/// Events that have been folded in and encoded, and are not committed yet.
pub(super) struct Staged {
    at: Timestamp,
    at_text: String,
    records: Vec<NewRecord>,
    folds: Vec<Fold>,
    /// What they say was used.
    spent: Vec<Spent>,
    /// Something other than a chunk is among them, so the checkpoint moves.
    moves_checkpoint: bool,
    run_ended: bool,
    /// How the run ended, for the Pod that leads this one.
    ended: Option<(RunOutcome, Option<String>)>,
    /// Where the record of that end is.
    ended_at: Seq,
    /// Tools that a person ran and that have ended.
    answers: Vec<(String, ToolAnswer)>,
    /// A run began that nobody but a peer asked for.
    pub(super) begun_by_peer: bool,
    /// Messages of peers that were read or answered here, and those that the sender tells of.
    pub(super) receipts: Vec<MessageStep>,
}

/// A message that has come further, as the journal says it.
pub(super) struct MessageStep {
    pub(super) message_id: String,
    /// The Pod on the other side.
    pub(super) peer: PeerLabel,
    pub(super) state: ReceiptState,
    pub(super) turn: Option<u64>,
}

/// What a change brings to those who look and those who wait, once it is on the disk.
#[derive(Debug, Default)]
pub(super) struct Shown {
    records: Vec<(Seq, bytes::Bytes)>,
    answers: Vec<(String, ToolAnswer)>,
    changes_row: bool,
    wakes_parent: bool,
    /// Pods whose messages have come further.
    senders: Vec<WorkerId>,
}

/// What else belongs into the transaction.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) command: Option<CommandRow>,
    pub(crate) audit: Option<AuditEntry>,
    pub(crate) inbox_put: Option<InboxRow>,
    pub(crate) inbox_taken: Vec<CommandId>,
    pub(crate) mail_put: Vec<MailPut>,
    pub(crate) mail_taken: Vec<String>,
    pub(crate) loan: Option<LoanChange>,
    pub(crate) update: PodUpdate,
    pub(crate) delete: bool,
}

impl Extras {
    /// Its audit row says more than who did what to this Pod.
    pub(crate) fn about(mut self, about: AuditAbout) -> Self {
        if let Some(audit) = &mut self.audit {
            audit.about = Some(about);
        }
        self
    }
}

/// What came of a commit.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Done,
    /// The command had been carried out before; nothing was written.
    Repeated(CommandRow),
}

/// The folded state, as the store keeps it.
pub(crate) fn checkpoint(pod: &Pod) -> Checkpoint {
    Checkpoint {
        state: pod.shown_state(),
        open: pod.is_open(),
        json: serde_json::to_string(pod).expect("a Pod's state always encodes"),
        seq: pod.head,
    }
}

impl Staged {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Control(ControlEvent::RunStarted { trigger: Trigger::Peer, .. }) => self.begun_by_peer = true,
            Event::Control(ControlEvent::RunFinished { outcome, detail, .. }) => {
                self.run_ended = true;
                self.ended = Some((*outcome, detail.clone()));
            }
            Event::Control(ControlEvent::MessageReceipt {
                message_id,
                peer,
                state: state @ (ReceiptState::Read | ReceiptState::Answered | ReceiptState::Expired),
                turn,
                ..
            }) => self.receipts.push(MessageStep {
                message_id: message_id.clone(),
                peer: peer.clone(),
                state: *state,
                turn: *turn,
            }),
            Event::Turn(TurnEvent::ToolFinished {
                call_id,
                summary,
                content,
                is_error,
                code,
                by: ToolBy::Operator,
                ..
            }) => {
                let answer = ToolAnswer {
                    summary: summary.clone(),
                    content: content.clone(),
                    is_error: *is_error,
                    code: code.clone(),
                };
                self.answers.push((call_id.clone(), answer));
            }
            _ => (),
        }
    }
}

impl PodTask {
    pub(super) fn stage(&self) -> Staged {
        let at = clock::now();
        Staged {
            at,
            at_text: encode::timestamp(at),
            records: Vec::new(),
            folds: Vec::new(),
            spent: Vec::new(),
            moves_checkpoint: false,
            run_ended: false,
            ended: None,
            ended_at: Seq(0),
            answers: Vec::new(),
            begun_by_peer: false,
            receipts: Vec::new(),
        }
    }

    /// Folds steps in and encodes them. If the commit then fails, the state is read again from the store.
    pub(super) fn add(&mut self, staged: &mut Staged, steps: Vec<Step>) {
        for mut step in steps {
            self.work.time(&mut step.event);
            let seq = self.pod.head.next();
            staged.folds.extend(self.fold(&step.event));
            staged.spent.extend(spending::spent(&self.pod, staged.at, &step.event));
            let bare_runs = self.pod.bare_runs.len();
            self.pod.evolve_at(seq, staged.at, &step.event);
            if let Event::Turn(event) = &step.event {
                self.pod.bare_runs[bare_runs..].iter().for_each(|(_, ordinal)| self.conversation.begin_run(*ordinal));
                self.conversation.push(seq, step.run_id.as_deref(), event);
            }
            staged.moves_checkpoint |= !matches!(&step.event, Event::Turn(event) if event.is_chunk());
            staged.note(&step.event);
            if matches!(&step.event, Event::Control(ControlEvent::RunFinished { .. })) {
                staged.ended_at = seq;
            }
            staged.records.push(encode::record(seq, &staged.at_text, &step, self.spec.reasoning));
        }
    }

    /// The chunks that this event replaces as a whole.
    fn fold(&self, event: &Event) -> Option<Fold> {
        let Event::Turn(event) = event else { return None };
        let block = match event {
            TurnEvent::MessageFinished { block, .. }
            | TurnEvent::ReasoningFinished { block, .. }
            | TurnEvent::ToolCalled { block, .. }
            | TurnEvent::ToolFinished { block, .. } => block,
            _ => return None,
        };
        let open = self.pod.open_blocks.iter().find(|open| open.id == *block)?;
        // Other blocks may have chunks in between: those are folded only when they are the only ones.
        (self.pod.open_blocks.len() == 1).then(|| Fold {
            block: block.clone(),
            from: open.first_seq,
            to: self.pod.head,
        })
    }

    /// Commits, then shows. On failure the state is what the store says.
    pub(super) async fn commit(&mut self, staged: Staged, mut extras: Extras) -> Result<Outcome, ApiError> {
        let (command, audit) = (extras.command.take(), extras.audit.take());
        // A command has somebody who waits for it and can send it again; what a Pod does by itself has nobody.
        let patience = if command.is_some() { Patience::UntilKnown } else { Patience::Endless };
        let (change, messages, shown) = match self.change(staged, extras).await {
            Ok(changed) => changed,
            Err(error) => {
                self.reload().await?;
                return Err(error);
            }
        };
        let audit = audit.into_iter().collect();
        let batch = Batch { command, changes: vec![change], audit, messages, ..Batch::default() };
        match gathering(self.work.answer.as_mut(), self.inner.store.commit_with(patience, batch)).await {
            Ok(Committed::Done { .. }) => {
                self.show(shown).await;
                Ok(Outcome::Done)
            }
            Ok(Committed::Repeated(row)) => {
                self.reload().await?;
                Ok(Outcome::Repeated(row))
            }
            Err(failure) => {
                // Without this command all goes on as it was.
                if !matches!(failure, StoreError::NameTaken(_) | StoreError::Away(_) | StoreError::Lost(_)) {
                    self.work.abort();
                }
                self.reload().await?;
                Err(error::store_failed(failure))
            }
        }
    }

    /// What is to be written for this Pod, and what comes of it.
    pub(super) async fn change(
        &mut self,
        staged: Staged,
        extras: Extras,
    ) -> Result<(PodChange, Vec<MessageChange>, Shown), ApiError> {
        let Receipts { receipts, far } = self.receipts(&staged).await?;
        let mut update = extras.update;
        if staged.moves_checkpoint {
            update.checkpoint = Some(checkpoint(&self.pod));
            update.updated_at = Some(staged.at);
        }
        if staged.run_ended {
            update.unread = self.feed.count_unread();
        }
        let mut mail_put = extras.mail_put;
        let news = self.news(&staged);
        let senders = receipts.iter().map(|receipt| receipt.sender.clone()).collect();
        let shown = Shown {
            records: staged.records.iter().map(|record| (record.seq, record.body.clone())).collect(),
            answers: staged.answers,
            changes_row: staged.moves_checkpoint || update.name.is_some() || update.spec.is_some() || extras.delete,
            wakes_parent: news.is_some(),
            senders,
        };
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
            update: (shown.changes_row && !extras.delete).then_some(update),
            delete: extras.delete,
            far,
            ..PodChange::of(self.key)
        };
        Ok((change, messages, shown))
    }

    /// What the Pod that leads this one is to be told of the end of a run. A stop is told by who stops.
    fn news(&self, staged: &Staged) -> Option<MailPut> {
        let parent = self.parent.as_ref().filter(|_| self.pod.state != PodState::Stopped)?;
        let (outcome, detail) = staged.ended.as_ref()?;
        let body = mail::of_run(self.label(), *outcome, detail.as_deref())?;
        let key = format!("run:{}:{}", self.worker_id, self.pod.runs);
        // The place of the end tells two of them apart when the next run has begun in the same change.
        let key = format!("{key}:{}", staged.ended_at);
        Some(MailPut { to: parent.key, key, body: body.encode(), at: staged.at })
    }

    /// Shows what is on the disk now, and tells those who wait for it.
    pub(super) async fn show(&mut self, shown: Shown) {
        let count = shown.records.len() as u64;
        self.feed.publish(shown.records);
        self.inner.records.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        if shown.changes_row {
            self.inner.list.tell_changed(&self.worker_id);
        }
        for (call_id, answer) in shown.answers {
            for waiter in self.waiters.remove(&call_id).unwrap_or_default() {
                // Whoever asked may have gone away.
                let _ = waiter.send(Ok(answer.clone()));
            }
        }
        if let Some(parent) = self.parent.as_ref().filter(|_| shown.wakes_parent) {
            self.inner.wake(&parent.worker_id);
        }
        for sender in shown.senders {
            self.inner.wake(&sender);
        }
    }

    /// Reads the state again from the store, after a commit that did not happen.
    pub(super) async fn reload(&mut self) -> Result<(), ApiError> {
        let inner = self.inner.clone();
        let row = inner.patiently(|| inner.store.pod_find(&self.worker_id)).await.map_err(error::store_failed)?;
        let row = row.ok_or_else(|| error::no_such_pod(&self.worker_id))?;
        let opened =
            crate::view::open(&row).map_err(|reason| ApiError::new(protocol::ErrorCode::NotRestorable, reason))?;
        self.pod = opened.pod;
        self.spec = pod::PodSpec { shell_is_unconfined: !inner.equipment.walls.hold_commands().await, ..opened.spec };
        self.parent = row.parent;
        self.name = row.name;
        self.conversation.forget();
        self.inbox = inner.patiently(|| inner.store.inbox(self.key)).await.map_err(error::store_failed)?.into();
        if inner.store.is_shared() {
            // Another host may have written here, for this one, and not have told of it.
            inner.patiently(|| inner.follow_now(&self.feed)).await.map_err(error::store_failed)?;
        }
        self.fold_in_tail().await.map_err(error::store_failed)?;
        self.ask_again();
        Ok(())
    }

    /// Folds in what the journal holds beyond the checkpoint, and closes what a crash left open.
    pub(super) async fn catch_up(&mut self) -> Result<(), ApiError> {
        self.fold_in_tail().await.map_err(error::store_failed)?;
        let outputs = self.inner.outputs_of(&self.worker_id);
        let open: Vec<_> =
            self.pod.calls.iter().chain(&self.pod.operator_calls).map(|call| call.call_id.clone()).collect();
        let decision = recover(&self.pod, |call_id| running::last_seen(&outputs, call_id));
        if !decision.steps.is_empty() {
            let mut staged = self.stage();
            self.add(&mut staged, decision.steps);
            self.commit(staged, Extras::default()).await?;
        }
        open.iter().for_each(|call_id| running::forget(&outputs, call_id));
        Ok(())
    }

    async fn fold_in_tail(&mut self) -> Result<(), StoreError> {
        loop {
            let (inner, key, head) = (&self.inner, self.key, self.pod.head);
            let read = || inner.store.records_after(key, head, CATCH_UP_RECORDS, usize::MAX);
            let rows = inner.patiently(read).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
            for row in &rows {
                match serde_json::from_slice::<Record>(&row.body) {
                    Ok(record) => self.pod.apply(&record),
                    Err(_) => self.pod.head = self.pod.head.max(row.seq),
                }
            }
            self.pod.head = self.pod.head.max(last);
            debug_assert!(last > Seq(0), "seqs begin at 1");
        }
    }
}
