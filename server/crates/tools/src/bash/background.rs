//! Commands that go on after their call: each runs until it ends, is stopped, or its Pod or yoi ends. What it wrote last
//! is kept in memory, and each reader continues where it stopped reading.

mod job;
mod ring;
mod tools;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pod::CommandEnd;
use protocol::{BackgroundCommand, BackgroundOutput, WorkerId};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::timeout,
};

pub(super) use self::job::{Begun, Job};
pub use self::{
    job::Stopper,
    tools::{BashOutput, BashStop},
};

/// The most commands of one Pod that run in the background at once.
const RUNNING_MAX: usize = 8;
/// The most ended ones of one Pod that are still known.
const ENDED_MAX: usize = 16;
/// How long to wait for commands that were told to end; longer than their own grace of 2 s.
const END_WAIT_MAX: Duration = Duration::from_secs(4);

/// The background commands of all Pods of this server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Background(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pods: Mutex<HashMap<WorkerId, Vec<Arc<Job>>>>,
    /// Tells whose command has ended.
    ends: UnboundedSender<WorkerId>,
    ended: Mutex<Option<UnboundedReceiver<WorkerId>>>,
}

impl Default for Background {
    fn default() -> Self {
        let (ends, ended) = unbounded_channel();
        Self(Arc::new(Shared { pods: Mutex::default(), ends, ended: Mutex::new(Some(ended)) }))
    }
}

impl Background {
    /// Where the Pods arrive whose commands have ended. `None` if somebody else receives them.
    pub fn ended_pods(&self) -> Option<UnboundedReceiver<WorkerId>> {
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether a command of the Pod runs in the background.
    pub fn runs(&self, pod: &WorkerId) -> bool {
        self.jobs(pod).iter().any(|job| job.end().is_none())
    }

    /// The Pod's commands, oldest first.
    pub fn list(&self, pod: &WorkerId) -> Vec<BackgroundCommand> {
        self.jobs(pod).iter().map(|job| job.view()).collect()
    }

    /// What a command wrote from the byte `after` on, at most 64 KiB. `None` if the Pod has no such command.
    pub fn read(&self, pod: &WorkerId, id: &str, after: u64) -> Option<BackgroundOutput> {
        Some(self.job(pod, id)?.read(after))
    }

    /// Tells a command to end. Returns false if the Pod has no such command. Does not wait; see [`Self::stopped`].
    pub fn stop(&self, pod: &WorkerId, id: &str, by: Stopper) -> bool {
        self.job(pod, id).inspect(|job| job.stop(by)).is_some()
    }

    /// Waits until a command has ended, or for the time that its end may take. `None` if the Pod has no such command.
    pub async fn stopped(&self, pod: &WorkerId, id: &str) -> Option<BackgroundCommand> {
        let job = self.job(pod, id)?;
        let _ = timeout(END_WAIT_MAX, job.ended()).await;
        Some(job.view())
    }

    /// How a command ended; `None` if it still runs. A command that is not known ended with a former yoi.
    pub fn end_of(&self, pod: &WorkerId, id: &str) -> Option<CommandEnd> {
        match self.job(pod, id) {
            Some(job) => job.end(),
            None => Some(CommandEnd {
                call_id: id.to_owned(),
                detail: "ended when yoi ended".to_owned(),
                exit_code: None,
                output: None,
            }),
        }
    }

    /// How a command ended, if it is known here and has ended.
    pub fn known_end(&self, pod: &WorkerId, id: &str) -> Option<CommandEnd> {
        self.job(pod, id)?.end()
    }

    /// Ends all commands of a Pod and waits until nothing of them is left. Returns false if something does not end.
    pub async fn end_all(&self, pod: &WorkerId) -> bool {
        let jobs = self.jobs(pod);
        jobs.iter().for_each(|job| job.stop(Stopper::Pod));
        let ended = async {
            for job in &jobs {
                job.ended().await;
            }
        };
        timeout(END_WAIT_MAX, ended).await.is_ok()
    }

    /// Forgets the commands of a deleted Pod.
    pub fn forget(&self, pod: &WorkerId) {
        self.pods().remove(pod);
    }

    /// Adds a command. The error is a sentence: too many run.
    pub(super) fn add(&self, pod: &WorkerId, job: Arc<Job>) -> Result<(), String> {
        let mut pods = self.pods();
        let jobs = pods.entry(pod.clone()).or_default();
        if jobs.iter().filter(|job| job.end().is_none()).count() >= RUNNING_MAX {
            return Err(format!("{RUNNING_MAX} commands run in the background already; end one with BashStop first"));
        }
        let too_many = (jobs.iter().filter(|job| job.end().is_some()).count() + 1).saturating_sub(ENDED_MAX);
        let mut left = too_many;
        jobs.retain(|job| {
            let goes = left > 0 && job.end().is_some();
            left -= usize::from(goes);
            !goes
        });
        jobs.push(job);
        Ok(())
    }

    /// Removes a command that could not be started.
    pub(super) fn remove(&self, pod: &WorkerId, id: &str) {
        if let Some(jobs) = self.pods().get_mut(pod) {
            jobs.retain(|job| job.id() != id);
        }
    }

    pub(super) fn tell_ended(&self, pod: &WorkerId) {
        // Nobody listens in a server that is stopping.
        let _ = self.0.ends.send(pod.clone());
    }

    pub(super) fn job(&self, pod: &WorkerId, id: &str) -> Option<Arc<Job>> {
        self.pods().get(pod)?.iter().find(|job| job.id() == id).cloned()
    }

    fn jobs(&self, pod: &WorkerId) -> Vec<Arc<Job>> {
        self.pods().get(pod).cloned().unwrap_or_default()
    }

    fn pods(&self) -> MutexGuard<'_, HashMap<WorkerId, Vec<Arc<Job>>>> {
        self.0.pods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
