//! Reads what each Pod did: the end of its journal, no further back than needed and never all of it.

use backend::{Backend, RecordForm};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use protocol::{
    ApiError, ControlEvent, Event, OpenApproval, Outcome, PodRef, PodState, PodSummary, Record, TurnEvent, Usage,
    UsageDay, operation, operations,
};

use super::{
    BoardFound,
    drawing::{cost_html, lede, rows_html},
    strip::Axis,
};
use crate::server_fns::door::decode;

/// The Pods that are looked at; the table has all.
const PODS_MAX: usize = 60;
/// Records of a Pod that are read, and how many at a time.
const RECORDS_MAX: usize = 1_500;
const PAGE_RECORDS: u32 = 500;
/// Pods whose questions are compared with their files before the page is sent; the other cards compare later.
const ASKING_MAX: usize = 12;
/// The axis is at least this long.
const AXIS_MIN: SignedDuration = SignedDuration::from_mins(30);
/// How much of what a Pod said last is shown, in characters.
const WORDS_MAX: usize = 170;

/// What a Pod did since you last looked.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) pod: PodSummary,
    /// Whether it had a run since you last looked.
    pub(super) ran: bool,
    /// When its records were committed.
    pub(super) moments: Vec<Timestamp>,
    /// Its own last words, if it has said anything in what was read.
    pub(super) words: String,
    /// When it began to wait for you, if it still does.
    pub(super) waits_since: Option<Timestamp>,
    /// When its last run failed, if nothing came after it.
    pub(super) failed_at: Option<Timestamp>,
    /// What its runs of today cost.
    pub(super) today: UsageDay,
}

impl Done {
    pub(super) fn nothing(pod: PodSummary) -> Self {
        Self {
            ran: matches!(pod.state, PodState::Running | PodState::Waiting),
            pod,
            moments: Vec::new(),
            words: String::new(),
            waits_since: None,
            failed_at: None,
            today: UsageDay::default(),
        }
    }

    /// Whether it belongs to the rows: it did something, or something is open.
    pub(super) fn is_shown(&self) -> bool {
        let state = self.pod.state;
        !self.moments.is_empty() || self.pod.needs_you || matches!(state, PodState::Running | PodState::Waiting)
    }
}

/// What the board shows to somebody in this time zone.
pub(super) async fn read(backend: &Backend, since: Timestamp, zone: TimeZone) -> Result<BoardFound, ApiError> {
    let query = operations::Pods { limit: operation::Limit(1_000), ..Default::default() };
    let mut pods = backend.read(query).await?.items;
    pods.sort_by_key(|pod| std::cmp::Reverse(pod.updated_at));
    let now = Timestamp::now().to_zoned(zone);
    // A day of usage is a day in UTC.
    let midnight = now.timestamp().to_zoned(TimeZone::UTC).start_of_day().map_or(since, |at| at.timestamp());
    let mut done = Vec::with_capacity(pods.len());
    for (index, pod) in pods.into_iter().enumerate() {
        let is_read = index < PODS_MAX && (pod.updated_at >= since || pod.needs_you || pod.state.is_live());
        done.push(if is_read { look(backend, pod, since, midnight).await } else { Done::nothing(pod) });
    }
    let axis = axis(&done, since, now.timestamp());
    let usage = backend.read(operations::Usage { runtime: Default::default() }).await?;
    let today = now.timestamp().to_string().get(..10).unwrap_or_default().to_owned();
    let spent = usage.days.into_iter().find(|day| day.day.as_deref() == Some(&today)).unwrap_or_default();
    let requests = operations::OpenRequests { runtime: Default::default(), page: Default::default() };
    Ok(BoardFound {
        greeting: greeting(now.hour()).to_owned(),
        since,
        lede: lede(&done, &now, since),
        cost: cost_html(&done, &spent, &now),
        rows: rows_html(&done, axis, now.time_zone()),
        questions: questions(backend).await?,
        requests: backend.read(requests).await?.items,
    })
}

/// The open approvals, with what their calls would do, so that their cards are whole at once.
async fn questions(backend: &Backend) -> Result<Vec<OpenApproval>, ApiError> {
    let mut questions = backend.everywhere().open_approvals().await?.items;
    let mut pods: Vec<PodRef> = Vec::new();
    for open in &questions {
        if !pods.contains(&open.pod) {
            pods.push(open.pod.clone());
        }
    }
    for pod in pods.into_iter().take(ASKING_MAX) {
        let query = operations::Approvals { pod: pod.clone(), all: false, page: Default::default() };
        // A card without it compares later.
        let Ok(known) = backend.read(query).await else { continue };
        for known in known.items {
            let is_it = |open: &&mut OpenApproval| open.pod == pod && open.approval.id == known.id;
            if let Some(open) = questions.iter_mut().find(is_it) {
                open.approval = known;
            }
        }
    }
    Ok(questions)
}

/// From when you last looked, or from when the first thing happened if that was later, to now.
fn axis(done: &[Done], since: Timestamp, now: Timestamp) -> Axis {
    let first = done.iter().flat_map(|done| &done.moments).min().copied().unwrap_or(since);
    Axis { from: first.min(now - AXIS_MIN).max(since).min(now), to: now }
}

fn greeting(hour: i8) -> &'static str {
    match hour {
        5..12 => "Good morning.",
        12..18 => "Good afternoon.",
        _ => "Good evening.",
    }
}

