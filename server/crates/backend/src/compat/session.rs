//! One connection to an older Pod: its prelude, then what it says, and one request at a time.
//!
//! It is always read, also while something is written: a Pod that nobody reads may block, and then never answers.

use std::{path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::Seq;
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt,
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};

use super::{
    ask::{Ask, Verdict},
    lines::{LineError, Lines},
    listed::Listed,
    once::Failure,
    pod::{ANSWER_MAX, Greeting, Pod},
    translate::{Sent, Step, Translator},
};

/// Any single step of connecting takes this long at most.
const STEP_MAX: Duration = Duration::from_secs(5);
/// Alerts before the snapshot.
const ALERTS_MAX: usize = 1_000;
/// Requests that wait for the one in flight.
const REQUESTS_MAX: usize = 8;
/// A run that has begun was ours if no refusal follows within this.
const REFUSAL_MAX: Duration = Duration::from_millis(250);
/// An idle Pod whose run was open is idle if nothing follows within this.
const QUIET_MAX: Duration = Duration::from_millis(300);
/// After so many lines others get their turn.
const LINES_AT_ONCE: u32 = 128;

/// A request on its way to the Pod.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) ask: Ask,
    /// What its echo will be known by, when it is an input.
    pub(super) sent: Option<Sent>,
    pub(super) deadline: Instant,
    pub(super) answer: oneshot::Sender<Result<Answered, Failure>>,
}

/// What a Pod said to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    /// What came with it, and where the journal stood.
    Yes(Value, Seq),
    /// Its own code and sentence; nothing in them is hidden yet.
    No { code: String, message: String },
}

/// Why there is no connection. The sentences are shown to people, and name no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Gone {
    #[error("nobody answers at its socket ({0})")]
    Refused(std::io::ErrorKind),
    #[error("its socket did not answer in time")]
    Late,
    #[error("it closed the connection before it said what it is")]
    EndBeforeSnapshot,
    #[error("it did not say what it is in time")]
    NoSnapshot,
    #[error("it sent more than {ALERTS_MAX} alerts before it said what it is")]
    TooManyAlerts,
    #[error("it sent a line that is no event")]
    NoEvent,
    #[error("{0}")]
    Line(LineError),
    #[error("it does not read what it is sent")]
    Deaf,
    #[error("it did not answer `{0}` in time")]
    Mute(&'static str),
    #[error("it was stopped")]
    ShutDown,
}

/// Connects, reads the prelude, and serves the Pod until the connection ends. What was said last is then known by
/// [`Pod::lost`].
pub(super) async fn serve(pod: &Arc<Pod>, socket: &Path, long_lines: Arc<Semaphore>, label: String) -> Gone {
    match Session::open(pod, socket, long_lines, label).await {
        Err(gone) => {
            pod.lost(None, gone.to_string());
            gone
        }
        Ok(mut session) => {
            let gone = session.run().await;
            session.close(&gone);
            gone
        }
    }
}

/// An event's name and what comes with it.
fn event_of(mut line: Value) -> Result<(String, Value), Gone> {
    let data = line.get_mut("data").map(Value::take).unwrap_or_default();
    match line.get("event").and_then(Value::as_str) {
        Some(name) => Ok((name.to_owned(), data)),
        None => Err(Gone::NoEvent),
    }
}

struct Session {
    pod: Arc<Pod>,
    lines: Lines<OwnedReadHalf>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// Ends when the Pod does not read any more.
    writer: JoinSet<()>,
    requests: mpsc::Receiver<Request>,
    translator: Translator,
    in_flight: Option<InFlight>,
    /// When it said idle in the middle of a run.
    quiet_since: Option<Instant>,
}

/// The request that has been sent.
struct InFlight {
    request: Request,
    was_at_work: bool,
    /// It is taken if nothing speaks against it until then.
    perhaps_until: Option<Instant>,
    /// The run that has begun is another client's.
    is_others: bool,
}

