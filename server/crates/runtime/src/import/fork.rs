//! Creates a Pod from another Pod's journal up to one of its records: idle, with the same settings, and with nothing that
//! ties it to other Pods.
//!
//! As with an import, a copied record is history and has no effects.

use jiff::Timestamp;
use pod::{Pod, PodSpec, Step};
use pod_store::{PodRow, StoredRecord};
use protocol::{
    AlertLevel, ApiError, ControlEvent, ErrorCode, Event, ForkCommand, Outcome, PodState, PodSummary, Record, Seq,
    Usage, WorkerId,
};

use super::{History, outside, status};
use crate::{
    actor::leaders,
    asked::Asked,
    clock,
    create::Newborn,
    encode, error,
    ground::Ground,
    heavy,
    view::{self, Opened},
};

/// How many records of the journal are read at once, and about how many bytes.
const RECORDS_AT_ONCE_MAX: u32 = 1_000;
const BYTES_AT_ONCE_MAX: usize = 1024 * 1024;
/// The longest history of a fork, in bytes: as long as that of an import.
const FORK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Creates the Pod, or returns the first answer if the command was carried out before.
pub(crate) async fn fork(
    ground: &Ground,
    asked: &Asked<'_>,
    worker_id: &WorkerId,
    command: ForkCommand,
) -> Result<PodSummary, ApiError> {
    if ground.stopping.is_cancelled() {
        return Err(error::stopping());
    }
    if let Some(summary) = asked.first_answer(ground).await? {
        return Ok(summary);
    }
    let ForkCommand { name, at_seq } = command;
    let _seat = ground.seat().await?;
    let source = Source::read(ground, worker_id).await?;
    if source.spec.agent.is_some() {
        return Err(ApiError::invalid(format!(
            "pod \"{}\" is answered by an agent that keeps its context itself, so no other Pod can continue from it; \
             create a Pod with the same agent",
            source.row.name
        )));
    }
    let at_seq = source.place(at_seq)?;
    let copied = source.copied(ground, at_seq).await?;
    source.check(&copied, at_seq)?;
    let now = clock::now();
    let History { pod, records } = copied.at_rest(&source, at_seq, now);
    let target = format!("{} {name}", view::pod_ref(&source.row));
    Newborn::with(&source.spec, name, now, &pod, records).commit(ground, asked, "fork", target).await
}

/// The Pod that is forked.
struct Source {
    row: PodRow,
    /// The settings of the fork.
    spec: PodSpec,
    pod: Pod,
    head: Seq,
}

impl Source {
    async fn read(ground: &Ground, worker_id: &WorkerId) -> Result<Self, ApiError> {
        let key = ground.existing_row(worker_id).await?.key;
        let head = ground.store.journals().head(key).await?;
        // Read after the head, so it knows of every run that had begun by then.
        let row = ground.existing_row(worker_id).await?;
        let Opened { mut spec, pod } =
            view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        // A fork has no parent; what its ancestors do not allow stays so.
        let parent = row.parent.as_ref().map(|parent| parent.key);
        if let Some(leaders) = leaders(ground, parent, &spec).await? {
            spec.network = leaders.iter().map(|leader| leader.network).fold(spec.network, |one, other| one.min(other));
            spec.mode = leaders.iter().map(|leader| leader.mode).fold(spec.mode, Ord::min);
            spec.ceilings = leaders.into_iter().map(|leader| leader.permissions).collect();
        }
        Ok(Self { row, spec, pod, head })
    }

    /// The last record of the fork's history.
    fn place(&self, at_seq: Option<Seq>) -> Result<Seq, ApiError> {
        let Self { row, head, .. } = self;
        match at_seq {
            None => Ok(*head),
            Some(at_seq) if (Seq(1)..=*head).contains(&at_seq) => Ok(at_seq),
            Some(at_seq) => Err(ApiError::invalid(format!(
                "pod \"{}\" has no record {at_seq}; `at_seq` is one of its records, from 1 to {head}",
                row.name
            ))),
        }
    }

