//! Logging in to a server over OAuth: how a login begins, how it ends, and the tokens that requests carry afterwards.
//!
//! What the server says is followed only as far as `wire` allows; the steps themselves are the official library's. A
//! token goes to the address that it was given for and nowhere else.

mod kept;
mod revoke;
mod wire;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig,
};
use secrecy::ExposeSecret;
use tokio::time::{Instant, timeout};
use url::Url;

pub(crate) use self::kept::Logins;
use self::{
    kept::{KeptLogin, Tokens},
    revoke::revoke,
    wire::{Wire, allows},
};
use crate::{
    bounds::DETAIL_CHARS_MAX,
    config::{Address, OAuthClient, ServerConfig},
    reason::{Demand, whole},
    text::line,
};

/// How long a person has to log in.
pub const LOGIN_LIFE: Duration = Duration::from_secs(600);
/// How long yoi's own requests may take when a login begins or ends …
const STEPS_MAX: Duration = Duration::from_secs(30);
/// … and when a stored one is taken up again.
const AGAIN_MAX: Duration = Duration::from_secs(10);
/// How many logins of one server may be waiting for a person.
const PENDING_MAX: usize = 8;
/// How many scopes are asked for, and how long they may be together.
const SCOPES_MAX: usize = 64;
const SCOPES_CHARS_MAX: usize = 2_000;
/// The name under which yoi registers.
const CLIENT_NAME: &str = "yoi";

/// The address that the browser comes back to, and who wants to log in.
#[derive(Debug, Clone)]
pub struct LoginWish {
    pub redirect_uri: String,
    /// Where yoi describes itself as a client, if a stranger can read it there.
    pub client_metadata_url: Option<String>,
    /// The browser's login here. Only the same one can finish; `None`: whoever has the address.
    pub caller: Option<String>,
}

/// A login that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginBegun {
    /// Where a person logs in.
    pub url: String,
    /// The host at that address.
    pub host: String,
}

/// What the browser brings back.
#[derive(Clone, Default)]
pub struct LoginAnswer {
    pub state: String,
    pub code: Option<String>,
    pub issuer: Option<String>,
    pub error: Option<String>,
}

// Written by hand: a code and a state are secrets.
impl fmt::Debug for LoginAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LoginAnswer").field("error", &self.error).finish_non_exhaustive()
    }
}

/// Why a login did not begin or end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginFailed {
    #[error("no such server")]
    NoServer,
    #[error("the MCP server \"{0}\" is a program and has no login")]
    NotOverHttp(String),
    #[error("the section of \"{0}\" has an `Authorization` among its headers; remove it to log in")]
    HasHeader(String),
    #[error(
        "this login was not begun here, was already used or is over; begin it again in Settings or with `yoi mcp login {0}`"
    )]
    Unknown(String),
    #[error("this login was begun in another browser; finish it there, or begin it again here")]
    OtherBrowser,
    #[error("the login to \"{0}\" failed: {1}")]
    Refused(String, String),
    #[error("the login to \"{0}\" took too long; try it again")]
    Late(String),
    #[error("the login cannot be written down: {0}")]
    Unwritten(String),
}

/// What a server has asked for.
#[derive(Default)]
struct Wants {
    /// The newest demand for a login, as the server put it.
    challenge: Option<String>,
    /// Scopes that a call lacked.
    more: Vec<String>,
    /// Why people are asked to log in; `None`: they are not.
    why: Option<String>,
}

/// A login that waits for a person.
struct Pending {
    state: String,
    until: Instant,
    caller: Option<String>,
    manager: AuthorizationManager,
    /// What the exchange puts its tokens into.
    tokens: InMemoryCredentialStore,
    client: OAuthClientConfig,
    metadata: AuthorizationMetadata,
}