impl Session {
    async fn open(pod: &Arc<Pod>, socket: &Path, long_lines: Arc<Semaphore>, label: String) -> Result<Self, Gone> {
        let stream = timeout(STEP_MAX, UnixStream::connect(socket)).await.map_err(|_| Gone::Late)?;
        let (reader, writer) = stream.map_err(|error| Gone::Refused(error.kind()))?.into_split();
        let mut lines = Lines::new(reader, long_lines);
        let (alerts, snapshot) = prelude(&mut lines).await?;

        let mut translator = Translator::new(pod.scrub.clone(), pod.name.clone(), label);
        let now = Timestamp::now();
        let mut drafts = drafts_of(translator.event("snapshot", &snapshot, now));
        for alert in &alerts {
            let at = alert.get("timestamp_ms").and_then(Value::as_i64);
            let at = at.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(now);
            drafts.extend(drafts_of(translator.event("alert", alert, at)));
        }
        let first = drafts.iter().map(|draft| draft.at).min().unwrap_or(now);
        let greeting = Greeting::read(snapshot.get("greeting").unwrap_or(&Value::Null), &pod.scrub);
        pod.journal.begin(drafts);
        let (requests_in, requests) = mpsc::channel(REQUESTS_MAX);
        pod.reached(translator.face(), greeting, first, requests_in);

        let (outgoing, lines_out) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, lines_out));
        let pod = pod.clone();
        Ok(Self { pod, lines, outgoing, writer: tasks, requests, translator, in_flight: None, quiet_since: None })
    }

    async fn run(&mut self) -> Gone {
        let mut lines_left = LINES_AT_ONCE;
        loop {
            let wake_at = self.wake_at();
            let step = tokio::select! {
                line = self.lines.next() => line.map_err(Gone::Line).and_then(event_of).map(|event| self.take(event)),
                Some(request) = self.requests.recv(), if self.in_flight.is_none() => self.begin(request),
                () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => self.wake(),
                _ = self.writer.join_next() => Err(Gone::Deaf),
            };
            if let Err(gone) = step {
                return gone;
            }
            lines_left -= 1;
            if lines_left == 0 {
                lines_left = LINES_AT_ONCE;
                tokio::task::yield_now().await;
            }
        }
    }

    fn begin(&mut self, mut request: Request) -> Result<(), Gone> {
        if request.answer.is_closed() || request.deadline <= Instant::now() {
            let late = self.pod.silent(request.ask.method());
            request.answer.send(Err(Failure::Refused(late))).ok();
            return Ok(());
        }
        self.translator.expect_input(request.sent.take());
        // It is alone in there: nothing is sent before the one in flight is answered.
        self.outgoing.try_send(request.ask.line()).map_err(|_| Gone::Deaf)?;
        let was_at_work = matches!(self.pod.state(), protocol::PodState::Running | protocol::PodState::Paused);
        self.in_flight = Some(InFlight { request, was_at_work, perhaps_until: None, is_others: false });
        Ok(())
    }

    fn take(&mut self, (name, data): (String, Value)) {
        let verdict = match &self.in_flight {
            Some(asked) => asked.request.ask.judge(&name, &data, asked.was_at_work),
            None => Verdict::Nothing,
        };
        if name == "pods_listed" {
            self.pod.knows(&Listed::read(&data, &self.pod.scrub));
        }
        if let Verdict::Refused { code, message } = verdict {
            self.translator.expect_input(None);
            return self.answer(Ok(Answered::No { code, message }));
        }
        if self.in_flight.as_ref().is_some_and(|asked| asked.perhaps_until.is_some()) && is_of_run(&name) {
            // The run goes on, so it was taken: its words stand before what the run says.
            self.taken_without_echo();
        }
        let _head = match self.translator.event(&name, &data, Timestamp::now()) {
            Step::More(drafts) => self.pod.journal.push(drafts),
            Step::Anew(drafts) => self.pod.journal.begin(drafts),
        };
        self.quiet_since = match self.translator.is_quiet() {
            true => Some(self.quiet_since.unwrap_or_else(Instant::now)),
            false => None,
        };
        self.pod.shows(self.translator.face());
        match (verdict, &mut self.in_flight) {
            (Verdict::Accepted(brought), _) => self.accept(brought),
            (Verdict::Perhaps, Some(asked)) if !asked.is_others && asked.perhaps_until.is_none() => {
                asked.perhaps_until = Some(Instant::now() + REFUSAL_MAX);
            }
            (Verdict::NotOurs, Some(asked)) => (asked.is_others, asked.perhaps_until) = (true, None),
            _ => (),
        }
    }

    fn taken_without_echo(&mut self) {
        let drafts = self.translator.input_taken(Timestamp::now());
        self.pod.journal.push(drafts);
        self.accept(Value::Null);
    }

    fn accept(&mut self, brought: Value) {
        let head = self.pod.journal.position().head;
        self.answer(Ok(Answered::Yes(brought, head)));
    }

    fn answer(&mut self, answer: Result<Answered, Failure>) {
        if let Some(asked) = self.in_flight.take() {
            // Who asked may be gone; the Pod has done it all the same.
            asked.request.answer.send(answer).ok();
        }
    }

    /// When something is due though nothing comes.
    fn wake_at(&self) -> Option<Instant> {
        let asked = self.in_flight.as_ref();
        let due = asked.map(|asked| asked.perhaps_until.unwrap_or(asked.request.deadline).min(asked.request.deadline));
        let quiet = self.quiet_since.map(|since| since + QUIET_MAX);
        due.into_iter().chain(quiet).min()
    }

    fn wake(&mut self) -> Result<(), Gone> {
        let now = Instant::now();
        if self.quiet_since.is_some_and(|since| since + QUIET_MAX <= now) {
            self.quiet_since = None;
            let drafts = self.translator.settle(Timestamp::now());
            self.pod.journal.push(drafts);
            self.pod.shows(self.translator.face());
        }
        let Some(asked) = &self.in_flight else { return Ok(()) };
        if asked.perhaps_until.is_some_and(|until| until <= now) {
            self.taken_without_echo();
        } else if asked.request.deadline <= now {
            // An answer that comes later could be taken for another one's: so the connection ends here.
            let method = asked.request.ask.method();
            let silent = self.pod.silent(method);
            self.answer(Err(Failure::Unknown(silent)));
            return Err(Gone::Mute(method));
        }
        Ok(())
    }

    /// The connection is over.
    fn close(&mut self, gone: &Gone) {
        let was_told_to_stop = matches!(&self.in_flight, Some(asked) if asked.request.ask == Ask::Shutdown);
        if was_told_to_stop {
            let step = self.translator.event("shutdown", &Value::Null, Timestamp::now());
            self.pod.journal.push(drafts_of(step));
        }
        let gone = if self.translator.face().has_shut_down { &Gone::ShutDown } else { gone };
        let drafts = self.translator.lost(&gone.to_string(), Timestamp::now());
        self.pod.journal.push(drafts);
        self.pod.lost(Some(self.translator.face()), gone.to_string());
        match was_told_to_stop {
            true => self.accept(Value::Null),
            false => {
                let lost = self.pod.unreachable();
                self.answer(Err(Failure::Unknown(lost)));
            }
        }
    }
}

