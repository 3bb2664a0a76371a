//! An established connection to an older Pod: its events become records, and requests are sent one at a time.
//!
//! It is always read, even while something is written: a Pod that nobody reads may block, and then never answers.

use std::{path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::PodState;
use serde_json::Value;
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, sleep_until},
};

use crate::{
    ask::{Answered, Ask, Request, Verdict},
    connection::{Connection, Gone, Prelude},
    journal::Draft,
    listed::Listed,
    once::Failure,
    pod::{Greeting, Pod},
    translate::{Step, Translator},
};

/// How many requests may wait for the one in flight.
const REQUESTS_MAX: usize = 8;
/// A run that has begun counts as ours if no refusal follows within this time.
const REFUSAL_MAX: Duration = Duration::from_millis(250);
/// An idle Pod with an open run counts as idle if nothing follows within this time.
const QUIET_MAX: Duration = Duration::from_millis(300);
/// Yields to other tasks after this many lines.
const LINES_AT_ONCE: u32 = 128;

/// Connects, reads the prelude, and serves the Pod until the connection ends. The last state is then reported to
/// [`Pod::lost`].
pub(crate) async fn serve(pod: &Arc<Pod>, socket: &Path, long_lines: Arc<Semaphore>, label: String) -> Gone {
    match Connection::open(socket, long_lines).await {
        Err(gone) => {
            pod.lost(None, gone.to_string());
            gone
        }
        Ok((connection, prelude)) => {
            let mut session = Session::begin(pod.clone(), connection, &prelude, label);
            let gone = session.run().await;
            session.close(&gone);
            gone
        }
    }
}

struct Session {
    pod: Arc<Pod>,
    connection: Connection,
    requests: mpsc::Receiver<Request>,
    translator: Translator,
    in_flight: Option<InFlight>,
    /// When it reported idle in the middle of a run.
    quiet_since: Option<Instant>,
}

/// The request that has been sent.
struct InFlight {
    request: Request,
    was_at_work: bool,
    /// It counts as accepted if nothing contradicts it until then.
    perhaps_until: Option<Instant>,
    /// Whether the run that has begun is another client's.
    is_others: bool,
}

impl Session {
    fn begin(pod: Arc<Pod>, connection: Connection, prelude: &Prelude, label: String) -> Self {
        let mut translator = Translator::new(pod.scrub.clone(), pod.name.clone(), label);
        let now = Timestamp::now();
        let mut drafts = drafts_of(translator.event("snapshot", &prelude.snapshot, now));
        for alert in &prelude.alerts {
            let at = alert.get("timestamp_ms").and_then(Value::as_i64);
            let at = at.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(now);
            drafts.extend(drafts_of(translator.event("alert", alert, at)));
        }
        let first = drafts.iter().map(|draft| draft.at).min().unwrap_or(now);
        let greeting = Greeting::read(prelude.snapshot.get("greeting").unwrap_or(&Value::Null), &pod.scrub);
        pod.journal.begin(drafts);
        let (requests_in, requests) = mpsc::channel(REQUESTS_MAX);
        pod.reached(translator.face(), greeting, first, requests_in);
        Self { pod, connection, requests, translator, in_flight: None, quiet_since: None }
    }

    async fn run(&mut self) -> Gone {
        let mut lines_left = LINES_AT_ONCE;
        loop {
            let wake_at = self.wake_at();
            let step = tokio::select! {
                event = self.connection.next() => event.map(|(name, data)| self.take(&name, &data)),
                Some(request) = self.requests.recv(), if self.in_flight.is_none() => self.send(request),
                () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => self.wake(),
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

    fn send(&mut self, mut request: Request) -> Result<(), Gone> {
        if request.answer.is_closed() || request.deadline <= Instant::now() {
            let late = self.pod.silent(request.ask.method());
            request.answer.send(Err(Failure::Refused(late))).ok();
            return Ok(());
        }
        self.translator.expect_input(request.sent.take());
        self.connection.send(request.ask.line())?;
        let was_at_work = matches!(self.pod.state(), PodState::Running | PodState::Paused);
        self.in_flight = Some(InFlight { request, was_at_work, perhaps_until: None, is_others: false });
        Ok(())
    }

    fn take(&mut self, name: &str, data: &Value) {
        let verdict = match &self.in_flight {
            Some(asked) => asked.request.ask.judge(name, data, asked.was_at_work),
            None => Verdict::Nothing,
        };
        if name == "pods_listed" {
            self.pod.knows(&Listed::read(data, &self.pod.scrub));
        }
        if let Verdict::Refused { code, message } = verdict {
            self.translator.expect_input(None);
            return self.answer(Ok(Answered::No { code, message }));
        }
        if self.in_flight.as_ref().is_some_and(|asked| asked.perhaps_until.is_some()) && is_of_run(name) {
            // The run continues, so the input was accepted: its record precedes what the run says.
            self.taken_without_echo();
        }
        match self.translator.event(name, data, Timestamp::now()) {
            Step::More(drafts) => self.pod.journal.push(drafts),
            Step::Anew(drafts) => self.pod.journal.begin(drafts),
        };
        let quiet_since = self.quiet_since.unwrap_or_else(Instant::now);
        self.quiet_since = self.translator.is_quiet().then_some(quiet_since);
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
        self.pod.journal.push(self.translator.input_taken(Timestamp::now()));
        self.accept(Value::Null);
    }

    fn accept(&mut self, brought: Value) {
        let head = self.pod.journal.position().head;
        self.answer(Ok(Answered::Yes(brought, head)));
    }

    fn answer(&mut self, answer: Result<Answered, Failure>) {
        if let Some(asked) = self.in_flight.take() {
            // The caller may be gone; the Pod has carried it out all the same.
            asked.request.answer.send(answer).ok();
        }
    }

    /// When something is due even if nothing arrives.
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
            self.pod.journal.push(self.translator.settle(Timestamp::now()));
            self.pod.shows(self.translator.face());
        }
        let Some(asked) = &self.in_flight else { return Ok(()) };
        if asked.perhaps_until.is_some_and(|until| until <= now) {
            self.taken_without_echo();
        } else if asked.request.deadline <= now {
            // A later answer could be mistaken for that to another request, so the connection ends here.
            let method = asked.request.ask.method();
            self.answer(Err(Failure::Unknown(self.pod.silent(method))));
            return Err(Gone::Mute(method));
        }
        Ok(())
    }

    /// Handles the end of the connection.
    fn close(&mut self, gone: &Gone) {
        let was_told_to_stop = matches!(&self.in_flight, Some(asked) if asked.request.ask == Ask::Shutdown);
        if was_told_to_stop {
            let step = self.translator.event("shutdown", &Value::Null, Timestamp::now());
            self.pod.journal.push(drafts_of(step));
        }
        let gone = if self.translator.face().has_shut_down { &Gone::ShutDown } else { gone };
        self.pod.journal.push(self.translator.lost(&gone.to_string(), Timestamp::now()));
        self.pod.lost(Some(self.translator.face()), gone.to_string());
        match was_told_to_stop {
            true => self.accept(Value::Null),
            false => self.answer(Err(Failure::Unknown(self.pod.unreachable()))),
        }
    }
}

fn drafts_of(step: Step) -> Vec<Draft> {
    match step {
        Step::More(drafts) | Step::Anew(drafts) => drafts,
    }
}

/// Whether only a run in progress, or one that has ended, produces this event.
fn is_of_run(event: &str) -> bool {
    ["llm_call_", "text_", "thinking_", "tool_"].iter().any(|begin| event.starts_with(begin))
        || matches!(event, "turn_end" | "run_end")
}
