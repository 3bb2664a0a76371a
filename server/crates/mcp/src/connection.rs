//! The connection of one Pod to one server: established, watched, and established again with growing waits while the
//! server is away.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::SubscriptionFilter,
    service::{RunningService, Subscription},
};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tools::Lifeline;

use crate::{
    bounds::{RELIST_EVERY, START_MAX},
    handler::Running,
    live::{Failed, Live},
    offer::Offer,
    paced::Broken,
    servers::{Known, Use},
    stand::Stand,
    text::Secrets,
    way::{NotReached, Process, Reached, Reaching},
};

/// How long a last cancellation may take to be sent, and a connection to be closed properly.
const PART: Duration = Duration::from_millis(100);
const CLOSE_MAX: Duration = Duration::from_secs(1);
/// A connection that lasted this long starts again with short waits.
const STEADY: Duration = Duration::from_secs(60);

/// The state of the connection, as its Pod sees it.
#[derive(Debug, Clone)]
pub(crate) enum Status {
    Beginning,
    Live(Arc<Live>),
    Away(String),
}

/// A connection. Dropping it ends it and the server's program.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) status: watch::Receiver<Status>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    /// The surroundings of its program.
    pub(crate) stand: Stand,
}

impl Connection {
    pub(crate) fn begin(known: Arc<Known>, stand: Stand, running: Running, pod: String) -> Self {
        let (sender, status) = watch::channel(Status::Beginning);
        let (stop, stopped) = oneshot::channel();
        let keeping = Keeping { known, stand: stand.clone(), running, pod, status: sender };
        let task = tokio::spawn(keeping.keep(stopped));
        Self { status, stop, task, stand }
    }

    /// Ends the connection and waits for that. Returns false if something does not end.
    ///
    /// It is told at once, before this is awaited, so that several can end together.
    pub(crate) fn end(self) -> impl Future<Output = bool> + Send {
        let Self { stop, task, .. } = self;
        drop(stop);
        let deadline = Instant::now() + Duration::from_secs(6);
        async move { timeout_at(deadline, task).await.is_ok() }
    }
}

struct Keeping {
    known: Arc<Known>,
    stand: Stand,
    running: Running,
    pod: String,
    status: watch::Sender<Status>,
}

/// How a connection ended.
enum End {
    /// Nobody needs it any more.
    Stopped,
    /// A person asked for a restart.
    Again,
    Away(String),
    LoginWanted(String),
}

impl Keeping {
    async fn keep(self, mut stopped: oneshot::Receiver<()>) {
        let mut restarts = self.known.restarts();
        let tale = self.known.begin_use();
        if let Some((until, why)) = self.known.away_until(&self.pod) {
            // The server was away a moment ago, so nobody waits for it now.
            tale.away(&why);
            self.status.send_replace(Status::Away(why));
            tokio::select! {
                _ = &mut stopped => return,
                _ = restarts.changed() => (),
                () = sleep_until(until) => (),
            }
        }
        loop {
            tale.beginning();
            let began = Instant::now();
            let end = self.once(&mut stopped, &mut restarts, &tale).await;
            let why = match end {
                End::Stopped => return,
                End::Again => continue,
                End::LoginWanted(why) => {
                    tale.login_wanted(&why);
                    why
                }
                End::Away(why) => {
                    tale.away(&why);
                    why
                }
            };
            if began.elapsed() >= STEADY {
                self.known.is_back(&self.pod);
            }
            let until = self.known.note_away(&self.pod, &why);
            self.status.send_replace(Status::Away(why));
            tokio::select! {
                _ = &mut stopped => return,
                _ = restarts.changed() => (),
                () = sleep_until(until) => (),
            }
        }
    }

    /// Runs one connection from beginning to end.
    async fn once(&self, stopped: &mut oneshot::Receiver<()>, restarts: &mut watch::Receiver<u64>, tale: &Use) -> End {
        let (lifeline, mut gone) = Lifeline::pair();
        let end = tokio::select! {
            _ = &mut *stopped => End::Stopped,
            _ = restarts.changed() => End::Again,
            end = self.stand(lifeline, tale) => end,
        };
        if !matches!(end, End::Away(_) | End::LoginWanted(_)) {
            self.status.send_replace(Status::Beginning);
        }
        // Waits until nothing of its program is left.
        if timeout(Duration::from_secs(5), gone.recv()).await.is_err() {
            tracing::warn!(server = %self.known.config.name, "something that an MCP server started does not end");
        }
        end
    }

