//! What goes on in the world for one Pod: its model's stream, its running tools.

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use pod::{Cut, Input, ModelPiece, ToolOutcome};
use protocol::{Event, ToolBy, TurnEvent, Usage};
use provider::{FinishReason, ModelEvent, ModelStream, ProviderError, Purpose};
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet};
use tools::{Lifeline, Place, Tool};

use super::{
    conversation::{Asked, Asking},
    portion::Answer,
};

/// Pieces of live output of one tool that wait to be committed.
const OUTPUT_PIECES_MAX: usize = 64;
/// How long it is waited for what a tool started to be gone, once it was told to end.
const END_WAIT_MAX: Duration = Duration::from_secs(4);

/// A call's id, and what its tool wrote.
type OutputPiece = (String, String);

/// A call that is to run.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) by: ToolBy,
}

/// A summary that is being made.
pub(super) struct Summarising {
    pub(super) stream: ModelStream,
    pub(super) cut: Cut,
    pub(super) text: String,
    pub(super) usage: Usage,
}

/// The model's stream and the tools of one Pod. Dropping it stops them.
#[derive(Default)]
pub(super) struct Work {
    pub(super) asking: Option<Asking>,
    pub(super) answer: Option<Answer>,
    pub(super) summary: Option<Summarising>,
    /// Calls of the model that have not begun. They run in their order; what only reads runs beside its like.
    queue: VecDeque<Call>,
    tools: JoinSet<(String, ToolOutcome)>,
    /// Something that changes things is running, so nothing else of the model's may.
    is_exclusive: bool,
    /// Calls of people that have not begun, and those that run: beside everything else.
    operator_queue: Vec<Call>,
    operator_tools: JoinSet<(String, ToolOutcome)>,
    output: Option<(mpsc::Sender<OutputPiece>, mpsc::Receiver<OutputPiece>)>,
    /// Held by all that a tool has started; its other end tells when nothing of it is left.
    life: Option<(Lifeline, mpsc::Receiver<()>)>,
    /// When each tool began, and when it was told to end, if it was.
    ran: HashMap<String, (Instant, Option<Instant>)>,
    /// What was told to end, and of which something was left when it was last waited for.
    leaving: Vec<mpsc::Receiver<()>>,
}

/// Something that the world did.
pub(super) enum Happening {
    /// The question to the model is made, or cannot be.
    Asked(Box<Result<Asked, String>>, Purpose),
    Pieces(Vec<Result<ModelEvent, ProviderError>>),
    /// The stream ended without saying so.
    Silence,
    /// The summary came to an end.
    Summarised(Box<Cut>, Result<(String, Usage), String>),
    Output(Vec<OutputPiece>),
    ToolEnded(String, ToolOutcome),
}

impl Work {
    pub(super) fn is_idle(&self) -> bool {
        !self.is_answering() && self.operator_tools.is_empty() && self.operator_queue.is_empty()
    }

    /// The model's part of it: nothing that a person runs.
    pub(super) fn is_answering(&self) -> bool {
        self.asking.is_some()
            || self.answer.is_some()
            || self.summary.is_some()
            || !self.tools.is_empty()
            || !self.queue.is_empty()
    }

    /// How long a call ran that is ended from outside: the journal alone does not know.
    pub(super) fn time(&mut self, event: &mut Event) {
        let Event::Turn(TurnEvent::ToolFinished { call_id, duration_ms, is_error: true, .. }) = event else { return };
        if let Some((began, ended)) = self.ran.remove(call_id) {
            let ran = ended.unwrap_or_else(Instant::now).duration_since(began);
            *duration_ms = ran.as_millis().try_into().unwrap_or(u64::MAX);
        }
    }

    fn note_ends(&mut self) {
        let now = Instant::now();
        self.ran.values_mut().for_each(|(_, ended)| *ended = ended.or(Some(now)));
    }

