//! Commands to one Pod: input, pause, resume, cancel, stop, restore. Each answers 202 with its receipt.

use axum::{extract::State, response::Response};
use backend::Origin;
use protocol::{
    ApiError, CommandId, ControlVerb, ErrorCode, InputCommand, MESSAGE_BYTES_MAX, PodRef, Receipt, Segment,
};
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
    check_input(&input)?;
    Ok(accepted(api.backend().input(&origin, key, &pod, input).await?))
}

/// What every message has to be, whoever sends it: of known segments, not blank, at most 65,536 bytes of text.
pub fn check_input(input: &InputCommand) -> Result<(), ApiError> {
    let mut bytes = 0;
    let mut blank = true;
    for segment in &input.segments {
        let text = match segment {
            Segment::Text { text } | Segment::Paste { text } => text,
            Segment::FileRef { path } if path.trim().is_empty() => {
                return Err(ApiError::invalid("a file reference needs a path"));
            }
            Segment::FileRef { path } => path,
            Segment::Unknown(map) => {
                let kind = map.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
                return Err(ApiError::invalid(format!("\"{kind}\" is no segment; there are text, paste and file_ref")));
            }
        };
        bytes += text.len();
        blank &= text.trim().is_empty();
    }
    if bytes > MESSAGE_BYTES_MAX {
        let sentence = format!("a message has at most {MESSAGE_BYTES_MAX} bytes of text, this one has {bytes}");
        return Err(ApiError::new(ErrorCode::PayloadTooLarge, sentence));
    }
    match blank {
        true => Err(ApiError::invalid("the message is empty")),
        false => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn code(segments: serde_json::Value) -> Option<&'static str> {
        let input = serde_json::from_value(serde_json::json!({ "segments": segments })).unwrap();
        check_input(&input).err().map(|error| error.code.as_str())
    }

    #[test]
    fn a_message_is_of_known_segments_not_blank_and_at_most_64_kib() {
        let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
        assert_eq!(code(serde_json::json!([text("hello")])), None);
        assert_eq!(code(serde_json::json!([text(" "), { "type": "paste", "text": "x" }])), None);
        assert_eq!(code(serde_json::json!([{ "type": "file_ref", "path": "a.rs" }])), None);
        assert_eq!(code(serde_json::json!([text(&"x".repeat(65_536))])), None);
        assert_eq!(code(serde_json::json!([text(&"é".repeat(32_768)), text("x")])), Some("payload_too_large"));
        for bad in [
            serde_json::json!([]),
            serde_json::json!([text(""), text(" \n\t")]),
            serde_json::json!([text("x"), { "type": "file_ref", "path": " " }]),
            serde_json::json!([text("x"), { "type": "hologram", "text": "x" }]),
        ] {
            assert_eq!(code(bad.clone()), Some("invalid_input"), "{bad}");
        }
    }
}
