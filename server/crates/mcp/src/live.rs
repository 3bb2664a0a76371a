//! An established connection: what is asked of a server over it, and how the answers are waited for.

use std::{sync::Arc, time::Duration};

use pod::ToolOutcome;
use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam,
        ClientRequest, InputRequest, InputRequests, InputResponses, JsonObject, PaginatedRequestParams, RequestId,
        ServerResult, Tool,
    },
    service::PeerRequestOptions,
};
use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};
use tools::Output;

use crate::{
    bounds::{CALL_MAX, CALL_SILENCE_MAX, DETAIL_CHARS_MAX, LIST_MAX, PAGES_MAX, PROGRESS_BYTES_MAX, ROUNDS_MAX},
    handler::{Entry, Report, Running},
    login::Login,
    offer::{Definition, Offer},
    outcome::outcome,
    paced::Broken,
    reason::{self, Demand},
    text::{Secrets, line},
};

/// How often a call that waits for a person is checked.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How many entries of a list are taken.
const ENTRIES_MAX: usize = 1_000;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The server refused.
    Refused {
        is_by_arguments: bool,
        detail: String,
    },
    /// The server wants a login, or one with more rights.
    LoginWanted(Demand),
    Gone,
    Late,
    Odd,
}

/// An established connection.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) running: Running,
    pub(crate) offer: Arc<Offer>,
    pub(crate) login: Arc<Login>,
    pub(crate) secrets: Secrets,
    pub(crate) broken: Broken,
}

impl Live {
    /// Calls a tool. If the call is dropped, the server is told.
    pub(crate) async fn call(
        &self,
        tool: &Definition,
        arguments: JsonObject,
        call_id: &str,
        output: Output,
    ) -> ToolOutcome {
        let (entry, reports) = self.running.begin(call_id);
        let waiting = Waited { until: Instant::now() + CALL_MAX, reports, output, told: 0, secrets: &self.secrets };
        match self.rounds(tool, arguments, &entry, waiting).await {
            Ok(result) => outcome(result, &self.secrets),
            Err(failed) => self.told(failed),
        }
    }

    async fn rounds(
        &self,
        tool: &Definition,
        arguments: JsonObject,
        entry: &Entry,
        mut waiting: Waited<'_>,
    ) -> Result<CallToolResult, Failed> {
        let mut params = CallToolRequestParams::new(tool.original.clone()).with_arguments(arguments);
        for _ in 0..ROUNDS_MAX {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match self.answer(request, entry, &mut waiting).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::EmptyResult(_) => return Ok(CallToolResult::default()),
                ServerResult::InputRequiredResult(result) => {
                    let wanted = result.input_requests.unwrap_or_default();
                    if wanted.is_empty() && result.request_state.is_none() {
                        return Err(Failed::Odd);
                    }
                    let given = given(wanted, entry).await;
                    params.input_responses = (!given.is_empty()).then_some(given);
                    params.request_state = result.request_state;
                }
                _ => return Err(Failed::Odd),
            }
        }
        Err(Failed::Odd)
    }

    async fn answer(
        &self,
        request: ClientRequest,
        entry: &Entry,
        waiting: &mut Waited<'_>,
    ) -> Result<ServerResult, Failed> {
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = sent.map_err(|error| failed(&error))?;
        entry.is_told_by(handle.progress_token.clone());
        let mut given_up = GivenUp { peer: self.peer.clone(), id: Some(handle.id.clone()) };
        let mut silent_until = Instant::now() + CALL_SILENCE_MAX;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    given_up.id = None;
                    return answer.map_err(|_| Failed::Gone)?.map_err(|error| failed(&error));
                }
                Some(report) = waiting.reports.recv() => {
                    silent_until = Instant::now() + CALL_SILENCE_MAX;
                    waiting.tell(report).await;
                }
                () = sleep_until(silent_until.min(waiting.until)) => match entry.is_asking() {
                    // A person may take as long as they like.
                    true => {
                        waiting.until = waiting.until.max(Instant::now() + LOOK_AGAIN);
                        silent_until = Instant::now() + LOOK_AGAIN.max(CALL_SILENCE_MAX);
                    }
                    false => return Err(Failed::Late),
                },
            }
        }
    }

    fn told(&self, failed: Failed) -> ToolOutcome {
        let (code, sentence) = match failed {
            Failed::Refused { is_by_arguments: true, detail } => ("invalid_input", detail),
            Failed::Refused { detail, .. } => ("tool_failed", detail),
            Failed::LoginWanted(demand) => {
                let why = self.login.want(&demand);
                ("unauthorized", format!("the server of this tool did not take the call: {why}"))
            }
            Failed::Gone => {
                let why = self.broken.why().unwrap_or("it went away");
                (
                    "unavailable",
                    format!("the server of this tool did not answer: {why}; whether the call took effect is not known"),
                )
            }
            Failed::Late => {
                ("timeout", "the server of this tool did not answer in time; the call was given up".to_owned())
            }
            Failed::Odd => {
                ("tool_failed", "the server of this tool answered with something that is not a result".to_owned())
            }
        };
        ToolOutcome::failed(code, self.secrets.hide(sentence))
    }

    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, Failed> {
        if !self.has(|can| can.tools.is_some()) {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = within(self.peer.list_tools(page(cursor))).await?;
            all.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || all.len() >= ENTRIES_MAX {
                break;
            }
        }
        Ok(all)
    }

    pub(crate) fn has(&self, what: impl Fn(&rmcp::model::ServerCapabilities) -> bool) -> bool {
        self.peer.peer_info().is_some_and(|info| what(&info.capabilities))
    }
}

