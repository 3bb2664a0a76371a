//! Starting and stopping the server, in order.
//!
//! Start: lock the folder, bind, open the store, start the host, serve. Stop: take no new connections and commands, let
//! running Pods reach a committed point, close sockets with a reason.

mod console;
pub(crate) mod host;
mod listen;

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use api::{AllowedHosts, Api, ApiOptions, ConnectionLimits, Connections, Token};
use axum::{Router, serve::ListenerExt};
use backend::{Backend, BackendOptions, KeptKeys, TerminalOptions};
use provider::{ProviderConfig, ProviderOptions, Providers};
use runtime::Host;
use secrecy::ExposeSecret;
use tokio::{
    net::{TcpListener, UnixListener},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use crate::{
    compat_sockets,
    config::{self, BadConfig, Config, Environment, base_url},
    data_dir::DataDir,
    host_name, logging,
    open_files::OpenFiles,
    opening,
    options::{CommonOptions, ServeOptions},
    output, own_name,
    signals::Signals,
    socket::{self, SocketFile},
    token, web,
};

/// How long running Pods have to reach a committed point …
const PODS_STOP_MAX: Duration = Duration::from_secs(5);
/// … after which time the host is abandoned …
const HOST_STOP_MAX: Duration = Duration::from_millis(5_200);
/// … and how long connections have to end.
const CONNECTIONS_STOP_MAX: Duration = Duration::from_millis(400);
/// How long to wait at the end for a collector of traces.
const TELEMETRY_STOP_MAX: Duration = Duration::from_secs(1);

/// The file of added servers, in the data folder.
const RUNTIMES: &str = "runtimes.json";
/// The file of provider keys, in the data folder.
const KEYS: &str = "keys.json";

/// Runs the server until SIGTERM or SIGINT.
pub(crate) async fn serve(common: CommonOptions, options: ServeOptions, environment: Environment) -> Result<()> {
    // An error only means that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let traces = logging::start(&config::log_filter(&environment), &environment)?;
    let compat_folder = compat_sockets::folder(&options)?;
    let config = Config::load(&common, &options, &environment)?;
    let served = Box::pin(run(config, compat_folder)).await;
    traces.end(TELEMETRY_STOP_MAX).await;
    served
}

async fn run(config: Config, compat_folder: Option<PathBuf>) -> Result<()> {
    let mut signals = Signals::listen()?;
    let data = DataDir::hold(&config.data)?;
    let mut keys = KeptKeys::open(data.path().join(KEYS))?;
    let providers = providers(&config, keys.configs())?;
    let token = token::of_server(config.token.clone(), &data)?;
    let own_name = own_name::of_folder(data.path())?;
    let listeners = listen::listen(config.listen).await?;
    let address = listeners.address;
    let (unix, socket_file) = match &config.socket {
        Some(path) => socket::listen(path).await.map(|(unix, file)| (Some(unix), Some(file)))?,
        None => (None, None),
    };
    let files = OpenFiles::raise();
    let limits = ConnectionLimits { at_once_max: files.connections_max(), ..ConnectionLimits::default() };
    let connections = Connections::start(limits);
    let (sockets_stop, sockets_stopped) = watch::channel(false);
    let host = host::start(&config, providers, files).await?;
    let options = ApiOptions {
        token: Token::new(token.expose_secret()),
        allowed: AllowedHosts::new(address, &own_name, config.allow_hosts.clone()),
        // Includes the console's build, so that a page that stays open across an update can tell that it is out of
        // date.
        server: format!("yoi {}", env!("CARGO_PKG_VERSION")),
        build: Some(bundle::HASH.to_owned()),
        shutdown: sockets_stopped,
        connections: connections.clone(),
    };
    let backend = Backend::start(BackendOptions {
        host: host.clone(),
        name: config.name.clone().unwrap_or_else(host_name::announced),
        runtimes_file: Some(data.path().join(RUNTIMES)),
        keys,
        forget_after: config.forget_after,
        terminals: config.terminals.clone().map(|options| TerminalOptions { open_files: files.before, ..options }),
    })?;
    compat_sockets::add(&backend, host.clone(), compat_folder).await?;
    backend.pod_tokens().serve_at(format!("{}/mcp", base_url(address)));
    let api = Api::new(backend.clone(), options);
    let router = api.guard(api.router().merge(web::router(backend)));

    data.write_address(&base_url(address))?;
    let console = console::url(&config, address, &own_name);
    output::line(&format!("yoi is ready: {}", token::login_url(&console, &token)))?;
    log_start(&config, address, socket_file.as_ref());
    console::log(&config, address, &own_name);
    tracing::debug!(open_files = ?files.now, connections = limits.at_once_max, "limits");
    if config.open {
        open_browser(&data, &console, &api.login_code()?, files);
    }

    #[cfg(target_os = "linux")]
    tokio::spawn(crate::idle_memory::give_back_while_idle());
    let (accept_stop, accept_stopped) = watch::channel(false);
    let servers = answer(listeners.all, unix, &router, &connections, &accept_stopped);

    signals.wait().await;
    tracing::info!("stopping");
    accept_stop.send_replace(true);
    stop(&host, servers, sockets_stop).await;
    data.remove_address();
    tracing::info!("stopped");
    Ok(())
}

/// The model providers. A stored key whose name is in the configuration or the environment is not used for now.
fn providers(config: &Config, kept: Vec<ProviderConfig>) -> Result<Providers, BadConfig> {
    for hidden in kept.iter().filter(|kept| config.providers.iter().any(|config| config.name == kept.name)) {
        tracing::info!(provider = hidden.name, "its stored key is not used: the configuration takes precedence");
    }
    let options = ProviderOptions {
        configs: config.providers.clone(),
        kept,
        models: config.models.clone(),
        finds_nearby: config.finds_models,
        ..ProviderOptions::default()
    };
    Providers::of(options).map_err(|error| BadConfig(error.to_string()))
}

/// Serves each of these listeners until the server stops.
fn answer(
    listeners: Vec<TcpListener>,
    unix: Option<UnixListener>,
    router: &Router,
    connections: &Connections,
    stopped: &watch::Receiver<bool>,
) -> Vec<JoinHandle<io::Result<()>>> {
    let unix = unix.map(|unix| tokio::spawn(api::serve(unix, router.clone(), connections.clone(), stopped.clone())));
    let servers = listeners.into_iter().map(|listener| {
        let listener = listener.tap_io(|stream| {
            // A chunk of text is smaller than a packet and must not wait for the next one.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection went before it was served");
            }
        });
        tokio::spawn(api::serve(listener, router.clone(), connections.clone(), stopped.clone()))
    });
    servers.chain(unix).collect()
}

