//! HTTP: REST, WebSocket, SSE, OpenAPI, and who may ask. Errors become answers here.
//!
//! A thin layer over [`backend::Backend`]: it parses at the door, forwards, and encodes. It decides nothing about
//! Pods. [`Api::guard`] belongs around everything that the server serves, pages and assets too.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod connections;
mod events;
mod extract;
mod guard;
mod media;
mod metrics;
mod openapi;
mod previews;
mod read;
mod rest;
mod routes;
mod sent;
mod service;

use std::sync::Arc;

use axum::Router;
use backend::{Backend, Codes};
use protocol::ApiError;
use tokio::sync::watch;

pub use crate::answer::problem;
pub use crate::connections::{
    Connection, ConnectionFigures, ConnectionLimits, Connections, Lingering, Seat, Visitor, serve,
};
pub use crate::guard::{AllowedHosts, Token};
pub use crate::openapi::{described_openapi, openapi_json};

use crate::{guard::Attempts, metrics::Metrics};

/// What the API needs to know besides the backend.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    pub token: Token,
    pub allowed: AllowedHosts,
    /// What the `hello` frame calls this server: `yoi 0.1.0`.
    pub server: String,
    /// Names the console that comes with it; a page that is older says so.
    pub build: Option<String>,
    /// Becomes true when the server stops: sockets then close with a reason, and event streams end.
    pub shutdown: watch::Receiver<bool>,
    /// What it is served over, for its figures.
    pub connections: Connections,
}

/// The API of one server. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Api(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    backend: Backend,
    options: ApiOptions,
    /// Wrong tokens slow further wrong tokens down.
    attempts: Attempts,
    codes: Codes<()>,
    metrics: Metrics,
}

impl Api {
    pub fn new(backend: Backend, options: ApiOptions) -> Self {
        let (attempts, codes) = (Attempts::default(), Codes::default());
        let metrics = Metrics::default();
        Self(Arc::new(Shared { backend, options, attempts, codes, metrics }))
    }

    /// `/api`, `/metrics`, `/healthz`, `/readyz`. It has no fallback of its own, so it can be merged with the pages.
    ///
    /// Unguarded it answers `unauthorized` to everything but `/healthz`: [`Api::guard`] says who asks.
    pub fn router(&self) -> Router {
        routes::router(self.clone())
    }

    /// Puts the guard around everything: Host, Origin, login, size and type of bodies, security headers, panics.
    ///
    /// Handlers inside find a [`backend::Origin`] among the request's extensions. The page `/login` is let through
    /// without one. `POST /login`, `GET /any/page?code=…`, and pages under a loopback name are answered here.
    pub fn guard(&self, router: Router) -> Router {
        guard::around(self.clone(), router)
    }

    /// A code that logs one browser in, once and within a minute.
    ///
    /// # Errors
    /// When the system has no random numbers.
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

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
}
