//! The task of one Pod's agent. It lives as long as the agent has something to do, and for a while after that.

use std::{
    collections::HashMap,
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use agent_client_protocol::v1::schema::SessionNotification;
use pod::{AgentPiece, Stop, ToolOutcome, WANTED};
use protocol::WorkerId;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::yield_now,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    connect::{Connected, Failure, connect, note, refusal},
    files,
    prompt::Prompt,
    registry::Inner,
    turn::{Begin, Gone, Link, Order},
    wire::{Closed, Fault, Message},
};

/// How long an agent may take to stop after it was told to cancel, before its process is ended.
const CANCEL_MAX: Duration = Duration::from_secs(10);
/// How many questions of one agent may be open, and how many tools it may ask for at once.
const ASKS_MAX: usize = 16;
const WANTS_MAX: usize = 32;
/// How many messages of a rest are handled before the next turn begins; the others are handled during it.
const CAUGHT_UP_MAX: usize = 1_000;

/// Runs until there has been nothing to do for as long as the configuration says.
pub(crate) async fn run(inner: Arc<Inner>, worker_id: WorkerId, orders: UnboundedReceiver<Order>) {
    let (connected, next, open) = (None, None, Open::default());
    let mut task = Task { inner, worker_id, orders, connected, next, open, resting_since: Instant::now() };
    task.live().await;
    // Without a process there is nothing to end, and this Pod may have another task by now.
    if task.connected.is_some() {
        task.let_go().await;
    }
}

struct Task {
    inner: Arc<Inner>,
    worker_id: WorkerId,
    orders: UnboundedReceiver<Order>,
    connected: Option<Box<Connected>>,
    /// A turn that was begun before the previous one was over.
    next: Option<(Box<Begin>, Link)>,
    open: Open,
    resting_since: Instant,
}

/// What the agent is waiting for.
#[derive(Debug, Default)]
struct Open {
    /// Its questions: from the id that the Pod uses to the id of the agent's request.
    asks: HashMap<String, Value>,
    /// The tools that it asked for.
    wants: HashMap<String, Want>,
    count: u64,
}

#[derive(Debug)]
enum Want {
    Read(Value),
    Write(Value),
    /// A terminal; the request is kept until the terminal is open.
    Terminal(Option<Value>),
}

/// How a turn ended.
enum Over {
    /// The turn is over; the agent keeps running.
    Well,
    /// Nobody reads the turn any more.
    Cancelled { was_prompted: Option<u64> },
    /// The agent is no longer needed at all.
    Ended { was_prompted: Option<u64> },
    /// The agent is gone, for this reason.
    Lost(Closed),
}

impl Task {
    async fn live(&mut self) {
        let mut idle = crate::known::IDLE;
        loop {
            if let Some((begin, link)) = self.next.take() {
                idle = self.inner.idle(&begin.agent);
                self.turn(*begin, link).await;
                if let Some(connected) = &self.connected {
                    connected.process.ask_in(None);
                }
                self.resting_since = Instant::now();
                continue;
            }
            let until = self.connected.is_some().then(|| self.resting_since + idle);
            if self.connected.is_none() && self.inner.rest(&self.worker_id, &mut self.orders) {
                return;
            }
            tokio::select! {
                order = self.orders.recv() => match order {
                    None => return,
                    Some(Order::Begin(begin, link)) => self.next = Some((begin, link)),
                    Some(Order::End) => self.let_go().await,
                    Some(order) => self.carry_out(order).await,
                },
                message = next_of(self.connected.as_deref_mut()) => self.outside(message).await,
                () = sleep(until) => {
                    self.let_go().await;
                }
            }
        }
    }

    /// Ends the process and invalidates what was handed out to it.
    async fn let_go(&mut self) {
        self.open = Open::default();
        if let Some(connected) = self.connected.take() {
            connected.process.end().await;
        }
        if let Some(door) = self.inner.door() {
            door.close(&self.worker_id).await;
        }
    }

    /// Handles what the agent says between turns: it may report what can be chosen, but gets nothing new done.
    async fn outside(&mut self, message: Result<Message, Closed>) {
        let Some(connected) = &mut self.connected else { return };
        let sent = match message {
            Ok(Message::Notification { method, params }) => {
                note(&mut connected.offered, &method, params);
                Ok(())
            }
            Ok(Message::Response { .. }) => Ok(()),
            Ok(Message::Request { id, method, params }) => self.requested(id, &method, &params, None).await,
            Err(closed) => Err(closed),
        };
        if sent.is_err() {
            self.let_go().await;
        }
    }

