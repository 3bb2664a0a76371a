//! One background command: what it wrote, how it is stopped, and how it ended.

use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use pod::{CommandEnd, Scope};
use protocol::{BackgroundCommand, BackgroundOutput, CommandState, Timestamp, ToolBy, WorkerId};
use tokio::{sync::watch, time::sleep};

use super::{
    super::{ending::Ending, leavings, order::Report, repositories::Repositories, run::Running, text::Decoder},
    Background,
    ring::{Part, Ring},
};
use crate::Place;

/// The most bytes of output that one read of the API returns.
const READ_BYTES_MAX: usize = 64 * 1024;
/// The most bytes that a tool returns.
pub(super) const TOLD_BYTES_MAX: usize = 30_000;
/// The most bytes of output in the record of its end.
const LAST_BYTES_MAX: usize = 4 * 1024;
/// How often to look for what leads git elsewhere while it runs …
const GUARD_AGAIN: Duration = Duration::from_secs(1);
/// … after how many such looks to look through the scope for what it leaves behind …
const LOOKS_BETWEEN: u32 = 30;
/// … and how often something may be removed before the command is ended.
const REMOVALS_MAX: u32 = 3;

/// Who stops a background command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopper {
    /// The Pod's model, by the tool.
    Model,
    /// A person.
    Person,
    /// The Pod was stopped.
    Pod,
    /// Its own time limit.
    Limit,
    /// yoi, because it keeps making what leads git elsewhere.
    Guard,
}

/// A command that has just been started.
#[derive(Debug)]
pub(in super::super) struct Begun {
    pub(in super::super) running: Running,
    pub(in super::super) repositories: Arc<Repositories>,
    pub(in super::super) is_confined: bool,
    /// `None`: it may run as long as its Pod.
    pub(in super::super) limit: Option<Duration>,
}

/// One command.
#[derive(Debug)]
pub(in super::super) struct Job {
    id: String,
    command: String,
    cwd: String,
    by: ToolBy,
    started_at: Timestamp,
    output: Mutex<Output>,
    stop: watch::Sender<Option<Stopper>>,
    end: watch::Sender<Option<Arc<Ended>>>,
}

#[derive(Debug, Default)]
struct Output {
    ring: Ring,
    /// How far the Pod's model, and everyone else, has read.
    read_by_model: u64,
    read_by_others: u64,
}

#[derive(Debug)]
struct Ended {
    how: String,
    exit_code: Option<i32>,
    at: Timestamp,
}

