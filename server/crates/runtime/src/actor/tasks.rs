//! The tasks of the running Pods: started by the first request, ended when nothing is left to do.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Deref,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use protocol::{ApiError, ErrorCode, PermissionRule, ToolAnswer, WorkerId};
use provider::Providers;
use tokio::sync::{mpsc, oneshot};
use tools::Toolbox;

use super::{
    Above, Held, PodCommand, Request,
    feeds::Feeds,
    task::{OutsideCall, Reply},
};
use crate::{
    CommandKey, Origin,
    changes::Shown,
    error,
    ground::{Ground, Slip},
    looking_in::WaysIn,
    trees::Trees,
    walls::Walls,
};

/// Requests that may wait for one Pod's task; beyond that, senders wait.
const REQUESTS_MAX: usize = 64;

/// What the Pods of a host work with.
#[derive(Debug)]
pub(crate) struct Equipment {
    pub(crate) providers: Providers,
    pub(crate) agents: acp::Agents,
    pub(crate) toolbox: Toolbox,
    pub(crate) hooks: tools::hooks::Hooks,
    /// Commands that keep running after their call.
    pub(crate) background: tools::bash::Background,
    /// Finds the commands of a person's own.
    pub(crate) guides: tools::guides::Guides,
    pub(crate) servers: mcp::Servers,
    /// The permission rules in the servers' sections.
    pub(crate) server_rules: Arc<[PermissionRule]>,
    pub(crate) walls: Walls,
    pub(crate) trees: Arc<Trees>,
    /// Absolute paths of yoi's own files, which no tool may touch.
    pub(crate) hidden: Vec<String>,
    pub(crate) protected: Arc<pod::Protected>,
    pub(crate) outputs: PathBuf,
    /// Where the snapshots of Pods' files are, in one folder per Pod.
    pub(crate) snapshots: PathBuf,
}

/// The running or viewed Pods of this host: their tasks and their tails.
#[derive(Debug)]
pub(crate) struct Actors {
    pub(crate) ground: Arc<Ground>,
    pub(crate) equipment: Equipment,
    pub(crate) ways_in: WaysIn,
    /// What was told of Pods' changes.
    pub(crate) shown: Shown,
    above: Weak<dyn Above>,
    pub(crate) tasks: Tasks,
    pub(crate) feeds: Feeds,
}

impl Deref for Actors {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Actors {
    pub(crate) fn new(ground: Arc<Ground>, equipment: Equipment, above: Weak<dyn Above>) -> Self {
        let (tasks, feeds) = (Tasks::default(), Feeds::default());
        let (ways_in, shown) = (WaysIn::default(), Shown::default());
        Self { ground, equipment, ways_in, shown, above, tasks, feeds }
    }

    /// The layers above, while they exist.
    pub(super) fn above(&self) -> Result<Arc<dyn Above>, ApiError> {
        self.above.upgrade().ok_or_else(error::stopping)
    }

    /// Tells another Pod to read its mailbox.
    pub(super) fn wake(&self, worker_id: &WorkerId) {
        if let Ok(above) = self.above() {
            above.wake(worker_id);
        }
    }

