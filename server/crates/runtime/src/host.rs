//! The host: finds, makes and wakes Pods. An idle Pod costs nothing here: no task, no queue, no tail.

mod claims;
mod composing;
mod far;
mod feeds;
mod held_up;
mod life;
mod lists;
mod look_in;
mod looks;
mod options;
mod peering;
mod settings;
mod tasks;
mod walls;

use std::{
    collections::{BTreeMap, HashMap},
    ops::Deref,
    path::PathBuf,
    sync::{Arc, Mutex, Weak, atomic::Ordering},
    time::Duration,
};

use protocol::{
    ApiError, Approval, ApprovalCommand, ErrorCode, InputCommand, OpenApproval, PatchPod, PodDetail, Receipt,
    RewindCommand, ToolAnswer, ToolCommand, WorkerId,
};
use provider::Providers;
use tokio::sync::{mpsc, oneshot};
use tools::Toolbox;

pub use self::{
    claims::Claimed,
    options::{FamilyLimits, HostOptions, Profile},
    walls::Walls,
};
use crate::{
    CommandKey, Origin, approvals,
    far::Far,
    feed::Feed,
    ground::{Ground, Slip},
    hosts::{self, Hosts},
    looking_in::WaysIn,
    names::Names,
    peers,
    pod_task::{PodCommand, Request},
    pod_tools, recovery,
};

/// How often requests are looked for whose time is over.
const EXPIRY_CHECK: Duration = Duration::from_secs(60);

/// The embedded runtime. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) ground: Arc<Ground>,
    pub(crate) providers: Providers,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) toolbox: Toolbox,
    pub(crate) cwd: String,
    pub(crate) hidden: Vec<String>,
    pub(crate) protected: Arc<pod::Protected>,
    pub(crate) outputs: PathBuf,
    pub(crate) family: FamilyLimits,
    pub(crate) walls: Walls,
    pub(crate) ways_in: WaysIn,
    /// Tasks of the Pods that work now.
    tasks: Mutex<HashMap<WorkerId, mpsc::Sender<Request>>>,
    /// Live tails of the Pods that work or are watched now.
    feeds: Mutex<HashMap<WorkerId, Weak<Feed>>>,
    pub(crate) names: Names,
    pub(crate) far: Far,
    pub(crate) hosts: Hosts,
}

impl Deref for Inner {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Host {
    /// Returns as soon as it is known which Pods a crash left open; those are recovered in the background, and a
    /// look at one of them waits for it.
    pub async fn start(options: HostOptions) -> Result<Self, ApiError> {
        let HostOptions { store, providers, profiles, toolbox, cwd, hidden, protected, outputs, family, walls } =
            options;
        let inner = Arc::new_cyclic(|inner| Inner {
            ground: Arc::new(Ground::new(store)),
            providers,
            profiles,
            toolbox: toolbox.with(pod_tools::tools(inner)),
            cwd,
            hidden,
            protected: Arc::new(protected),
            outputs,
            family,
            walls,
            ways_in: WaysIn::default(),
            tasks: Mutex::default(),
            feeds: Mutex::default(),
            names: Names::default(),
            far: Far::default(),
            hosts: Hosts::default(),
        });
        recovery::start(&inner).await?;
        hosts::start(&inner).await?;
        inner.tracker.spawn(expire_requests(inner.clone()));
        inner.tracker.spawn(held_up::tell(inner.clone()));
        inner.tracker.spawn(crate::far::tell_cards(inner.clone()));
        Ok(Self { inner })
    }

    /// No new commands; working Pods stop at a committed point, within `limit`; then the store is closed.
    pub async fn shutdown(&self, limit: Duration) {
        self.inner.stopping.cancel();
        self.inner.tracker.close();
        if tokio::time::timeout(limit, self.inner.tracker.wait()).await.is_err() {
            tracing::warn!("some Pods did not come to a committed point in time; a restart puts them in order");
        }
        self.inner.store.close().await;
    }

    pub async fn input(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Input(input)).await
    }

    fn count_command(&self) {
        self.inner.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the records after a position out of the model's context.
    pub async fn rewind(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Rewind(command)).await
    }

    /// Runs one tool as this Pod would; waits until it has ended.
    pub async fn run_tool(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        self.inner.existing_row(worker_id).await?;
        if self.inner.toolbox.get(name).is_none() {
            let unknown = self.inner.toolbox.unknown(name, None);
            return Err(ApiError::new(ErrorCode::NotFound, unknown.summary));
        }
        self.count_command();
        if let Some(answer) = self.inner.tool_there(&key, origin, worker_id, name, &command).await? {
            return Ok(answer);
        }
        let (reply, answer) = oneshot::channel();
        let ToolCommand { arguments } = command;
        let (name, origin, slip) = (name.to_owned(), origin.clone(), Slip::default());
        let request = Request::Tool { name, arguments, key, origin, reply, slip: slip.clone() };
        let asked = async {
            self.inner.send(worker_id, request).await?;
            answer.await.map_err(|_| self.inner.interrupted())?
        };
        self.inner.answered(&slip, asked).await
    }

    /// The open questions of one Pod, or all that it ever asked; oldest first.
    pub async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        approvals::of_pod(&self.inner, worker_id, all).await
    }

    /// The open questions of every Pod, oldest first.
    pub async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        approvals::open(&self.inner).await
    }

    /// Answers a question. The first answer wins.
    pub async fn answer(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        id: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        let command = PodCommand::Answer { id: id.to_owned(), command };
        self.inner.command(key, origin, worker_id, command).await
    }

    pub async fn patch(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Patch(patch)).await
    }
}

/// Ends requests whose time is over, now and then.
async fn expire_requests(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = tokio::time::sleep(EXPIRY_CHECK) => peers::expire(&inner).await,
        }
    }
}