    /// Handles what the agent said while it rested, so that one that is gone by now is started again.
    async fn catch_up(&mut self) {
        // The runtime notices what has arrived.
        yield_now().await;
        for _ in 0..CAUGHT_UP_MAX {
            tokio::select! {
                biased;
                message = next_of(self.connected.as_deref_mut()) => self.outside(message).await,
                () = ready(()) => return,
            }
        }
    }

    async fn turn(&mut self, begin: Begin, link: Link) {
        self.catch_up().await;
        let connected = tokio::select! {
            connected = self.connect(&begin, &link) => connected,
            // Nobody knows how far the agent got.
            () = link.gone() => return self.let_go().await,
        };
        match connected {
            Ok(()) => (),
            Err(Failure { code, detail }) => {
                self.inner.note_start(&begin.agent, Some(detail.clone()));
                self.let_go().await;
                let failed = AgentPiece::Failed { code: code.to_owned(), detail };
                return link.tell([failed.into()]).await;
            }
        }
        self.inner.note_start(&begin.agent, None);
        match self.talk(&begin, &link).await {
            Over::Well => (),
            Over::Cancelled { was_prompted } => self.cancel(was_prompted).await,
            Over::Ended { was_prompted } => {
                self.cancel(was_prompted).await;
                self.let_go().await;
            }
            Over::Lost(closed) => {
                let why = self.why_lost(&begin.agent, closed).await;
                self.let_go().await;
                link.tell([AgentPiece::Lost(why).into()]).await;
            }
        }
    }

    /// Ensures that the agent is running and has its session.
    async fn connect(&mut self, begin: &Begin, link: &Link) -> Result<(), Failure> {
        if self.connected.as_ref().is_some_and(|connected| !connected.is_within_its_walls(begin)) {
            self.let_go().await;
        }
        if self.connected.is_none() {
            let (connected, said) = connect(&self.inner, begin).await?;
            self.connected = Some(Box::new(connected));
            link.tell(said).await;
        }
        let Some(connected) = &mut self.connected else { return Ok(()) };
        connected.process.ask_in(Some(begin.wishes.clone()));
        match connected.settle(begin).await {
            Ok(said) => link.tell(said).await,
            Err(_) => {
                let detail =
                    "the agent ended while its mode and model were being set; send the message again".to_owned();
                return Err(Failure { code: "agent_unavailable", detail });
            }
        }
        Ok(())
    }

    async fn why_lost(&mut self, agent: &str, closed: Closed) -> String {
        let Some(connected) = &mut self.connected else { return format!("the agent {agent} is gone") };
        let ending = connected.process.ending().await;
        let words = connected.process.last_words();
        let why = match closed {
            Closed::End => ending.unwrap_or_else(|| "it closed its output".to_owned()),
            Closed::Broken(why) => why,
        };
        let words = words.map(|words| format!(" ({words})")).unwrap_or_default();
        format!("the agent {agent} is gone in the middle of its turn: {why}{words}; resume to start it again")
    }

    /// Runs the turn itself, from the moment the prompt can be sent until the turn is over.
    async fn talk(&mut self, begin: &Begin, link: &Link) -> Over {
        if self.settle().await.is_err() {
            return Over::Lost(Closed::End);
        }
        let Some(connected) = &mut self.connected else { return Over::Well };
        connected.translator.begin_turn();
        if link.say([AgentPiece::Ready { to_seq: begin.to_seq }.into()]).await == Err(Gone) {
            return Over::Cancelled { was_prompted: None };
        }
        let mut prompted = None;
        loop {
            let step = tokio::select! {
                biased;
                () = link.gone() => return Over::Cancelled { was_prompted: prompted },
                order = self.orders.recv() => match order {
                    None | Some(Order::End) => return Over::Ended { was_prompted: prompted },
                    Some(Order::Begin(begin, link)) => {
                        self.next = Some((begin, link));
                        return Over::Cancelled { was_prompted: prompted };
                    }
                    Some(Order::Prompt(prompt)) => self.prompt(prompt, link).await.map(|id| prompted = Some(id)),
                    Some(order) => {
                        self.carry_out(order).await;
                        Ok(())
                    }
                },
                message = next_of(self.connected.as_deref_mut()) => match message {
                    Ok(Message::Response { id, result }) if Some(id) == prompted => {
                        return self.ended(result, &begin.agent, link).await;
                    }
                    Ok(Message::Response { .. }) => Ok(()),
                    Ok(Message::Notification { method, params }) => self.told(&method, params, link).await,
                    Ok(Message::Request { id, method, params }) => {
                        self.requested(id, &method, &params, Some(link)).await
                    }
                    Err(closed) => Err(closed),
                },
            };
            if let Err(closed) = step {
                return Over::Lost(closed);
            }
            if self.connected.is_none() {
                return Over::Lost(Closed::End);
            }
        }
    }

