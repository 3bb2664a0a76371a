//! The tasks of the Pods that work now: started by the first request, gone when nothing is left to do.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
};

use protocol::{ApiError, ErrorCode, WorkerId};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::Inner;
use crate::{
    CommandKey, Origin, error,
    ground::Slip,
    pod_task::{self, PodCommand, Request},
};

/// Commands that may wait for one Pod's task; beyond it the sender waits.
const REQUESTS_MAX: usize = 64;

impl Inner {
    /// Puts a command to a Pod's task, waking it, and reads its answer.
    pub(crate) async fn command<T: DeserializeOwned>(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<T, ApiError> {
        if let Some(answer) = self.command_there(&key, origin, worker_id, &command).await? {
            return Ok(answer);
        }
        let answer = self.command_here(key, origin, worker_id, command).await?;
        serde_json::from_str(&answer)
            .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
    }

    /// As [`Inner::command`], for a Pod of this host; the answer as JSON.
    pub(crate) async fn command_here(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<String, ApiError> {
        self.commands.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let slip = Slip::default();
        let request =
            Request::Command { command: Box::new(command), key, origin: origin.clone(), reply, slip: slip.clone() };
        let asked = async {
            self.send(worker_id, request).await?;
            answer.await.map_err(|_| self.interrupted())?
        };
        self.answered(&slip, asked).await
    }

    /// The Pod works here now.
    pub(crate) fn has_task(&self, worker_id: &WorkerId) -> bool {
        let tasks = self.tasks.lock().expect("no holder of the tasks panics");
        tasks.get(worker_id).is_some_and(|sender| !sender.is_closed())
    }

    pub(crate) fn pods_with_task(&self) -> BTreeSet<WorkerId> {
        let tasks = self.tasks.lock().expect("no holder of the tasks panics");
        tasks.iter().filter(|(_, sender)| !sender.is_closed()).map(|(worker_id, _)| worker_id.clone()).collect()
    }

    /// Forgets the tasks that were dropped, all of them.
    pub(crate) fn forget_all(&self) {
        self.tasks.lock().expect("no holder of the tasks panics").clear();
    }

    /// Gives a request to a Pod's task, and starts the task when there is none.
    pub(crate) async fn send(self: &Arc<Self>, worker_id: &WorkerId, mut request: Request) -> Result<(), ApiError> {
        loop {
            if self.stopping.is_cancelled() {
                return Err(error::stopping());
            }
            let sender = self.task(worker_id);
            match sender.send(request).await {
                Ok(()) => return Ok(()),
                // The task went to rest between the look-up and the sending.
                Err(mpsc::error::SendError(returned)) => request = returned,
            }
        }
    }

    fn task(self: &Arc<Self>, worker_id: &WorkerId) -> mpsc::Sender<Request> {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        if let Some(sender) = tasks.get(worker_id).filter(|sender| !sender.is_closed()) {
            return sender.clone();
        }
        let (sender, requests) = mpsc::channel(REQUESTS_MAX);
        tasks.insert(worker_id.clone(), sender.clone());
        let task = self.under_lease(pod_task::run(self.clone(), worker_id.clone(), requests));
        self.tracker.spawn(crate::watched(task));
        sender
    }

    /// Ends a task that has nothing to do. False when a request came in.
    pub(crate) fn rest(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) -> bool {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        if !requests.is_empty() {
            return false;
        }
        requests.close();
        tasks.remove(worker_id);
        tasks.shrink_to(64);
        true
    }

    /// Forgets a task that ended by itself.
    pub(crate) fn forget(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        requests.close();
        if tasks.get(worker_id).is_some_and(mpsc::Sender::is_closed) {
            tasks.remove(worker_id);
        }
    }
}
