//! One running Pod: it decides, commits the resulting records, publishes them, and then acts. It never publishes or
//! does anything that is not committed (I2).

mod above;
mod agent;
mod alone;
mod answer;
mod asked;
mod background;
mod budgets;
mod by_hand;
mod calls;
mod commands;
mod commit;
mod conversation;
mod drafts;
mod exchange;
pub(crate) mod feed;
mod feeds;
mod files;
mod held;
mod held_up;
mod mailbox;
mod patch;
mod pieces;
pub(crate) mod place;
mod question;
mod queue;
mod receipts;
mod remember;
mod retry;
mod running;
mod servers;
mod shown;
mod sight;
mod spending;
mod staged;
mod start;
mod state;
mod summary;
mod task;
mod tasks;
mod trees;
pub(crate) mod viewer;
mod waiters;
mod ways;

use std::sync::Arc;

use pod::{Effect, Input, Step};
use protocol::{ApiError, ControlEvent, Event, Outcome as RunOutcome, PodState, WorkerId};
use provider::Purpose;

pub(crate) use self::sight::{leaders, on_disk};
pub(crate) use self::{
    above::Above,
    background::no_such_command,
    commands::PodCommand,
    commit::Extras,
    drafts::drafts_of,
    feeds::RECORDS_AT_ONCE,
    held::{Held, Order, Wanted},
    held_up::tell,
    patch::{Patch, with_use},
    receipts::FarSender,
    state::checkpoint,
    task::{OutsideCall, Request},
    tasks::{Actors, Equipment},
};
use self::{
    calls::{Call, Calls},
    commit::Outcome,
    exchange::Exchange,
    feed::Feed,
    servers::Servers,
    staged::Staged,
    start::Starting,
    state::State,
    waiters::Waiters,
};
use crate::changes::Shelf;

/// One running Pod.
struct Actor {
    actors: Arc<Actors>,
    state: State,
    feed: Arc<Feed>,
    /// The exchange between the Pod and its model.
    exchange: Exchange,
    /// The tool calls that are running for it.
    calls: Calls,
    /// The MCP servers that the Pod uses.
    servers: Servers,
    waiters: Waiters,
    /// Takes the snapshots of its files.
    shelf: Arc<Shelf>,
}

/// Something that happened outside the Pod: news from the model or from a tool.
enum Happening {
    Heard(exchange::Heard),
    Called(calls::News),
}

impl Actor {
    /// Loads the Pod from the store and closes what a crash left open.
    async fn load(actors: Arc<Actors>, worker_id: &WorkerId) -> Result<Self, ApiError> {
        let (state, row) = State::read(&actors, worker_id).await?;
        let feed = actors.patiently(|| actors.feed(&row)).await?;
        let (exchange, mut calls, waiters) = (Exchange::default(), Calls::default(), Waiters::default());
        let servers = Servers::of(&actors, &state, &mut calls);
        let shelf = Arc::new(Shelf::new(state.worker_id.clone(), actors.equipment.background.clone()));
        let mut actor = Self { actors, state, feed, exchange, calls, servers, waiters, shelf };
        actor.read_tail().await?;
        actor.recover().await?;
        Ok(actor)
    }

    /// True if neither the model nor any tool is working for this Pod.
    fn is_idle(&self) -> bool {
        !self.is_answering() && self.calls.is_idle()
    }

    /// Like [`Self::is_idle`], but counts only the model's own work, not calls that a person or an agent runs.
    fn is_answering(&self) -> bool {
        self.exchange.is_going_on() || self.calls.is_answering()
    }

    /// Waits for the next happening. Cancel safe.
    async fn next(&mut self) -> Happening {
        tokio::select! {
            biased;
            heard = self.exchange.next() => Happening::Heard(heard),
            news = self.calls.next() => Happening::Called(news),
        }
    }

    /// The inputs that a happening means for the Pod.
    async fn inputs(&mut self, happening: Happening) -> Vec<Input> {
        let is_wish = matches!(happening, Happening::Called(calls::News::Wished(_)));
        if is_wish && let Err(error) = sight::look_up(&self.actors, &mut self.state).await {
            // Nobody answers it, which means no.
            tracing::warn!(%error, pod = %self.state.name, "a connection is refused, because the rules cannot be read");
            return Vec::new();
        }
        match happening {
            Happening::Heard(heard) => {
                self.exchange.inputs(&self.actors, &mut self.state, &self.servers.clients, heard)
            }
            Happening::Called(news) => {
                let inputs = self.calls.inputs(&self.state, news);
                inputs.into_iter().map(|input| self.exchange.heed(&self.state.pod, input)).collect()
            }
        }
    }

    /// Decides on each input in turn, commits all the resulting records in one transaction, publishes them, and then
    /// acts.
    async fn advance(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        mut extras: Extras,
    ) -> Result<Outcome, ApiError> {
        let inputs: Vec<Input> = inputs.into_iter().collect();
        sight::look(&self.actors, &mut self.state, &self.servers.clients, &inputs).await?;
        let mut staged = Staged::new();
        let mut effects = Vec::new();
        for input in inputs {
            let wanted = self.decide(&mut staged, input)?;
            if wanted.contains(&Effect::CallModel) {
                self.steer(&mut staged, &mut extras)?;
            }
            effects.extend(wanted);
        }
        let outcome = self.commit(staged, extras).await?;
        if outcome == Outcome::Done {
            self.act(effects).await;
        }
        Ok(outcome)
    }

