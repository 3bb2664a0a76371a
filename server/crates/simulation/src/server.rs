//! One whole server: store, host, backend and API, served over the simulated network.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use api::{AllowedHosts, Api, ApiOptions, ConnectionLimits, Connections, Token};
use backend::{Backend, BackendOptions, KeptKeys};
use pod::ToolOutcome;
use pod_store::{Faults, HostIdentity, Step, Store, StoreError, StoreOptions};
use protocol::{PermissionDecision, RuntimeId};
use provider::Providers;
use runtime::{Host, HostOptions};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{Output, Place, Tool, Toolbox};
use turmoil::net::{TcpListener, TcpStream};

use crate::{
    disk::Disk,
    far::{self, Kept},
    http::{PORT, TOKEN},
    line::Line,
    loans::MARK,
    script::FOLDER,
    world::World,
};

/// How long a server that has added this one may be silent before it is forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(600);

/// What is below a server and outlives it: its folder and its disk.
#[derive(Debug, Clone)]
pub(crate) struct Below {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) end: Arc<End>,
    pub(crate) disk: &'static Disk,
    /// The database, if it is not the server's own.
    pub(crate) shared: Option<Shared>,
    /// The servers that it has added, and which stores they have.
    pub(crate) others: Vec<String>,
    pub(crate) kept: Kept,
}

/// A database of several hosts, and one host's way to it.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    pub(crate) line: Arc<Line>,
}

impl Shared {
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("yoi.db")
    }
}

/// Decides at which step of a commit a server dies. From there on nothing of it reaches the disk.
#[derive(Debug, Default)]
pub(crate) struct End {
    disk: Option<&'static Disk>,
    /// How many steps are left; `u64::MAX` while it is not to die.
    left: AtomicU64,
    is_near: AtomicBool,
    /// It has died, and whoever runs it has to notice.
    is_dead: AtomicBool,
    steps: AtomicU64,
    /// How many steps succeed until the next trouble, and how many fail then.
    trouble_after: AtomicU64,
    trouble: AtomicU64,
}

impl End {
    pub(crate) fn on(disk: &'static Disk) -> Self {
        Self { disk: Some(disk), ..Self::default() }
    }

    /// Dies at this step of a commit, counted from now.
    pub(crate) fn nears(&self, step: u64) {
        self.left.store(step, Ordering::Relaxed);
        self.is_near.store(true, Ordering::Relaxed);
    }

    /// So many steps succeed, and then so many fail.
    pub(crate) fn fails(&self, after: u64, count: u64) {
        self.trouble_after.store(after, Ordering::Relaxed);
        self.trouble.store(count, Ordering::Relaxed);
    }

    fn is_in_trouble(&self) -> bool {
        let less = |number: u64| number.checked_sub(1);
        let update = |number: &AtomicU64| number.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        self.trouble.load(Ordering::Relaxed) > 0 && !update(&self.trouble_after) && update(&self.trouble)
    }

    pub(crate) fn is_near(&self) -> bool {
        self.is_near.load(Ordering::Relaxed)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// The next life begins.
    pub(crate) fn is_over(&self) {
        self.is_near.store(false, Ordering::Relaxed);
        self.is_dead.store(false, Ordering::Relaxed);
    }

    /// How many steps of commits were taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }
}

impl Faults for End {
    fn before(&self, _: Step) -> Result<(), StoreError> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        if self.is_near() && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.is_dead.store(true, Ordering::Relaxed);
            self.is_near.store(false, Ordering::Relaxed);
            if let Some(disk) = self.disk {
                disk.cut_power();
            }
        }
        match self.is_dead() {
            true => Err(StoreError::Away("this server is dead".to_owned())),
            false if self.is_in_trouble() => Err(StoreError::Away("the disk is in trouble".to_owned())),
            false => Ok(()),
        }
    }

    fn log_written_again(&self, log: &Path) {
        if let Some(disk) = self.disk {
            disk.rewritten(log);
        }
    }
}

