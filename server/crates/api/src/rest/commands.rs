//! Commands to one Pod: input, pause, resume, cancel, stop, restore, compact, rewind. Each answers 202 with its
//! receipt; a queued input that is taken back comes back in the answer.

use axum::{Json, extract::State, response::Response};
use backend::Origin;
use protocol::{CommandId, ControlVerb, InputCommand, PodRef, QueuedInput, Receipt, RestoreCommand, RewindCommand};
use serde::{Deserialize, Serialize};

use crate::{
    Api,
    answer::{Problem, accepted},
    extract::{Caller, Fields, Key, MaybeFields, PodPath, Within, invalid},
};

/// A body without fields.
#[derive(Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

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

#[derive(Debug, Deserialize)]
pub(crate) struct InputNamed {
    command_id: String,
}

/// Takes a queued message back: it is in no queue any more, and here is what it was. One that has begun is
/// `already_answered`.
#[utoipa::path(delete, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/input/{command_id}", tag = "commands",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("command_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "What was taken back", body = QueuedInput)))]
pub(crate) async fn take_back(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(queued): Within<InputNamed>,
    Key(key): Key,
) -> Result<Json<QueuedInput>, Problem> {
    let queued = CommandId::parse(&queued.command_id).map_err(invalid)?;
    Ok(Json(api.backend().take_back(&origin, key, &pod, &queued).await?))
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
verb! {
    /// Puts a summary in the place of what came before the newest turn. The journal keeps all of it.
    compact "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/compact" ControlVerb::Compact
}

/// Brings a stopped Pod back; with `tree` the stopped Pods below it, too, and the receipt reports on each of them.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/restore", tag = "commands",
    request_body = Option<RestoreCommand>,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 202, description = "It is on the disk", body = Receipt)))]
pub(crate) async fn restore(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    MaybeFields(command): MaybeFields<RestoreCommand>,
) -> Result<Response, Problem> {
    Ok(accepted(api.backend().restore(&origin, key, &pod, command).await?))
}

/// Takes what came after a record out of the model's context. The journal keeps all of it, and its head only grows.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/rewind", tag = "commands",
    request_body = RewindCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 202, description = "It is on the disk", body = Receipt)))]
pub(crate) async fn rewind(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Fields(command): Fields<RewindCommand>,
) -> Result<Response, Problem> {
    Ok(accepted(api.backend().rewind(&origin, key, &pod, command).await?))
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
