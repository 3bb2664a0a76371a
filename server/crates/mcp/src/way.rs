//! Reaching a server: starting its program, or connecting to its address.

use std::{collections::HashMap, sync::Arc};

use protocol::NetworkPolicy;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{
        StreamableHttpClientTransport, Transport, async_rw::AsyncRwTransport, auth::AuthClient,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use secrecy::ExposeSecret;
use tokio::io::split;
use tools::{
    Lifeline, Network,
    bash::{BashOptions, Served, Serving},
    proxy::Proxy,
};
use url::Url;

use crate::{
    bounds::{DETAIL_CHARS_MAX, MESSAGE_BYTES_MAX},
    config::{Address, ServerConfig},
    handler::Running,
    log::Log,
    login::{Login, http_client},
    older::Older,
    paced::{Broken, Lines, Paced},
    reason,
    stand::Stand,
    text::{Secrets, line},
};

/// How much is read of the body of an HTTP error.
const ERROR_BYTES_MAX: usize = 4 << 10;

/// A server that answers us. Dropping it ends its program.
pub(crate) struct Reached {
    pub(crate) service: RunningService<RoleClient, Running>,
    pub(crate) process: Option<Process>,
}

/// A server's program.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) served: Served,
    #[expect(dead_code, reason = "it is open as long as the program runs")]
    proxy: Option<Proxy>,
}

/// What is needed to reach a server.
pub(crate) struct Reaching<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) options: &'a BashOptions,
    pub(crate) stand: &'a Stand,
    pub(crate) lifeline: Lifeline,
    pub(crate) running: Running,
    pub(crate) login: &'a Login,
    pub(crate) secrets: &'a Secrets,
    pub(crate) log: &'a Log,
    pub(crate) broken: Broken,
}

/// Why a server was not reached.
#[derive(Debug)]
pub(crate) enum NotReached {
    Away(String),
    /// The server requires a login.
    LoginWanted(String),
}

impl Reaching<'_> {
    pub(crate) async fn reach(self) -> Result<Reached, NotReached> {
        match &self.config.address {
            Address::Program { command, variables, is_confined } => {
                let variables = variables.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned()));
                let (network, proxy) = self.network(*is_confined)?;
                let serving = Serving {
                    program: command.clone(),
                    variables: variables.collect(),
                    cwd: self.stand.cwd.clone(),
                    scope: self.stand.scope.clone(),
                    network,
                    is_free: !is_confined,
                    keeps_repositories: true,
                    lifeline: self.lifeline.clone(),
                };
                self.start(serving, proxy).await
            }
            Address::Url { url, headers } => {
                let headers = headers.iter().filter_map(|(name, value)| {
                    let mut value = HeaderValue::from_str(value.expose_secret()).ok()?;
                    value.set_sensitive(true);
                    Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value))
                });
                let transport = over_http(url, headers.collect(), self.login).await.map_err(NotReached::Away)?;
                let service = self.greet(transport).await.map_err(|error| self.not_reached(&error))?;
                Ok(Reached { service, process: None })
            }
            #[cfg(test)]
            Address::Here(scripted) => {
                let (from, to) = split(scripted.connect());
                let lines = Lines::new(from, self.broken.clone());
                let transport = AsyncRwTransport::new_client(lines, to).with_max_line_length(MESSAGE_BYTES_MAX);
                let service = self.greet(transport).await.map_err(|error| self.not_reached(&error))?;
                Ok(Reached { service, process: None })
            }
        }
    }

    /// Returns the program's network access: the same as that of its Pod's commands.
    fn network(&self, is_confined: bool) -> Result<(Network, Option<Proxy>), NotReached> {
        match self.stand.network {
            _ if !is_confined => Ok((Network::Open, None)),
            NetworkPolicy::None => Ok((Network::None, None)),
            NetworkPolicy::Open => Ok((Network::Open, None)),
            NetworkPolicy::Ask => {
                let proxy = Proxy::open(&self.config.name.to_string(), self.stand.wishes.clone());
                let proxy = proxy
                    .map_err(|error| NotReached::Away(format!("its network access could not be set up: {error}")))?;
                Ok((Network::Through { socket: proxy.socket() }, Some(proxy)))
            }
        }
    }

    async fn start(self, serving: Serving, proxy: Option<Proxy>) -> Result<Reached, NotReached> {
        let (served, talk) = Served::start(self.options, serving).await.map_err(NotReached::Away)?;
        let mut process = Process { served, proxy };
        tokio::spawn(self.log.clone().take(talk.errors, self.secrets.clone()));
        let (from, to) = split(talk.stream);
        let lines = Lines::new(from, self.broken.clone());
        let transport = AsyncRwTransport::new_client(lines, to).with_max_line_length(MESSAGE_BYTES_MAX);
        let greeted = self.greet(transport).await;
        match greeted {
            Ok(service) => Ok(Reached { service, process: Some(process) }),
            Err(error) => {
                let why = match self.broken.why() {
                    Some(why) => why.to_owned(),
                    None => process.why(self.log).await.unwrap_or_else(|| self.detail(&error)),
                };
                Err(NotReached::Away(self.secrets.hide(why)))
            }
        }
    }

    /// Performs the handshake, with the newest revision that the server speaks.
    async fn greet<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
    ) -> Result<RunningService<RoleClient, Running>, ClientInitializeError> {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        Box::pin(self.running.clone().serve_with_lifecycle(Older::new(Paced::new(transport)), lifecycle)).await
    }

    fn not_reached(&self, error: &ClientInitializeError) -> NotReached {
        match reason::demand_at_greeting(error) {
            Some(demand) => NotReached::LoginWanted(self.login.want(&demand)),
            None => NotReached::Away(self.detail(error)),
        }
    }

    fn detail(&self, error: &ClientInitializeError) -> String {
        let words = reason::of_greeting(error);
        // The address may contain a key.
        let words = match &self.config.address {
            Address::Url { url, .. } => words.replace(url.as_str(), "its address"),
            _ => words,
        };
        line(&self.secrets.hide(words), DETAIL_CHARS_MAX)
    }
}

impl Process {
    /// Returns how the program ended by itself, if it did, with the last line of its log.
    pub(crate) async fn why(&mut self, log: &Log) -> Option<String> {
        let ended = tokio::time::timeout(std::time::Duration::from_secs(1), self.served.ended()).await.ok()?;
        let said = log.last().map(|said| format!(" (its log ends: {})", line(&said, 120))).unwrap_or_default();
        Some(format!("{ended}{said}"))
    }
}

/// Connects to the address that a person has configured, with the token of the login to it, if there is one.
async fn over_http(
    url: &Url,
    headers: HashMap<HeaderName, HeaderValue>,
    login: &Login,
) -> Result<StreamableHttpClientTransport<AuthClient<reqwest::Client>>, String> {
    let client = login.over(http_client()?).await?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::<str>::from(url.as_str()));
    config.custom_headers = headers;
    config.max_sse_event_size = MESSAGE_BYTES_MAX;
    config.max_json_response_size = MESSAGE_BYTES_MAX;
    config.max_error_response_size = ERROR_BYTES_MAX;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