    /// Carries out a command for a Pod of this host, waking it. Returns the answer as JSON.
    pub(crate) async fn command_here(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<String, ApiError> {
        self.count_command();
        let stops = if let PodCommand::StopCommand(id) = &command { Some(id.clone()) } else { None };
        let (command, origin) = (Box::new(command), origin.clone());
        let answer = self.ask(worker_id, |reply| Request::Command { command, key, origin, reply }).await?;
        match stops {
            Some(id) => self.stopped_command(worker_id, &id, &answer).await,
            None => Ok(answer),
        }
    }

    /// Returns an error if there is no such tool.
    pub(crate) fn check_tool(&self, name: &str) -> Result<(), ApiError> {
        let is_of_server = || mcp::server_of(name).is_some_and(|server| self.equipment.servers.has(server));
        match self.equipment.toolbox.get(name) {
            Some(_) => Ok(()),
            None if is_of_server() => Ok(()),
            None => Err(ApiError::new(ErrorCode::NotFound, self.equipment.toolbox.unknown(name, None).summary)),
        }
    }

    /// Runs one tool beside the run of a Pod of this host and waits until it has ended.
    pub(crate) async fn tool_here(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        call: OutsideCall,
    ) -> Result<ToolAnswer, ApiError> {
        let origin = origin.clone();
        self.ask(worker_id, |reply| Request::Tool { call, key, origin, reply }).await
    }

    /// Pauses a Pod of this host.
    pub(crate) async fn hold_here(self: &Arc<Self>, worker_id: &WorkerId) -> Result<Held, ApiError> {
        self.ask(worker_id, |reply| Request::Hold { reply }).await
    }

    /// Sends a request to a Pod's task and waits for the answer.
    async fn ask<T>(
        self: &Arc<Self>,
        worker_id: &WorkerId,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, ApiError> {
        let (sender, answer) = oneshot::channel();
        let slip = Slip::default();
        let request = request(Reply { answer: sender, slip: slip.clone() });
        let asked = async {
            self.send(worker_id, request).await?;
            answer.await.map_err(|_| self.interrupted())?
        };
        self.answered(&slip, asked).await
    }

    /// Sends a request to a Pod's task, starting the task if there is none.
    pub(crate) async fn send(self: &Arc<Self>, worker_id: &WorkerId, mut request: Request) -> Result<(), ApiError> {
        loop {
            if self.stopping.is_cancelled() {
                return Err(error::stopping());
            }
            let sender = self.tasks.get(worker_id, |requests| self.start(worker_id, requests));
            match sender.send(request).await {
                Ok(()) => return Ok(()),
                // The task ended between the lookup and the send.
                Err(mpsc::error::SendError(returned)) => request = returned,
            }
        }
    }

    fn start(self: &Arc<Self>, worker_id: &WorkerId, requests: mpsc::Receiver<Request>) {
        let task = self.under_lease(super::task::run(self.clone(), worker_id.clone(), requests));
        self.tracker.spawn(crate::watched(task));
    }
}

/// The tasks of the running Pods, each as the sender of its requests.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<HashMap<WorkerId, mpsc::Sender<Request>>>);

impl Tasks {
    fn all(&self) -> MutexGuard<'_, HashMap<WorkerId, mpsc::Sender<Request>>> {
        self.0.lock().expect("no holder of the tasks panics")
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// True if the Pod is running here now.
    pub(crate) fn has(&self, worker_id: &WorkerId) -> bool {
        self.all().get(worker_id).is_some_and(|sender| !sender.is_closed())
    }

    /// The Pods that are running here now.
    pub(crate) fn pods(&self) -> BTreeSet<WorkerId> {
        let tasks = self.all();
        tasks.iter().filter(|(_, sender)| !sender.is_closed()).map(|(worker_id, _)| worker_id.clone()).collect()
    }

    /// Forgets all tasks, after they were dropped.
    pub(crate) fn clear(&self) {
        self.all().clear();
    }

    /// The Pod's task, started if there is none.
    fn get(&self, worker_id: &WorkerId, start: impl FnOnce(mpsc::Receiver<Request>)) -> mpsc::Sender<Request> {
        let mut tasks = self.all();
        if let Some(sender) = tasks.get(worker_id).filter(|sender| !sender.is_closed()) {
            return sender.clone();
        }
        let (sender, requests) = mpsc::channel(REQUESTS_MAX);
        tasks.insert(worker_id.clone(), sender.clone());
        start(requests);
        sender
    }

    /// Ends an idle task. Returns false if a request has arrived.
    pub(super) fn rest(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) -> bool {
        let mut tasks = self.all();
        if !requests.is_empty() {
            return false;
        }
        requests.close();
        tasks.remove(worker_id);
        tasks.shrink_to(64);
        true
    }

    /// Forgets a task that ended by itself.
    pub(super) fn forget(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) {
        let mut tasks = self.all();
        requests.close();
        if tasks.get(worker_id).is_some_and(mpsc::Sender::is_closed) {
            tasks.remove(worker_id);
        }
    }
}
