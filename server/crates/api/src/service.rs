//! What operators and programs need besides the Pods: health and metrics.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use protocol::RuntimeView;
use serde::Serialize;

use crate::{Api, extract::Caller};

/// Whether everything from before the start is back, and can be read and written.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Ready {
    /// Recovery after the start has finished, and the database can be read and written.
    ready: bool,
    runtimes: Vec<RuntimeView>,
    /// Pods whose recovery has not finished.
    recovering: u32,
    /// Pods that could not be restored.
    failed: Vec<FailedPod>,
    database: DatabaseReady,
}

/// Whether the database can be read and written; both were tried a moment ago.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DatabaseReady {
    reads: bool,
    writes: bool,
    /// Since when it cannot be written; yoi keeps retrying.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A Pod that could not be restored, and why.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FailedPod {
    name: String,
    reason: String,
}

/// Whether the process answers. Needs no token, and says nothing else.
#[utoipa::path(get, path = "/healthz", tag = "service", security(()),
    responses((status = 200, description = "It answers", body = String, content_type = "text/plain")))]
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// Whether recovery has finished, per runtime and per Pod, and whether the database can be read and written.
#[utoipa::path(get, path = "/readyz", tag = "service",
    responses((status = 200, description = "Ready", body = Ready), (status = 503, description = "Not yet", body = Ready)))]
pub(crate) async fn readyz(State(api): State<Api>, _: Caller) -> Response {
    let readiness = api.backend().health().readiness().await;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let failed = readiness.failed.into_iter().map(|(name, reason)| FailedPod { name, reason }).collect();
    let runtimes = api.backend().runtimes().list();
    let backend::DatabaseState { reads, writes, since } = readiness.database;
    let database = DatabaseReady { reads: reads.is_none(), writes: writes.is_none(), since, detail: reads.or(writes) };
    let (ready, recovering) = (readiness.ready, readiness.recovering);
    (status, Json(Ready { ready, runtimes, recovering, failed, database })).into_response()
}

/// Metrics for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, description = "OpenMetrics text", body = String,
        content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(api): State<Api>, _: Caller) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let text = api.metrics().text(api.backend(), api.options().connections.figures()).await;
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
