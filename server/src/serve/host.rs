//! The host of the Pods: its store, its tools, and what no Pod may see of this machine.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use acp::{Agents, AgentsOptions};
use anyhow::{Context, Result, anyhow, bail};
use etcetera::BaseStrategy as _;
use mcp::{Servers, ServersOptions};
use pod_store::{Database, HostIdentity, Store, StoreError, StoreOptions};
use provider::Providers;
use runtime::{Host, HostOptions, Protected, Walls};
use tools::{
    Tasks, Tool, Toolbox,
    bash::{self, Background, Bash, BashOptions, Builder, Confine, Confinement, Groups},
    files,
    git::Git,
    guides::{Guides, SkillTool},
    hooks::Hooks,
    web::{WebFetch, WebOptions},
};

use crate::{config::Config, data_dir, host_name, open_files::OpenFiles};

/// For how long to retry a store that cannot be opened …
const OPEN_MAX: Duration = Duration::from_secs(8);
/// … and how often.
const OPEN_AGAIN: Duration = Duration::from_millis(250);
/// Settings folders from which programs are run.
const SETTINGS: [&str; 6] = ["autostart", "environment.d", "fish", "git", "systemd", "yoi"];

/// For a server with more privileges than it needs.
pub(crate) const ROOT_WARNING: &str =
    "yoi is running as root: anything that escapes its sandbox owns this machine; run it as an ordinary user";

/// Opens the store and starts the host on it.
pub(super) async fn start(config: &Config, providers: Providers, files: OpenFiles) -> Result<Host> {
    let options = StoreOptions::new(config.database.clone()).with_remains(remains(config));
    let advice = match config.database {
        Database::Sqlite { .. } => "check that its disk has room and that no other program holds it",
        Database::Postgres { .. } => "check that PostgreSQL answers at its address",
    };
    let store = open(options, identity(config)?, advice).await.context("the store cannot be opened")?;
    let cwd = std::env::current_dir().context("the current directory is gone; start yoi in one that exists")?;
    let cwd = cwd
        .into_os_string()
        .into_string()
        .map_err(|cwd| anyhow!("the current directory {} is not valid UTF-8; start yoi in another", cwd.display()))?;
    if rustix::process::geteuid().is_root() {
        tracing::warn!("{ROOT_WARNING}");
    }
    // Before anything runs beside this process.
    let groups = tokio::task::spawn_blocking(Groups::of_this_process).await.context("cgroups could not be detected")?;
    let settings = etcetera::choose_base_strategy().ok().map(|strategy| strategy.config_dir().join("yoi"));
    let (background, guides) = (Background::default(), Guides::new(settings.as_deref()));
    let options = HostOptions {
        profiles: config.profiles.clone(),
        toolbox: toolbox(bash_options(config, files, groups.clone()), &background, &guides),
        hooks: Hooks::new(&config.hooks, Arc::new(Bash::new(bash_options(config, files, groups.clone())))),
        background,
        guides,
        git: Git::new(bash_options(config, files, groups.clone())),
        servers: Servers::new(ServersOptions {
            configs: config.mcp.clone(),
            bash: bash_options(config, files, groups.clone()),
            accepted: Some(config.data.join(data_dir::MCP)),
            logins: Some(config.data.join(data_dir::MCP_LOGINS)),
        }),
        agents: Agents::new(AgentsOptions {
            configured: config.agents.clone(),
            path: std::env::var_os("PATH"),
            bash: bash_options(config, files, groups.clone()),
            finds_known: true,
        }),
        hidden: hidden(config),
        protected: protected(config),
        limits: config.pods.limits(),
        walls: walls(config.commands.builder(), groups),
        ..HostOptions::of(store, providers, cwd, config.data.join(data_dir::OUTPUTS))
    };
    Host::start(options).await.context("the Pods cannot be hosted")
}

