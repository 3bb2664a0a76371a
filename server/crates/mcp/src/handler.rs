//! What a server may say by itself: the progress of its calls, changes of its tools, and questions to a person in the
//! middle of a call. Everything else is refused: there are no roots, and no model is lent.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken,
        ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::{
    bounds::QUESTIONS_MAX,
    config::ServerName,
    form::{self, Answer, Ask},
};

/// How many progress reports of one call may wait to be shown; further ones are dropped.
const REPORTS_MAX: usize = 16;

/// The progress of a call.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) progress: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: Option<String>,
}

/// The running calls of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    server: ServerName,
    asks: mpsc::Sender<Ask>,
    calls: Arc<Mutex<Vec<Arc<Call>>>>,
    pub(crate) changed: Arc<Notify>,
}

#[derive(Debug)]
struct Call {
    call_id: String,
    token: Mutex<Option<ProgressToken>>,
    reports: mpsc::Sender<Report>,
    asked: AtomicUsize,
    /// The number of its questions that are waiting.
    waiting: AtomicUsize,
}

/// A running call. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Entry {
    running: Running,
    call: Arc<Call>,
}

impl Running {
    pub(crate) fn new(server: ServerName, asks: mpsc::Sender<Ask>) -> Self {
        Self { server, asks, calls: Arc::default(), changed: Arc::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, call_id: &str) -> (Entry, mpsc::Receiver<Report>) {
        let (reports, received) = mpsc::channel(REPORTS_MAX);
        let (asked, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let call = Arc::new(Call { call_id: call_id.to_owned(), token: Mutex::new(None), reports, asked, waiting });
        self.all().push(call.clone());
        (Entry { running: self.clone(), call }, received)
    }

    fn of_token(&self, token: &ProgressToken) -> Option<Arc<Call>> {
        let is_its =
            |call: &&Arc<Call>| call.token.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(token);
        self.all().iter().find(is_its).cloned()
    }

    /// Returns the call that began last: older servers do not say for which call they ask.
    fn newest(&self) -> Option<Arc<Call>> {
        self.all().last().cloned()
    }

    async fn ask(&self, call: &Call, message: &str, schema: &Value) -> ElicitResult {
        let nobody = || ElicitResult::new(ElicitationAction::Cancel);
        let Some((message, shown)) = form::shown(message, schema) else { return nobody() };
        if call.asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS_MAX {
            return nobody();
        }
        let (answer, answered) = oneshot::channel();
        let (call_id, server) = (call.call_id.clone(), self.server.to_string());
        let _waiting = Waiting::begin(call);
        if self.asks.send(Ask { call_id, server, message, schema: shown, answer }).await.is_err() {
            return nobody();
        }
        match answered.await {
            Ok(Answer::Given(content)) => {
                let content = form::with_defaults(schema, content);
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Ok(Answer::Declined) => ElicitResult::new(ElicitationAction::Decline),
            Err(_) => nobody(),
        }
    }

    async fn elicit(&self, call: Option<&Call>, params: &ElicitRequestParams) -> ElicitResult {
        match (call, params) {
            (Some(call), ElicitRequestParams::FormElicitationParams { message, requested_schema, .. }) => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                self.ask(call, message, &schema).await
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

/// A waiting question. Its call's time stands still.
struct Waiting<'a>(&'a Call);

impl<'a> Waiting<'a> {
    fn begin(call: &'a Call) -> Self {
        call.waiting.fetch_add(1, Ordering::Relaxed);
        Self(call)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Entry {
    pub(crate) fn is_asking(&self) -> bool {
        self.call.waiting.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_told_by(&self, token: ProgressToken) {
        *self.call.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }

    /// Asks what the server wants to know before it continues this call.
    pub(crate) async fn elicit(&self, params: &ElicitRequestParams) -> ElicitResult {
        self.running.elicit(Some(&self.call), params).await
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.all().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

impl ClientHandler for Running {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        ClientConfig::new(capabilities, Implementation::new("yoi", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    #[expect(deprecated, reason = "it is refused; what is not written here is answered with an empty list")]
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<rmcp::model::ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let call = self.newest();
        tokio::select! {
            result = self.elicit(call.as_deref(), &params) => Ok(result),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let Some(call) = self.of_token(&params.progress_token) else { return };
        let ProgressNotificationParam { progress, total, message, .. } = params;
        let _ = call.reports.try_send(Report { progress, total, message });
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