    /// Drops the connection to the model, and every tool that it runs.
    pub(super) fn abort(&mut self) {
        self.asking = None;
        self.answer = None;
        self.summary = None;
        self.queue.clear();
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
            ToolBy::Model => self.queue.push_back(call),
            ToolBy::Operator => self.operator_queue.push(call),
        }
    }

    /// The next call that may begin; `only_reads` says it of a tool by its name.
    pub(super) fn next_call(&mut self, only_reads: impl Fn(&str) -> bool) -> Option<Call> {
        if let Some(call) = self.operator_queue.pop() {
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

    /// Starts a tool, or reports at once why it cannot.
    pub(super) fn run_tool(&mut self, call: Call, tool: Result<Arc<dyn Tool>, ToolOutcome>, place: Place) {
        let (sender, _) = self.output.get_or_insert_with(|| mpsc::channel(OUTPUT_PIECES_MAX));
        let sender = sender.clone();
        let Call { call_id, arguments, by, .. } = call;
        self.ran.insert(call_id.clone(), (Instant::now(), None));
        let work = async move {
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
            let (outcome, ()) = tokio::join!(calling, forward);
            let mut outcome = outcome.unwrap_or_else(|_| {
                tracing::error!(tool = tool.name(), "a tool broke");
                ToolOutcome::failed("internal", format!("{} broke inside yoi; its log says where", tool.name()))
            });
            outcome.duration_ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            (call_id, outcome)
        };
        match by {
            ToolBy::Model => self.tools.spawn(work),
            ToolBy::Operator => self.operator_tools.spawn(work),
        };
    }

    /// Waits for the next thing that happens. Cancel safe.
    pub(super) async fn next(&mut self) -> Happening {
        let Self { asking, answer, summary, tools, operator_tools, output, .. } = self;
        tokio::select! {
            biased;
            (asked, purpose) = async { match asking { Some(asking) => (asking.asked.as_mut().await, asking.purpose()), None => pending().await } } => {
                self.asking = None;
                Happening::Asked(Box::new(asked), purpose)
            }
            pieces = async { match answer { Some(answer) => answer.next().await, None => pending().await } } => {
                pieces.map_or(Happening::Silence, Happening::Pieces)
            }
            outcome = async { match summary { Some(summary) => summary.run().await, None => pending().await } } => {
                self.summarised(outcome)
            }
            Some(pieces) = async { match output { Some((_, pieces)) => written(pieces).await, None => pending().await } } => {
                Happening::Output(pieces)
            }
            Some(ended) = tools.join_next() => ended_tool(ended),
            Some(ended) = operator_tools.join_next() => ended_tool(ended),
            else => pending().await,
        }
    }

    fn summarised(&mut self, outcome: Result<(), String>) -> Happening {
        match self.summary.take() {
            Some(Summarising { cut, text, usage, .. }) => {
                Happening::Summarised(Box::new(cut), outcome.map(|()| (text, usage)))
            }
            None => Happening::Pieces(Vec::new()),
        }
    }

    /// What it means for the Pod; a summary is read by the Pod itself.
    pub(super) fn inputs(&mut self, happening: Happening) -> Vec<Input> {
        match happening {
            Happening::Pieces(pieces) => {
                let inputs: Vec<_> = pieces.into_iter().map(|piece| Input::Model(piece_of(piece))).collect();
                if inputs.iter().any(ends_answer) {
                    self.answer = None;
                }
                inputs
            }
            Happening::Silence => {
                self.answer = None;
                let detail = "the provider's stream ended before the answer did".to_owned();
                vec![Input::Model(ModelPiece::Failed { code: "provider_error".to_owned(), detail })]
            }
            Happening::Output(pieces) => {
                pieces.into_iter().map(|(call_id, text)| Input::ToolOutput { call_id, text }).collect()
            }
            Happening::ToolEnded(call_id, outcome) => {
                self.ran.remove(&call_id);
                vec![Input::ToolFinished { call_id, outcome }]
            }
            Happening::Asked(..) | Happening::Summarised(..) => Vec::new(),
        }
    }
}

/// All that tools have written, as soon as there is something. Cancel safe.
async fn written(pieces: &mut mpsc::Receiver<OutputPiece>) -> Option<Vec<OutputPiece>> {
    let mut written = Vec::new();
    let count = pieces.recv_many(&mut written, OUTPUT_PIECES_MAX).await;
    (count > 0).then_some(written)
}

fn ended_tool(ended: Result<(String, ToolOutcome), tokio::task::JoinError>) -> Happening {
    match ended {
        Ok((call_id, outcome)) => Happening::ToolEnded(call_id, outcome),
        // A tool that breaks is caught where it runs, so this is the runtime going down.
        Err(error) => Happening::ToolEnded(String::new(), ToolOutcome::failed("internal", error.to_string())),
    }
}

fn ends_answer(input: &Input) -> bool {
    matches!(input, Input::Model(ModelPiece::Finished | ModelPiece::Limit | ModelPiece::Failed { .. }))
}

fn piece_of(event: Result<ModelEvent, ProviderError>) -> ModelPiece {
    match event {
        Ok(ModelEvent::Text(text)) => ModelPiece::Text(text),
        Ok(ModelEvent::Reasoning(text)) => ModelPiece::Reasoning(text),
        Ok(ModelEvent::ToolArgs { index, name, text }) => ModelPiece::ToolArgs { index, name, text },
        Ok(ModelEvent::ToolCall { index, name, arguments, .. }) => ModelPiece::ToolCall { index, name, arguments },
        Ok(ModelEvent::Retry { attempt, wait, code, detail }) => {
            ModelPiece::Retry { attempt, wait_ms: wait.as_millis().try_into().unwrap_or(u64::MAX), code, detail }
        }
        Ok(ModelEvent::Usage(usage)) => ModelPiece::Usage(usage),
        Ok(ModelEvent::Finished { reason: FinishReason::Stop | FinishReason::ToolCalls }) => ModelPiece::Finished,
        Ok(ModelEvent::Finished { reason: FinishReason::Length }) => ModelPiece::Limit,
        Ok(ModelEvent::Finished { reason: FinishReason::Filtered }) => ModelPiece::Failed {
            code: "provider_error".to_owned(),
            detail: "the provider withheld the rest of the answer (content filter)".to_owned(),
        },
        Err(error) => ModelPiece::Failed { code: "provider_error".to_owned(), detail: error.detail },
    }
}
