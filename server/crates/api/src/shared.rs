//! What all parts of the API share.

use std::sync::Arc;

use backend::{Backend, Codes};
use mcp_server::McpServer;
use protocol::ApiError;
use tokio::sync::watch;

use crate::{
    access::{AllowedHosts, Attempts, Token},
    connections::Connections,
    metrics::Metrics,
};

/// What the API needs besides the backend.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    pub token: Token,
    pub allowed: AllowedHosts,
    /// The server's name in the `hello` frame: `yoi 0.1.0`.
    pub server: String,
    /// Identifies the console that comes with it, so that an older page can tell that it is out of date.
    pub build: Option<String>,
    /// Becomes true when the server stops: sockets then close with a reason, and event streams end.
    pub shutdown: watch::Receiver<bool>,
    /// The connections that it is served over, for the metrics.
    pub connections: Connections,
}

/// The API of one server. Clones share their state.
#[derive(Debug, Clone)]
pub struct Api(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    backend: Backend,
    options: ApiOptions,
    /// The record of wrong tokens, which slows down further ones.
    attempts: Attempts,
    codes: Codes<()>,
    metrics: Metrics,
    mcp: McpServer,
}

impl Api {
    pub fn new(backend: Backend, options: ApiOptions) -> Self {
        let (attempts, codes) = (Attempts::default(), Codes::default());
        let metrics = Metrics::default();
        let mcp = McpServer::new(backend.clone(), env!("CARGO_PKG_VERSION"));
        Self(Arc::new(Shared { backend, options, attempts, codes, metrics, mcp }))
    }

    /// A code that logs one browser in, once and within a minute.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn login_code(&self) -> Result<String, ApiError> {
        self.codes().issue(())
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.0.backend
    }

    pub(crate) fn options(&self) -> &ApiOptions {
        &self.0.options
    }

    pub(crate) fn attempts(&self) -> &Attempts {
        &self.0.attempts
    }

    pub(crate) fn codes(&self) -> &Codes<()> {
        &self.0.codes
    }

    pub(crate) fn mcp(&self) -> &McpServer {
        &self.0.mcp
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
}
