//! The exchange between a Pod and its model: a request being prepared, an answer arriving, or a summary.

use std::{future::pending, mem, sync::Arc};

use mcp::{Clients, Settled};
use pod::{Cause, Cut, Failure, Input, ModelPiece, Newest, NoSummary, Pod, PodSpec, QuestionSize, Room, Summary};
use protocol::{AlertLevel, ControlEvent, Message, ModelName, Seq, Thinking, TurnEvent, Usage};
use provider::{Attached, ModelEvent, ModelRequest, ModelStream, ProviderError, ProviderErrorCode, Purpose, ToolSpec};

use super::{
    Actors,
    agent::AgentTurn,
    answer::{Answer, Owed, Tally, gathering},
    budgets::{Budgets, warned},
    conversation::Conversation,
    pieces::{PROVIDER_ERROR, piece_of},
    question::{Asked, Asking, Making, Question},
    state::State,
    summary::{Next, Summarising, next_after},
};
use crate::history::Journal;

/// At most one request, answer or summary at a time. Dropping it closes the connection to the model.
#[derive(Default)]
pub(super) struct Exchange {
    conversation: Conversation,
    pub(super) asking: Option<Asking>,
    answer: Option<Answer>,
    /// The turn of the Pod's agent, in place of an answer.
    pub(super) agent: AgentTurn,
    summary: Option<Summarising>,
    /// How often the request for the current summary was itself too long and was halved.
    halvings: u32,
    /// The context was compacted, or could not be, just before this request.
    is_compacted: bool,
    /// The model that was asked last.
    asked_of: Option<ModelName>,
    /// The usage of a dropped answer or summary that was not counted yet.
    owed: Option<(ModelName, Owed)>,
}

/// News from the exchange.
pub(super) enum Heard {
    /// The request is ready, or could not be prepared.
    Asked(Box<Result<Asked, String>>, Purpose),
    Pieces(Vec<Result<ModelEvent, ProviderError>>),
    /// What the agent says; `None` once it says nothing more.
    Agent(Option<Vec<acp::Said>>),
    /// The prompt is ready, or could not be prepared.
    Prompt(Result<acp::Prompt, String>),
    /// The stream ended without an end marker.
    Silence,
    /// The summary ended, well or badly.
    Summarised(Box<Cut>, Result<(String, Usage), Failure>),
}

impl Exchange {
    pub(super) fn is_going_on(&self) -> bool {
        self.asking.is_some() || self.answer.is_some() || self.summary.is_some() || self.agent.is_going_on()
    }

    /// Closes the connection to the model and drops the conversation.
    pub(super) fn abort(&mut self) {
        let step = self.agent.take_step();
        *self = Self { owed: self.debt(), asked_of: self.asked_of.take(), ..Self::default() };
        self.agent.keep_step(step);
    }

    /// Returns the usage of the current answer or summary if it does not reach its end. Returned only once.
    pub(super) fn settle(&mut self, actors: &Actors, state: &State) -> Option<Usage> {
        let owed = self.owed(actors).map(|usage| self.in_room(actors, state, usage));
        self.owed = None;
        self.answer.iter_mut().for_each(Answer::settle);
        self.summary.iter_mut().for_each(|summary| summary.tally.settle());
        owed
    }

    /// Like [`Self::settle`], but only looks.
    pub(super) fn owed(&self, actors: &Actors) -> Option<Usage> {
        match self.debt()? {
            (_, Owed::Whole(usage)) => Some(usage),
            (model, Owed::Part(part)) => actors.equipment.providers.used(&model, &part),
        }
    }

    /// Returns the usage with the context size of the Pod's model, which may be another one by now.
    fn in_room(&self, actors: &Actors, state: &State, usage: Usage) -> Usage {
        let (provider, model) = state.asked();
        if self.asked_of().is_none_or(|asked| asked == (provider, model)) {
            return usage;
        }
        let context_limit = actors.equipment.providers.facts(provider, model).context_limit.unwrap_or(0);
        Usage { context_limit, ..usage }
    }

