//! Calls from one host to another, and the wait for their answers. Bounded, and safe to repeat: a command's key makes
//! it happen once, whichever host carries it out.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use pod::{Pod, PodSpec};
use pod_store::{HostRow, MailPut, MessageChange, PodChange, PodKey};
use protocol::{ApiError, ControlEvent, ErrorCode, PodLabel, Seq, Since, TurnEvent, WorkerId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{sync::oneshot, time::timeout};

use super::{Cluster, shelf::ShelfAsked};
use crate::{
    CommandKey, Origin,
    actor::{OutsideCall, PodCommand},
    ground::Ground,
};

/// A host that does not pick up a call within this time is taken to be gone.
const TAKE_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long a host then has for a command that it has picked up …
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(5);
/// … and for a tool that a person runs.
const TOOL_WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// … and for MCP servers that may have to be started.
const SHELF_WAIT_MAX: Duration = Duration::from_secs(60);
/// … and for a look at all files of a Pod.
const FILES_WAIT_MAX: Duration = Duration::from_secs(60);
/// How often, during a long wait, to check that the other host is still there.
const THERE_CHECK: Duration = Duration::from_secs(2);
/// How often to look for answers when no notice comes.
const POLL: Duration = Duration::from_millis(200);

/// A call to another host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    Command {
        worker_id: WorkerId,
        key: CommandKey,
        origin: Origin,
        command: PodCommand,
    },
    Tool {
        worker_id: WorkerId,
        key: CommandKey,
        origin: Origin,
        asked: OutsideCall,
    },
    Files {
        worker_id: WorkerId,
        begun: String,
    },
    /// The commands of a person's own, or the message that one of them stands for.
    Own {
        worker_id: WorkerId,
        asked: Option<(String, String)>,
    },
    /// The background commands.
    Commands {
        worker_id: WorkerId,
    },
    /// The output of a background command.
    Output {
        worker_id: WorkerId,
        id: String,
        after: u64,
    },
    Shelf {
        worker_id: WorkerId,
        asked: ShelfAsked,
    },
    Changes {
        worker_id: WorkerId,
        since: Since,
    },
    RewindPreview {
        worker_id: WorkerId,
        to_seq: Seq,
    },
    /// Somebody views the Pod. Has no answer.
    Read {
        worker_id: WorkerId,
    },
    /// There is something in the Pod's mailbox. Has no answer.
    Wake {
        worker_id: WorkerId,
    },
    /// Pause the Pod.
    Hold {
        hold: String,
        worker_id: WorkerId,
    },
    Order {
        hold: String,
        wish: Wish,
    },
    /// Whether the transaction with the Pod's change was written. Has no answer.
    Outcome {
        hold: String,
        is_done: bool,
    },
}

/// A held Pod as another host sees it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeldView {
    pub(crate) key: PodKey,
    pub(crate) label: PodLabel,
    pub(crate) spec: PodSpec,
    pub(crate) pod: Pod,
    #[serde(default)]
    pub(crate) runs_command: bool,
    #[serde(default)]
    pub(crate) owes_usage: bool,
}

/// What is wanted of a held Pod.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wish {
    pub(crate) inputs: Vec<WishInput>,
    pub(crate) events: Vec<ControlEvent>,
    /// True if the loan goes out, false if it comes back.
    pub(crate) lends: Option<bool>,
    pub(crate) mail_put: Vec<MailPut>,
    pub(crate) ends_work: bool,
}

/// The inputs that Pods can give each other.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WishInput {
    Mail { events: Vec<TurnEvent>, wakes: bool },
    Note(Vec<ControlEvent>),
    Stop,
    Restore,
}

/// What is to be written for a held Pod.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Prepared {
    pub(crate) change: PodChange,
    pub(crate) receipts: Vec<MessageChange>,
}

/// The outcome of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The result as JSON.
    Done(String),
    Refused(ApiError),
    /// The Pod is not run there, or no longer.
    Moved,
}

impl Call {
    /// True for calls that have no answer.
    pub(super) fn is_told(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Wake { .. } | Self::Outcome { .. })
    }

    fn answer_wait(&self) -> Duration {
        match self {
            Self::Tool { .. } => TOOL_WAIT_MAX,
            Self::Shelf { .. } => SHELF_WAIT_MAX,
            Self::Changes { .. } | Self::RewindPreview { .. } => FILES_WAIT_MAX,
            _ => ANSWER_WAIT_MAX,
        }
    }

    fn encode(&self) -> String {
        serde_json::to_string(self).expect("a call always encodes")
    }
}

pub(super) fn start(cluster: &Arc<Cluster>) {
    cluster.tracker.spawn(take_answers(cluster.clone()));
}

/// This host's calls to others.
#[derive(Debug)]
pub(crate) struct Calls {
    ground: Arc<Ground>,
    /// The calls that wait for an answer.
    waiting: Mutex<HashMap<i64, oneshot::Sender<String>>>,
}

impl Calls {
    pub(super) fn new(ground: Arc<Ground>) -> Self {
        Self { ground, waiting: Mutex::default() }
    }