pub(crate) fn page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

pub(crate) async fn within<T>(asked: impl Future<Output = Result<T, ServiceError>>) -> Result<T, Failed> {
    match timeout(LIST_MAX, asked).await {
        Ok(answer) => answer.map_err(|error| failed(&error)),
        Err(_) => Err(Failed::Late),
    }
}

fn failed(error: &ServiceError) -> Failed {
    if let Some(demand) = reason::demand_at_request(error) {
        return Failed::LoginWanted(demand);
    }
    match error {
        ServiceError::McpError(error) => Failed::Refused {
            is_by_arguments: error.code == rmcp::model::ErrorCode::INVALID_PARAMS,
            detail: line(&error.message, DETAIL_CHARS_MAX),
        },
        ServiceError::TransportSend(error) => {
            Failed::Refused { is_by_arguments: false, detail: line(&reason::of_transport(error), DETAIL_CHARS_MAX) }
        }
        ServiceError::Cancelled { .. } | ServiceError::TransportClosed => Failed::Gone,
        ServiceError::Timeout { .. } => Failed::Late,
        _ => Failed::Odd,
    }
}

impl Failed {
    /// Returns the failure as people read it.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::Refused { detail, .. } => detail,
            Self::LoginWanted(_) => "it wants a login".to_owned(),
            Self::Gone => "it went away".to_owned(),
            Self::Late => "it did not answer in time".to_owned(),
            Self::Odd => "it answered with something that was not asked for".to_owned(),
        }
    }
}

/// Answers the server's requests for input as far as they are supported: questions to a person, and nothing else.
async fn given(wanted: InputRequests, entry: &Entry) -> InputResponses {
    let mut given = InputResponses::new();
    for (key, wanted) in wanted {
        if let InputRequest::Elicitation(asked) = wanted {
            let result = entry.elicit(&asked.params).await;
            given.insert(key, serde_json::to_value(result).unwrap_or(Value::Null));
        }
    }
    given
}

/// The state of waiting for a call.
struct Waited<'a> {
    until: Instant,
    reports: mpsc::Receiver<Report>,
    output: Output,
    /// The number of bytes that were shown.
    told: usize,
    secrets: &'a Secrets,
}

impl Waited<'_> {
    /// Shows a line with the call's progress.
    async fn tell(&mut self, Report { progress, total, message }: Report) {
        if self.told >= PROGRESS_BYTES_MAX {
            return;
        }
        let of = total.map(|total| format!("/{total}")).unwrap_or_default();
        let message = message.map(|message| format!(" {}", line(&message, DETAIL_CHARS_MAX))).unwrap_or_default();
        let text = self.secrets.hide(format!("{progress}{of}{message}\n"));
        self.told += text.len();
        // If this fails, nobody listens any more.
        let _ = self.output.send(text).await;
    }
}

/// Dropping it before the answer has arrived tells the server that nobody waits any more.
struct GivenUp {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let params = CancelledNotificationParam::new(Some(id), Some("the call was given up".to_owned()));
                let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
            });
        }
    }
}