fn drafts_of(step: Step) -> Vec<super::journal::Draft> {
    match step {
        Step::More(drafts) | Step::Anew(drafts) => drafts,
    }
}

/// What only a run that goes on, or has ended, brings.
fn is_of_run(event: &str) -> bool {
    ["llm_call_", "text_", "thinking_", "tool_"].iter().any(|begin| event.starts_with(begin))
        || matches!(event, "turn_end" | "run_end")
}

/// Alerts, then the snapshot. Nothing may be sent before it.
async fn prelude(lines: &mut Lines<OwnedReadHalf>) -> Result<(Vec<Value>, Value), Gone> {
    let mut alerts = Vec::new();
    let until = Instant::now() + 6 * STEP_MAX;
    while Instant::now() < until {
        let line = timeout(STEP_MAX, lines.next()).await.map_err(|_| Gone::NoSnapshot)?;
        let (name, data) = event_of(line.map_err(|error| match error {
            LineError::End | LineError::EndInLine => Gone::EndBeforeSnapshot,
            other => Gone::Line(other),
        })?)?;
        match name.as_str() {
            "snapshot" => return Ok((alerts, data)),
            "alert" if alerts.len() == ALERTS_MAX => return Err(Gone::TooManyAlerts),
            "alert" => alerts.push(data),
            // What is not asked for before the snapshot is in the snapshot.
            _ => (),
        }
    }
    Err(Gone::NoSnapshot)
}

/// Writes lines until one cannot be written in time.
async fn write(mut socket: OwnedWriteHalf, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        match timeout(ANSWER_MAX, socket.write_all(&line)).await {
            Ok(Ok(())) => (),
            Ok(Err(error)) => return tracing::debug!(%error, "an older Pod does not take what it is sent"),
            Err(_) => return,
        }
    }
}
