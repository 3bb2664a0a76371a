//! The runtime's failures as its callers get them.

use pod::Refusal;
use pod_store::StoreError;
use protocol::{ApiError, ErrorCode, PodName, WorkerId};

/// A failure of the store, told without anything of the store's own.
pub(crate) fn store_failed(error: StoreError) -> ApiError {
    match error {
        StoreError::NameTaken(name) => ApiError::new(
            ErrorCode::NameTaken,
            format!("a Pod called \"{name}\" is already there; choose another name"),
        ),
        StoreError::PodGone => ApiError::new(ErrorCode::PodNotFound, "the Pod was deleted"),
        StoreError::Closed => stopping(),
        StoreError::Fenced => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            "another yoi has taken over what this one ran; talk to that one, or try again in a moment",
        ),
        StoreError::Elsewhere(host) => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            format!("the host \"{}\" has just taken the Pod over; try again", host.name),
        ),
        StoreError::Away(why) => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            format!("yoi cannot write to its database now, so nothing was done ({why}); send it again in a moment"),
        ),
        StoreError::Unknown(why) => ApiError::new(
            ErrorCode::RuntimeUnavailable,
            format!(
                "yoi lost its database in the middle of this, so it was stored or not ({why}); send it again with the same \
                 idempotency key: it happens once"
            ),
        ),
        StoreError::Lost(why) => {
            ApiError::new(ErrorCode::RuntimeUnavailable, format!("yoi's database is gone, so nothing was done: {why}"))
        }
        StoreError::Damaged(why) => {
            tracing::error!(why, "the database is damaged");
            let sentence = "yoi's database is damaged in this place, so nothing was done; `yoi doctor` and the log name the \
                file and what to do";
            ApiError::new(ErrorCode::Internal, sentence)
        }
        StoreError::Unread(why) => {
            tracing::error!(why, "the store could not be read");
            ApiError::new(
                ErrorCode::RuntimeUnavailable,
                format!("yoi could not read its database, so nothing was done ({why}); try again in a moment"),
            )
        }
        StoreError::Conflict | StoreError::Injected(_) | StoreError::Database(_) => {
            tracing::error!(%error, "the store failed");
            ApiError::new(ErrorCode::Internal, "yoi's database failed, so nothing was done; its log says why")
        }
    }
}

pub(crate) fn stopping() -> ApiError {
    ApiError::new(ErrorCode::RuntimeUnavailable, "yoi is stopping; try again when it is back")
}

/// The task that a caller waited for was dropped, because this host was held up for too long.
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

/// To a decision on a request that is open no more.
pub(crate) fn request_answered(request_id: &str) -> ApiError {
    let sentence = format!("the request {request_id} has been answered already, was withdrawn, or has expired");
    ApiError::new(ErrorCode::AlreadyAnswered, sentence)
}

/// To a decision on a request by the side that made it.
pub(crate) fn asked_itself() -> ApiError {
    let sentence = "this Pod asked itself, so it cannot answer; withdraw with DELETE P/peers/…, or answer there";
    ApiError::new(ErrorCode::PermissionDenied, sentence)
}

/// To a decision on a message that waits for none.
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
