//! The host: finds, creates and wakes Pods. An idle Pod costs nothing here: no task, no queue, no tail.

mod approvals;
mod audit;
mod blobs;
mod claims;
mod figures;
mod health;
mod journals;
mod peers;
mod pods;
mod rules;
mod sessions;
mod settings;
mod stores;
mod work;

use std::{
    ops::Deref,
    sync::{Arc, Weak},
    time::Duration,
};

use protocol::ApiError;

use self::{
    approvals::Approvals, audit::Audit, blobs::Blobs, claims::Claims, journals::Journals, pods::Pods, rules::Rules,
    sessions::Sessions, stores::Stores, work::Work,
};
pub use self::{claims::Claimed, health::Health, settings::Settings, work::PodToolView};
use crate::{
    HostOptions,
    actor::{self, Above, Actors, Equipment},
    agents::TokenDoor,
    cluster::{self, Cluster},
    family::Family,
    git_watch,
    ground::Ground,
    limits,
    names::Names,
    peers::{Peers, expire, far},
    pod_tokens::PodTokens,
    pod_tools::{self, Kin},
    recipe::Recipes,
    trees::Trees,
};

/// How often to look for expired peer requests.
const EXPIRY_CHECK: Duration = Duration::from_secs(60);

/// The embedded runtime. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

/// The layers of a host, put together.
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
    /// Builds the layers. Each layer knows those it stands on, and those above it only through the one trait that it
    /// defines.
    fn new(options: HostOptions) -> Self {
        let HostOptions {
            store,
            providers,
            profiles,
            toolbox,
            hooks,
            background,
            guides,
            git,
            servers,
            cwd,
            hidden,
            protected,
            outputs,
            snapshots,
            limits,
            agents,
            walls,
        } = options;
        let trees = Arc::new(Trees::new(git, hidden.clone()));
        let kin = Arc::new_cyclic(|kin: &Weak<Kin>| {
            let ground = Arc::new(Ground::new(store, limits.max));
            agents.give_door(Arc::new(TokenDoor::new(ground.pod_tokens.clone())));
            let equipment = Equipment {
                providers: providers.clone(),
                agents: agents.clone(),
                toolbox: toolbox.with(pod_tools::tools(kin)),
                server_rules: servers.rules().into(),
                servers,
                hooks,
                background,
                guides: guides.clone(),
                walls,
                trees: trees.clone(),
                hidden,
                protected: Arc::new(protected),
                outputs,
                snapshots,
            };
            let above: Weak<dyn Above> = kin.clone();
            let cluster = Arc::new(Cluster::new(Arc::new(Actors::new(ground.clone(), equipment, above))));
            let pods = || Box::new(cluster.clone());
            let recipes = Recipes { cwd, profiles, providers, agents, guides, trees };
            let family = Family { ground: ground.clone(), pods: pods(), recipes, limits };
            let peers = Peers { ground, pods: pods(), far: far::Far::default() };
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
    /// Returns as soon as it is known which Pods a crash left open. Those recover in the background, and viewers of one
    /// of them wait for it.
    pub async fn start(options: HostOptions) -> Result<Self, ApiError> {
        let inner = Arc::new(Inner::new(options));
        cluster::start(&inner.cluster).await?;
        inner.tracker.spawn(expire_requests(inner.clone()));
        inner.tracker.spawn(crate::blobs::sweep(inner.store.clone(), inner.stopping.clone()));
        inner.tracker.spawn(crate::changes::sweep(inner.store.clone(), inner.actors.equipment.snapshots.clone()));
        inner.tracker.spawn(limits::go_on(inner.cluster.clone()));
        inner.tracker.spawn(actor::tell(inner.actors.clone()));
        inner.tracker.spawn(inner.actors.clone().tell_ended_commands());
        inner.tracker.spawn(git_watch::watch(inner.actors.ground.clone()));
        inner.tracker.spawn(far::tell_cards(inner.peers.clone()));
        Ok(Self { inner })
    }

    /// Takes no new commands, stops running Pods at a committed point within `limit`, and then closes the store.
    pub async fn shutdown(&self, limit: Duration) {
        self.inner.stopping.cancel();
        self.inner.tracker.close();
        self.inner.actors.equipment.agents.end_all();
        let at_rest = tokio::time::timeout(limit, self.inner.tracker.wait());
        let (at_rest, _) = tokio::join!(at_rest, self.inner.actors.equipment.background.end_everything());
        // What was just being started when the others were told to end.
        self.inner.actors.equipment.background.end_everything().await;
        if at_rest.is_err() {
            tracing::warn!("some Pods did not come to a committed point in time; a restart recovers them");
        }
        self.inner.store.close().await;
    }

    pub fn pods(&self) -> Pods<'_> {
        Pods { inner: &self.inner }
    }

    pub fn work(&self) -> Work<'_> {
        Work { inner: &self.inner }
    }

    pub fn journals(&self) -> Journals<'_> {
        Journals { inner: &self.inner }
    }

    pub fn approvals(&self) -> Approvals<'_> {
        Approvals { inner: &self.inner }
    }

    pub fn peers(&self) -> peers::Peers<'_> {
        peers::Peers { inner: &self.inner }
    }

    pub fn stores(&self) -> Stores<'_> {
        Stores { inner: &self.inner }
    }

    /// The tokens with which agents of Pods reach their Pods through yoi's own MCP server.
    pub fn pod_tokens(&self) -> &PodTokens {
        &self.inner.pod_tokens
    }

    pub fn claims(&self) -> Claims<'_> {
        Claims { inner: &self.inner }
    }

    pub fn blobs(&self) -> Blobs<'_> {
        Blobs { inner: &self.inner }
    }

    /// The rules that stand.
    pub fn rules(&self) -> Rules<'_> {
        Rules { inner: &self.inner }
    }

    pub fn settings(&self) -> Settings<'_> {
        Settings { inner: &self.inner }
    }

    pub fn audit(&self) -> Audit<'_> {
        Audit { inner: &self.inner }
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { inner: &self.inner }
    }

    pub fn health(&self) -> Health<'_> {
        Health { inner: &self.inner }
    }
}

/// Ends expired peer requests from time to time.
async fn expire_requests(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = tokio::time::sleep(EXPIRY_CHECK) => expire(&inner.peers).await,
        }
    }
}