    async fn prompt(&mut self, prompt: Prompt, link: &Link) -> Result<u64, Closed> {
        let Some(connected) = &mut self.connected else { return Err(Closed::End) };
        let (blocks, unsent) = prompt.blocks(connected.takes_pictures, connected.is_new);
        connected.is_new = false;
        link.tell(unsent.into_iter().map(|text| AgentPiece::Alert(text).into())).await;
        let params = json!({ "sessionId": connected.session_id, "prompt": blocks });
        connected.wire.request("session/prompt", &params).await
    }

    /// Ends the turn: the agent has answered the prompt.
    async fn ended(&mut self, result: Result<Value, Fault>, agent: &str, link: &Link) -> Over {
        let Some(connected) = &mut self.connected else { return Over::Well };
        let last = match result {
            Ok(answer) => {
                link.tell(connected.translator.end_turn(&answer)).await;
                AgentPiece::Ended(match answer.get("stopReason").and_then(Value::as_str) {
                    Some("max_tokens") => Stop::MaxTokens,
                    Some("max_turn_requests") => Stop::MaxRequests,
                    Some("refusal") => Stop::Refusal,
                    Some("cancelled") => Stop::Cancelled,
                    _ => Stop::EndTurn,
                })
            }
            Err(fault) => {
                link.tell(connected.translator.end_turn(&Value::Null)).await;
                let login = crate::known::known(agent).map(|known| known.login);
                let Failure { code, detail } = refusal(login, "the message", &fault);
                AgentPiece::Failed { code: code.to_owned(), detail }
            }
        };
        link.tell([last.into()]).await;
        Over::Well
    }

    /// Handles a notification during the turn.
    async fn told(&mut self, method: &str, params: Value, link: &Link) -> Result<(), Closed> {
        let Some(connected) = &mut self.connected else { return Ok(()) };
        let is_its = params.get("sessionId").and_then(Value::as_str) == Some(connected.session_id.as_str());
        let Some(raw) = params.get("update").filter(|_| is_its && method == "session/update").cloned() else {
            return Ok(());
        };
        // Updates of an unknown kind are ignored.
        let Ok(notification) = serde_json::from_value::<SessionNotification>(params) else {
            tracing::debug!("an agent sent an update of an unknown kind");
            return Ok(());
        };
        let said = connected.translator.update(notification.update, &raw, &mut connected.offered);
        link.tell(said).await;
        Ok(())
    }

    /// Handles a request from the agent. Outside a turn nothing new is started for it.
    async fn requested(&mut self, id: Value, method: &str, params: &Value, link: Option<&Link>) -> Result<(), Closed> {
        let Some(connected) = &mut self.connected else { return Ok(()) };
        let is_its = params.get("sessionId").and_then(Value::as_str) == Some(connected.session_id.as_str());
        let answer = match method {
            _ if !is_its => Some(Err(Fault::bad_params("this connection has no session with that `sessionId`"))),
            "session/request_permission" => self.asked(&id, params, link).await,
            "fs/read_text_file" => self.wants(link, "Read", files::read(params), Want::Read(id.clone())).await,
            "fs/write_text_file" => self.wants(link, "Write", files::write(params), Want::Write(id.clone())).await,
            "terminal/create" => self.terminal(&id, params, link).await,
            _ => self.of_terminal(&id, method, params, link).await,
        };
        match (answer, &mut self.connected) {
            (Some(answer), Some(connected)) => connected.wire.respond(&id, answer).await,
            _ => Ok(()),
        }
    }