    fn debt(&self) -> Option<(ModelName, Owed)> {
        let of_answer = || self.answer.as_ref().and_then(|one| Some((one.tally.model.clone(), one.owed()?)));
        let of_summary = || self.summary.as_ref().and_then(Summarising::debt);
        self.owed.clone().or_else(of_answer).or_else(of_summary)
    }

    /// Returns the model that was asked last: whatever arrives comes from it, even if another one is asked next.
    pub(super) fn asked_of(&self) -> Option<(&str, &str)> {
        self.asked_of.as_ref().map(|name| (name.provider.as_str(), name.model.as_str()))
    }

    /// Adds an event of the Pod to the conversation, with the runs that begin with it.
    pub(super) fn hear(&mut self, begun: &[(Seq, u64)], seq: Seq, run_id: Option<&str>, event: &TurnEvent) {
        begun.iter().for_each(|(_, ordinal)| self.conversation.begin_run(*ordinal));
        self.conversation.push(seq, run_id, event);
    }

    /// Drops the conversation, so that it is read from the journal again.
    pub(super) fn forget(&mut self) {
        self.conversation.forget();
    }

    /// Drops the conversation outside of a run, where nobody needs it.
    pub(super) fn let_go(&mut self, pod: &Pod) {
        if pod.run.is_none() && self.asking.is_none() {
            self.conversation.forget();
        }
    }

    /// Begins to prepare the request to the model from the conversation as it stands now.
    pub(super) fn ask(&mut self, actors: &Actors, state: &State, servers: &Clients, purpose: Purpose) {
        let State { pod, spec, key, .. } = state;
        let was_compacted = mem::take(&mut self.is_compacted);
        let limit = pod.usage.context_limit;
        let is_uncounted = pod.usage.input == 0 && limit > 0 && !was_compacted;
        let counts_tools = is_uncounted || purpose == Purpose::Summary;
        let tools = if counts_tools { tokens_of(&tool_specs(actors, state, servers)) } else { 0 };
        let room = Room { limit, fits: pod.fits, tools, halvings: self.halvings };
        let (provider, model) = state.asked();
        let takes = actors.equipment.providers.takes(provider, model);
        let making = Making { purpose, head: pod.head, room, is_uncounted, takes };
        let spec = PodSpec { provider: provider.to_owned(), model: model.to_owned(), ..spec.clone() };
        let journal = Journal::until(&actors.store, *key, &spec, pod);
        let budgets = Budgets::of(actors, state);
        let servers = if purpose == Purpose::Answer { servers.settled() } else { Settled::default() };
        self.asking = Some(making.begin(self.conversation.leave(), journal, budgets, servers, actors.store.clone()));
    }

    /// Prepares a pending request again after the state was reloaded from the store.
    pub(super) fn ask_again(&mut self, actors: &Actors, state: &State, servers: &Clients) {
        if let Some(Asking { purpose, .. }) = self.asking.take() {
            self.ask(actors, state, servers, purpose);
        }
    }

    /// Waits for the next news. Cancel safe.
    pub(super) async fn next(&mut self) -> Heard {
        let Self { asking, answer, agent, summary, .. } = self;
        tokio::select! {
            biased;
            (asked, purpose) = async { match asking { Some(asking) => (asking.asked.as_mut().await, asking.purpose), None => pending().await } } => {
                self.asking = None;
                Heard::Asked(Box::new(asked), purpose)
            }
            pieces = async { match answer { Some(answer) => answer.next().await, None => pending().await } } => {
                pieces.map_or(Heard::Silence, Heard::Pieces)
            }
            heard = agent.next() => heard,
            outcome = async { match summary { Some(summary) => summary.run().await, None => pending().await } } => {
                match self.summary.take() {
                    Some(summary) => {
                        self.owed = summary.debt().filter(|_| outcome.is_err());
                        let Summarising { cut, text, usage, .. } = summary;
                        Heard::Summarised(Box::new(cut), outcome.map(|()| (text, usage)))
                    }
                    None => Heard::Pieces(Vec::new()),
                }
            }
        }
    }