    async fn stand(&self, lifeline: Lifeline, tale: &Use) -> End {
        let login = self.known.login.clone();
        let secrets = Secrets::new(self.known.config.address.secrets()).and(move || login.secrets());
        let broken = Broken::default();
        let reaching = Reaching {
            config: &self.known.config,
            options: &self.known.options,
            stand: &self.stand,
            lifeline,
            running: self.running.clone(),
            login: &self.known.login,
            secrets: &secrets,
            log: &self.known.log,
            broken: broken.clone(),
        };
        let reached = match timeout(START_MAX, reaching.reach()).await {
            Ok(Ok(reached)) => reached,
            Ok(Err(NotReached::Away(why))) => return End::Away(why),
            Ok(Err(NotReached::LoginWanted(why))) => return End::LoginWanted(why),
            Err(_) => return End::Away(format!("it did not start within {} s", START_MAX.as_secs())),
        };
        let Reached { service, process } = reached;
        let peer = service.peer().clone();
        let login = self.known.login.clone();
        let live = Live { peer, running: self.running.clone(), offer: Arc::default(), login, secrets, broken };
        let mut standing = Standing { live, process, known: &self.known, status: &self.status };
        let mut closing = Closing(Some(service));
        match standing.list(tale).await {
            Ok(()) => standing.watch(&mut closing, tale).await,
            Err(end) => end,
        }
    }
}

/// Closes a connection properly, even when its task is dropped.
struct Closing(Option<RunningService<RoleClient, Running>>);

impl Drop for Closing {
    fn drop(&mut self) {
        let (Some(mut service), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) else { return };
        runtime.spawn(async move {
            sleep(PART).await;
            let _ = service.close_with_timeout(CLOSE_MAX).await;
        });
    }
}

struct Standing<'a> {
    live: Live,
    process: Option<Process>,
    known: &'a Known,
    status: &'a watch::Sender<Status>,
}

impl Standing<'_> {
    /// Takes over the current list of tools.
    async fn list(&mut self, tale: &Use) -> Result<(), End> {
        let listed = self.live.tools().await.map_err(|failed| match failed {
            Failed::LoginWanted(demand) => End::LoginWanted(self.live.login.want(&demand)),
            failed => {
                let why = self.live.secrets.hide(failed.sentence());
                End::Away(format!("it does not list its tools: {why}"))
            }
        })?;
        let offer = Offer::of(&self.known.config, listed);
        self.known.pins.meet(offer.tools.iter().map(|(name, tool)| (name.as_str(), tool.digest.as_str())));
        self.live.offer = Arc::new(offer);
        tale.live(&self.live.offer);
        self.status.send_replace(Status::Live(Arc::new(self.live.clone())));
        Ok(())
    }

    /// Watches the connection until it ends, and returns how.
    async fn watch(&mut self, closing: &mut Closing, tale: &Use) -> End {
        let mut subscription = self.subscribe().await;
        loop {
            let is_changed = tokio::select! {
                why = ended(&mut self.process, &self.known.log, closing) => {
                    return End::Away(self.live.broken.why().map_or(why, str::to_owned));
                }
                () = self.live.running.changed.notified() => true,
                is_there = told(&mut subscription) => {
                    if !is_there {
                        subscription = None;
                    }
                    is_there
                }
            };
            if is_changed {
                sleep(RELIST_EVERY).await;
                if let Err(end) = self.list(tale).await {
                    return end;
                }
            }
        }
    }

    /// Subscribes to changes. Newer servers report them only to clients that have subscribed.
    async fn subscribe(&self) -> Option<Subscription> {
        let info = self.live.peer.peer_info()?;
        let tells = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        if info.protocol_version.has_initialize() || !tells {
            return None;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        timeout(Duration::from_secs(5), self.live.peer.listen(filter)).await.ok()?.ok()
    }
}

/// Returns false once nothing more will come.
async fn told(subscription: &mut Option<Subscription>) -> bool {
    match subscription {
        Some(subscription) => matches!(subscription.next().await, Ok(Some(_))),
        None => std::future::pending().await,
    }
}

/// Returns once the connection or the program has ended, and says how.
async fn ended(process: &mut Option<Process>, log: &crate::log::Log, closing: &Closing) -> String {
    let closed = async {
        while closing.0.as_ref().is_some_and(|service| !service.peer().is_transport_closed() && !service.is_closed()) {
            sleep(Duration::from_millis(200)).await;
        }
    };
    match process {
        None => {
            closed.await;
            "it closed the connection".to_owned()
        }
        Some(process) => {
            let how = tokio::select! {
                how = process.served.ended() => Some(how),
                () = closed => None,
            };
            match how {
                Some(how) => how,
                None => process.why(log).await.unwrap_or_else(|| "it closed its output".to_owned()),
            }
        }
    }
}
