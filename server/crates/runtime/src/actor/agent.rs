//! A turn of the Pod's agent: it takes the place that a model call and its answer have in other Pods.

use std::{collections::HashMap, future::pending};

use acp::{Agents, Attachment, Begin, Prompt, Said, Turn};
use futures_util::future::BoxFuture;
use pod::{AgentPiece, Context, Input, ModelPiece, Pod, PodSpec, ToolOutcome};
use pod_store::{PodKey, Store};
use protocol::{ApiError, Record, Seq};
use provider::Purpose;
use tokio::sync::mpsc;
use tools::proxy::Wish;

use super::{
    Actors,
    budgets::{Budgets, Standing},
    exchange::{Exchange, Heard},
    place,
    question::{Asked, Asking, Question},
    state::State,
};
use crate::{blobs, changes::Step};

/// Sent when an interrupted turn continues and nobody has said anything since.
const GO_ON: &str = "The turn before this one was interrupted. Go on from where it stopped.";
/// The error code of a turn that could not begin.
const FAILED: &str = "agent_error";

/// The current turn, if there is one.
#[derive(Default)]
pub(super) struct AgentTurn {
    turn: Option<Turn>,
    /// The prompt while it is being prepared.
    prompting: Option<BoxFuture<'static, Result<Prompt, String>>>,
    /// The texts of files that the agent asked for, by call: the journal does not contain them.
    texts: HashMap<String, String>,
    /// The snapshots around the turn, once the first of them is taken.
    step: Option<Step>,
}

impl AgentTurn {
    pub(super) fn is_going_on(&self) -> bool {
        self.turn.is_some()
    }

    pub(super) fn take_step(&mut self) -> Option<Step> {
        self.step.take()
    }

    /// Keeps the snapshots of a turn that was given up, until the last of them is taken.
    pub(super) fn keep_step(&mut self, step: Option<Step>) {
        self.step = step;
    }

    pub(super) fn begin(&mut self, agents: &Agents, begin: Begin, step: Option<Step>) {
        // The previous turn is dropped first.
        *self = Self { step, ..Self::default() };
        self.turn = Some(agents.begin(begin));
    }

    /// Waits for the next event of the turn. Cancel safe.
    pub(super) async fn next(&mut self) -> Heard {
        let Self { turn, prompting, .. } = self;
        tokio::select! {
            biased;
            prompt = async { match prompting { Some(prompting) => prompting.await, None => pending().await } } => {
                self.prompting = None;
                Heard::Prompt(prompt)
            }
            said = async { match turn { Some(turn) => turn.next().await, None => pending().await } } => Heard::Agent(said),
        }
    }

    /// Turns what the agent said into inputs for the Pod.
    pub(super) fn inputs(&mut self, said: Option<Vec<Said>>) -> Vec<Input> {
        let Some(said) = said else {
            self.turn = None;
            let why = "the agent's connection broke inside yoi; its log says where. Resume to start it again";
            return vec![Input::Agent(AgentPiece::Lost(why.to_owned()))];
        };
        let input = |said: Said| match said {
            Said::Text(text) => Input::Model(ModelPiece::Text(text)),
            Said::Thought(text) => Input::Model(ModelPiece::Reasoning(text)),
            Said::Piece(piece) => Input::Agent(*piece),
        };
        // The end of the turn comes back as an effect, after everything that the agent is still told.
        said.into_iter().map(input).collect()
    }

    /// Sends the prompt, or reports that it could not be prepared.
    pub(super) fn prompted(&mut self, prompt: Result<Prompt, String>) -> Vec<Input> {
        match (prompt, &self.turn) {
            (Ok(prompt), Some(turn)) => {
                turn.prompt(prompt);
                Vec::new()
            }
            (Ok(_), None) => Vec::new(),
            (Err(detail), _) => {
                self.turn = None;
                vec![Input::Agent(AgentPiece::Failed { code: FAILED.to_owned(), detail })]
            }
        }
    }
}

impl Exchange {
    /// Begins a turn, after checking that the budget allows it.
    pub(super) async fn begin_turn(
        &mut self,
        actors: &Actors,
        state: &State,
        agent: String,
        wishes: mpsc::Sender<Wish>,
        step: Option<Step>,
    ) {
        let head = state.pod.head;
        let begin = begin(actors, state, agent, wishes).await;
        let budgets = Budgets::of(actors, state);
        let asked = Box::pin(async move {
            let begin = begin.map_err(|error| format!("the agent's turn could not be begun: {}", error.detail))?;
            let Standing { spent, warnings } = match budgets {
                None => Standing::default(),
                Some(budgets) => {
                    let standing = budgets.look().await;
                    standing.map_err(|error| format!("what was used could not be read: {}", error.detail))?
                }
            };
            let question = match spent {
                Some(why) => Question::Spent(why),
                None => {
                    let mut step = step;
                    if let Some(step) = &mut step {
                        step.begin(head).await;
                    }
                    Question::Agent(Box::new(begin), step)
                }
            };
            Ok(Asked { warnings, ..Asked::of(None, question) })
        });
        self.asking = Some(Asking { purpose: Purpose::Answer, asked });
    }

