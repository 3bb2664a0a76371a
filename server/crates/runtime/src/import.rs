//! Creates a Pod from another Pod's export, or from a session of another agent: stopped, with that history, and with
//! nothing that it does not have of its own.
//!
//! A record of an import is history and has no effects: peers, loans, approvals and messages that it tells of are in
//! the transcript and nowhere else. What was used was used elsewhere and is not counted here.

mod fork;
mod lines;

use jiff::Timestamp;
use pod::{CommandEnd, Input, Pod, PodSpec, Step, decide, recover};
use pod_store::NewRecord;
use protocol::{
    AlertLevel, ApiError, ControlEvent, CreatePod, ErrorCode, Event, ImportCommand, ImportFormat, PodState, PodSummary,
    Record, TurnEvent, Usage,
};

pub(crate) use self::fork::fork;
use crate::{
    asked::Asked,
    clock,
    create::Newborn,
    encode, error,
    ground::Ground,
    recipe::{self, Recipes},
    session_files::{self, Told},
};

/// The most blocks, calls and approvals that may be open at once: far more than any Pod has, yet few enough to search.
const OPEN_MAX: usize = 1_000;

/// How often a stop is applied to close everything: once is enough for any real journal, twice for anything that a file
/// can contain.
const ROUNDS_MAX: usize = 2;

/// Creates the Pod, or returns the first answer if the command was carried out before.
pub(crate) async fn import(
    ground: &Ground,
    recipes: &Recipes,
    asked: &Asked<'_>,
    command: ImportCommand,
) -> Result<PodSummary, ApiError> {
    if ground.stopping.is_cancelled() {
        return Err(error::stopping());
    }
    if let Some(summary) = asked.first_answer(ground).await? {
        return Ok(summary);
    }
    let ImportCommand { name, jsonl, format, cwd } = command;
    let spec = recipe::of_person(recipes, &CreatePod { cwd, ..CreatePod::named(name.clone()) }).await?.spec;
    let now = clock::now();
    let target = name.to_string();
    // Parsing megabytes of JSON must not block an async thread.
    let reading = crate::heavy::blocking(move || {
        let History { pod, records } = match format.unwrap_or_else(|| session_files::format_of(&jsonl)) {
            ImportFormat::Yoi => History::read(&jsonl, &spec, now)?,
            format => History::of_session(&jsonl, format, &spec, now)?,
        };
        Ok::<_, ApiError>(Newborn::with(&spec, name, now, &pod, records))
    });
    let newborn = reading.await.map_err(|error| {
        tracing::error!(%error, "an import broke");
        ApiError::new(ErrorCode::Internal, "the import failed inside yoi, so nothing was done; its log says where")
    })??;
    newborn.commit(ground, asked, "import", target).await
}

/// A parsed journal and the state that it results in.
struct History {
    pod: Pod,
    records: Vec<NewRecord>,
}

impl History {
    fn read(jsonl: &str, spec: &PodSpec, now: Timestamp) -> Result<Self, ApiError> {
        let mut history = Self { pod: Pod::default(), records: Vec::new() };
        let lines = jsonl.strip_suffix('\n').unwrap_or(jsonl);
        if lines.trim().is_empty() {
            return Err(ApiError::invalid("there is nothing to import: `jsonl` holds one record per line"));
        }
        for (number, line) in (1..).zip(lines.split('\n')) {
            let record = lines::record(number, line, history.pod.head)?;
            history.take(number, record, spec)?;
        }
        history.come_to_rest(spec, now, "another Pod");
        Ok(history)
    }

    /// The history in a session file of another agent.
    fn of_session(file: &str, format: ImportFormat, spec: &PodSpec, now: Timestamp) -> Result<Self, ApiError> {
        let Told { records, said } = session_files::read(file, format, now);
        let agent = format.title();
        if said == 0 {
            return Err(ApiError::invalid(format!(
                "there is no message, answer or tool call in this file; is it a session of {agent}?"
            )));
        }
        let mut history = Self { pod: Pod::default(), records: Vec::with_capacity(records.len()) };
        for (number, record) in (1..).zip(records) {
            history.take(number, record, spec)?;
        }
        history.come_to_rest(spec, now, agent);
        Ok(history)
    }