    /// Awaits `other` while buffering what arrives of the answer.
    pub(super) async fn gathering<T>(&mut self, other: impl Future<Output = T>) -> T {
        gathering(self.answer.as_mut(), other).await
    }

    /// The inputs that a piece of news means for the Pod.
    pub(super) fn inputs(&mut self, actors: &Actors, state: &mut State, servers: &Clients, heard: Heard) -> Vec<Input> {
        match heard {
            Heard::Asked(asked, purpose) => {
                let warnings = asked.as_ref().as_ref().map(|asked| asked.warnings.clone()).unwrap_or_default();
                let unsent = asked.as_ref().as_ref().map(|asked| asked.unsent.clone()).unwrap_or_default();
                let away = asked.as_ref().as_ref().map(|asked| asked.away.clone()).unwrap_or_default();
                let told = [told("attachment", unsent), told("mcp", away)].into_iter().flatten();
                let told = warned(&state.pod, warnings).into_iter().chain(told).map(Input::Note);
                let told: Vec<Input> = told.collect();
                let input = self.asked(actors, state, servers, *asked, purpose);
                self.let_go(&state.pod);
                told.into_iter().chain(input).collect()
            }
            Heard::Pieces(pieces) => self.pieces(actors, state, servers, pieces),
            Heard::Agent(said) => self.agent.inputs(said),
            Heard::Prompt(prompt) => self.agent.prompted(prompt),
            Heard::Silence => {
                let owed = self.settle(actors, state).map(Input::Unfinished);
                let asked = self.answer.take().map_or_else(QuestionSize::default, |answer| answer.asked);
                let detail = "the provider's stream ended before the answer did";
                let failure = Failure { cause: Cause::Unexplained, asked, ..Failure::new(PROVIDER_ERROR, detail) };
                owed.into_iter().chain([Input::Model(ModelPiece::Failed(failure))]).collect()
            }
            Heard::Summarised(cut, outcome) => {
                let owed = self.settle(actors, state).map(Input::Unfinished);
                let next = match next_after(&state.pod, *cut, outcome, self.halvings) {
                    Next::AskForLess => {
                        self.halvings += 1;
                        self.ask(actors, state, servers, Purpose::Summary);
                        None
                    }
                    Next::Take(summary) => Some(self.end_summary(state, summary)),
                };
                owed.into_iter().chain(next).collect()
            }
        }
    }

    fn pieces(
        &mut self,
        actors: &Actors,
        state: &mut State,
        servers: &Clients,
        mut pieces: Vec<Result<ModelEvent, ProviderError>>,
    ) -> Vec<Input> {
        let Some(answer) = &mut self.answer else { return Vec::new() };
        let has_begun = answer.has_begun || pieces.iter().flatten().any(ModelEvent::is_delta);
        let told = match pieces.last() {
            Some(Err(error)) if error.is_retryable() && !has_begun => stand_in(actors, state, error),
            _ => None,
        };
        if told.is_some() {
            pieces.pop();
        }
        let has_failed = told.is_some() || pieces.last().is_some_and(Result::is_err);
        let piece = |piece: Result<ModelEvent, ProviderError>| {
            answer.has_begun |= piece.as_ref().is_ok_and(ModelEvent::is_delta);
            piece_of(piece, answer.asked, answer.has_begun).map(Input::Model)
        };
        let mut inputs: Vec<_> = pieces.into_iter().filter_map(piece).collect();
        for input in &mut inputs {
            if let Input::Model(ModelPiece::Usage(usage)) = input {
                *usage = self.in_room(actors, state, *usage);
            }
        }
        if has_failed && let Some(usage) = self.settle(actors, state) {
            let before_failure = inputs.iter().rposition(ends_answer).unwrap_or(inputs.len());
            inputs.insert(before_failure, Input::Unfinished(usage));
        }
        if told.is_some() || inputs.iter().any(ends_answer) {
            self.answer = None;
        }
        let Some(told) = told else { return inputs };
        // The previous model's reasoning is of no use to this one.
        self.conversation.forget();
        self.ask(actors, state, servers, Purpose::Answer);
        inputs.into_iter().chain([Input::Note(told)]).collect()
    }