    async fn asked(&mut self, id: &Value, params: &Value, link: Option<&Link>) -> Option<Result<Value, Fault>> {
        let connected = self.connected.as_mut()?;
        let Some(link) = link.filter(|_| self.open.asks.len() < ASKS_MAX) else { return Some(Ok(cancelled())) };
        self.open.count += 1;
        let ask = self.open.count.to_string();
        match connected.translator.asked(&ask, params) {
            Ok(said) => {
                self.open.asks.insert(ask, id.clone());
                link.tell(said).await;
                None
            }
            Err(why) => Some(Err(Fault::bad_params(why))),
        }
    }

    /// Asks the Pod to run one of yoi's own tools; the outcome is the answer to the request.
    async fn wants(
        &mut self,
        link: Option<&Link>,
        tool: &str,
        arguments: Result<Value, Fault>,
        want: Want,
    ) -> Option<Result<Value, Fault>> {
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(fault) => return Some(Err(fault)),
        };
        let Some(link) = link else {
            return Some(Err(Fault::new(
                -32_603,
                "no turn is in progress; yoi does nothing for an agent between its turns",
            )));
        };
        if self.open.wants.len() >= WANTS_MAX {
            return Some(Err(Fault::new(-32_603, "too much is asked for at once; wait for what is being done")));
        }
        self.open.count += 1;
        let id = format!("{WANTED}{}", self.open.count);
        self.open.wants.insert(id.clone(), want);
        let wants = AgentPiece::Wants { id, name: tool.to_owned(), arguments };
        link.tell([wants.into()]).await;
        None
    }

    async fn terminal(&mut self, id: &Value, params: &Value, link: Option<&Link>) -> Option<Result<Value, Fault>> {
        let is_full = self.connected.as_ref().is_some_and(|connected| connected.terminals.is_full());
        if is_full {
            let most = crate::terminals::TERMINALS_MAX;
            return Some(Err(Fault::new(-32_603, format!("there are {most} terminals already; release one first"))));
        }
        let answer = self.wants(link, "Bash", files::command(params), Want::Terminal(Some(id.clone()))).await;
        let limit = params.get("outputByteLimit").and_then(Value::as_u64);
        let newest = format!("{WANTED}{}", self.open.count);
        if let (None, Some(connected)) = (&answer, &mut self.connected) {
            connected.terminals.open(newest, limit);
        }
        answer
    }

    /// Handles a request about an existing terminal.
    async fn of_terminal(
        &mut self,
        request: &Value,
        method: &str,
        params: &Value,
        link: Option<&Link>,
    ) -> Option<Result<Value, Fault>> {
        let terminals = &mut self.connected.as_mut()?.terminals;
        let id = params.get("terminalId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let none = || Err(Fault::new(-32_002, "no terminal has this `terminalId`"));
        let runs = terminals.runs(&id);
        match method {
            "terminal/output" => Some(terminals.output(&id).ok_or(()).or_else(|()| none())),
            "terminal/wait_for_exit" => match terminals.wait(&id, request.clone()) {
                Ok(None) => None,
                Ok(Some(exit)) => Some(Ok(exit)),
                Err(()) => Some(none()),
            },
            "terminal/kill" | "terminal/release" if runs.is_some() => {
                if let (Some(true), Some(link)) = (runs, link) {
                    link.tell([AgentPiece::Unwanted { id: id.clone() }.into()]).await;
                }
                if method == "terminal/release" {
                    let terminals = &mut self.connected.as_mut()?.terminals;
                    for waiter in terminals.close(&id) {
                        drop(self.connected.as_mut()?.wire.respond(&waiter, none()).await);
                    }
                }
                Some(Ok(json!({})))
            }
            "terminal/kill" | "terminal/release" => Some(none()),
            _ => Some(Err(Fault::unknown_method(method))),
        }
    }

    /// Carries out what the Pod tells the agent.
    async fn carry_out(&mut self, order: Order) {
        let Some(connected) = &mut self.connected else { return };
        let sent = match order {
            Order::Answer { ask, option } => match self.open.asks.remove(&ask) {
                Some(id) => connected.wire.respond(&id, Ok(option.map_or_else(cancelled, selected))).await,
                None => Ok(()),
            },
            Order::Begun { id } => match self.open.wants.get_mut(&id) {
                Some(Want::Terminal(request)) => match request.take() {
                    Some(request) => connected.wire.respond(&request, Ok(json!({ "terminalId": id }))).await,
                    None => Ok(()),
                },
                _ => Ok(()),
            },
            Order::Wrote { id, text } => {
                connected.terminals.wrote(&id, &text);
                Ok(())
            }
            Order::Reply { id, outcome } => reply(connected, &mut self.open, &id, *outcome).await,
            Order::Begin(..) | Order::Prompt(_) | Order::End => Ok(()),
        };
        if sent.is_err() {
            self.let_go().await;
        }
    }

    /// Answers everything that the agent still waits for in a turn that is over.
    async fn settle(&mut self) -> Result<(), Closed> {
        let Some(connected) = &mut self.connected else { return Ok(()) };
        for (_, id) in self.open.asks.drain() {
            connected.wire.respond(&id, Ok(cancelled())).await?;
        }
        let ids: Vec<String> = self.open.wants.keys().cloned().collect();
        for id in ids {
            let outcome = ToolOutcome::failed("cancelled", "the turn is over");
            reply(connected, &mut self.open, &id, outcome).await?;
        }
        Ok(())
    }

    /// Cancels the turn for the Pod. The agent is told, its questions go unanswered, and it has a limited time to stop.
    async fn cancel(&mut self, prompted: Option<u64>) {
        let Some(prompted) = prompted else { return };
        let is_over = timeout(CANCEL_MAX, self.cancelled(prompted)).await;
        if !matches!(is_over, Ok(Ok(()))) {
            self.let_go().await;
        }
    }

    async fn cancelled(&mut self, prompted: u64) -> Result<(), Closed> {
        let connected = self.connected.as_mut().ok_or(Closed::End)?;
        let params = json!({ "sessionId": connected.session_id });
        connected.wire.notify("session/cancel", &params).await?;
        self.settle().await?;
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    None | Some(Order::End) => return Err(Closed::End),
                    Some(Order::Begin(begin, link)) => self.next = Some((begin, link)),
                    Some(order) => self.carry_out(order).await,
                },
                message = next_of(self.connected.as_deref_mut()) => match message? {
                    Message::Response { id, .. } if id == prompted => return Ok(()),
                    Message::Response { .. } => (),
                    Message::Notification { method, params } => {
                        if let Some(connected) = &mut self.connected {
                            note(&mut connected.offered, &method, params);
                        }
                    }
                    Message::Request { id, method, params } => self.requested(id, &method, &params, None).await?,
                },
            }
            if self.connected.is_none() {
                return Err(Closed::End);
            }
        }
    }
}