/// A Pod whose journal cannot be read now is shown with what its summary says.
async fn look(backend: &Backend, pod: PodSummary, since: Timestamp, midnight: Timestamp) -> Done {
    let mut looking = Looking::at(pod, since, midnight);
    let (mut before, mut count) = (None, 0);
    while count < RECORDS_MAX {
        let page =
            backend.journals().page(&looking.done.pod.pod, before.as_deref(), PAGE_RECORDS, RecordForm::Shown).await;
        let Ok(page) = page else { break };
        let Ok(records) = decode(&page.items) else { break };
        count += records.len();
        records.iter().rev().for_each(|record| looking.note(record));
        before = page.next;
        if before.is_none() || looking.has_all(records.first()) {
            break;
        }
    }
    looking.done
}

fn is_of_run(event: &Event) -> bool {
    matches!(event, Event::Control(ControlEvent::RunStarted { .. } | ControlEvent::RunFinished { .. }))
}

/// A look at one Pod's journal, from its end backwards.
struct Looking {
    done: Done,
    /// From when on what it did is told, and from when on what it used is of today. Neither is before the Pod existed: a
    /// fork or an import begins with records of another one.
    since: Timestamp,
    midnight: Timestamp,
    /// A record of a run was seen, which is newer than what comes.
    is_after_run: bool,
}

impl Looking {
    fn at(pod: PodSummary, since: Timestamp, midnight: Timestamp) -> Self {
        let (since, midnight) = (since.max(pod.created_at), midnight.max(pod.created_at));
        Self { done: Done::nothing(pod), since, midnight, is_after_run: false }
    }

    /// Whether nothing older is shown than this record.
    fn has_all(&self, oldest: Option<&Record>) -> bool {
        oldest.is_none_or(|oldest| oldest.at < self.since.min(self.midnight)) && !self.done.words.is_empty()
    }

    /// Takes from a record what the board shows. The newest records come first.
    fn note(&mut self, record: &Record) {
        let Self { done, since, midnight, is_after_run } = self;
        let at = record.at;
        if at >= *since {
            done.moments.push(at);
            done.ran |= is_of_run(&record.event);
        }
        match &record.event {
            Event::Turn(TurnEvent::MessageFinished { text, .. }) if done.words.is_empty() => {
                done.words = transcript::last_words(text, WORDS_MAX);
            }
            Event::Control(ControlEvent::ApprovalAsked { .. }) if done.pod.state == PodState::Waiting => {
                done.waits_since.get_or_insert(at);
            }
            Event::Control(ControlEvent::RunFinished { outcome, usage, .. }) => {
                if !*is_after_run && *outcome == Outcome::Error && at >= done.pod.created_at {
                    done.failed_at = Some(at);
                }
                *is_after_run = true;
                if at >= *midnight {
                    done.today.add(&day_of(usage));
                }
            }
            Event::Control(ControlEvent::RunStarted { .. }) => *is_after_run = true,
            // Of the run under way; a finished one says what it used as a whole.
            Event::Control(ControlEvent::Usage { usage }) if !*is_after_run && at >= *midnight => {
                done.today.add(&day_of(usage));
            }
            _ => (),
        }
    }
}

fn day_of(usage: &Usage) -> UsageDay {
    UsageDay {
        day: None,
        input: usage.input,
        cached: usage.cached,
        written: usage.written,
        output: usage.output,
        cost: usage.cost,
        currency: usage.currency,
        estimated: usage.estimated,
    }
}

/// What several Pods used, added up.
pub(super) fn sum<'a>(of: impl Iterator<Item = &'a UsageDay>) -> UsageDay {
    of.fold(UsageDay::default(), |mut total, more| {
        total.add(more);
        total
    })
}

#[cfg(test)]
mod tests {
    use commands::samples;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_fork_began_with_is_not_its_own_work() {
        let record = |at: &str, event: serde_json::Value| -> Record {
            serde_json::from_value(json!({ "seq": 1, "at": at, "run_id": "r", "event": event })).unwrap()
        };
        let finished = |at: &str, outcome: &str| {
            let usage = json!({ "input": 7000, "output": 300, "cached": 0 });
            record(at, json!({ "kind": "run_finished", "outcome": outcome, "usage": usage }))
        };
        let said = |at: &str, text: &str| {
            record(at, json!({ "kind": "message_finished", "block": "b", "text": text, "interrupted": false }))
        };
        let mut pod = samples::pod("eve", PodState::Idle);
        pod.created_at = "2026-11-26T08:00:00Z".parse().unwrap();
        let [since, midnight] = ["2026-11-25T18:00:00Z", "2026-11-26T00:00:00Z"].map(|at| at.parse().unwrap());
        let look = |records: &[Record]| {
            let mut looking = Looking::at(pod.clone(), since, midnight);
            records.iter().rev().for_each(|record| looking.note(record));
            looking.done
        };
        let copied = [said("2026-11-26T07:00:00Z", "It is done."), finished("2026-11-26T07:00:01Z", "error")];
        let done = look(&copied);
        assert_eq!((done.moments.len(), done.ran, done.failed_at), (0, false, None));
        assert_eq!((done.today, done.words.as_str()), (UsageDay::default(), "It is done."));
        let own = [copied.to_vec(), vec![finished("2026-11-26T08:30:00Z", "error")]].concat();
        let done = look(&own);
        assert_eq!((done.moments.len(), done.ran, done.failed_at), (1, true, Some(own[2].at)));
        assert_eq!((done.today.input, done.today.output), (7000, 300));
    }
}
