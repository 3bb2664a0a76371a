//! The host: finds, makes and wakes Pods. An idle Pod costs nothing here: no task, no queue, no tail.

mod composing;
mod lists;
mod peering;
mod settings;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pod_store::{Batch, PodChange, PodKey, PodRow, PodUpdate, Store};
use protocol::{
    ApiError, Approval, ApprovalCommand, CompactionPreview, ControlVerb, CreatePod, ErrorCode, History,
    InputCommand, Listing, OpenApproval, PatchPod, PodDetail, PodName, PodRef, PodSummary, Receipt,
    RestoreCommand, RewindCommand, Seq, ToolAnswer, ToolCommand,
    VisiblePod, WorkerId,
};
use provider::Providers;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tools::Toolbox;

use crate::{
    CommandKey, Figures, Observation, Origin, PodQuery, PodsObservation, Readiness, RecordPage, approvals,
    asked::Asked,
    create, error,
    feed::Feed,
    find, history,
    lead::{self, Stopper},
    list::ListFeed,
    peers,
    pod_task::{self, PodCommand, Request},
    pod_tools, recovery, view, viewer,
};

/// Commands that may wait for one Pod's task; beyond it the sender waits.
const REQUESTS_MAX: usize = 64;

/// How often requests are looked for whose time is over.
const EXPIRY_CHECK: Duration = Duration::from_secs(60);

/// The embedded runtime. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

/// What a host is made of.
#[derive(Debug)]
pub struct HostOptions {
    pub store: Store,
    pub providers: Providers,
    /// Recipes by name.
    pub profiles: BTreeMap<String, Profile>,
    /// What models may call, besides the tools by which they lead other Pods.
    pub toolbox: Toolbox,
    /// Working directory of a Pod that names none: where yoi was started.
    pub cwd: String,
    /// Absolute paths of yoi's own: no tool of any Pod touches them, whatever its scope says.
    pub hidden: Vec<String>,
    /// Where long outputs of tools are kept, in a folder per Pod.
    pub outputs: PathBuf,
    /// The kernel cannot confine a shell here, so that no rule allows Bash without a person.
    pub shell_is_unconfined: bool,
}

impl HostOptions {
    /// A host without profiles and with the Pod tools alone.
    pub fn of(store: Store, providers: Providers, cwd: impl Into<String>, outputs: impl Into<PathBuf>) -> Self {
        Self {
            store,
            providers,
            profiles: BTreeMap::new(),
            toolbox: Toolbox::default(),
            cwd: cwd.into(),
            hidden: Vec::new(),
            outputs: outputs.into(),
            shell_is_unconfined: false,
        }
    }
}

/// A named recipe for new Pods. A Pod keeps the resolved copy that it was born with.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub instructions: Option<String>,
    /// Names of the tools that its model is offered; absent: all.
    pub tools: Option<Vec<String>>,
    pub reasoning: Option<protocol::ReasoningPolicy>,
    pub peer_policy: Option<protocol::PeerPolicy>,
    pub wake_on_peer: Option<bool>,
    pub permissions: Option<Vec<protocol::PermissionRule>>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) providers: Providers,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) toolbox: Toolbox,
    pub(crate) cwd: String,
    pub(crate) hidden: Vec<String>,
    pub(crate) outputs: PathBuf,
    pub(crate) shell_is_unconfined: bool,
    /// Tasks of the Pods that work now.
    tasks: Mutex<HashMap<WorkerId, mpsc::Sender<Request>>>,
    /// Live tails of the Pods that work or are watched now.
    feeds: Mutex<HashMap<WorkerId, Weak<Feed>>>,
    pub(crate) list: ListFeed,
    pub(crate) stopping: CancellationToken,
    pub(crate) tracker: TaskTracker,
    /// Pods that a crash left open and that have not been put in order yet.
    pub(crate) recovering: watch::Sender<BTreeSet<WorkerId>>,
    /// Pods that could not be restored, with the reason.
    pub(crate) failed: Mutex<BTreeMap<String, String>>,
    pub(crate) records: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) viewers: AtomicU64,
}

