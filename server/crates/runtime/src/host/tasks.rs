//! The tasks of the Pods that work now: started by the first request, gone when nothing is left to do.

use std::sync::{Arc, atomic::Ordering};

use protocol::{ApiError, ErrorCode, WorkerId};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::Inner;
use crate::{
    CommandKey, Origin, error,
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
        self.commands.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let request = Request::Command { command: Box::new(command), key, origin: origin.clone(), reply };
        self.send(worker_id, request).await?;
        let answer = answer.await.map_err(|_| error::stopping())??;
        serde_json::from_str(&answer)
            .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
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
        self.tracker.spawn(pod_task::run(self.clone(), worker_id.clone(), requests));
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
