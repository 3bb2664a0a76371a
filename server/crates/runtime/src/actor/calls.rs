//! The tool calls of one Pod, both running and waiting to run.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    future::pending,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use mcp::Ask;
use pod::{AGENT_WAY, HostPort, Input, Pod, ToolOutcome, permission};
use pod_store::Store;
use protocol::{Event, PermissionDecision, Seq, ToolBy, TurnEvent, tool::NETWORK};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use tools::{Drain, Drains, Lifeline, Place, Tool, proxy::Wish};

use super::{asked::Asked, running, state::State, ways::Ways};
use crate::{blobs, changes::Step, spans::CallSpan};

/// Pieces of a tool's live output that may wait to be committed.
const OUTPUT_PIECES_MAX: usize = 64;
/// Connections that one Pod's commands may have waiting for a decision; further ones wait in their proxy.
const WISHES_MAX: usize = 64;
/// How many questions of servers may be queued; further ones wait with their server.
const ASKS_MAX: usize = 16;
/// How long to wait for what a tool started to be gone after it was told to end.
const END_WAIT_MAX: Duration = Duration::from_secs(8);
/// How long commands may take to send what they have written before they are ended. Usually they take far less.
const DRAIN_WAIT_MAX: Duration = Duration::from_millis(50);

/// What the ids of hooks begin with; no call's does.
const HOOKS: &str = "hooks-";

/// A call's id and what its tool wrote.
type OutputPiece = (String, String);

/// A call that is to run.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) by: ToolBy,
    /// The agent's id for a call that the agent asked for during its turn: the call runs beside everything else, and
    /// its outcome goes to the agent.
    pub(super) wanted: Option<String>,
    /// Where its path led when the rules were applied to it.
    pub(super) leads: Option<String>,
}

/// The tool calls of one Pod. Dropping this stops them.
#[derive(Default)]
pub(super) struct Calls {
    /// The model's calls that have not begun. They run in order; neighbouring read-only calls run in parallel.
    queue: VecDeque<Call>,
    tools: JoinSet<(String, ToolOutcome)>,
    /// A call that changes things is running, so no other call of the model's may run.
    is_exclusive: bool,
    /// Calls that an agent asked for and that have not begun.
    wanted: VecDeque<Call>,
    /// The handles that end single calls of the model.
    ends: HashMap<String, AbortHandle>,
    /// Calls from people and agents that have not begun, and those that are running; these run beside everything else.
    operator_queue: Vec<Call>,
    operator_tools: JoinSet<(String, ToolOutcome)>,
    output: Option<(mpsc::Sender<OutputPiece>, mpsc::Receiver<OutputPiece>)>,
    /// Asks running commands for what they have written.
    drains: Drains,
    /// The calls that answer that.
    commands: HashMap<String, ToolBy>,
    /// Network access that commands ask for: the channel it arrives on, and what was decided.
    wishes: Option<(mpsc::Sender<Wish>, mpsc::Receiver<Wish>)>,
    ways: Ways,
    /// What tools' servers ask people, on its way to this task.
    asks: Option<(mpsc::Sender<Ask>, mpsc::Receiver<Ask>)>,
    asked: Asked,
    /// Held by everything that a tool has started; the receiving end closes when nothing is left.
    life: Option<(Lifeline, mpsc::Receiver<()>)>,
    /// When each call began and, if it was told to end, when that was.
    ran: HashMap<String, (Instant, Option<Instant>)>,
    /// The lifelines of calls that were told to end and had something left when last waited for.
    leaving: Vec<mpsc::Receiver<()>>,
}

/// What comes from calls.
pub(super) enum News {
    Output(Vec<OutputPiece>),
    /// A command wants to connect to a host.
    Wished(Wish),
    Asked(Ask),
    Ended(String, ToolOutcome),
}

impl Calls {
    pub(super) fn is_idle(&self) -> bool {
        !self.is_answering() && self.operator_tools.is_empty() && self.operator_queue.is_empty()
    }

    /// True if calls of the model are running or waiting to run.
    pub(super) fn is_answering(&self) -> bool {
        !self.tools.is_empty() || !self.queue.is_empty() || !self.wanted.is_empty()
    }

    /// Sets the duration of a call that was ended from outside, which the journal alone does not know.
    pub(super) fn time(&mut self, event: &mut Event) {
        let Event::Turn(TurnEvent::ToolFinished { call_id, duration_ms, is_error: true, .. }) = event else { return };
        if let Some((began, ended)) = self.ran.remove(call_id) {
            let ran = ended.unwrap_or_else(Instant::now).duration_since(began);
            *duration_ms = ran.as_millis().try_into().unwrap_or(u64::MAX);
        }
    }