impl Host {
    /// Returns as soon as it is known which Pods a crash left open; those are recovered in the background, and a
    /// look at one of them waits for it.
    pub async fn start(options: HostOptions) -> Result<Self, ApiError> {
        let HostOptions { store, providers, profiles, toolbox, cwd, hidden, outputs, shell_is_unconfined } = options;
        let inner = Arc::new_cyclic(|inner| Inner {
            store,
            providers,
            profiles,
            toolbox: toolbox.with(pod_tools::tools(inner)),
            cwd,
            hidden,
            outputs,
            shell_is_unconfined,
            tasks: Mutex::default(),
            feeds: Mutex::default(),
            list: ListFeed::new(),
            stopping: CancellationToken::new(),
            tracker: TaskTracker::new(),
            recovering: watch::Sender::new(BTreeSet::new()),
            failed: Mutex::default(),
            records: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
        });
        recovery::start(&inner).await?;
        inner.tracker.spawn(expire_requests(inner.clone()));
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

    pub async fn pods(&self, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
        self.inner.recovered().await;
        find::pods(&self.inner, query).await
    }

    pub async fn pod(&self, worker_id: &WorkerId) -> Result<PodDetail, ApiError> {
        let row = self.inner.existing_row(worker_id).await?;
        let inbox = self.inner.store.inbox(row.key).await.map_err(error::store_failed)?;
        let children = self.inner.store.children(row.key).await.map_err(error::store_failed)?;
        Ok(view::detail(&row, inbox, &children))
    }

    pub async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        let row = self.inner.store.pod_find_by_name(name).await.map_err(error::store_failed)?;
        Ok(row.as_ref().map(view::pod_ref))
    }

    /// Names that are spelled much like this one, nearest first; at most 5.
    pub async fn near_names(&self, name: &str) -> Result<Vec<protocol::Candidate>, ApiError> {
        find::near_names(&self.inner, name).await
    }

    pub async fn create(&self, key: CommandKey, origin: &Origin, create: CreatePod) -> Result<PodSummary, ApiError> {
        if self.inner.stopping.is_cancelled() {
            return Err(error::stopping());
        }
        create::create(&self.inner, key, origin, create).await
    }