/// Builds a first sandbox, which takes a moment, while the rest starts.
fn walls(builder: Builder, groups: Groups) -> Walls {
    let (sender, walls) = Walls::soon();
    tokio::task::spawn_blocking(move || {
        if let Confinement::Missing { reason, .. } = bash::confinement(builder) {
            tracing::warn!("commands have no sandbox here, so each asks for permission: {reason}");
        }
        sender.send_replace(Some(bash::walls(Confine::Auto, builder, &groups)));
    });
    walls
}

/// Retries errors that may pass for a while: another program that holds the database, a full disk, a database that is
/// starting.
async fn open(options: StoreOptions, identity: HostIdentity, advice: &str) -> Result<Store> {
    let began = Instant::now();
    loop {
        match Store::open_as(options.clone(), identity.clone()).await {
            Err(error @ StoreError::Unread(_)) if began.elapsed() < OPEN_MAX => {
                tracing::warn!(%error, "the store cannot be opened yet; trying again");
                tokio::time::sleep(OPEN_AGAIN).await;
            }
            Err(error @ StoreError::Unread(_)) => {
                let seconds = began.elapsed().as_secs();
                bail!("{error}; yoi tried for {seconds} s: {advice}")
            }
            opened => return Ok(opened?),
        }
    }
}

/// What the data folder contains only if its database was there.
pub(crate) fn remains(config: &Config) -> Vec<PathBuf> {
    match &config.database {
        Database::Sqlite { path } if path.starts_with(&config.data) => data_dir::traces_of_pods(&config.data),
        _ => Vec::new(),
    }
}

/// The identity of this server among others on one database; unused with a single-host database.
fn identity(config: &Config) -> Result<HostIdentity> {
    if matches!(config.database, Database::Sqlite { .. }) {
        return Ok(HostIdentity::default());
    }
    let uid = data_dir::host_uid(&config.data)?;
    let name = config.name.clone().unwrap_or_else(host_name::announced);
    Ok(HostIdentity { uid, name: name.to_string() })
}

/// The tools for files, commands and the web.
fn toolbox(options: BashOptions, background: &Background, guides: &Guides) -> Toolbox {
    let others: [Arc<dyn Tool>; 3] =
        [Arc::new(SkillTool::new(guides.clone())), Arc::new(Tasks), Arc::new(WebFetch::new(WebOptions::default()))];
    Toolbox::new(files::tools()).with(bash::tools(options, background)).with(others)
}

/// Returns how commands are run.
fn bash_options(config: &Config, files: OpenFiles, groups: Groups) -> BashOptions {
    BashOptions {
        // Without confinement a command needs an approval, which is decided where permissions are.
        allow_unconfined: true,
        builder: config.commands.builder(),
        environment: config.commands.environment.clone(),
        limits: config.commands.limits(files.before),
        groups,
        ..BashOptions::of_this_process()
    }
}

/// What no Pod may write: where this account's programs and yoi look for what they run, even while nothing is there.
fn protected(config: &Config) -> Protected {
    let Ok(strategy) = etcetera::choose_base_strategy() else { return Protected::default() };
    let (home, settings) = (strategy.home_dir().to_owned(), strategy.config_dir());
    // If XDG_CONFIG_HOME is elsewhere, it takes the place of `.config`.
    let moved = SETTINGS.map(|name| settings.join(name));
    let own = std::iter::once(&config.data).chain(&config.private_files).cloned().chain(moved);
    let named = |path: PathBuf| path.into_os_string().into_string().ok();
    // Under its own name, and under its canonical one.
    let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)].into_iter().flatten().filter_map(named);
    Protected::new(both(home), own.flat_map(both))
}

/// yoi's own files on this disk, as canonical paths.
fn hidden(config: &Config) -> Vec<String> {
    let own = std::iter::once(&config.data).chain(&config.private_files);
    own.filter_map(|path| std::fs::canonicalize(path).ok()?.into_os_string().into_string().ok()).collect()
}
