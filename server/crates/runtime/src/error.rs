//! The runtime's errors as its callers see them.

use pod::Refusal;
use pod_store::StoreError;
use protocol::{ApiError, ErrorCode, PodName, WorkerId};

pub(crate) fn stopping() -> ApiError {
    StoreError::Closed.into()
}

/// The task that a caller waited for was dropped because this host was held up for too long.
pub(crate) fn cut_off() -> ApiError {
    let sentence = "this host was cut off from the database for too long, and takes part anew; it may have happened or \
        not: send it again with the same idempotency key";
    ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
}

pub(crate) fn moves_about() -> ApiError {
    ApiError::new(ErrorCode::RuntimeUnavailable, "the Pod goes from host to host; try again in a moment")
}

pub(crate) fn not_across_hosts() -> ApiError {
    ApiError::new(ErrorCode::Internal, "this cannot be asked of a Pod of another host")
}

pub(crate) fn no_such_pod(worker_id: &WorkerId) -> ApiError {
    ApiError::new(ErrorCode::PodNotFound, format!("no Pod has the id {worker_id} in the runtime \"local\""))
}

pub(crate) fn refused(name: &PodName, refusal: Refusal) -> ApiError {
    ApiError::new(refusal.code(), format!("pod \"{name}\" {refusal}"))
}

pub(crate) fn does_not_end(name: &PodName) -> ApiError {
    let sentence =
        format!("something that pod \"{name}\" started does not end, so nothing it holds was taken back; try again");
    ApiError::new(ErrorCode::Timeout, sentence)
}

/// The answer to a decision on a request that is no longer open.
pub(crate) fn request_answered(request_id: &str) -> ApiError {
    let sentence = format!("the request {request_id} has been answered already, was withdrawn, or has expired");
    ApiError::new(ErrorCode::AlreadyAnswered, sentence)
}

/// The answer to a decision on a request by the side that made it.
pub(crate) fn asked_itself() -> ApiError {
    let sentence = "this Pod asked itself, so it cannot answer; withdraw with DELETE P/peers/…, or answer there";
    ApiError::new(ErrorCode::PermissionDenied, sentence)
}

/// The answer to a decision on a message that is not held.
pub(crate) fn not_held() -> ApiError {
    let sentence = "the message is not held; it was delivered, released or dropped before";
    ApiError::new(ErrorCode::AlreadyAnswered, sentence)
}

pub(crate) fn key_reused(id: &protocol::CommandId) -> ApiError {
    ApiError::new(
        ErrorCode::KeyReused,
        format!("the idempotency key {id} belongs to another command; use a fresh one for this"),
    )
}