    /// Prepares the prompt: what was said since the agent last answered, up to the record that the Pod has named.
    pub(super) fn prompt(&mut self, actors: &Actors, state: &State) {
        let session = state.pod.session.clone().unwrap_or_default();
        let saying = Saying {
            store: actors.store.clone(),
            key: state.key,
            spec: state.spec.clone(),
            from: session.heard_to,
            to: session.asked_to,
        };
        self.agent.prompting = Some(Box::pin(saying.prompt()));
    }

    /// Tells a waiting agent what an input means for it.
    pub(super) fn heed(&mut self, pod: &Pod, input: Input) -> Input {
        let Some(turn) = &self.agent.turn else { return input };
        let wanted = |call_id: &str| {
            let call = pod.calls.iter().find(|call| call.call_id == call_id)?;
            call.wanted().map(|id| (id.to_owned(), call.name.clone()))
        };
        match input {
            Input::ToolOutput { call_id, text } => {
                if let Some((id, _)) = wanted(&call_id) {
                    turn.wrote(id, text.clone());
                }
                Input::ToolOutput { call_id, text }
            }
            Input::ToolFinished { call_id, mut outcome } => {
                if let Some((id, _)) = wanted(&call_id).filter(|(_, name)| name == "Read" && !outcome.is_error) {
                    self.agent.texts.insert(id, outcome.content.take().unwrap_or_default());
                }
                Input::ToolFinished { call_id, outcome }
            }
            other => other,
        }
    }

    /// Hands over the snapshots around a turn that has ended.
    pub(super) fn end_step(&mut self) -> Option<Step> {
        self.agent.take_step()
    }

    pub(super) fn answer(&self, ask: String, option: Option<String>) {
        if let Some(turn) = &self.agent.turn {
            turn.answer(ask, option);
        }
    }

    pub(super) fn begun(&self, id: String) {
        if let Some(turn) = &self.agent.turn {
            turn.begun(id);
        }
    }

    pub(super) fn reply(&mut self, id: String, mut outcome: ToolOutcome) {
        if let Some(text) = self.agent.texts.remove(&id) {
            outcome.content = Some(text);
        }
        if let Some(turn) = &self.agent.turn {
            turn.reply(id, outcome);
        }
    }
}

/// Returns what is needed to start the agent if it is not running.
async fn begin(actors: &Actors, state: &State, agent: String, wishes: mpsc::Sender<Wish>) -> Result<Begin, ApiError> {
    let State { key, spec, pod, worker_id, .. } = state;
    let scope = place::scope(actors, *key, spec).await?;
    let known = pod.session.clone().unwrap_or_default();
    // What the agent reported last, or what a person has chosen since: an agent may leave a mode by itself.
    let said = known.offers.get("model").and_then(serde_json::Value::as_str).map(str::to_owned);
    Ok(Begin {
        worker_id: worker_id.clone(),
        agent,
        cwd: spec.cwd.clone().into(),
        scope,
        network: spec.network_now(),
        wishes,
        spent: (known.cost, known.currency),
        session: Some(known.id).filter(|id| !id.is_empty()),
        mode: known.mode.or_else(|| spec.agent_mode.clone()),
        model: said.or_else(|| Some(spec.model.clone()).filter(|model| !model.is_empty())),
        to_seq: pod.head,
    })
}

/// What is needed to collect the prompt's content.
struct Saying {
    store: Store,
    key: PodKey,
    spec: PodSpec,
    from: Seq,
    to: Seq,
}

impl Saying {
    async fn prompt(self) -> Result<Prompt, String> {
        let Self { store, key, spec, from, to } = self;
        let failed = |error: &dyn std::fmt::Display| format!("what was said could not be read: {error}");
        let rows = store.journals().turns(key, from.next()).await.map_err(|error| failed(&error))?;
        let mut context = Context::new(&spec, &[]);
        for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
            if let protocol::Event::Turn(event) = &record.event {
                context.push(record.seq, record.run_id.as_deref(), event);
            }
        }
        let said = context.said_between(from, to);
        let mut prompt = Prompt {
            introduction: spec.instructions.clone().filter(|text| !text.trim().is_empty()),
            texts: said.iter().map(|message| message.content.clone()).collect(),
            attachments: Vec::new(),
        };
        if prompt.texts.is_empty() {
            prompt.texts.push(GO_ON.to_owned());
        }
        for attachment in said.iter().flat_map(|message| &message.attachments) {
            let found = blobs::for_agent(&store, attachment).await.map_err(|error| failed(&error.detail))?;
            match found {
                Some((media_type, content)) => {
                    let is_text = !media_type.starts_with("image/") && str::from_utf8(&content).is_ok();
                    let name = attachment.name.clone().unwrap_or_else(|| "a picture".to_owned());
                    prompt.attachments.push(Attachment { name, media_type, content, is_text });
                }
                None => prompt.texts.push(format!("[{} is not kept any more]", provider::called(attachment))),
            }
        }
        Ok(prompt)
    }
}