/// Answers the agent's request with the outcome of the tool that it asked for.
async fn reply(connected: &mut Connected, open: &mut Open, id: &str, outcome: ToolOutcome) -> Result<(), Closed> {
    let fault = || Fault::new(-32_603, outcome.summary.clone());
    match open.wants.remove(id) {
        None => Ok(()),
        Some(Want::Read(request)) => {
            let answer = match outcome.is_error {
                false => Ok(json!({ "content": outcome.content.clone().unwrap_or_default() })),
                true => Err(fault()),
            };
            connected.wire.respond(&request, answer).await
        }
        Some(Want::Write(request)) => {
            let answer = if outcome.is_error { Err(fault()) } else { Ok(json!({})) };
            connected.wire.respond(&request, answer).await
        }
        Some(Want::Terminal(Some(request))) => {
            connected.terminals.close(id);
            connected.wire.respond(&request, Err(fault())).await
        }
        Some(Want::Terminal(None)) => {
            let Some((waiters, exit)) = connected.terminals.ended(id, &outcome) else { return Ok(()) };
            for waiter in waiters {
                connected.wire.respond(&waiter, Ok(exit.clone())).await?;
            }
            Ok(())
        }
    }
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

fn selected(option: String) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// Returns the agent's next message; waits forever if no agent is running.
async fn next_of(connected: Option<&mut Connected>) -> Result<Message, Closed> {
    match connected {
        Some(connected) => connected.wire.next().await,
        None => pending().await,
    }
}

async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => pending().await,
    }
}