    async fn copied(&self, ground: &Ground, at_seq: Seq) -> Result<Copied, ApiError> {
        let mut copied = Copied::new();
        let (mut after, mut bytes) = (Seq(0), 0);
        while after < at_seq {
            let journals = ground.store.journals();
            let mut rows = journals.after(self.row.key, after, RECORDS_AT_ONCE_MAX, BYTES_AT_ONCE_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            rows.retain(|row| row.seq <= at_seq);
            let size = rows.iter().map(|row| row.body.len()).sum();
            bytes += size;
            if bytes > FORK_BYTES_MAX {
                return Err(too_long(&self.row, copied.history.pod.head));
            }
            let spec = self.spec.clone();
            copied = heavy::work(size, move || copied.with(rows, &spec)).await?;
        }
        Ok(copied)
    }

    /// Refuses a history that ends where something is not finished.
    fn check(&self, copied: &Copied, at_seq: Seq) -> Result<(), ApiError> {
        let (pod, name) = (&copied.history.pod, &self.row.name);
        let is_going_on = |id: &str| self.pod.run.as_ref().is_some_and(|run| run.id == id);
        if pod.run.as_ref().is_some_and(|run| is_going_on(&run.id)) {
            let sentence = format!(
                "record {at_seq} is in a run of pod \"{name}\" that is in progress; wait until it has ended, or fork at record {}",
                copied.before_run
            );
            return Err(ApiError::new(ErrorCode::Busy, sentence));
        }
        if is_complete(pod) {
            return Ok(());
        }
        let open_calls = |pod: &Pod| {
            let calls = pod.calls.iter().chain(&pod.operator_calls);
            calls.map(|call| call.call_id.clone()).collect::<Vec<_>>()
        };
        let open_now = open_calls(&self.pod);
        let code = match open_calls(pod).iter().any(|call_id| open_now.contains(call_id)) {
            true => ErrorCode::Busy,
            false => ErrorCode::InvalidInput,
        };
        let sentence = format!(
            "record {at_seq} of pod \"{name}\" is in the middle of an answer or a tool call; fork at record {}, or where \
             that has ended",
            copied.complete_until
        );
        Err(ApiError::new(code, sentence))
    }
}

/// The beginning of a journal.
struct Copied {
    history: History,
    /// The newest position before the newest run.
    before_run: Seq,
    /// The newest position at which nothing was unfinished, except perhaps a run.
    complete_until: Seq,
}

impl Copied {
    fn new() -> Self {
        let history = History { pod: Pod::default(), records: Vec::new() };
        Self { history, before_run: Seq(0), complete_until: Seq(0) }
    }

    fn with(mut self, rows: Vec<StoredRecord>, spec: &PodSpec) -> Result<Self, ApiError> {
        for row in rows {
            let Record { seq, at, run_id, event, .. } = serde_json::from_slice(&row.body).map_err(|error| {
                tracing::error!(%error, seq = row.seq.0, "a record cannot be copied");
                ApiError::new(ErrorCode::Internal, format!("record {} cannot be read, so nothing was done", row.seq))
            })?;
            let History { pod, records } = &mut self.history;
            if matches!(event, Event::Control(ControlEvent::RunStarted { .. })) {
                self.before_run = pod.head;
            }
            pod.evolve_at(seq, at, &event);
            if is_complete(pod) {
                self.complete_until = seq;
            }
            records.push(encode::record(seq, &encode::timestamp(at), &Step { run_id, event }, spec.reasoning));
        }
        Ok(self)
    }

    /// Ends the run that the history is in the middle of, says where it comes from, and forgets what ties it to others.
    fn at_rest(self, source: &Source, at_seq: Seq, now: Timestamp) -> History {
        let Self { mut history, .. } = self;
        let run_id = history.pod.run_id();
        let mut steps = Vec::new();
        if let Some(run) = &history.pod.run {
            let detail = Some("forked before it had ended".to_owned());
            let end = ControlEvent::RunFinished { outcome: Outcome::Cancelled, code: None, detail, usage: run.usage };
            steps.push(Step { run_id: run_id.clone(), event: end.into() });
        }
        if history.pod.state != PodState::Idle {
            steps.push(Step { run_id, event: status(PodState::Idle).into() });
        }
        let PodRow { name, worker_id, .. } = &source.row;
        steps.push(outside(ControlEvent::Alert {
            level: AlertLevel::Note,
            source: "fork".to_owned(),
            text: format!("forked from {name} ({worker_id}) at record {at_seq}; everything above happened there"),
            model: None,
        }));
        history.add(steps, &encode::timestamp(now), &source.spec);
        untie(&mut history.pod);
        history
    }
}

/// True if no answer, call or approval is open.
fn is_complete(pod: &Pod) -> bool {
    pod.open_blocks.is_empty() && pod.calls.is_empty() && pod.operator_calls.is_empty() && pod.approvals.is_empty()
}

/// Clears what concerns other Pods, and what was used or went wrong elsewhere. Files that were seen stay seen: what they
/// held is in the context, and a file that has changed since has to be read again anyway.
fn untie(pod: &mut Pod) {
    let Usage { context_used, context_limit, .. } = pod.usage;
    pod.usage = Usage { context_used, context_limit, ..Usage::default() };
    pod.unread_messages.clear();
    pod.read_messages.clear();
    pod.unread_mail = None;
    pod.read_outputs.clear();
    pod.hops = 0;
    (pod.failure, pod.failures) = (None, 0);
    (pod.limit, pod.stand_in) = (None, None);
    pod.resumable = false;
    pod.budget_alerts.clear();
}

fn too_long(row: &PodRow, fits: Seq) -> ApiError {
    let sentence = format!(
        "the history of pod \"{}\" has more than {} MiB up to there, which is the maximum; fork at record {fits} or \
         earlier",
        row.name,
        FORK_BYTES_MAX >> 20
    );
    ApiError::new(ErrorCode::PayloadTooLarge, sentence)
}
