//! The host: finds, makes and wakes Pods. An idle Pod costs nothing here: no task, no queue, no tail.

mod claims;
mod composing;
mod far;
mod life;
mod lists;
mod look_in;
mod looks;
mod peering;
mod settings;

use std::{
    ops::Deref,
    sync::{Arc, Weak},
    time::Duration,
};

use protocol::{
    ApiError, Approval, ApprovalCommand, InputCommand, OpenApproval, PatchPod, PodDetail, Receipt, RewindCommand,
    ToolAnswer, ToolCommand, WorkerId,
};

pub use self::claims::Claimed;
use crate::{
    CommandKey, HostOptions, Origin,
    actor::{self, Above, Actors, Equipment, PodCommand},
    approvals,
    cluster::{self, Cluster},
    family::Family,
    ground::Ground,
    names::Names,
    peers::{self, Peers},
    pod_tools::{self, Kin},
    recipe::Recipes,
};

/// How often requests are looked for whose time is over.
const EXPIRY_CHECK: Duration = Duration::from_secs(60);

/// The embedded runtime. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

/// The floors of a host, put together.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) actors: Arc<Actors>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) family: Arc<Family>,
    pub(crate) peers: Arc<Peers>,
    kin: Arc<Kin>,
    names: Names,
}

impl Deref for Inner {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.actors
    }
}

impl Inner {
    /// Each floor gets what it stands on, and nothing of what is above it but through the one trait that it gives.
    fn new(options: HostOptions) -> Self {
        let HostOptions { store, providers, profiles, toolbox, cwd, hidden, protected, outputs, limits, walls } =
            options;
        let kin = Arc::new_cyclic(|kin: &Weak<Kin>| {
            let ground = Arc::new(Ground::new(store, limits.max));
            let equipment = Equipment {
                providers: providers.clone(),
                toolbox: toolbox.with(pod_tools::tools(kin)),
                walls,
                hidden,
                protected: Arc::new(protected),
                outputs,
            };
            let above: Weak<dyn Above> = kin.clone();
            let cluster = Arc::new(Cluster::new(Arc::new(Actors::new(ground.clone(), equipment, above))));
            let pods = || Box::new(cluster.clone());
            let recipes = Recipes { cwd, profiles, providers };
            let family = Family { ground: ground.clone(), pods: pods(), recipes, limits };
            let peers = Peers { ground, pods: pods(), far: peers::far::Far::default() };
            Kin { cluster, family: Arc::new(family), peers: Arc::new(peers) }
        });
        let Kin { cluster, family, peers } = &*kin;
        Self {
            actors: cluster.actors.clone(),
            cluster: cluster.clone(),
            family: family.clone(),
            peers: peers.clone(),
            kin,
            names: Names::default(),
        }
    }
}

impl Host {
    /// Returns as soon as it is known which Pods a crash left open; those are recovered in the background, and a
    /// look at one of them waits for it.
    pub async fn start(options: HostOptions) -> Result<Self, ApiError> {
        let inner = Arc::new(Inner::new(options));
        cluster::start(&inner.cluster).await?;
        inner.tracker.spawn(expire_requests(inner.clone()));
        inner.tracker.spawn(actor::tell(inner.actors.clone()));
        inner.tracker.spawn(peers::far::tell_cards(inner.peers.clone()));
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
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Input(input)).await
    }

    /// Takes the records after a position out of the model's context.
    pub async fn rewind(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Rewind(command)).await
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
        self.inner.cluster.run_tool(key, origin, worker_id, name, command).await
    }

    /// The open questions of one Pod, or all that it ever asked; oldest first.
    pub async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        approvals::of_pod(&self.inner.cluster, worker_id, all).await
    }

    /// The open questions of every Pod, oldest first.
    pub async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        approvals::open(&self.inner.cluster).await
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
        self.inner.cluster.command(key, origin, worker_id, command).await
    }

    pub async fn patch(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        self.inner.cluster.command(key, origin, worker_id, PodCommand::Patch(patch)).await
    }
}

/// Ends requests whose time is over, now and then.
async fn expire_requests(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = tokio::time::sleep(EXPIRY_CHECK) => peers::expire(&inner.peers).await,
        }
    }
}