    /// Sends a prepared request to the model. Returns an input if there is nothing to send.
    fn asked(
        &mut self,
        actors: &Actors,
        state: &State,
        servers: &Clients,
        asked: Result<Asked, String>,
        purpose: Purpose,
    ) -> Option<Input> {
        let (question, attached) = match asked {
            Ok(Asked { context, question, attached, .. }) => {
                match context {
                    Some(context) => self.conversation.come_back(context),
                    None => self.conversation.forget(),
                }
                (question, attached)
            }
            Err(reason) if purpose == Purpose::Summary => {
                return Some(self.end_summary(state, Err(NoSummary::Failed(reason))));
            }
            Err(reason) => {
                self.fail(reason);
                return None;
            }
        };
        match question {
            Question::Answer(messages, asked) => {
                self.call_model(actors, state, servers, (messages, attached), asked);
                None
            }
            Question::Agent(begin, step) => {
                self.agent.begin(&actors.equipment.agents, *begin, step);
                None
            }
            Question::Spent(why) if state.pod.run.is_some() => Some(Input::BudgetSpent(why)),
            Question::Spent(why) => Some(self.end_summary(state, Err(NoSummary::Failed(why)))),
            Question::Summary(cut) => {
                let begun = self.call_for_summary(actors, state, cut);
                begun.err().map(|reason| self.end_summary(state, Err(reason)))
            }
        }
    }

    /// Calls the model; `asked` is the size of the messages.
    fn call_model(
        &mut self,
        actors: &Actors,
        state: &State,
        servers: &Clients,
        (messages, attached): (Vec<Message>, Attached),
        asked: QuestionSize,
    ) {
        let (name, model) = state.asked();
        let Some(provider) = actors.equipment.providers.get(name) else {
            return self.fail(format!("the provider \"{name}\" is not configured any more; add it and resume"));
        };
        let tools = tool_specs(actors, state, servers);
        let asked = QuestionSize { whole: asked.whole + tokens_of(&tools), ..asked };
        let refusal = |level: &Thinking| actors.equipment.providers.thinking_refusal(name, model, *level);
        let thinking = state.spec.thinking.filter(|level| refusal(level).is_none());
        let name = ModelName { provider: name.to_owned(), model: model.to_owned() };
        let (model, context_limit) = (name.model.clone(), None);
        let (purpose, conversation) = (Purpose::Answer, Some(state.worker_id.clone()));
        let request = ModelRequest { purpose, model, thinking, messages, attached, tools, context_limit, conversation };
        self.asked_of = Some(name.clone());
        self.answer = Some(Answer::new(state.span.within(|| provider.stream(request)), asked, name));
    }

    /// Makes a request that cannot be sent look like an answer that fails, so that both are handled alike.
    fn fail(&mut self, detail: String) {
        let error = ProviderError::new(ProviderErrorCode::Failed, detail);
        let failed: ModelStream = Box::pin(futures_util::stream::iter([Err(error)]));
        self.answer = Some(Answer::new(failed, QuestionSize::default(), nobody()));
    }

