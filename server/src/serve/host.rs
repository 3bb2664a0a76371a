//! The host of the Pods: its store, its tools, and what no Pod may see of this machine.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use pod_store::{Database, HostIdentity, Store, StoreError, StoreOptions};
use provider::Providers;
use runtime::{Host, HostOptions};
use tools::{
    Tool, Toolbox,
    bash::{self, Bash, BashOptions, Confinement},
    files,
    web::{WebFetch, WebOptions},
};

use crate::{config::Config, data_dir, host_name, open_files::OpenFiles};

/// A store that cannot be opened is tried again for so long …
const OPEN_MAX: Duration = Duration::from_secs(8);
/// … every so often.
const OPEN_AGAIN: Duration = Duration::from_millis(250);

/// Opens the store, and brings to life what is in it.
pub(super) async fn start(config: &Config, providers: Providers, files: OpenFiles) -> Result<Host> {
    let options = StoreOptions::new(config.database.clone());
    let store = open(options, identity(config)?).await.context("the store cannot be opened")?;
    let cwd = std::env::current_dir().context("the current directory is gone; start yoi in one that is there")?;
    let cwd = cwd
        .into_os_string()
        .into_string()
        .map_err(|cwd| anyhow!("the current directory {} is not valid UTF-8; start yoi in another", cwd.display()))?;
    let shell_is_unconfined = matches!(bash::confinement(), Confinement::Missing { .. });
    if shell_is_unconfined {
        tracing::warn!("this kernel cannot confine commands to a Pod's scope; each of them waits for a person");
    }
    let options = HostOptions {
        profiles: config.profiles.clone(),
        toolbox: toolbox(config, files),
        hidden: hidden(config),
        shell_is_unconfined,
        ..HostOptions::of(store, providers, cwd, config.data.join("outputs"))
    };
    Host::start(options).await.context("the Pods cannot be hosted")
}

/// Tries again for a while what may pass: another program that holds the database, a full disk, a database that starts.
async fn open(options: StoreOptions, identity: HostIdentity) -> Result<Store> {
    let began = Instant::now();
    loop {
        match Store::open_as(options.clone(), identity.clone()).await {
            Err(error @ StoreError::Unread(_)) if began.elapsed() < OPEN_MAX => {
                tracing::warn!(%error, "the store cannot be opened yet; trying again");
                tokio::time::sleep(OPEN_AGAIN).await;
            }
            Err(error @ StoreError::Unread(_)) => {
                let seconds = began.elapsed().as_secs();
                bail!(
                    "{error}; it was tried for {seconds} s: see that its disk has room and that no other program holds it"
                )
            }
            opened => return Ok(opened?),
        }
    }
}

/// Who this server is among others on one database. Where one serves it alone, nobody asks.
fn identity(config: &Config) -> Result<HostIdentity> {
    if matches!(config.database, Database::Sqlite { .. }) {
        return Ok(HostIdentity::default());
    }
    let uid = data_dir::host_uid(&config.data)?;
    let name = config.name.clone().unwrap_or_else(host_name::announced);
    Ok(HostIdentity { uid, name: name.to_string() })
}

/// The tools that work on files, commands and the web.
fn toolbox(config: &Config, files: OpenFiles) -> Toolbox {
    let options = BashOptions {
        // Without confinement a command waits for a person; that is seen to where it is decided what is allowed.
        allow_unconfined: true,
        hidden_variables: config.key_variables.clone(),
        open_files_max: files.before,
        ..BashOptions::of_this_process()
    };
    let others: [Arc<dyn Tool>; 2] = [Arc::new(Bash::new(options)), Arc::new(WebFetch::new(WebOptions::default()))];
    Toolbox::new(files::tools()).with(others)
}

/// What is yoi's own on this disk, as the kernel names it.
fn hidden(config: &Config) -> Vec<String> {
    let own = std::iter::once(&config.data).chain(&config.private_files);
    own.filter_map(|path| std::fs::canonicalize(path).ok()?.into_os_string().into_string().ok()).collect()
}
