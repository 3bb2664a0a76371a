//! One Pod while it works: decides, commits what follows, shows it, and then acts.
//! Never shows or does anything that is not committed (I2).

mod above;
mod agent;
mod answer;
mod budgets;
mod by_hand;
mod calls;
mod commands;
mod commit;
mod conversation;
mod exchange;
pub(crate) mod feed;
mod feeds;
mod held;
mod held_up;
mod mailbox;
mod patch;
mod pieces;
pub(crate) mod place;
mod question;
mod queue;
mod receipts;
mod running;
mod sight;
mod spending;
mod staged;
mod start;
mod state;
mod summary;
mod task;
mod tasks;
pub(crate) mod viewer;
mod waiters;
mod ways;

use std::sync::Arc;

use pod::{Effect, Input};
use protocol::{ApiError, PodState, WorkerId};
use provider::Purpose;

pub(crate) use self::{
    above::Above,
    commands::PodCommand,
    commit::Extras,
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
    staged::Staged,
    start::Starting,
    state::State,
    waiters::Waiters,
};

/// One Pod while it works.
struct Actor {
    actors: Arc<Actors>,
    state: State,
    feed: Arc<Feed>,
    /// What goes on between the Pod and its model.
    exchange: Exchange,
    /// The tools that run for it.
    calls: Calls,
    waiters: Waiters,
}

/// Something that the world did.
enum Happening {
    Heard(exchange::Heard),
    Called(calls::News),
}

impl Actor {
    /// Reads the Pod, and closes what a crash left open.
    async fn load(actors: Arc<Actors>, worker_id: &WorkerId) -> Result<Self, ApiError> {
        let (state, row) = State::read(&actors, worker_id).await?;
        let feed = actors.patiently(|| actors.feed(&row)).await?;
        let (exchange, calls, waiters) = (Exchange::default(), Calls::default(), Waiters::default());
        let mut actor = Self { actors, state, feed, exchange, calls, waiters };
        actor.read_tail().await?;
        actor.recover().await?;
        Ok(actor)
    }

    /// Nothing goes on in the world for this Pod.
    fn is_idle(&self) -> bool {
        !self.is_answering() && self.calls.is_idle()
    }

    /// The model's part of it: nothing that a person runs.
    fn is_answering(&self) -> bool {
        self.exchange.is_going_on() || self.calls.is_answering()
    }

    /// Waits for the next thing that happens. Cancel safe.
    async fn next(&mut self) -> Happening {
        tokio::select! {
            biased;
            heard = self.exchange.next() => Happening::Heard(heard),
            news = self.calls.next() => Happening::Called(news),
        }
    }

    /// What it means for the Pod.
    fn inputs(&mut self, happening: Happening) -> Vec<Input> {
        match happening {
            Happening::Heard(heard) => self.exchange.inputs(&self.actors, &mut self.state, heard),
            Happening::Called(news) => {
                let inputs = self.calls.inputs(news);
                inputs.into_iter().map(|input| self.exchange.heed(&self.state.pod, input)).collect()
            }
        }
    }

    /// Decides on each input in turn, commits all that follows in one transaction, shows it, and then acts.
    async fn advance(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        mut extras: Extras,
    ) -> Result<Outcome, ApiError> {
        let inputs: Vec<Input> = inputs.into_iter().collect();
        sight::look(&self.actors, &mut self.state, &inputs).await?;
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

    /// Folds in what follows from an input; gives what is to be done once that is committed.
    fn decide(&mut self, staged: &mut Staged, input: Input) -> Result<Vec<Effect>, ApiError> {
        let decision = self.state.decide(input)?;
        self.add(staged, decision.steps);
        Ok(decision.effects)
    }

    /// The model is about to be asked in the run that goes on: what was sent for that run goes with the question.
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
                Effect::CallModel => match &self.state.spec.agent {
                    Some(agent) => self.exchange.begin_turn(&self.actors, &self.state, agent.clone()).await,
                    None => self.exchange.ask(&self.actors, &self.state, Purpose::Answer),
                },
                Effect::Prompt => self.exchange.prompt(&self.actors, &self.state),
                Effect::AnswerAgent { ask, option } => self.exchange.answer(ask, option),
                Effect::Reply { id, outcome } => self.exchange.reply(id, outcome),
                Effect::EndCall { call_id } => self.calls.end_one(&call_id),
                Effect::Summarise => self.exchange.ask(&self.actors, &self.state, Purpose::Summary),
                Effect::LetOut { call_id, host, port, is_allowed } => {
                    self.calls.let_out(call_id, host, port, is_allowed);
                }
                Effect::RunTool { call_id, name, arguments, by } => {
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
        self.exchange.let_go(&self.state.pod);
        if self.state.spec.agent.is_some() && self.state.pod.state == PodState::Stopped {
            self.actors.equipment.agents.end(&self.state.worker_id);
        }
    }

    /// By what the Pod's agent knows a call that it wants to be run.
    fn wanted(&self, call_id: &str) -> Option<String> {
        let call = self.state.pod.calls.iter().find(|call| call.call_id == call_id)?;
        call.wanted().map(str::to_owned)
    }

    /// Starts every call that may begin now.
    async fn start_calls(&mut self) {
        let Self { actors, state, calls, .. } = self;
        Starting { actors, state, calls }.all().await;
    }

    /// Begins a run for the next queued input. False when nothing waits.
    async fn begin_next(&mut self) -> Result<bool, ApiError> {
        let Some((submit, taken)) = self.state.queue.next() else { return Ok(false) };
        self.advance([submit], taken).await.map(|_| true)
    }

    /// Ends all that goes on for the Pod, to the last process. False when something does not end.
    async fn end_work(&mut self) -> bool {
        self.exchange.abort();
        self.actors.equipment.agents.end(&self.state.worker_id);
        self.calls.end_all().await
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.actors.feeds.release(&self.state.worker_id, &self.feed);
    }
}