    /// Asks for a summary of what the cut drops.
    fn call_for_summary(&mut self, actors: &Actors, state: &State, cut: Result<Cut, Newest>) -> Result<(), NoSummary> {
        let mut cut = cut.map_err(NoSummary::NothingToDrop)?;
        let (name, model) = state.asked();
        let provider = actors
            .equipment
            .providers
            .get(name)
            .ok_or_else(|| NoSummary::Failed("its provider is not configured any more".to_owned()))?;
        let name = ModelName { provider: name.to_owned(), model: model.to_owned() };
        let messages = mem::take(&mut cut.request);
        let asked = pod::tokens_of_bytes(messages.iter().map(|message| message.content.len()).sum());
        let request = ModelRequest {
            purpose: Purpose::Summary,
            model: name.model.clone(),
            thinking: None,
            messages,
            attached: Attached::default(),
            tools: Vec::new(),
            context_limit: None,
            conversation: Some(state.worker_id.clone()),
        };
        self.asked_of = Some(name.clone());
        self.summary =
            Some(Summarising::new(state.span.within(|| provider.stream(request)), cut, Tally::new(name, asked)));
        Ok(())
    }

    fn end_summary(&mut self, state: &State, summary: Result<Summary, NoSummary>) -> Input {
        self.halvings = 0;
        self.is_compacted = state.pod.run.is_some();
        Input::Summarised(summary)
    }
}

/// Stands for the model of an answer that nobody was asked for.
fn nobody() -> ModelName {
    ModelName { provider: String::new(), model: String::new() }
}

/// Switches to the next fallback model when the current one cannot answer. Returns the events to record, or `None` if
/// there is no other model.
fn stand_in(actors: &Actors, state: &mut State, error: &ProviderError) -> Option<Vec<ControlEvent>> {
    let providers = &actors.equipment.providers;
    let present = state.asked();
    let is_other = |name: &&ModelName| {
        (name.provider.as_str(), name.model.as_str()) != present && providers.get(&name.provider).is_some()
    };
    let next = state.next_fallbacks().iter().find(is_other)?.clone();
    let text = format!("{}; {next} is used for the rest of this run", error.detail);
    let model = Some(next.clone());
    let alert = ControlEvent::Alert { level: AlertLevel::Warn, source: "model".to_owned(), text, model };
    let Usage { context_used, context_limit, .. } = state.pod.usage;
    let limit = providers.facts(&next.provider, &next.model).context_limit.unwrap_or(0);
    let room = || ControlEvent::Usage { usage: Usage { context_used, context_limit: limit, ..Usage::default() } };
    // What folding in the alert will do; the next request is prepared before the alert is written.
    state.pod.stand_in = Some(next);
    Some(std::iter::once(alert).chain((limit != context_limit).then(room)).collect())
}

/// Tells people what the model is not sent: new pictures and files, and the tools of servers that are away.
fn told(source: &str, sentences: Vec<String>) -> Option<Vec<ControlEvent>> {
    let alert = |text| ControlEvent::Alert { level: AlertLevel::Warn, source: source.to_owned(), text, model: None };
    Some(sentences.into_iter().map(alert).collect::<Vec<_>>()).filter(|alerts| !alerts.is_empty())
}

fn tool_specs(actors: &Actors, state: &State, servers: &Clients) -> Vec<ToolSpec> {
    let servers = servers.offered();
    let own = actors.equipment.toolbox.offered(state.spec.tools.as_deref());
    let theirs = servers.iter().filter(|tool| state.spec.offers(tool.name()));
    let spec = |tool: &Arc<dyn tools::Tool>| ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        schema: tool.schema(),
    };
    own.chain(theirs).map(spec).collect()
}

/// The estimated tokens of the tool definitions that go with each request.
fn tokens_of(tools: &[ToolSpec]) -> u64 {
    let bytes = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.schema.to_string().len();
    pod::tokens_of_bytes(tools.iter().map(bytes).sum())
}

fn ends_answer(input: &Input) -> bool {
    matches!(
        input,
        Input::Model(ModelPiece::Finished | ModelPiece::Limit | ModelPiece::Nothing { .. } | ModelPiece::Failed(_))
    )
}
