//! Commands that keep running after their call: each runs until it ends, is stopped, or its Pod or yoi ends. What it
//! wrote last is kept in memory, and each reader continues where it stopped reading.

mod job;
mod ring;
mod tools;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pod::CommandEnd;
use protocol::{BackgroundCommand, BackgroundOutput, ToolBy, WorkerId};
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
/// How long to wait for commands that were told to end; longer than the helper's grace and its own end take (`run.rs`).
const END_WAIT_MAX: Duration = Duration::from_secs(8);

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

    /// The number of commands that run now, over all Pods.
    pub fn count(&self) -> usize {
        let pods = self.0.pods.lock().unwrap_or_else(PoisonError::into_inner);
        pods.values().flatten().filter(|job| job.end().is_none()).count()
    }

    /// The ids of the Pod's commands that run, oldest first.
    pub fn running(&self, pod: &WorkerId) -> Vec<String> {
        self.jobs(pod).iter().filter(|job| job.end().is_none()).map(|job| job.id().to_owned()).collect()
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

    /// Ends all commands of a Pod and waits until nothing of them is left. Returns false if something does not end.
    pub async fn end_all(&self, pod: &WorkerId) -> bool {
        end(&self.jobs(pod)).await
    }

    /// Ends the commands of all Pods, as [`Self::end_all`] does, and forgets those that have ended.
    pub async fn end_everything(&self) -> bool {
        let jobs: Vec<Arc<Job>> = self.pods().values().flatten().cloned().collect();
        let are_over = end(&jobs).await;
        self.pods().retain(|_, jobs| {
            jobs.retain(|job| job.end().is_none());
            !jobs.is_empty()
        });
        are_over
    }

    /// Forgets the commands of a Pod that have ended.
    pub fn forget_ended(&self, pod: &WorkerId) {
        let mut pods = self.pods();
        let Some(jobs) = pods.get_mut(pod) else { return };
        jobs.retain(|job| job.end().is_none());
        if jobs.is_empty() {
            pods.remove(pod);
        }
    }

    /// Forgets the commands of a deleted Pod.
    pub fn forget(&self, pod: &WorkerId) {
        self.pods().remove(pod);
    }

    /// Adds a command that is about to be started. The error is a sentence: too many run.
    pub(super) fn add(&self, pod: &WorkerId, job: Arc<Job>) -> Result<Seat, String> {
        let mut pods = self.pods();
        let jobs = pods.entry(pod.clone()).or_default();
        if jobs.iter().filter(|job| job.end().is_none()).count() >= RUNNING_MAX {
            return Err(format!(
                "{RUNNING_MAX} commands run in the background already; end one first, with BashStop, or those of a person \
                 with `yoi ps`"
            ));
        }
        let too_many = (jobs.iter().filter(|job| job.end().is_some()).count() + 1).saturating_sub(ENDED_MAX);
        let mut left = too_many;
        jobs.retain(|job| {
            let goes = left > 0 && job.end().is_some();
            left -= usize::from(goes);
            !goes
        });
        jobs.push(job.clone());
        Ok(Seat { background: self.clone(), pod: pod.clone(), job, is_taken: false })
    }

    pub(super) fn tell_ended(&self, pod: &WorkerId) {
        // Nobody listens in a server that is stopping.
        let _ = self.0.ends.send(pod.clone());
    }

    /// A command that this caller may read and stop.
    pub(super) fn job_for(&self, pod: &WorkerId, id: &str, by: ToolBy) -> Option<Arc<Job>> {
        self.job(pod, id).filter(|job| job.is_for(by))
    }

    /// The ids of all such commands, oldest first.
    pub(super) fn ids_for(&self, pod: &WorkerId, by: ToolBy) -> Vec<String> {
        self.jobs(pod).iter().filter(|job| job.is_for(by)).map(|job| job.id().to_owned()).collect()
    }

    fn job(&self, pod: &WorkerId, id: &str) -> Option<Arc<Job>> {
        self.pods().get(pod)?.iter().find(|job| job.id() == id).cloned()
    }

    fn jobs(&self, pod: &WorkerId) -> Vec<Arc<Job>> {
        self.pods().get(pod).cloned().unwrap_or_default()
    }

    fn pods(&self) -> MutexGuard<'_, HashMap<WorkerId, Vec<Arc<Job>>>> {
        self.0.pods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a command that is being started. Dropping it takes the command away again, unless it was started.
#[derive(Debug)]
pub(super) struct Seat {
    background: Background,
    pod: WorkerId,
    job: Arc<Job>,
    is_taken: bool,
}

impl Seat {
    /// The command was started.
    pub(super) fn take(mut self) {
        self.is_taken = true;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.is_taken {
            return;
        }
        self.job.give_up();
        if let Some(jobs) = self.background.pods().get_mut(&self.pod) {
            jobs.retain(|job| !Arc::ptr_eq(job, &self.job));
        }
    }
}

/// Tells commands to end with their Pod and waits until nothing of them is left. Returns false if something does not
/// end.
async fn end(jobs: &[Arc<Job>]) -> bool {
    jobs.iter().for_each(|job| job.stop(Stopper::Pod));
    let ended = async {
        for job in jobs {
            job.ended().await;
        }
    };
    timeout(END_WAIT_MAX, ended).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lifeline, Place};

    fn place(call_id: &str) -> Place {
        Place::nowhere(WorkerId::parse("018f0000-0000-7000-8000-000000000001").unwrap(), call_id, Lifeline::pair().0)
    }

    #[tokio::test]
    async fn a_start_that_is_given_up_leaves_no_seat_and_nobody_waits_for_it() {
        let (background, place) = (Background::default(), place("call-b1"));
        let job = Arc::new(Job::new(&place, "sleep 1", "/".to_owned()));
        let seat = background.add(&place.worker_id, job.clone()).unwrap();
        assert_eq!(background.running(&place.worker_id), ["call-b1"]);
        drop(seat);
        assert!(background.list(&place.worker_id).is_empty());
        job.ended().await;
    }
}
