//! The configured servers, and what is known about each: whether it is available to the Pods that use it, its tools,
//! its last error and its log.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use protocol::{McpServerItem, McpServerState, PermissionRule};
use tokio::{sync::watch, time::Instant};
use tools::bash::BashOptions;

use crate::{
    bounds::{BACKOFF_FIRST, BACKOFF_MAX},
    config::{Address, ServerConfig},
    log::Log,
    login::{Login, LoginAnswer, LoginBegun, LoginFailed, LoginWish, Logins},
    offer::Offer,
    pins::Pins,
    stock::Shelf,
};

/// The number of Pods for which it is remembered that a server is away.
const AWAY_MAX: usize = 10_000;

/// The number of Pods whose prompts and resources are remembered.
const SHELVES_MAX: usize = 100;

/// The settings for all servers.
#[derive(Debug, Clone)]
pub struct ServersOptions {
    pub configs: Vec<ServerConfig>,
    /// How their programs are run.
    pub bash: BashOptions,
    /// The file of accepted tool definitions, which only its owner can read.
    pub accepted: Option<PathBuf>,
    /// The file of logins, which only its owner can read.
    pub logins: Option<PathBuf>,
}

/// All servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Servers(Arc<BTreeMap<String, Arc<Known>>>);

/// One server.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) config: ServerConfig,
    pub(crate) options: BashOptions,
    pub(crate) log: Log,
    pub(crate) pins: Arc<Pins>,
    pub(crate) login: Arc<Login>,
    restart: watch::Sender<u64>,
    numbers: AtomicU64,
    lore: Mutex<Lore>,
    /// What each Pod was last offered beside tools, and when.
    shelves: Mutex<HashMap<String, (Instant, Arc<Shelf>)>>,
    /// Held while they are listed, so that a person who types does not start the server with each letter.
    pub(crate) listing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Lore {
    uses: BTreeMap<u64, McpServerState>,
    tools: Option<Vec<String>>,
    /// The error of the last failed attempt; `None` after a success.
    detail: Option<String>,
    left_out: Vec<String>,
    /// For each Pod for which the server is away: the number of failures, the time of the next attempt, and the reason.
    away: HashMap<String, (u32, Instant, String)>,
    /// What each Pod was told already: that the server is away, or that something was left out.
    told: HashSet<(String, String)>,
}