    pub async fn input(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        input: InputCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Input(input)).await
    }

    pub async fn control(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        match verb {
            ControlVerb::Restore => self.restore(key, origin, worker_id, RestoreCommand::default()).await,
            ControlVerb::Stop if self.is_led(worker_id).await? => {
                self.count_command();
                Ok(lead::stop(&self.inner, worker_id, &Stopper::Person(Asked { key, origin })).await?.0)
            }
            verb => self.inner.command(key, origin, worker_id, PodCommand::Control(verb)).await,
        }
    }

    /// Another Pod leads it: what happens to it happens to what was lent, too.
    async fn is_led(&self, worker_id: &WorkerId) -> Result<bool, ApiError> {
        Ok(self.inner.existing_row(worker_id).await?.parent.is_some())
    }

    fn count_command(&self) {
        self.inner.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// Brings a stopped Pod back, alone or with those that it leads.
    pub async fn restore(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        self.count_command();
        lead::restore_command(&self.inner, worker_id, key, origin, command.tree).await
    }

    /// Takes the records after a position out of the model's context.
    pub async fn rewind(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RewindCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Rewind(command)).await
    }

    /// What compacting would do now; none when there is nothing to drop.
    pub async fn compaction_preview(&self, worker_id: &WorkerId) -> Result<Option<CompactionPreview>, ApiError> {
        history::compaction_preview(&self.inner, worker_id).await
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
        self.inner.existing_row(worker_id).await?;
        if self.inner.toolbox.get(name).is_none() {
            let unknown = self.inner.toolbox.unknown(name, None);
            return Err(ApiError::new(ErrorCode::NotFound, unknown.summary));
        }
        self.count_command();
        let (reply, answer) = oneshot::channel();
        let ToolCommand { arguments } = command;
        let request = Request::Tool { name: name.to_owned(), arguments, key, origin: origin.clone(), reply };
        self.inner.send(worker_id, request).await?;
        answer.await.map_err(|_| error::stopping())?
    }

    /// The open questions of one Pod, or all that it ever asked; oldest first.
    pub async fn approvals(&self, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
        approvals::of_pod(&self.inner, worker_id, all).await
    }

    /// The open questions of every Pod, oldest first.
    pub async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        approvals::open(&self.inner).await
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
        self.inner.command(key, origin, worker_id, command).await
    }

    /// What a command of this key was answered when it was carried out; none when it was not.
    pub async fn first_answer(&self, key: &CommandKey) -> Result<Option<String>, ApiError> {
        let row = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)?;
        row.map(|row| pod_task::repeated(row, key)).transpose()
    }

    /// Exactly what ListPods tells this Pod's model.
    pub async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        pod_tools::visible(&self.inner, worker_id).await
    }

    pub async fn patch(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        patch: PatchPod,
    ) -> Result<PodDetail, ApiError> {
        self.inner.command(key, origin, worker_id, PodCommand::Patch(patch)).await
    }

    pub async fn delete(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        // A repeat after the Pod is gone gives the first answer.
        if let Some(row) = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)? {
            return pod_task::repeated(row, &key).map(|_| ());
        }
        let row = self.inner.existing_row(worker_id).await?;
        match confirm {
            Some(name) if name == row.name.as_str() => {
                peers::end_all(&self.inner, worker_id).await?;
                if row.parent.is_some() || row.children > 0 {
                    lead::stop(&self.inner, worker_id, &Stopper::Deleter(origin)).await?;
                }
                loop {
                    let done = self.inner.command(key.clone(), origin, worker_id, PodCommand::Delete).await;
                    match done {
                        // Somebody was introduced to it meanwhile.
                        Err(error) if error.code == ErrorCode::Busy => peers::end_all(&self.inner, worker_id).await?,
                        done => return done,
                    }
                }
            }
            _ => Err(ApiError::invalid(format!(
                "deleting cannot be undone: say ?confirm={} to delete this Pod",
                row.name
            ))),
        }
    }

    pub async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<RecordPage, ApiError> {
        history::page(&self.inner, worker_id, before, limit).await
    }

    pub async fn history(&self, worker_id: &WorkerId) -> Result<History, ApiError> {
        history::history(&self.inner, worker_id).await
    }

    pub async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation {
        viewer::observe(self.inner.clone(), worker_id.clone(), after, tail).await
    }

    pub fn observe_pods(&self) -> PodsObservation {
        find::observe(self.inner.clone())
    }

    pub fn readiness(&self) -> Readiness {
        let recovering = self.inner.recovering.borrow().len();
        let failed = self.inner.failed.lock().expect("no holder of this list panics");
        Readiness {
            ready: recovering == 0 && !self.inner.stopping.is_cancelled(),
            recovering: recovering.try_into().unwrap_or(u32::MAX),
            failed: failed.iter().map(|(name, reason)| (name.clone(), reason.clone())).collect(),
        }
    }

    /// Figures for `/metrics`.
    pub fn figures(&self) -> Figures {
        let active = self.inner.tasks.lock().expect("no holder of the tasks panics").len();
        Figures {
            active_pods: active as u64,
            records_total: self.inner.records.load(Ordering::Relaxed),
            commands_total: self.inner.commands.load(Ordering::Relaxed),
            viewers: self.inner.viewers.load(Ordering::Relaxed),
        }
    }
}

/// Ends requests whose time is over, now and then.
async fn expire_requests(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = tokio::time::sleep(EXPIRY_CHECK) => peers::expire(&inner).await,
        }
    }
}

