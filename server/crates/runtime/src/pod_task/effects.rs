//! What goes on in the world for one Pod: its model's stream, its running tools.

use std::{future::pending, sync::Arc};

use futures_util::{StreamExt, stream::ReadyChunks};
use pod::{Input, ModelPiece, ToolOutcome};
use provider::{FinishReason, ModelEvent, ModelRequest, ModelStream, ProviderError, ToolSpec};
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet};
use tools::Tool;

use super::PodTask;
use crate::history;

/// Pieces of an answer that are taken, and so committed, at once.
const PIECES_AT_ONCE: usize = 2_048;
/// Pieces of live output of one tool that wait to be committed.
const OUTPUT_PIECES_MAX: usize = 64;

/// A call's id, and what its tool wrote.
type OutputPiece = (String, String);

/// The model's stream and the tools of one Pod. Dropping it stops them.
#[derive(Default)]
pub(super) struct Work {
    answer: Option<ReadyChunks<ModelStream>>,
    tools: JoinSet<(String, ToolOutcome)>,
    output: Option<(mpsc::Sender<OutputPiece>, mpsc::Receiver<OutputPiece>)>,
}

/// Something that the world did.
pub(super) enum Happening {
    Pieces(Vec<Result<ModelEvent, ProviderError>>),
    /// The stream ended without saying so.
    Silence,
    Output(String, String),
    ToolEnded(String, ToolOutcome),
}

impl Work {
    pub(super) fn is_idle(&self) -> bool {
        self.answer.is_none() && self.tools.is_empty()
    }

    /// Drops the connection to the model, and every running tool.
    pub(super) fn abort(&mut self) {
        self.answer = None;
        self.tools = JoinSet::new();
        self.output = None;
    }

    /// Waits for the next thing that happens. Cancel safe.
    pub(super) async fn next(&mut self) -> Happening {
        let Self { answer, tools, output } = self;
        tokio::select! {
            biased;
            pieces = async { match answer { Some(answer) => answer.next().await, None => pending().await } } => {
                pieces.map_or(Happening::Silence, Happening::Pieces)
            }
            Some((call_id, text)) = async { match output { Some((_, pieces)) => pieces.recv().await, None => pending().await } } => {
                Happening::Output(call_id, text)
            }
            Some(ended) = tools.join_next() => match ended {
                Ok((call_id, outcome)) => Happening::ToolEnded(call_id, outcome),
                // A tool runs behind its own guard, so this is the runtime going down.
                Err(error) => Happening::ToolEnded(String::new(), ToolOutcome::failed("internal", error.to_string())),
            },
            else => pending().await,
        }
    }

    /// What it means for the Pod.
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
            Happening::Output(call_id, text) => vec![Input::ToolOutput { call_id, text }],
            Happening::ToolEnded(call_id, outcome) => vec![Input::ToolFinished { call_id, outcome }],
        }
    }

    /// Starts a tool, or reports at once that there is none.
    pub(super) fn run_tool(&mut self, call_id: String, tool: Result<Arc<dyn Tool>, ToolOutcome>, arguments: Value) {
        let tool = match tool {
            Ok(tool) => tool,
            Err(outcome) => {
                self.tools.spawn(async move { (call_id, outcome) });
                return;
            }
        };
        let (sender, _) = self.output.get_or_insert_with(|| mpsc::channel(OUTPUT_PIECES_MAX));
        let sender = sender.clone();
        self.tools.spawn(async move {
            let (output, mut pieces) = mpsc::channel::<String>(1);
            let forward = async {
                while let Some(text) = pieces.recv().await {
                    if sender.send((call_id.clone(), text)).await.is_err() {
                        break;
                    }
                }
            };
            let (outcome, ()) = tokio::join!(tool.call(arguments, output), forward);
            (call_id, outcome)
        });
    }
}

fn ends_answer(input: &Input) -> bool {
    matches!(input, Input::Model(ModelPiece::Finished | ModelPiece::Limit | ModelPiece::Failed { .. }))
}

fn piece_of(event: Result<ModelEvent, ProviderError>) -> ModelPiece {
    match event {
        Ok(ModelEvent::Text(text)) => ModelPiece::Text(text),
        Ok(ModelEvent::Reasoning(text)) => ModelPiece::Reasoning(text),
        Ok(ModelEvent::ToolArgs { index, text, .. }) => ModelPiece::ToolArgs { index, text },
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

impl PodTask {
    /// Asks the model with the context as the journal has it.
    pub(super) async fn call_model(&mut self) {
        if self.context.is_none() {
            match history::context(&self.inner, self.key, &self.spec).await {
                Ok(context) => self.context = Some(context),
                Err(error) => return self.fail(format!("the conversation could not be read: {error}")),
            }
        }
        let Some(provider) = self.inner.providers.get(&self.spec.provider) else {
            let name = &self.spec.provider;
            return self.fail(format!("the provider \"{name}\" is not configured any more; add it and resume"));
        };
        let tools = self.inner.toolbox.offered(self.spec.tools.as_deref()).map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        });
        let messages = self.context.as_ref().map(pod::Context::messages).unwrap_or_default();
        let request = ModelRequest { model: self.spec.model.clone(), messages, tools: tools.collect() };
        self.work.answer = Some(provider.stream(request).ready_chunks(PIECES_AT_ONCE));
    }

    /// An answer that fails before it begins takes the same way as one that fails later.
    fn fail(&mut self, detail: String) {
        let error = ProviderError { code: provider::ProviderErrorCode::Failed, detail, retry_after: None };
        let failed: ModelStream = Box::pin(futures_util::stream::iter([Err(error)]));
        self.work.answer = Some(failed.ready_chunks(1));
    }
}