/// The life of a server, from its start to its death.
pub(crate) async fn live(below: Below, world: World) -> turmoil::Result {
    let backend = loop {
        match start(&below).await {
            Ok(backend) => break backend,
            // As a supervisor would restart it.
            Err(error) => {
                // The folder is another one each time the day is played.
                let folder = below.folder.parent().unwrap_or(&below.folder).to_string_lossy();
                world.note(&below.name, format!("cannot start: {}", error.replace(&*folder, "FOLDER")));
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    };
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    let address = listener.local_addr()?;
    let (stop, shutdown) = watch::channel(false);
    let connections = Connections::start(ConnectionLimits::default());
    let options = ApiOptions {
        token: Token::new(TOKEN),
        allowed: AllowedHosts::new(address, "yoi-simulated.localhost", [below.name.clone()]),
        server: "yoi".to_owned(),
        build: None,
        shutdown: shutdown.clone(),
        connections: connections.clone(),
    };
    let api = Api::new(backend, options);
    let served = api::serve(Door(listener), api.guard(api.router()), connections, shutdown).await;
    drop(stop);
    Ok(served?)
}

async fn start(below: &Below) -> Result<Backend, String> {
    let store = open(below).await.map_err(|error| error.to_string())?;
    let providers = Providers::new(Vec::new()).map_err(|error| error.to_string())?;
    let options = HostOptions {
        toolbox: Toolbox::new([Arc::new(Asked) as Arc<dyn Tool>, Arc::new(Mark)]),
        ..HostOptions::of(store, providers, FOLDER, below.folder.join("outputs"))
    };
    let host = Host::start(options).await.map_err(|error| error.detail)?;
    let backend = Backend::start(BackendOptions {
        host,
        name: RuntimeId::parse(&below.name).map_err(|error| error.to_string())?,
        runtimes_file: None,
        keys: KeptKeys::default(),
        forget_after: FORGET_AFTER,
        terminals: None,
    });
    let backend = backend.map_err(|error| error.to_string())?;
    far::add(&backend, &below.others, &below.kept)?;
    Ok(backend)
}

async fn open(below: &Below) -> Result<Store, StoreError> {
    let options = |path| StoreOptions::sqlite(path).with_faults(below.end.clone()).with_vfs(below.disk.name());
    let Some(shared) = &below.shared else { return Store::open(options(below.folder.join("yoi.db"))).await };
    let identity = HostIdentity { uid: below.name.clone(), name: below.name.clone() };
    Store::open_as(options(shared.path()).shared_over(shared.line.clone()), identity).await
}

/// The simulated network's listener, as the API wants it.
struct Door(TcpListener);

impl api::Listener for Door {
    type Io = TcpStream;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.0.accept().await {
                Ok(accepted) => return accepted,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// A tool whose calls all need an approval.
#[derive(Debug)]
struct Asked;

#[async_trait::async_trait]
impl Tool for Asked {
    fn name(&self) -> &'static str {
        "Asked"
    }

    fn description(&self) -> &'static str {
        "Does nothing, once a person has allowed it."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, _: &Place, _: Value, _: Output) -> ToolOutcome {
        ToolOutcome::done("it was allowed")
    }
}

/// A tool that writes a file, if the Pod may; that it does so is all that happens.
#[derive(Debug)]
struct Mark;

#[async_trait::async_trait]
impl Tool for Mark {
    fn name(&self) -> &'static str {
        MARK
    }

    fn description(&self) -> &'static str {
        "Writes a file, as far as anyone can tell."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn default_permission(&self) -> PermissionDecision {
        PermissionDecision::Allow
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        let path = arguments["path"].as_str().unwrap_or_default();
        match place.scope.may_write(path) {
            Ok(()) => ToolOutcome::done("it is written"),
            Err(refusal) => ToolOutcome::failed("scope_not_held", format!("{path} {refusal}")),
        }
    }
}