/// The logins of one server.
pub(crate) struct Login {
    name: String,
    /// `None`: there is no login, because it is a program.
    url: Option<Url>,
    has_header: bool,
    client: Option<OAuthClient>,
    logins: Arc<Logins>,
    wants: Mutex<Wants>,
    pending: Mutex<Vec<Pending>>,
    /// All connections share it, so that a token is renewed once.
    current: tokio::sync::Mutex<Option<AuthClient<reqwest::Client>>>,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("name", &self.name).finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Login {
    pub(crate) fn new(config: &ServerConfig, logins: Arc<Logins>) -> Self {
        let (url, has_header) = match &config.address {
            Address::Url { url, headers } => {
                (Some(url.clone()), headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")))
            }
            _ => (None, false),
        };
        Self {
            name: config.name.to_string(),
            url,
            has_header,
            client: config.oauth.clone(),
            logins,
            wants: Mutex::default(),
            pending: Mutex::default(),
            current: tokio::sync::Mutex::new(None),
        }
    }

    /// Returns whether a person has logged in.
    pub(crate) fn is_kept(&self) -> bool {
        self.url.as_ref().is_some_and(|url| self.logins.of(&self.name, url.as_str()).is_some())
    }

    /// Returns the values that nobody may see.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let configured = self.client.iter().filter_map(|client| client.client_secret.as_ref());
        let configured = configured.map(|secret| secret.expose_secret().to_owned());
        configured.chain(self.logins.secrets(&self.name)).collect()
    }

    /// Notes that the server demands a login, and returns what people are told.
    pub(crate) fn want(&self, demand: &Demand) -> String {
        let Demand { challenge, more } = demand;
        let mut wants = locked(&self.wants);
        if more.is_none() {
            wants.challenge.clone_from(challenge);
        }
        for scope in more.iter().flat_map(|more| more.split_whitespace()) {
            if !wants.more.iter().any(|known| known == scope) && wants.more.len() < SCOPES_MAX {
                wants.more.push(scope.to_owned());
            }
        }
        let name = &self.name;
        let why = match more {
            _ if self.has_header => "it refuses the `Authorization` among its headers".to_owned(),
            Some(_) => {
                let scopes = line(&wants.more.join(" "), DETAIL_CHARS_MAX / 2);
                format!("it wants a login with more rights ({scopes}): `yoi mcp login {name}`, or in Settings")
            }
            None => format!("it wants a login: `yoi mcp login {name}`, or in Settings"),
        };
        wants.why = Some(why.clone());
        why
    }

    /// Returns why people are asked to log in.
    pub(crate) fn wanted(&self) -> Option<String> {
        locked(&self.wants).why.clone()
    }

    /// Notes that the server answers: a demand is over, unless a call lacked something.
    pub(crate) fn is_answered(&self) {
        let mut wants = locked(&self.wants);
        if wants.more.is_empty() {
            wants.why = None;
        }
    }

    /// Forgets what was asked for, but not how: another login may need to know.
    pub(crate) fn ask_anew(&self) {
        let mut wants = locked(&self.wants);
        (wants.why, wants.more) = (None, Vec::new());
    }

    /// Returns the client for a new connection, with the token if there is one.
    pub(crate) async fn over(&self, client: reqwest::Client) -> Result<AuthClient<reqwest::Client>, String> {
        let mut current = self.current.lock().await;
        let mut over = match &*current {
            Some(over) => over.clone(),
            None => {
                let manager = self.taken_up().await?;
                current.insert(AuthClient::new(client.clone(), manager)).clone()
            }
        };
        over.http_client = client;
        Ok(over)
    }

    async fn manager(&self, store: impl CredentialStore + 'static) -> Result<AuthorizationManager, String> {
        let url = self.url.clone().ok_or("it is no address")?;
        let wire = Arc::new(Wire::new(&url)?);
        let manager = AuthorizationManager::new_with_oauth_http_client(url, wire).await;
        let mut manager = manager.map_err(|error| error.to_string())?;
        manager.set_credential_store(store);
        Ok(manager)
    }

    fn tokens(&self) -> Tokens {
        let url = self.url.as_ref().map(Url::to_string).unwrap_or_default();
        Tokens { logins: self.logins.clone(), name: self.name.clone(), url }
    }

    /// Takes up the stored login.
    async fn taken_up(&self) -> Result<AuthorizationManager, String> {
        let tokens = self.tokens();
        let kept = self.logins.of(&self.name, &tokens.url);
        let mut manager = self.manager(tokens).await?;
        let Some(kept) = kept else { return Ok(manager) };
        // If it cannot be asked now, what it said last counts: the token may still be valid.
        let found = timeout(AGAIN_MAX, manager.resolve_metadata()).await;
        let metadata = match found {
            Ok(Ok(found)) if found.source.is_discovered() => found.metadata,
            _ => kept.metadata.clone(),
        };
        if metadata.issuer != kept.metadata.issuer {
            tracing::warn!(server = self.name, "it names another authorization server now, so its login is over");
            if let Err(error) = self.logins.remove(&self.name) {
                return Err(format!("its former login cannot be forgotten: {error}"));
            }
            return Ok(manager);
        }
        manager.set_metadata(metadata);
        manager.configure_client(kept.client()).map_err(|error| error.to_string())?;
        Ok(manager)
    }

    /// Begins a login: asks the server where, registers if needed, and returns the address for a person.
    ///
    /// # Errors
    /// It has no login, or one of the parties refuses.
    pub(crate) async fn begin(&self, wish: LoginWish) -> Result<LoginBegun, LoginFailed> {
        if self.url.is_none() {
            return Err(LoginFailed::NotOverHttp(self.name.clone()));
        }
        if self.has_header {
            return Err(LoginFailed::HasHeader(self.name.clone()));
        }
        match timeout(STEPS_MAX, self.prepared(wish)).await {
            Ok(Ok((pending, begun))) => {
                let mut all = locked(&self.pending);
                all.retain(|pending| pending.until > Instant::now());
                if all.len() >= PENDING_MAX {
                    all.remove(0);
                }
                all.push(pending);
                Ok(begun)
            }
            Ok(Err(why)) => Err(self.refused(&why)),
            Err(_) => Err(LoginFailed::Late(self.name.clone())),
        }
    }

    async fn prepared(&self, wish: LoginWish) -> Result<(Pending, LoginBegun), String> {
        let told = |error: AuthError| whole(&error);
        let url = self.url.clone().ok_or("it is no address")?;
        let tokens = InMemoryCredentialStore::new();
        let mut manager = self.manager(tokens.clone()).await?;
        let challenge = locked(&self.wants).challenge.clone();
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(told)?;
        let metadata = found.metadata;
        let page = Url::parse(&metadata.authorization_endpoint).ok().filter(|page| allows(&url, page));
        let page = page.ok_or("the address of its login page is neither https at a public address nor its own")?;
        manager.set_metadata(metadata.clone());
        let scopes = self.scopes(&manager).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = self.registered(&mut manager, &metadata, &wish, &scopes).await?;
        let address = manager.get_authorization_url(&scopes).await.map_err(told)?;
        let address = Url::parse(&address).map_err(|error| error.to_string())?;
        let state = address.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned());
        let state = state.ok_or("no login could be made up")?;
        let until = Instant::now() + LOGIN_LIFE;
        let pending = Pending { state, until, caller: wish.caller, manager, tokens, client, metadata };
        let host = page.host_str().unwrap_or_default().to_owned();
        Ok((pending, LoginBegun { url: address.to_string(), host }))
    }