    fn take(&mut self, number: usize, record: Record, spec: &PodSpec) -> Result<(), ApiError> {
        let wrong = |why: &str| Err(ApiError::invalid(format!("line {number}: {why}")));
        let Record { seq, at, run_id, event, cut } = record;
        if cut.is_some() {
            return wrong("the texts of this record are cut; an export has them whole");
        }
        let pod = &mut self.pod;
        let is_open = |id: &str| pod.calls.iter().chain(&pod.operator_calls).any(|call| call.call_id == id);
        match &event {
            Event::Turn(TurnEvent::ToolCalled { call_id, .. }) if is_open(call_id) => {
                return wrong("a call with this id is already waiting for its result");
            }
            Event::Turn(TurnEvent::ToolFinished { call_id, .. }) if !is_open(call_id) => {
                return wrong("this is the result of a call that no line before it makes");
            }
            _ => (),
        }
        pod.evolve_at(seq, at, &event);
        if pod.open_blocks.len() + pod.calls.len() + pod.operator_calls.len() + pod.approvals.len() > OPEN_MAX {
            return wrong("too much is open at once; what begins has to end");
        }
        renounce(pod);
        self.records.push(encode::record(seq, &encode::timestamp(at), &Step { run_id, event }, spec.reasoning));
        Ok(())
    }

    /// Ends whatever the history leaves open, as a restart and a stop would.
    fn come_to_rest(&mut self, spec: &PodSpec, now: Timestamp, origin: &str) {
        let at = encode::timestamp(now);
        self.add(recover(&self.pod, |_| None, not_here).steps, &at, spec);
        for _ in 0..ROUNDS_MAX {
            let asks = !self.pod.approvals.is_empty() || !self.pod.calls.is_empty();
            if asks && !matches!(self.pod.state, PodState::Running | PodState::Waiting | PodState::Paused) {
                // No Pod leaves approvals or calls open in such a state; a stop only ends them in a state that has
                // them.
                self.add(vec![outside(status(PodState::Paused))], &at, spec);
            }
            let stopped = decide(&self.pod, spec, Input::Stop).map(|decision| decision.steps).unwrap_or_default();
            self.add(stopped, &at, spec);
            // A run during a compaction that belongs to no run: no Pod writes that, so a stop does not end both.
            self.pod.run = None;
            self.pod.compacting_from = None;
        }
        let mut last = Vec::new();
        if self.pod.state != PodState::Stopped {
            last.push(outside(status(PodState::Stopped)));
        }
        let text = format!("everything above was imported; it happened in {origin}");
        last.push(outside(ControlEvent::Alert {
            level: AlertLevel::Note,
            source: "import".to_owned(),
            text,
            model: None,
        }));
        self.add(last, &at, spec);
        renounce(&mut self.pod);
        let Usage { context_used, context_limit, .. } = self.pod.usage;
        self.pod.usage = Usage { context_used, context_limit, ..Usage::default() };
        // Whatever the file says, a call left here could run when the Pod is restored.
        self.pod.calls.clear();
        self.pod.operator_calls.clear();
        self.pod.approvals.clear();
        self.pod.open_blocks.clear();
        self.pod.failure = None;
    }

    fn add(&mut self, steps: Vec<Step>, at: &str, spec: &PodSpec) {
        for step in steps {
            let seq = self.pod.head.next();
            self.pod.evolve(seq, &step.event);
            self.records.push(encode::record(seq, at, &step, spec.reasoning));
        }
    }
}

/// Clears what an imported record must not cause: receipts to the senders of its messages, and files and outputs that
/// would count as seen.
fn renounce(pod: &mut Pod) {
    pod.unread_messages.clear();
    pod.read_messages.clear();
    pod.seen_files.clear();
    pod.read_outputs.clear();
    pod.hops = 0;
}

fn status(state: PodState) -> ControlEvent {
    ControlEvent::Status { state, state_reason: None }
}

fn outside(event: ControlEvent) -> Step {
    Step { run_id: None, event: event.into() }
}

/// How a background command of the original ended, as far as this Pod is concerned.
fn not_here(call_id: &str) -> Option<CommandEnd> {
    let detail = "not running here: only its history was copied".to_owned();
    Some(CommandEnd { call_id: call_id.to_owned(), detail, exit_code: None, output: None })
}

#[cfg(test)]
#[path = "import/tests.rs"]
mod tests;