impl Inner {
    /// Puts a command to a Pod's task, waking it, and reads its answer.
    pub(crate) async fn command<T: DeserializeOwned>(
        self: &Arc<Self>,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<T, ApiError> {
        self.commands.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let request = Request::Command { command: Box::new(command), key, origin: origin.clone(), reply };
        self.send(worker_id, request).await?;
        let answer = answer.await.map_err(|_| error::stopping())??;
        serde_json::from_str(&answer)
            .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
    }

    /// Gives a request to a Pod's task, and starts the task when there is none.
    pub(crate) async fn send(self: &Arc<Self>, worker_id: &WorkerId, mut request: Request) -> Result<(), ApiError> {
        loop {
            if self.stopping.is_cancelled() {
                return Err(error::stopping());
            }
            let sender = self.task(worker_id);
            match sender.send(request).await {
                Ok(()) => return Ok(()),
                // The task went to rest between the look-up and the sending.
                Err(mpsc::error::SendError(returned)) => request = returned,
            }
        }
    }

    fn task(self: &Arc<Self>, worker_id: &WorkerId) -> mpsc::Sender<Request> {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        if let Some(sender) = tasks.get(worker_id).filter(|sender| !sender.is_closed()) {
            return sender.clone();
        }
        let (sender, requests) = mpsc::channel(REQUESTS_MAX);
        tasks.insert(worker_id.clone(), sender.clone());
        self.tracker.spawn(pod_task::run(self.clone(), worker_id.clone(), requests));
        sender
    }

    /// Ends a task that has nothing to do. False when a request came in.
    pub(crate) fn rest(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) -> bool {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        if !requests.is_empty() {
            return false;
        }
        requests.close();
        tasks.remove(worker_id);
        tasks.shrink_to(64);
        true
    }

    /// Forgets a task that ended by itself.
    pub(crate) fn forget(&self, worker_id: &WorkerId, requests: &mut mpsc::Receiver<Request>) {
        let mut tasks = self.tasks.lock().expect("no holder of the tasks panics");
        requests.close();
        if tasks.get(worker_id).is_some_and(mpsc::Sender::is_closed) {
            tasks.remove(worker_id);
        }
    }

    /// The Pod's row, once recovery has put it in order.
    pub(crate) async fn settled_row(&self, worker_id: &WorkerId) -> Result<Option<PodRow>, ApiError> {
        let mut recovering = self.recovering.subscribe();
        // The sender lives as long as we do, so this cannot fail.
        let _ = recovering.wait_for(|open| !open.contains(worker_id)).await;
        self.store.pod_find(worker_id).await.map_err(error::store_failed)
    }

    pub(crate) async fn existing_row(&self, worker_id: &WorkerId) -> Result<PodRow, ApiError> {
        self.settled_row(worker_id).await?.ok_or_else(|| error::no_such_pod(worker_id))
    }

    /// Waits until every Pod that a crash left open has been put in order.
    pub(crate) async fn recovered(&self) {
        let _ = self.recovering.subscribe().wait_for(BTreeSet::is_empty).await;
    }

    /// The Pod's live tail, shared with whoever has it already.
    pub(crate) async fn feed(&self, row: &PodRow) -> Result<Arc<Feed>, ApiError> {
        if let Some(feed) = self.known_feed(&row.worker_id) {
            return Ok(feed);
        }
        let head = self.store.head(row.key).await.map_err(error::store_failed)?;
        let policy = view::open(row).map(|opened| opened.spec.reasoning).unwrap_or_default();
        Ok(self.share_feed(row, head, policy))
    }

    fn known_feed(&self, worker_id: &WorkerId) -> Option<Arc<Feed>> {
        self.feeds.lock().expect("no holder of the feeds panics").get(worker_id).and_then(Weak::upgrade)
    }

    fn share_feed(&self, row: &PodRow, head: Seq, policy: protocol::ReasoningPolicy) -> Arc<Feed> {
        let mut feeds = self.feeds.lock().expect("no holder of the feeds panics");
        if let Some(feed) = feeds.get(&row.worker_id).and_then(Weak::upgrade) {
            return feed;
        }
        let feed = Arc::new(Feed::new(head, policy, row.unread));
        feeds.insert(row.worker_id.clone(), Arc::downgrade(&feed));
        feed
    }

    /// Called by each holder right before it lets go.
    pub(crate) fn release_feed(&self, worker_id: &WorkerId, feed: &Arc<Feed>) {
        let mut feeds = self.feeds.lock().expect("no holder of the feeds panics");
        let is_last = Arc::strong_count(feed) == 1;
        if is_last && feeds.get(worker_id).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(feed))) {
            feeds.remove(worker_id);
            feeds.shrink_to(64);
        }
    }

    pub(crate) async fn update_row(&self, key: PodKey, update: PodUpdate) -> Result<(), ApiError> {
        let change = PodChange { update: Some(update), ..PodChange::of(key) };
        let batch = Batch { changes: vec![change], ..Batch::default() };
        self.store.commit(batch).await.map_err(error::store_failed).map(|_| ())
    }
}
