//! The tools that run for one Pod, and those that are to run.

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use pod::{HostPort, Input, Pod, ToolOutcome};
use pod_store::Store;
use protocol::{Event, ToolBy, TurnEvent};
use serde_json::Value;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use tools::{
    Lifeline, Place, Tool,
    proxy::{Proxy, Wish},
};

use super::{running, ways::Ways};
use crate::{blobs, looking_in::Entered};

/// Pieces of live output of one tool that wait to be committed.
const OUTPUT_PIECES_MAX: usize = 64;
/// Hosts that commands of one Pod want to reach and that have not been looked at; more wait.
const WISHES_MAX: usize = 64;
/// How long it is waited for what a tool started to be gone, once it was told to end.
const END_WAIT_MAX: Duration = Duration::from_secs(4);

/// A call's id, and what its tool wrote.
type OutputPiece = (String, String);

/// What leads out of a command, and into it.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "their end is what counts")]
pub(super) struct Doors {
    pub(super) proxy: Option<Proxy>,
    pub(super) way_in: Option<Entered>,
}

/// A call that is to run.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) by: ToolBy,
    /// An agent wants it in the midst of its turn: it runs beside everything else, and tells the agent, which knows it by this id.
    pub(super) wanted: Option<String>,
    /// Where its path led when rules decided on it.
    pub(super) leads: Option<String>,
}

/// The tools of one Pod. Dropping it stops them.
#[derive(Default)]
pub(super) struct Calls {
    /// Calls of the model that have not begun. They run in their order; what only reads runs beside its like.
    queue: VecDeque<Call>,
    tools: JoinSet<(String, ToolOutcome)>,
    /// Something that changes things is running, so nothing else of the model's may.
    is_exclusive: bool,
    /// What an agent wants and has not begun.
    wanted: VecDeque<Call>,
    /// How each of the model's calls is ended alone.
    ends: HashMap<String, AbortHandle>,
    /// Calls of people and of agents that have not begun, and those that run: beside everything else.
    operator_queue: Vec<Call>,
    operator_tools: JoinSet<(String, ToolOutcome)>,
    output: Option<(mpsc::Sender<OutputPiece>, mpsc::Receiver<OutputPiece>)>,
    /// Hosts that commands want to reach, on their way here, and what became of those that came.
    wishes: Option<(mpsc::Sender<Wish>, mpsc::Receiver<Wish>)>,
    ways: Ways,
    /// Held by all that a tool has started; its other end tells when nothing of it is left.
    life: Option<(Lifeline, mpsc::Receiver<()>)>,
    /// When each tool began, and when it was told to end, if it was.
    ran: HashMap<String, (Instant, Option<Instant>)>,
    /// What was told to end, and of which something was left when it was last waited for.
    leaving: Vec<mpsc::Receiver<()>>,
}

/// What comes of calls.
pub(super) enum News {
    Output(Vec<OutputPiece>),
    /// A command wants to reach a host.
    Wished(Wish),
    Ended(String, ToolOutcome),
}

impl Calls {
    pub(super) fn is_idle(&self) -> bool {
        !self.is_answering() && self.operator_tools.is_empty() && self.operator_queue.is_empty()
    }

    /// Of the model's some run or are to run.
    pub(super) fn is_answering(&self) -> bool {
        !self.tools.is_empty() || !self.queue.is_empty() || !self.wanted.is_empty()
    }

    /// How long a call ran that is ended from outside: the journal alone does not know.
    pub(super) fn time(&mut self, event: &mut Event) {
        let Event::Turn(TurnEvent::ToolFinished { call_id, duration_ms, is_error: true, .. }) = event else { return };
        if let Some((began, ended)) = self.ran.remove(call_id) {
            let ran = ended.unwrap_or_else(Instant::now).duration_since(began);
            *duration_ms = ran.as_millis().try_into().unwrap_or(u64::MAX);
        }
    }

    /// A call of this tool has begun and has not ended.
    pub(super) fn runs(&self, pod: &Pod, tool: &str) -> bool {
        let mut calls = pod.calls.iter().chain(&pod.operator_calls).filter(|call| call.name == tool);
        calls.any(|call| self.ran.contains_key(&call.call_id))
    }

    fn note_ends(&mut self) {
        let now = Instant::now();
        self.ran.values_mut().for_each(|(_, ended)| *ended = ended.or(Some(now)));
    }

    /// Drops every tool that the model runs.
    pub(super) fn abort(&mut self) {
        self.queue.clear();
        self.wanted.clear();
        self.ends.clear();
        self.tools = JoinSet::new();
        self.is_exclusive = false;
    }

    pub(super) fn abort_operator_calls(&mut self) {
        self.operator_queue.clear();
        self.operator_tools = JoinSet::new();
    }

    /// Aborts everything and waits until nothing of it is left, not even a process. False when something does not end.
    pub(super) async fn end_all(&mut self) -> bool {
        self.note_ends();
        self.abort();
        self.abort_operator_calls();
        self.output = None;
        if let Some((lifeline, ended)) = self.life.take() {
            drop(lifeline);
            self.leaving.push(ended);
        }
        let gone = async {
            while let Some(ended) = self.leaving.last_mut() {
                while ended.recv().await.is_some() {}
                self.leaving.pop();
            }
        };
        tokio::time::timeout(END_WAIT_MAX, gone).await.is_ok()
    }

    pub(super) fn enqueue(&mut self, call: Call) {
        match call.by {
            ToolBy::Model if call.wanted.is_some() => self.wanted.push_back(call),
            ToolBy::Model => self.queue.push_back(call),
            ToolBy::Operator | ToolBy::Agent => self.operator_queue.push(call),
        }
    }

