//! The tasks of the Pods that work now: started by the first request, gone when nothing is left to do.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Deref,
    path::PathBuf,
    sync::{Arc, Mutex, Weak},
};

use protocol::{ApiError, ErrorCode, ToolAnswer, ToolCommand, WorkerId};
use provider::Providers;
use tokio::sync::{mpsc, oneshot};
use tools::Toolbox;

use super::{Above, Held, PodCommand, Request, feed::Feed};
use crate::{
    CommandKey, Origin, error,
    ground::{Ground, Slip},
    looking_in::WaysIn,
    walls::Walls,
};

/// Commands that may wait for one Pod's task; beyond it the sender waits.
const REQUESTS_MAX: usize = 64;

/// What the Pods of a host work with.
#[derive(Debug)]
pub(crate) struct Equipment {
    pub(crate) providers: Providers,
    pub(crate) toolbox: Toolbox,
    pub(crate) walls: Walls,
    /// Absolute paths of yoi's own: no tool touches them.
    pub(crate) hidden: Vec<String>,
    pub(crate) protected: Arc<pod::Protected>,
    pub(crate) outputs: PathBuf,
}

/// The Pods that work or are looked at on this host: their tasks and their tails.
#[derive(Debug)]
pub(crate) struct Actors {
    pub(crate) ground: Arc<Ground>,
    pub(crate) equipment: Equipment,
    pub(crate) ways_in: WaysIn,
    above: Weak<dyn Above>,
    /// Tasks of the Pods that work now.
    tasks: Mutex<HashMap<WorkerId, mpsc::Sender<Request>>>,
    /// Live tails of the Pods that work or are watched now.
    pub(super) feeds: Mutex<HashMap<WorkerId, Weak<Feed>>>,
}

impl Deref for Actors {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Actors {
    pub(crate) fn new(ground: Arc<Ground>, equipment: Equipment, above: Weak<dyn Above>) -> Self {
        let (tasks, feeds) = (Mutex::default(), Mutex::default());
        Self { ground, equipment, ways_in: WaysIn::default(), above, tasks, feeds }
    }

    /// The floors above, while they are there.
    pub(super) fn above(&self) -> Result<Arc<dyn Above>, ApiError> {
        self.above.upgrade().ok_or_else(error::stopping)
    }

    /// Has another Pod look into its mailbox.
    pub(super) fn wake(&self, worker_id: &WorkerId) {
        if let Ok(above) = self.above() {
            above.wake(worker_id);
        }
    }

    /// Carries out a command for a Pod of this host, waking it; the answer as JSON.
    pub(crate) async fn command_here(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<String, ApiError> {
        self.count_command();
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

    /// Whether there is such a tool.
    pub(crate) fn check_tool(&self, name: &str) -> Result<(), ApiError> {
        match self.equipment.toolbox.get(name) {
            Some(_) => Ok(()),
            None => Err(ApiError::new(ErrorCode::NotFound, self.equipment.toolbox.unknown(name, None).summary)),
        }
    }

    /// Runs one tool as a Pod of this host would; waits until it has ended.
    pub(crate) async fn tool_here(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        let (reply, answer) = oneshot::channel();
        let ToolCommand { arguments } = command;
        let (name, origin, slip) = (name.to_owned(), origin.clone(), Slip::default());
        let request = Request::Tool { name, arguments, key, origin, reply, slip: slip.clone() };
        let asked = async {
            self.send(worker_id, request).await?;
            answer.await.map_err(|_| self.interrupted())?
        };
        self.answered(&slip, asked).await
    }

    /// Has a Pod of this host stand still.
    pub(crate) async fn hold_here(self: &Arc<Self>, worker_id: &WorkerId) -> Result<Held, ApiError> {
        let (reply, held) = oneshot::channel();
        let slip = Slip::default();
        let asked = async {
            self.send(worker_id, Request::Hold { reply, slip: slip.clone() }).await?;
            held.await.map_err(|_| self.interrupted())?
        };
        self.answered(&slip, asked).await
    }

    pub(crate) fn tasks_count(&self) -> usize {
        self.tasks.lock().expect("no holder of the tasks panics").len()
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
        let task = self.under_lease(super::run(self.clone(), worker_id.clone(), requests));
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