    /// True if a call of this tool has begun and not ended.
    pub(super) fn runs(&self, pod: &Pod, is_it: impl Fn(&str) -> bool) -> bool {
        let mut calls = pod.calls.iter().chain(&pod.operator_calls).filter(|call| is_it(&call.name));
        calls.any(|call| self.ran.contains_key(&call.call_id))
    }

    fn note_ends(&mut self) {
        let now = Instant::now();
        self.ran.values_mut().for_each(|(_, ended)| *ended = ended.or(Some(now)));
    }

    /// Drops every call of the model.
    pub(super) fn abort(&mut self) {
        self.queue.clear();
        self.wanted.clear();
        self.ends.clear();
        self.ran.retain(|call_id, _| !call_id.starts_with(HOOKS));
        self.tools = JoinSet::new();
        self.commands.retain(|_, by| *by != ToolBy::Model);
        self.is_exclusive = false;
        // What its agent was allowed holds for its turn.
        self.ways.forget(AGENT_WAY);
    }

    pub(super) fn abort_operator_calls(&mut self) {
        self.operator_queue.clear();
        self.operator_tools = JoinSet::new();
        self.commands.retain(|_, by| *by == ToolBy::Model);
    }

    /// Aborts everything and waits until nothing is left, not even a process. Returns false if something does not end.
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

    /// The next call that may begin; `only_reads` tells by name whether a tool is read-only.
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

    /// A clone of the lifeline that tells when everything has ended.
    pub(super) fn lifeline(&mut self) -> Lifeline {
        let (lifeline, _) = self.life.get_or_insert_with(Lifeline::pair);
        lifeline.clone()
    }

    /// How a new call learns that its output is asked for.
    pub(super) fn asks_for_output(&self) -> Drain {
        self.drains.drain()
    }

    /// What running calls have written until now and nobody has been told. Asked for before the calls are ended: what
    /// comes later is not recorded.
    pub(super) async fn drain(&mut self) -> Vec<Input> {
        let Some((_, pieces)) = &mut self.output else { return Vec::new() };
        self.drains.ask();
        let mut asked: HashSet<&String> = self.commands.keys().collect();
        let mut written = Vec::new();
        let all = async {
            while !asked.is_empty()
                && let Some((call_id, text)) = pieces.recv().await
            {
                match text.is_empty() {
                    true => drop(asked.remove(&call_id)),
                    false => written.push((call_id, text)),
                }
            }
        };
        let _ = tokio::time::timeout(DRAIN_WAIT_MAX, all).await;
        // What else is there, of calls that are not asked or did not answer in time.
        written.extend(std::iter::from_fn(|| pieces.try_recv().ok()));
        outputs(written)
    }

    /// Where the proxies of commands send their requests for network access.
    pub(super) fn wishes(&mut self) -> mpsc::Sender<Wish> {
        self.wishes.get_or_insert_with(|| mpsc::channel(WISHES_MAX)).0.clone()
    }

    /// Returns where tools' servers send their questions.
    pub(super) fn asks(&mut self) -> mpsc::Sender<Ask> {
        self.asks.get_or_insert_with(|| mpsc::channel(ASKS_MAX)).0.clone()
    }

    /// Sends a tool's server a person's answer; `None` if they declined.
    pub(super) fn tell(&mut self, id: &str, content: Option<Value>) {
        self.asked.settle(id, content);
    }

    /// Ends one call of the model and leaves the others running.
    pub(super) fn end_one(&mut self, call_id: &str) {
        self.wanted.retain(|call| call.call_id != call_id);
        if let Some(end) = self.ends.remove(call_id) {
            end.abort();
        }
    }

    /// Allows or refuses a running command's connection to a host.
    pub(super) fn let_out(&mut self, call_id: String, host: String, port: u16, is_allowed: bool) {
        self.ways.settle(call_id, HostPort { host, port }, is_allowed);
    }

    /// Starts a tool, or reports at once why it cannot start. With a `step`, snapshots of the files are taken before it
    /// begins and after it has ended.
    pub(super) fn run_tool(
        &mut self,
        call: Call,
        tool: Result<Arc<dyn Tool>, ToolOutcome>,
        place: Place,
        step: Option<(Step, Seq)>,
        store: &Store,
        span: CallSpan,
    ) {
        let (sender, _) = self.output.get_or_insert_with(|| mpsc::channel(OUTPUT_PIECES_MAX));
        let (sender, store) = (sender.clone(), store.clone());
        let Call { call_id, arguments, by, .. } = call;
        self.ran.insert(call_id.clone(), (Instant::now(), None));
        if tool.as_ref().is_ok_and(|tool| tool.name() == "Bash") {
            self.commands.insert(call_id.clone(), by);
        }
        let ended_by = call_id.clone();
        let work = async move {
            let tool = match tool {
                Ok(tool) => tool,
                Err(outcome) => {
                    span.end(&outcome);
                    return (call_id, outcome);
                }
            };
            let mut step = step;
            if let Some((step, head)) = &mut step {
                step.begin(*head).await;
            }
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
            span.end(&outcome);
            if let Some((step, head)) = step {
                step.end(head.next()).await;
            }
            (call_id, outcome)
        };
        match by {
            ToolBy::Model => drop(self.ends.insert(ended_by, self.tools.spawn(crate::watched(work)))),
            ToolBy::Operator | ToolBy::Agent => drop(self.operator_tools.spawn(crate::watched(work))),
        }
    }