    /// The next call that may begin; `only_reads` says it of a tool by its name.
    pub(super) fn next_call(&mut self, only_reads: impl Fn(&str) -> bool) -> Option<Call> {
        if let Some(call) = self.operator_queue.pop() {
            return Some(call);
        }
        if let Some(call) = self.wanted.pop_front() {
            return Some(call);
        }
        let reads = only_reads(&self.queue.front()?.name);
        let may_begin = self.tools.is_empty() || (reads && !self.is_exclusive);
        if !may_begin {
            return None;
        }
        self.is_exclusive = !reads;
        self.queue.pop_front()
    }

    /// A share in knowing when all is over.
    pub(super) fn lifeline(&mut self) -> Lifeline {
        let (lifeline, _) = self.life.get_or_insert_with(Lifeline::pair);
        lifeline.clone()
    }

    /// Where the proxies of commands send what they want.
    pub(super) fn wishes(&mut self) -> mpsc::Sender<Wish> {
        self.wishes.get_or_insert_with(|| mpsc::channel(WISHES_MAX)).0.clone()
    }

    /// Ends one call of the model, and leaves the others.
    pub(super) fn end_one(&mut self, call_id: &str) {
        self.wanted.retain(|call| call.call_id != call_id);
        if let Some(end) = self.ends.remove(call_id) {
            end.abort();
        }
    }

    /// Lets a running command reach a host, or refuses it.
    pub(super) fn let_out(&mut self, call_id: String, host: String, port: u16, is_allowed: bool) {
        self.ways.settle(call_id, HostPort { host, port }, is_allowed);
    }

    /// Starts a tool, or reports at once why it cannot. The doors are open as long as the call runs.
    pub(super) fn run_tool(
        &mut self,
        call: Call,
        tool: Result<Arc<dyn Tool>, ToolOutcome>,
        place: Place,
        doors: Doors,
        store: &Store,
    ) {
        let (sender, _) = self.output.get_or_insert_with(|| mpsc::channel(OUTPUT_PIECES_MAX));
        let (sender, store) = (sender.clone(), store.clone());
        let Call { call_id, arguments, by, .. } = call;
        self.ran.insert(call_id.clone(), (Instant::now(), None));
        let ended_by = call_id.clone();
        let work = async move {
            let _doors = doors;
            let tool = match tool {
                Ok(tool) => tool,
                Err(outcome) => return (call_id, outcome),
            };
            let began = Instant::now();
            let (output, mut pieces) = mpsc::channel::<String>(1);
            let forward = async {
                while let Some(text) = pieces.recv().await {
                    if sender.send((call_id.clone(), text)).await.is_err() {
                        break;
                    }
                }
            };
            let calling = AssertUnwindSafe(tool.call(&place, arguments, output)).catch_unwind();
            let called = async { tokio::join!(calling, forward).0 };
            let outcome = tokio::select! {
                outcome = called => outcome,
                never = running::mark(place.outputs.clone(), call_id.clone()) => match never {},
            };
            let mut outcome = outcome.unwrap_or_else(|_| {
                tracing::error!(tool = tool.name(), "a tool broke");
                ToolOutcome::failed("internal", format!("{} broke inside yoi; its log says where", tool.name()))
            });
            blobs::keep_shown(&store, &mut outcome).await;
            outcome.duration_ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            (call_id, outcome)
        };
        match by {
            ToolBy::Model => drop(self.ends.insert(ended_by, self.tools.spawn(crate::watched(work)))),
            ToolBy::Operator | ToolBy::Agent => drop(self.operator_tools.spawn(crate::watched(work))),
        }
    }

    /// Waits for the next thing that comes of them. Cancel safe.
    pub(super) async fn next(&mut self) -> News {
        let Self { tools, operator_tools, output, wishes, .. } = self;
        tokio::select! {
            biased;
            Some(pieces) = async { match output { Some((_, pieces)) => written(pieces).await, None => pending().await } } => {
                News::Output(pieces)
            }
            Some(wish) = async { match wishes { Some((_, wishes)) => wishes.recv().await, None => pending().await } } => {
                News::Wished(wish)
            }
            Some(ended) = tools.join_next() => ended_tool(ended),
            Some(ended) = operator_tools.join_next() => ended_tool(ended),
            else => pending().await,
        }
    }

    /// What it means for the Pod.
    pub(super) fn inputs(&mut self, news: News) -> Vec<Input> {
        match news {
            News::Output(pieces) => {
                pieces.into_iter().map(|(call_id, text)| Input::ToolOutput { call_id, text }).collect()
            }
            News::Wished(wish) => self.ways.wished(wish).into_iter().collect(),
            News::Ended(call_id, outcome) => {
                self.ran.remove(&call_id);
                self.ends.remove(&call_id);
                self.ways.forget(&call_id);
                vec![Input::ToolFinished { call_id, outcome }]
            }
        }
    }
}

/// All that tools have written, as soon as there is something. Cancel safe.
async fn written(pieces: &mut mpsc::Receiver<OutputPiece>) -> Option<Vec<OutputPiece>> {
    let mut written = Vec::new();
    let count = pieces.recv_many(&mut written, OUTPUT_PIECES_MAX).await;
    (count > 0).then_some(written)
}

fn ended_tool(ended: Result<(String, ToolOutcome), tokio::task::JoinError>) -> News {
    match ended {
        Ok((call_id, outcome)) => News::Ended(call_id, outcome),
        // A tool that breaks is caught where it runs, so this is the runtime going down.
        Err(error) => News::Ended(String::new(), ToolOutcome::failed("internal", error.to_string())),
    }
}