    /// Calls another host and reads its answer. `None`: the Pod is no longer there; look it up again.
    pub(crate) async fn call<T: DeserializeOwned>(&self, host: &HostRow, call: &Call) -> Result<Option<T>, ApiError> {
        let answer = self.ask(host, call).await?;
        match serde_json::from_str(&answer).map_err(unreadable)? {
            Answer::Done(answer) => serde_json::from_str(&answer).map(Some).map_err(unreadable),
            Answer::Refused(error) => Err(error),
            Answer::Moved => Ok(None),
        }
    }

    /// Tells another host something that needs no answer. If the call is lost, the host will find out by itself.
    pub(crate) async fn tell(&self, host: &HostRow, call: &Call) {
        if let Err(error) = self.try_tell(host, call).await {
            tracing::debug!(%error, host = host.name, "another host could not be told something");
        }
    }

    /// Like [`Self::tell`], for a caller that tries again.
    pub(crate) async fn try_tell(&self, host: &HostRow, call: &Call) -> Result<(), ApiError> {
        self.ground.store.hosts().call_put(host.id, &call.encode()).await?;
        Ok(())
    }

    async fn ask(&self, host: &HostRow, call: &Call) -> Result<String, ApiError> {
        let id = self.ground.store.hosts().call_put(host.id, &call.encode()).await?;
        let waiting = Waiting::of(self, id);
        let (taken, answer) = self.wait(host, call, waiting).await;
        match (taken, answer) {
            (_, Some(answer)) => Ok(answer),
            (false, None) => Err(not_taken(host)),
            (true, None) => Err(not_answered(host)),
        }
    }

    /// The answer, and whether the host has picked up the call.
    async fn wait(&self, host: &HostRow, call: &Call, mut waiting: Waiting<'_>) -> (bool, Option<String>) {
        if let Ok(Ok(answer)) = timeout(TAKE_WAIT_MAX, &mut waiting.answer).await {
            return (true, Some(answer));
        }
        if let Ok(true) = self.ground.store.hosts().call_withdraw(waiting.id).await {
            return (false, None);
        }
        let mut left = call.answer_wait();
        while !left.is_zero() {
            let step = left.min(THERE_CHECK);
            if let Ok(Ok(answer)) = timeout(step, &mut waiting.answer).await {
                return (true, Some(answer));
            }
            left -= step;
            let hosts = self.ground.store.hosts().now().await;
            if hosts.is_ok_and(|hosts| hosts.iter().all(|there| there.id != host.id)) {
                break;
            }
        }
        (true, None)
    }
}

/// One waiting call. Dropping this ends the wait.
struct Waiting<'a> {
    calls: &'a Calls,
    id: i64,
    answer: oneshot::Receiver<String>,
}

impl<'a> Waiting<'a> {
    fn of(calls: &'a Calls, id: i64) -> Self {
        let (sender, answer) = oneshot::channel();
        calls.waiting.lock().expect("no holder of the calls panics").insert(id, sender);
        Self { calls, id, answer }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.calls.waiting.lock().expect("no holder of the calls panics").remove(&self.id);
    }
}

async fn take_answers(cluster: Arc<Cluster>) {
    let Some(mut wake_ups) = cluster.store.hosts().wake_ups() else { return };
    // Answers that came before their callers began to wait.
    let mut early: Vec<(Instant, i64, String)> = Vec::new();
    loop {
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            changed = wake_ups.answered.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(POLL) => (),
        }
        let is_waiting = || !cluster.calls.waiting.lock().expect("no holder of the calls panics").is_empty();
        if !is_waiting() {
            continue;
        }
        match cluster.store.hosts().answers_take().await {
            Ok(answers) => early.extend(answers.into_iter().map(|(id, answer)| (Instant::now(), id, answer))),
            Err(error) => tracing::debug!(%error, "answers of other hosts could not be read"),
        }
        let mut waiting = cluster.calls.waiting.lock().expect("no holder of the calls panics");
        early.retain(|(came, id, answer)| match waiting.remove(id) {
            Some(sender) => {
                // The caller may have given up.
                let _ = sender.send(answer.clone());
                false
            }
            None => came.elapsed() < TAKE_WAIT_MAX,
        });
    }
}

fn unreadable(error: serde_json::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, format!("what another host answered cannot be read: {error}"))
}

fn not_taken(host: &HostRow) -> ApiError {
    let seconds = TAKE_WAIT_MAX.as_secs();
    let sentence = format!(
        "the host \"{}\" that runs the Pod did not answer within {seconds} s, so nothing was done; if it is gone, another \
         one takes over within seconds: try again",
        host.name
    );
    ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
}

fn not_answered(host: &HostRow) -> ApiError {
    let sentence = format!(
        "the host \"{}\" that runs the Pod has taken this up and does not answer; it may still happen, so look before \
         you try again, or send it again with the same idempotency key: then it happens once",
        host.name
    );
    ApiError::new(ErrorCode::Timeout, sentence)
}