impl Job {
    pub(in super::super) fn new(place: &Place, command: &str, cwd: String) -> Self {
        Self {
            id: place.call_id.clone(),
            command: command.to_owned(),
            cwd,
            by: place.by,
            started_at: Timestamp::now(),
            output: Mutex::default(),
            stop: watch::Sender::new(None),
            end: watch::Sender::new(None),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Runs the command to its end. The place's proxy and way in stay open until then.
    pub(in super::super) async fn run(self: Arc<Self>, begun: Begun, place: Place, background: Background) {
        let Begun { running, repositories, is_confined, limit } = begun;
        let (started, mut decoder) = (Instant::now(), Decoder::default());
        let mut stop = self.stop.subscribe();
        let is_stopped = async {
            tokio::select! {
                _ = stop.wait_for(Option::is_some) => (),
                () = sleep(limit.unwrap_or_default()), if limit.is_some() => self.stop(Stopper::Limit),
            }
        };
        let following = running.follow(is_stopped, |bytes| self.output().ring.push(&decoder.push(bytes)));
        let ending = tokio::select! {
            ending = following => ending,
            never = self.guard(&repositories, &place), if is_confined => match never {},
        };
        self.output().ring.push(&decoder.finish());
        self.output().ring.finish();
        let took = started.elapsed();
        let scope = place.scope.clone();
        let left = super::super::beside(move || {
            repositories.keep();
            if is_confined { left_by(&repositories, &scope) } else { Vec::new() }
        });
        let left = leavings::told(&place.cwd, &left.await);
        let (how, exit_code) = self.how(ending, took, limit);
        let ended = Ended { how: format!("{how}{left}"), exit_code, at: Timestamp::now() };
        self.end.send_replace(Some(Arc::new(ended)));
        let pod: WorkerId = place.worker_id.clone();
        drop(place);
        background.tell_ended(&pod);
    }

    /// While the command runs, removes what leads git elsewhere, and tells in its output what runs something later.
    async fn guard(&self, repositories: &Arc<Repositories>, place: &Place) -> Infallible {
        let (mut looks, mut removals, mut known) = (0_u32, 0, Vec::new());
        loop {
            sleep(GUARD_AGAIN).await;
            let own = repositories.clone();
            let removed: Vec<PathBuf> = super::super::beside(move || own.keep()).await;
            for path in &removed {
                let shown = path.strip_prefix(&place.cwd).unwrap_or(path).display().to_string();
                let shown: String = shown.chars().flat_map(char::escape_debug).collect();
                self.note(&format!("removed {shown}, which leads git elsewhere"));
            }
            removals += u32::from(!removed.is_empty());
            if removals == REMOVALS_MAX {
                self.stop(Stopper::Guard);
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS_BETWEEN) {
                let (own, scope) = (repositories.clone(), place.scope.clone());
                let left = super::super::beside(move || left_by(&own, &scope)).await;
                if left != known && !left.is_empty() {
                    self.note(leavings::told(&place.cwd, &left).trim_start_matches([' ', '·']));
                }
                known = left;
            }
        }
    }

    /// Adds a line of yoi's own to the output.
    fn note(&self, text: &str) {
        self.output().ring.push(&format!("\n[yoi: {text}]\n"));
    }

    fn how(&self, ending: Ending, took: Duration, limit: Option<Duration>) -> (String, Option<i32>) {
        let after = format!("after {:.1} s", took.as_secs_f64());
        match ending {
            Ending::Reported(Report::Exited(code)) => (format!("exit {code} {after}"), Some(code)),
            Ending::Reported(Report::Signalled(signal)) => (format!("killed by signal {signal} {after}"), None),
            Ending::Reported(Report::Unconfined(why)) => {
                (format!("not run: it could not be confined to the scope: {why}"), None)
            }
            Ending::Reported(Report::NotStarted(why)) => (format!("not started: {why}"), None),
            Ending::Stopped => {
                let by = match *self.stop.borrow() {
                    Some(Stopper::Model) => "stopped by BashStop".to_owned(),
                    Some(Stopper::Person) => "stopped by a person".to_owned(),
                    Some(Stopper::Limit) => {
                        format!("stopped at its time limit of {} s", limit.unwrap_or_default().as_secs())
                    }
                    Some(Stopper::Guard) => "stopped because it kept making what leads git elsewhere".to_owned(),
                    Some(Stopper::Pod) | None => "stopped with its Pod".to_owned(),
                };
                (format!("{by} {after}"), None)
            }
            Ending::TimeLimit | Ending::TooMuchOutput | Ending::HelperLost => {
                (format!("killed together with its helper {after}"), None)
            }
        }
    }

    pub(super) fn stop(&self, by: Stopper) {
        self.stop.send_if_modified(|stop| {
            let is_first = stop.is_none();
            stop.get_or_insert(by);
            is_first
        });
    }

    /// Whether a caller may read and stop it: people may always, others what they started themselves.
    pub(super) fn is_for(&self, by: ToolBy) -> bool {
        by == ToolBy::Operator || self.by == by
    }

    /// Marks a command that was not started after all as ended.
    pub(super) fn give_up(&self) {
        let ended = Ended { how: "not started".to_owned(), exit_code: None, at: Timestamp::now() };
        self.end.send_replace(Some(Arc::new(ended)));
    }

    pub(super) async fn ended(&self) {
        // The sender is this very command's.
        let _ = self.end.subscribe().wait_for(Option::is_some).await;
    }

    pub(super) fn end(&self) -> Option<CommandEnd> {
        let ended = self.end.borrow().clone()?;
        let output = Some(self.output().ring.newest(0, LAST_BYTES_MAX).text).filter(|text| !text.is_empty());
        Some(CommandEnd { call_id: self.id.clone(), detail: ended.how.clone(), exit_code: ended.exit_code, output })
    }

    pub(super) fn view(&self) -> BackgroundCommand {
        let ended = self.end.borrow().clone();
        BackgroundCommand {
            id: self.id.clone(),
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            by: self.by,
            state: if ended.is_some() { CommandState::Exited } else { CommandState::Running },
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
            detail: ended.as_ref().map(|ended| ended.how.clone()),
            started_at: self.started_at,
            ended_at: ended.map(|ended| ended.at),
            bytes: self.output().ring.end(),
        }
    }

    pub(super) fn read(&self, after: u64) -> BackgroundOutput {
        let Part { text, from, next, dropped } = self.output().ring.after(after, READ_BYTES_MAX);
        BackgroundOutput { command: self.view(), output: text, from, next, dropped }
    }

    /// The output that is new for this caller; marks it as read.
    pub(super) fn news(&self, by: ToolBy) -> (BackgroundCommand, Part) {
        let view = self.view();
        let mut output = self.output();
        let read = if by == ToolBy::Model { output.read_by_model } else { output.read_by_others };
        let part = output.ring.newest(read, TOLD_BYTES_MAX);
        match by {
            ToolBy::Model => output.read_by_model = part.next,
            ToolBy::Operator | ToolBy::Agent => output.read_by_others = part.next,
        }
        (view, part)
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the command left that runs something later. Reads folders.
fn left_by(repositories: &Repositories, scope: &Scope) -> Vec<PathBuf> {
    let mut left = repositories.left_in(scope);
    left.extend(repositories.second_settings());
    left
}