    /// Decides on an input and stages the resulting steps. Returns the effects to run once they are committed.
    fn decide(&mut self, staged: &mut Staged, input: Input) -> Result<Vec<Effect>, ApiError> {
        if ends_exchange(&input)
            && let Some(usage) = self.exchange.settle(&self.actors, &self.state)
        {
            let counted = self.state.decide(Input::Unfinished(usage))?;
            self.add(staged, counted.steps);
        }
        let decision = self.state.decide(input)?;
        let mut effects = decision.effects;
        effects.extend(self.hooks_after(&decision.steps));
        self.add(staged, decision.steps);
        Ok(effects)
    }

    /// The hooks for a run that has ended without having been judged by them. A paused run continues, and one of
    /// which the message was taken back has not happened.
    fn hooks_after(&self, steps: &[Step]) -> Option<Effect> {
        if !self.actors.equipment.hooks.has_run_end() {
            return None;
        }
        let outcome = steps.iter().rev().find_map(|step| match &step.event {
            Event::Control(ControlEvent::RunFinished { outcome, .. }) => Some(*outcome),
            _ => None,
        })?;
        let is_unjudged = match outcome {
            RunOutcome::Cancelled | RunOutcome::Limit | RunOutcome::Error => true,
            RunOutcome::Completed => self.state.spec.agent.is_some(),
            RunOutcome::Paused | RunOutcome::Interrupted | RunOutcome::RolledBack => false,
        };
        is_unjudged.then_some(Effect::RunEndHooks { outcome })
    }

    /// Before the model is asked again within a run, adds the messages that were sent to steer that run.
    fn steer(&mut self, staged: &mut Staged, extras: &mut Extras) -> Result<(), ApiError> {
        while let Some((input, command_id)) = self.state.queue.next_steering() {
            extras.inbox_taken.push(command_id);
            self.decide(staged, input)?;
        }
        Ok(())
    }

    async fn act(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Abort => {
                    self.exchange.abort();
                    self.calls.abort();
                }
                Effect::AbortOperatorCalls => self.calls.abort_operator_calls(),
                Effect::CallModel => match self.state.spec.agent.clone() {
                    Some(agent) => {
                        let step = files::step_of_turn(&self.actors, &self.state, &self.shelf).await;
                        let wishes = self.calls.wishes();
                        self.exchange.begin_turn(&self.actors, &self.state, agent, wishes, step).await;
                    }
                    None => {
                        self.meet_servers().await;
                        self.exchange.ask(&self.actors, &self.state, &self.servers.clients, Purpose::Answer);
                    }
                },
                Effect::Prompt => self.exchange.prompt(&self.actors, &self.state),
                Effect::AnswerAgent { ask, option } => self.exchange.answer(ask, option),
                Effect::Reply { id, outcome } => self.exchange.reply(id, outcome),
                Effect::RunEndHooks { outcome } => self.run_end_hooks(outcome).await,
                Effect::EndCommands => self.end_commands().await,
                Effect::EndCall { call_id } => self.calls.end_one(&call_id),
                Effect::Summarise => {
                    self.exchange.ask(&self.actors, &self.state, &self.servers.clients, Purpose::Summary);
                }
                Effect::LetOut { call_id, host, port, is_allowed } => {
                    self.calls.let_out(call_id, host, port, is_allowed);
                }
                Effect::Tell { id, content, .. } => self.calls.tell(&id, content),
                Effect::RunTool { call_id, name, arguments, by } => {
                    if self.servers.clients.has_tool(&name) {
                        self.meet_servers().await;
                    }
                    let leads = self.state.spec.sights.leads(&name, &arguments);
                    let wanted = self.wanted(&call_id);
                    if let Some(id) = &wanted {
                        self.exchange.begun(id.clone());
                    }
                    self.calls.enqueue(Call { call_id, name, arguments, by, wanted, leads });
                }
            }
        }
        self.start_calls().await;
        self.end_turn();
        self.exchange.let_go(&self.state.pod);
        if self.state.spec.agent.is_some() && self.state.pod.state == PodState::Stopped {
            self.actors.equipment.agents.end(&self.state.worker_id);
        }
    }

    /// Returns the agent's id for a call that it asked yoi to run.
    fn wanted(&self, call_id: &str) -> Option<String> {
        let call = self.state.pod.calls.iter().find(|call| call.call_id == call_id)?;
        call.wanted().map(str::to_owned)
    }

    /// Starts every call that may begin now.
    async fn start_calls(&mut self) {
        self.starting().all().await;
    }

    /// Starts the hooks at the end of the newest run.
    async fn run_end_hooks(&mut self, outcome: RunOutcome) {
        self.starting().hooks(outcome).await;
    }

    fn starting(&mut self) -> Starting<'_> {
        let Self { actors, state, calls, servers, shelf, .. } = self;
        Starting { actors, state, calls, servers: &servers.clients, shelf }
    }

    /// Begins a run for the next queued input. Returns false if the queue is empty.
    async fn begin_next(&mut self) -> Result<bool, ApiError> {
        let Some((submit, taken)) = self.state.queue.next() else { return Ok(false) };
        self.advance([submit], taken).await.map(|_| true)
    }

    /// Ends everything that is running for the Pod, down to the last process. Returns false if something does not end.
    async fn end_work(&mut self) -> bool {
        self.exchange.abort();
        self.actors.equipment.agents.end(&self.state.worker_id);
        let Self { actors, state, calls, servers, .. } = self;
        let (calls_end, commands_end, servers_end) =
            tokio::join!(calls.end_all(), actors.equipment.background.end_all(&state.worker_id), servers.clients.end());
        calls_end && commands_end && servers_end
    }
}

/// Whether the input ends what the model is saying before its end.
fn ends_exchange(input: &Input) -> bool {
    matches!(input, Input::Cancel | Input::Pause | Input::Stop)
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.actors.feeds.release(&self.state.worker_id, &self.feed);
    }
}