/// Lets running Pods reach a committed point, then closes the sockets.
async fn stop(host: &Host, servers: Vec<JoinHandle<io::Result<()>>>, sockets_stop: watch::Sender<bool>) {
    if timeout(HOST_STOP_MAX, host.shutdown(PODS_STOP_MAX)).await.is_err() {
        tracing::warn!("a Pod did not reach a committed point in time; its run is found interrupted at the next start");
    }
    sockets_stop.send_replace(true);
    // The server no longer counts an upgraded socket as a connection; it is over when it has dropped the signal.
    let connections = async {
        for server in servers {
            drop(server.await);
        }
        sockets_stop.closed().await;
    };
    if timeout(CONNECTIONS_STOP_MAX, connections).await.is_err() {
        tracing::debug!("connections that were still open are dropped");
    }
}

fn log_start(config: &Config, address: SocketAddr, socket: Option<&SocketFile>) {
    let providers: Vec<_> = config.providers.iter().map(|provider| provider.name.as_str()).collect();
    let name = config.name.as_ref().map(ToString::to_string);
    tracing::info!(%address, data = %config.data.display(), database = ?config.database, ?providers, name, "started");
    if config.terminals.is_some() {
        tracing::info!("terminals are on: whoever is logged in has a shell of this account");
    }
    if let Some(socket) = socket {
        tracing::info!(address = %socket.address().display(), "answers on a socket, too");
    }
    if !address.ip().is_loopback() {
        tracing::warn!("other machines can connect; they need the token, and a name that --allow-host lists");
    }
}

/// Best effort: the address is on standard output as well.
fn open_browser(data: &DataDir, console: &str, code: &str, files: OpenFiles) {
    let opened = opening::write_page(data.path(), console, code)
        .and_then(|page| opening::browser(&page).spawn().context("no browser could be started"));
    match opened {
        Ok(browser) => files.give_back_to(browser.id()),
        Err(error) => tracing::warn!(error = format!("{error:#}"), "open the address by hand"),
    }
}
