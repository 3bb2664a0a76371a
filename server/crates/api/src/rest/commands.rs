//! Commands to one Pod: input, pause, resume, cancel, stop, restore. Each answers 202 with its receipt.

use axum::{extract::State, response::Response};
use backend::Origin;
use protocol::{CommandId, ControlVerb, InputCommand, PodRef, Receipt};
use serde::Deserialize;

use crate::{
    Api,
    answer::{Problem, accepted},
    extract::{Caller, Fields, Key, MaybeFields, PodPath},
};

/// A body without fields.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

/// Body of `restore`.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestoreFields {
    /// With the Pods below it. A Pod without children is its own tree.
    #[serde(default)]
    #[schema(default = false)]
    #[expect(dead_code, reason = "no Pod has children yet, so a tree is the Pod itself")]
    tree: bool,
}

/// Sends a message. Its run is seen in the Pod's stream, with the same command id.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/input", tag = "commands",
    request_body = InputCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 202, description = "It is on the disk", body = Receipt)))]
pub(crate) async fn input(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Fields(input): Fields<InputCommand>,
) -> Result<Response, Problem> {
    Ok(accepted(api.backend().input(&origin, key, &pod, input).await?))
}

macro_rules! verb {
    ($(#[$doc:meta])* $name:ident $path:literal $verb:expr) => {
        $(#[$doc])*
        #[utoipa::path(post, path = $path, tag = "commands", request_body = Option<NoFields>,
            params(("runtime_id" = String, Path), ("worker_id" = String, Path),
                ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
            responses((status = 202, description = "It is on the disk", body = Receipt)))]
        pub(crate) async fn $name(
            State(api): State<Api>,
            Caller(origin): Caller,
            PodPath(pod): PodPath,
            Key(key): Key,
            _: MaybeFields<NoFields>,
        ) -> Result<Response, Problem> {
            control(&api, &origin, key, &pod, $verb).await
        }
    };
}

verb! {
    /// Pauses a running Pod. What it has said so far stays.
    pause "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/pause" ControlVerb::Pause
}
verb! {
    /// Goes on with a paused Pod's run.
    resume "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/resume" ControlVerb::Resume
}
verb! {
    /// Ends the present run.
    cancel "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/cancel" ControlVerb::Cancel
}
verb! {
    /// Stops a Pod; restore brings it back.
    stop "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/stop" ControlVerb::Stop
}

/// Brings a stopped Pod back.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/restore", tag = "commands",
    request_body = Option<RestoreFields>,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 202, description = "It is on the disk", body = Receipt)))]
pub(crate) async fn restore(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    _: MaybeFields<RestoreFields>,
) -> Result<Response, Problem> {
    control(&api, &origin, key, &pod, ControlVerb::Restore).await
}

async fn control(
    api: &Api,
    origin: &Origin,
    key: CommandId,
    pod: &PodRef,
    verb: ControlVerb,
) -> Result<Response, Problem> {
    Ok(accepted(api.backend().control(origin, key, pod, verb).await?))
}
