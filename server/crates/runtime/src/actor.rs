//! One running Pod: it decides, commits the resulting records, publishes them, and then acts. It never publishes or
//! does anything that is not committed (I2).

mod above;
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
mod retry;
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
use protocol::{ApiError, WorkerId};
use provider::Purpose;

pub(crate) use self::sight::leaders;
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

/// One running Pod.
struct Actor {
    actors: Arc<Actors>,
    state: State,
    feed: Arc<Feed>,
    /// The exchange between the Pod and its model.
    exchange: Exchange,
    /// The tool calls that are running for it.
    calls: Calls,
    waiters: Waiters,
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
        let (exchange, calls, waiters) = (Exchange::default(), Calls::default(), Waiters::default());
        let mut actor = Self { actors, state, feed, exchange, calls, waiters };
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
    fn inputs(&mut self, happening: Happening) -> Vec<Input> {
        match happening {
            Happening::Heard(heard) => self.exchange.inputs(&self.actors, &mut self.state, heard),
            Happening::Called(news) => self.calls.inputs(news),
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

    /// Decides on an input and stages the resulting steps. Returns the effects to run once they are committed.
    fn decide(&mut self, staged: &mut Staged, input: Input) -> Result<Vec<Effect>, ApiError> {
        let decision = self.state.decide(input)?;
        self.add(staged, decision.steps);
        Ok(decision.effects)
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
                Effect::CallModel => self.exchange.ask(&self.actors, &self.state, Purpose::Answer),
                Effect::Summarise => self.exchange.ask(&self.actors, &self.state, Purpose::Summary),
                Effect::LetOut { call_id, host, port, is_allowed } => {
                    self.calls.let_out(call_id, host, port, is_allowed);
                }
                Effect::RunTool { call_id, name, arguments, by } => {
                    let leads = self.state.spec.sights.leads(&name, &arguments);
                    self.calls.enqueue(Call { call_id, name, arguments, by, leads });
                }
            }
        }
        self.start_calls().await;
        self.exchange.let_go(&self.state.pod);
    }

    /// Starts every call that may begin now.
    async fn start_calls(&mut self) {
        let Self { actors, state, calls, .. } = self;
        Starting { actors, state, calls }.all().await;
    }

    /// Begins a run for the next queued input. Returns false if the queue is empty.
    async fn begin_next(&mut self) -> Result<bool, ApiError> {
        let Some((submit, taken)) = self.state.queue.next() else { return Ok(false) };
        self.advance([submit], taken).await.map(|_| true)
    }

    /// Ends everything that is running for the Pod, down to the last process. Returns false if something does not end.
    async fn end_work(&mut self) -> bool {
        self.exchange.abort();
        self.calls.end_all().await
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.actors.feeds.release(&self.state.worker_id, &self.feed);
    }
}