    /// Waits for the next news from a call. Cancel safe.
    pub(super) async fn next(&mut self) -> News {
        let Self { tools, operator_tools, output, wishes, asks, .. } = self;
        tokio::select! {
            biased;
            Some(pieces) = async { match output { Some((_, pieces)) => written(pieces).await, None => pending().await } } => {
                News::Output(pieces)
            }
            Some(wish) = async { match wishes { Some((_, wishes)) => wishes.recv().await, None => pending().await } } => {
                News::Wished(wish)
            }
            Some(ask) = async { match asks { Some((_, asks)) => asks.recv().await, None => pending().await } } => {
                News::Asked(ask)
            }
            Some(ended) = tools.join_next() => ended_tool(ended),
            Some(ended) = operator_tools.join_next() => ended_tool(ended),
            else => pending().await,
        }
    }

    /// The inputs that a piece of news means for the Pod.
    pub(super) fn inputs(&mut self, state: &State, news: News) -> Vec<Input> {
        match news {
            News::Output(pieces) => outputs(pieces),
            News::Wished(wish) => self.wished(state, wish).into_iter().collect(),
            News::Asked(ask) => self.asked.asked(ask).into_iter().collect(),
            News::Ended(call_id, outcome) => {
                self.ran.remove(&call_id);
                self.commands.remove(&call_id);
                self.ends.remove(&call_id);
                self.ways.forget(&call_id);
                self.asked.forget(&call_id);
                match call_id.strip_prefix(HOOKS) {
                    Some(run_id) => {
                        let words = outcome.is_error.then_some(outcome.summary);
                        vec![Input::RunHooked { run_id: run_id.to_owned(), words }]
                    }
                    None => vec![Input::ToolFinished { call_id, outcome }],
                }
            }
        }
    }

    /// Asks for network access for an MCP server's program, in the name of that server's running call, and for the Pod's
    /// agent in its turn. Otherwise only what rules allow is let through.
    fn wished(&mut self, state: &State, mut wish: Wish) -> Option<Input> {
        let pod = &state.pod;
        if wish.call_id == AGENT_WAY && pod.is_working() {
            return self.ways.wished(wish);
        }
        let mut all = pod.calls.iter().chain(&pod.operator_calls);
        if all.any(|call| call.call_id == wish.call_id) {
            return self.ways.wished(wish);
        }
        let mut calls = pod.calls.iter().chain(&pod.operator_calls);
        let is_its = |call: &&pod::OpenCall| {
            mcp::server_of(&call.name) == Some(&wish.call_id) && self.ran.contains_key(&call.call_id)
        };
        if let Some(call) = calls.find(is_its) {
            wish.call_id = call.call_id.clone();
            return self.ways.wished(wish);
        }
        let arguments = json!({ "host": wish.to.host, "port": wish.to.port });
        let is_known = state.parent.is_none() || state.spec.leaders.is_some();
        let is_allowed = is_known && permission(&state.spec, NETWORK, &arguments) == PermissionDecision::Allow;
        // The connection may have gone away.
        let _ = wish.answer.send(is_allowed);
        None
    }
}

/// The id under which the hooks at the end of a run run.
pub(super) fn hooks_of(run_id: &str) -> String {
    format!("{HOOKS}{run_id}")
}

/// An empty piece only says that no more is there.
fn outputs(pieces: Vec<OutputPiece>) -> Vec<Input> {
    let pieces = pieces.into_iter().filter(|(_, text)| !text.is_empty());
    pieces.map(|(call_id, text)| Input::ToolOutput { call_id, text }).collect()
}

/// Returns all the output that tools have written, waiting until there is some. Cancel safe.
async fn written(pieces: &mut mpsc::Receiver<OutputPiece>) -> Option<Vec<OutputPiece>> {
    let mut written = Vec::new();
    let count = pieces.recv_many(&mut written, OUTPUT_PIECES_MAX).await;
    (count > 0).then_some(written)
}

fn ended_tool(ended: Result<(String, ToolOutcome), tokio::task::JoinError>) -> News {
    match ended {
        Ok((call_id, outcome)) => News::Ended(call_id, outcome),
        // A panic in a tool is caught where the tool runs, so this means that the runtime is shutting down.
        Err(error) => News::Ended(String::new(), ToolOutcome::failed("internal", error.to_string())),
    }
}