    /// Returns the scopes to ask for: the configured ones, or those that the server names; with those that were granted
    /// before, if a call lacked one.
    async fn scopes(&self, manager: &AuthorizationManager) -> Result<Vec<String>, String> {
        let configured = self.client.as_ref().map(|client| client.scopes.clone()).filter(|scopes| !scopes.is_empty());
        let mut scopes = match configured {
            Some(scopes) => scopes,
            None => manager.select_initial_scopes(&[]).await,
        };
        let more = locked(&self.wants).more.clone();
        if !more.is_empty() {
            let granted = self.logins.of(&self.name, &self.tokens().url).map(|kept| kept.credentials.granted_scopes);
            for scope in granted.into_iter().flatten().chain(more) {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        let is_too_much = scopes.len() > SCOPES_MAX || scopes.iter().map(String::len).sum::<usize>() > SCOPES_CHARS_MAX;
        match is_too_much {
            true => Err("it asks for too many scopes; name those that you want with `oauth = { scopes = […] }`".into()),
            false => Ok(scopes),
        }
    }

    /// Returns what yoi is called there: as configured, by its own description, or as it is registered now.
    async fn registered(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        wish: &LoginWish,
        scopes: &[&str],
    ) -> Result<OAuthClientConfig, String> {
        let knows =
            |field: &str| metadata.additional_fields.get(field).and_then(serde_json::Value::as_bool) == Some(true);
        let described = wish.client_metadata_url.as_ref();
        let described = described.filter(|_| knows("client_id_metadata_document_supported"));
        let client = match (&self.client, described) {
            (Some(client), _) => {
                let configured = OAuthClientConfig::new(&client.client_id, &wish.redirect_uri);
                match &client.client_secret {
                    Some(secret) => configured.with_client_secret(secret.expose_secret()),
                    None => configured,
                }
            }
            (None, Some(described)) => OAuthClientConfig::new(described, &wish.redirect_uri),
            (None, None) if metadata.registration_endpoint.is_some() => {
                let registered = manager.register_client(CLIENT_NAME, &wish.redirect_uri, scopes).await;
                registered.map_err(|error| whole(&error))?
            }
            (None, None) => {
                return Err("its authorization server registers nobody by itself; register yoi there, and name what \
                            you get with `oauth = { client_id = \"…\" }`"
                    .into());
            }
        };
        manager.configure_client(client.clone()).map_err(|error| whole(&error))?;
        Ok(client)
    }

    /// Ends a login with what the browser brought back. Each answer counts once.
    ///
    /// # Errors
    /// It was not begun here or by this browser, or one of the parties refuses.
    pub(crate) async fn finish(&self, answer: LoginAnswer, caller: Option<&str>) -> Result<(), LoginFailed> {
        let pending = self.taken(&answer.state, caller)?;
        if let Some(error) = answer.error {
            return Err(self.refused(&line(&error, DETAIL_CHARS_MAX)));
        }
        let code = answer.code.ok_or_else(|| self.refused("the answer has no code"))?;
        let Pending { mut manager, tokens, client, metadata, .. } = pending;
        let exchange = manager.exchange_code_for_token_with_issuer(&code, &answer.state, answer.issuer.as_deref());
        match timeout(STEPS_MAX, exchange).await {
            Ok(Ok(_)) => (),
            Ok(Err(error)) => {
                return Err(self.refused(&whole(&error).replace(&code, "[hidden]")));
            }
            Err(_) => return Err(LoginFailed::Late(self.name.clone())),
        }
        let credentials = tokens.load().await.ok().flatten().ok_or_else(|| self.refused("it gave no token"))?;
        let own = self.tokens();
        let kept = KeptLogin {
            url: own.url.clone(),
            client_id: client.client_id,
            client_secret: client.client_secret,
            redirect_uri: client.redirect_uri,
            metadata,
            credentials,
        };
        let unwritten = |error: std::io::Error| LoginFailed::Unwritten(error.to_string());
        self.logins.put(&self.name, kept).map_err(unwritten)?;
        manager.set_credential_store(own);
        let http = http_client().map_err(|why| self.refused(&why))?;
        *self.current.lock().await = Some(AuthClient::new(http, manager));
        self.ask_anew();
        Ok(())
    }

    fn taken(&self, state: &str, caller: Option<&str>) -> Result<Pending, LoginFailed> {
        let mut all = locked(&self.pending);
        all.retain(|pending| pending.until > Instant::now());
        let at = all.iter().position(|pending| pending.state == state);
        let at = at.ok_or_else(|| LoginFailed::Unknown(self.name.clone()))?;
        match &all[at].caller {
            Some(wanted) if caller != Some(wanted.as_str()) => Err(LoginFailed::OtherBrowser),
            _ => Ok(all.remove(at)),
        }
    }

    /// Forgets the login, and has its tokens revoked as far as the authorization server does that.
    ///
    /// # Errors
    /// The file cannot be written; then nothing has changed.
    pub(crate) async fn forget(&self) -> Result<(), LoginFailed> {
        let mut current = self.current.lock().await;
        let kept = self.logins.of(&self.name, &self.tokens().url);
        self.logins.remove(&self.name).map_err(|error| LoginFailed::Unwritten(error.to_string()))?;
        *current = None;
        drop(current);
        locked(&self.pending).clear();
        self.ask_anew();
        if let Some(kept) = kept
            && let Err(why) = revoke(&kept).await
        {
            tracing::warn!(server = self.name, why, "its tokens are forgotten here, and may still be good there");
        }
        Ok(())
    }

    fn refused(&self, why: &str) -> LoginFailed {
        let hidden = self.secrets().into_iter().fold(why.to_owned(), |why, secret| why.replace(&secret, "[hidden]"));
        LoginFailed::Refused(self.name.clone(), line(&hidden, DETAIL_CHARS_MAX))
    }
}

/// Returns the client for requests to the servers themselves. Redirects are not followed.
pub(crate) fn http_client() -> Result<reqwest::Client, String> {
    // The first caller installs it; further calls change nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .no_proxy()
        .build()
        .map_err(|error| format!("no connection can be made: {error}"))
}