impl Servers {
    pub fn new(options: ServersOptions) -> Self {
        let pins = Arc::new(Pins::open(options.accepted));
        let logins = Arc::new(Logins::open(options.logins));
        let known = |config: ServerConfig| {
            let known = Known {
                options: options.bash.clone(),
                log: Log::default(),
                pins: pins.clone(),
                login: Arc::new(Login::new(&config, logins.clone())),
                restart: watch::channel(0).0,
                numbers: AtomicU64::new(0),
                lore: Mutex::default(),
                shelves: Mutex::default(),
                listing: tokio::sync::Mutex::default(),
                config,
            };
            (known.config.name.to_string(), Arc::new(known))
        };
        Self(Arc::new(options.configs.into_iter().map(known).collect()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the permission rules of all servers' sections.
    pub fn rules(&self) -> Vec<PermissionRule> {
        self.0.values().flat_map(|known| known.config.permissions.iter().cloned()).collect()
    }

    /// Returns what people see about the servers.
    pub fn items(&self) -> Vec<McpServerItem> {
        self.0.values().map(|known| known.item()).collect()
    }

    /// Returns the number of servers that run as programs now or are being started, over all Pods.
    pub fn programs(&self) -> usize {
        let is_up = |state: &McpServerState| matches!(state, McpServerState::Ready | McpServerState::Connecting);
        let programs = self.0.values().filter(|known| known.is_program());
        programs.map(|known| known.lore().uses.values().filter(|state| is_up(state)).count()).sum()
    }

    /// Returns what a server has written to its standard error.
    pub fn log(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|known| known.log.text())
    }

    /// Gives every Pod that uses the server a new connection. Returns `None` if there is no such server.
    pub fn restart(&self, name: &str) -> Option<McpServerItem> {
        let known = self.0.get(name)?;
        {
            let mut lore = known.lore();
            lore.away.clear();
            lore.told.clear();
            lore.detail = None;
        }
        known.login.ask_anew();
        known.shelves.lock().unwrap_or_else(PoisonError::into_inner).clear();
        known.restart.send_modify(|count| *count += 1);
        Some(known.item())
    }

    /// Begins a login to a server that is reached at an address.
    ///
    /// # Errors
    /// There is no such server, it has no login, or one of the parties refuses.
    pub async fn begin_login(&self, name: &str, wish: LoginWish) -> Result<LoginBegun, LoginFailed> {
        self.0.get(name).ok_or(LoginFailed::NoServer)?.login.begin(wish).await
    }

    /// Ends a login with what the browser brought back; Pods then get new connections. `caller` is the browser's login
    /// here.
    ///
    /// # Errors
    /// It was not begun here or by this browser, or one of the parties refuses.
    pub async fn finish_login(&self, name: &str, answer: LoginAnswer, caller: Option<&str>) -> Result<(), LoginFailed> {
        self.0.get(name).ok_or(LoginFailed::NoServer)?.login.finish(answer, caller).await?;
        self.restart(name);
        Ok(())
    }

    /// Forgets the login to a server; Pods then get new connections.
    ///
    /// # Errors
    /// There is no such server, or the file cannot be written.
    pub async fn forget_login(&self, name: &str) -> Result<McpServerItem, LoginFailed> {
        self.0.get(name).ok_or(LoginFailed::NoServer)?.login.forget().await?;
        self.restart(name).ok_or(LoginFailed::NoServer)
    }

    /// Returns the servers of these names, or all servers without any names.
    pub(crate) fn named(&self, names: Option<&[String]>) -> impl Iterator<Item = Arc<Known>> {
        let is_named = move |name: &str| names.is_none_or(|names| names.iter().any(|one| one == name));
        self.0.iter().filter(move |(name, _)| is_named(name)).map(|(_, known)| known.clone())
    }
}

impl Known {
    fn lore(&self) -> MutexGuard<'_, Lore> {
        self.lore.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_program(&self) -> bool {
        matches!(self.config.address, Address::Program { .. })
    }

    pub(crate) fn restarts(&self) -> watch::Receiver<u64> {
        let mut restarts = self.restart.subscribe();
        restarts.mark_unchanged();
        restarts
    }

    pub(crate) fn begin_use(self: &Arc<Self>) -> Use {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.lore().uses.insert(number, McpServerState::Connecting);
        Use { known: self.clone(), number }
    }

    fn item(&self) -> McpServerItem {
        let wanted = self.login.wanted();
        let lore = self.lore();
        let is_any = |state: McpServerState| lore.uses.values().any(|one| *one == state);
        let state = match () {
            () if wanted.is_some() => McpServerState::Login,
            () if is_any(McpServerState::Ready) => McpServerState::Ready,
            () if is_any(McpServerState::Connecting) => McpServerState::Connecting,
            () if lore.detail.is_some() => McpServerState::Away,
            () => McpServerState::Idle,
        };
        let left_out = (!lore.left_out.is_empty()).then(|| lore.left_out.join("; "));
        let is_bad = matches!(state, McpServerState::Away | McpServerState::Connecting);
        McpServerItem {
            name: self.config.name.to_string(),
            state,
            detail: wanted.or_else(|| lore.detail.clone().filter(|_| is_bad)).or(left_out),
            tools: lore.tools.clone(),
            logged_in: self.login.is_kept(),
        }
    }

    /// Returns what the Pod was last offered beside tools, if that is no older than this.
    pub(crate) fn shelf(&self, pod: &str, fresh: Duration) -> Option<Arc<Shelf>> {
        let shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.get(pod).filter(|(at, _)| at.elapsed() < fresh).map(|(_, shelf)| shelf.clone())
    }

    pub(crate) fn keep_shelf(&self, pod: String, shelf: Arc<Shelf>) {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        if shelves.len() >= SHELVES_MAX {
            shelves.clear();
        }
        shelves.insert(pod, (Instant::now(), shelf));
    }

    /// Returns the time before which nobody tries again for this Pod, and the reason.
    pub(crate) fn away_until(&self, pod: &str) -> Option<(Instant, String)> {
        let (_, until, why) = self.lore().away.get(pod).cloned()?;
        (until > Instant::now()).then_some((until, why))
    }

    /// Notes that the server is away for this Pod, and returns when to try again.
    pub(crate) fn note_away(&self, pod: &str, why: &str) -> Instant {
        let mut lore = self.lore();
        if lore.away.len() >= AWAY_MAX {
            lore.away.clear();
        }
        let failures = lore.away.get(pod).map_or(0, |(failures, ..)| failures + 1);
        let until = Instant::now() + backoff(failures);
        lore.away.insert(pod.to_owned(), (failures, until, why.to_owned()));
        until
    }

    pub(crate) fn is_back(&self, pod: &str) {
        self.lore().away.remove(pod);
    }

    /// Returns whether the Pod has not been told this yet, and notes that it has now.
    pub(crate) fn is_news(&self, pod: &str, sentence: &str) -> bool {
        let mut lore = self.lore();
        if lore.told.len() >= AWAY_MAX {
            lore.told.clear();
        }
        lore.told.insert((pod.to_owned(), sentence.to_owned()))
    }

    /// Forgets what the Pod was told: it no longer applies.
    pub(crate) fn forget_news(&self, pod: &str) {
        self.lore().told.retain(|(told, _)| told != pod);
    }
}

/// One connection's contribution to what is known about its server. Dropping it removes that contribution.
#[derive(Debug)]
pub(crate) struct Use {
    known: Arc<Known>,
    number: u64,
}

impl Use {
    fn put(&self, state: McpServerState, change: impl FnOnce(&mut Lore)) {
        let mut lore = self.known.lore();
        lore.uses.insert(self.number, state);
        change(&mut lore);
    }

    pub(crate) fn beginning(&self) {
        self.put(McpServerState::Connecting, |_| ());
    }

    pub(crate) fn live(&self, offer: &Offer) {
        self.put(McpServerState::Ready, |lore| {
            lore.tools = Some(offer.tools.keys().cloned().collect());
            lore.left_out = offer.left_out.clone();
            lore.detail = None;
        });
        self.known.login.is_answered();
    }

    pub(crate) fn away(&self, why: &str) {
        self.put(McpServerState::Away, |lore| lore.detail = Some(why.to_owned()));
    }

    pub(crate) fn login_wanted(&self, why: &str) {
        self.put(McpServerState::Login, |lore| lore.detail = Some(why.to_owned()));
    }
}

/// Returns the wait before the next attempt.
fn backoff(failures: u32) -> Duration {
    (BACKOFF_FIRST * 2u32.saturating_pow(failures.min(16))).min(BACKOFF_MAX)
}

impl Drop for Use {
    fn drop(&mut self) {
        self.known.lore().uses.remove(&self.number);
    }
}
